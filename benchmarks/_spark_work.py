"""What `bench_spark` measures, in a process of its own: one Spark session, and one line of JSON for each piece of work.

Usage: python _spark_work.py HIDDEN FOLDER WARM-UP.parquet WHAT:TABLE.parquet ...
WHAT is sets, keyed (sets of a key and ids), bsgi or audit, or `local-` with one of them, for the same work without
Spark; or plain, which is Spark alone: it reads, shuffles and writes; or estimate, of a release that was made of the
table. Of an estimate, memory is measured, and nothing else is loaded for that. HIDDEN are the names of packages that
cannot be imported, with commas.
"""

# ruff: noqa: ANN401, SLF001 - objects of Spark, whose figures have no public way

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ldiversity as ld

_QUASI = ["age", "education-num", "hours-per-week", "marital-status", "race", "sex"]
_SENSITIVE = "occupation"
_SETS = "randomized-addition:l=3"
_METHODS = {"sets": _SETS, "keyed": _SETS, "bsgi": "bsgi:l=4,effort=0"}
_CORES = 2


def main() -> None:
    warnings.simplefilter("ignore")
    hidden, folder, warm_up, *wanted = sys.argv[1:]
    for module in hidden.split(","):
        sys.modules.setdefault(module, None)  # type: ignore[arg-type] # Python's way to say that there is none
    engine = _engine(folder) if any(not what.startswith("local-") for what in wanted) else None
    asked = [what.split(":", 1) for what in wanted]
    for what, table in dict(reversed(asked)).items():
        if what == "estimate":
            _make_release(Path(table), Path(folder))
        else:
            _work(what, Path(warm_up), Path(folder), engine)
    for what, table in asked:
        print(json.dumps({"what": what, **_measured(what, Path(table), Path(folder), engine)}), flush=True)
    if engine is not None:
        engine.close()
        engine.session.stop()


def _engine(folder: str) -> Any:
    """An engine on two cores, whose files are in the folder."""
    from ldiversity.engines.spark import SparkEngine

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_LOCAL_DIRS"] = folder
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory 3g --conf spark.sql.shuffle.partitions={_CORES} pyspark-shell"
    return SparkEngine(master=f"local[{_CORES}]")


def _work(what: str, table: Path, folder: Path, engine: Any) -> None:
    local = what.startswith("local-")
    what, given = what.removeprefix("local-"), (None if local else engine)
    target = folder / "made"
    shutil.rmtree(target, ignore_errors=True)
    if what == "plain":
        _plain(table, target, engine)
    elif what == "estimate":
        ld.estimate(str(folder / "release"), by=["sex", "age"], engine=given)
    elif what == "audit":
        ld.audit(str(table), quasi=_QUASI, sensitive=_SENSITIVE, engine=given)
    else:
        columns: dict[str, Any] = {"quasi": _QUASI, "sensitive": _SENSITIVE, "method": _METHODS[what]}
        if what == "keyed":
            columns |= {"record_id": "rid", "key": _key(folder)}
        ld.anonymize(str(table), **columns, output=str(target), engine=given)
    shutil.rmtree(target, ignore_errors=True)


def _key(folder: Path) -> str:
    """The file of a key that workers read, too."""
    file = folder / "holder.key"
    if not file.exists():
        ld.Key.new().save(file)
    return str(file)


def _make_release(table: Path, folder: Path) -> None:
    """A release of the table, made and read by another process: this one has done nothing yet, and compiles nothing."""
    columns = {"quasi": _QUASI, "sensitive": _SENSITIVE, "method": _METHODS["sets"]}
    said = {**columns, "output": str(folder / "release"), "memory": "500MB", "overwrite": True}
    code = (
        "import warnings, ldiversity as ld; warnings.simplefilter('ignore'); "
        f"ld.anonymize({str(table)!r}, **{said!r}); ld.estimate({said['output']!r}, by=['sex', 'age'], memory='500MB')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def _plain(table: Path, target: Path, engine: Any) -> None:
    """What Spark needs to read the same rows, shuffle them by a random key, and write them."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    frame = engine.session.read.parquet(str(table)).select(*_QUASI, _SENSITIVE)
    frame.repartition(_CORES, F.rand()).write.parquet(str(target))


def _measured(what: str, table: Path, folder: Path, engine: Any) -> dict[str, Any]:
    """Processor seconds of this process and all that it started, and what Spark says about the stages."""
    closures: list[int] = []
    notes: list[int] = []
    before, known = {} if what == "estimate" else _seconds(), _stages(engine)
    wall, load = time.perf_counter(), os.getloadavg()[0]
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    with _closures(closures), _notes(engine, notes):
        _work(what, table, folder, engine)
    peak, own = (_memory(name) for name in ("VmHWM", "RssAnon"))
    wall, after = time.perf_counter() - wall, _seconds()
    cpu = sum(used - before.get(process, 0.0) for process, used in after.items())
    new = [one for stage, one in _stages(engine).items() if stage not in known]
    return {
        "cpu": cpu,
        "wall": wall,
        "load": load,
        "driver_peak": peak,
        "driver_own": own,
        "stages": len(new),
        "closure": max(closures, default=0),
        "note": max(notes, default=0),
        **{name: sum(one[name] for one in new) for name in ("input_rows", "shuffled", "to_driver", "java_cpu")},
        "each": [list(one.values()) for one in new],
    }


def _memory(name: str) -> int:
    """What Linux says about the memory of this process, in bytes."""
    (found,) = (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if name in line)
    return int(found) * 1024


def _seconds() -> dict[int, float]:
    """Processor seconds of this process, and of each one below it; Spark ends workers that were idle for a minute."""
    import psutil

    this, found = psutil.Process(), {}
    for process in (this, *this.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.Error:
            continue
        found[process.pid] = used.user + used.system
    return found


def _stages(engine: Any) -> dict[int, dict[str, Any]]:
    """What Spark knows about every stage that it ran: the table that was read, what was shuffled, what came here."""
    if engine is None:
        return {}
    context = engine.session.sparkContext
    scala = context._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    no_quantiles = context._gateway.new_array(context._gateway.jvm.double, 0)
    found = scala.statusStore().stageList(None, False, False, no_quantiles, None)
    stages = [found.apply(place) for place in range(found.size())]
    return {
        int(one.stageId()): {
            "input_rows": one.inputRecords(),
            "shuffled": one.shuffleWriteBytes(),
            "to_driver": one.resultSize(),
            "java_cpu": one.executorCpuTime() / 1e9,
            "seconds": one.executorRunTime() / 1e3,
            "tasks": one.numTasks(),
        }
        for one in stages
        if one.status().toString() == "COMPLETE"
    }


@contextmanager
def _closures(sizes: list[int]) -> Iterator[None]:
    """Note the bytes of every function that is sent to workers."""
    from ldiversity.engines.spark import _engine

    made = _engine.as_closure

    def noted(program: Any) -> Any:
        closure: Any = made(program)
        sizes.append(max(len(cell.cell_contents) for cell in closure.__closure__ or ()))
        return closure

    _engine.as_closure = noted
    try:
        yield
    finally:
        _engine.as_closure = made


@contextmanager
def _notes(engine: Any, sizes: list[int]) -> Iterator[None]:
    """Note the bytes of what workers note about a part."""
    if engine is None:
        yield
        return
    read = engine._notes

    def noted(found: Any) -> Any:
        notes = read(found)
        sizes.extend(len(note) for note in notes)
        return notes

    engine._notes = noted
    try:
        yield
    finally:
        del engine._notes


if __name__ == "__main__":
    main()
