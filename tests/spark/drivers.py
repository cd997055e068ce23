"""Programs that drive Spark in a process of their own, with slow tasks, so that tests can kill what works for them.

A test starts one with `start`. Workers import this module too, because slow tasks travel by their names.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import pyarrow as pa

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.engines.spark import SparkEngine, _engine
from ldiversity.publish import Publication, _publish_sets
from ldiversity.publish._draw import DrawSets
from ldiversity.release import SetWriter, Written

SEED: Final = 7
N_ROWS: Final = 3000
N_FILES: Final = 6
HOW: Final[dict[str, Any]] = {
    "quasi": ["age", "sex"],
    "plain": "row",
    "confirm": ["row"],
    "drop": ["name", "zip", "job"],
    "sensitive": "disease",
    "method": "randomized-addition:l=3",
}
CELLS: Final = {"name": b"Canary-of-a-name", "value": b"canary-of-a-disease"}
"""A cell that is published nowhere, and one that is a member of sets."""

_ROOT: Final = Path(__file__).parents[2]
_PACKAGE: Final = Path(ld.__file__).parents[1]
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
}


def start(program: str, *words: str | Path, folder: Path) -> subprocess.Popen[bytes]:
    """Run a function of this module in a process of its own; what it and Spark say goes to ``driver.log``."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(_ROOT), str(_PACKAGE)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(_spark_home(folder)),
    }
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    code = f"import sys; from tests.spark import drivers; drivers.{program}(*sys.argv[1:])"
    with (folder / "driver.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)], cwd=folder, env=environment, stdout=log, stderr=log
        )


def _spark_home(folder: Path) -> Path:
    """The Spark of pyspark at another place: executors of a cluster work in a folder of it, which may be read-only."""
    import pyspark

    home = _made(folder / "spark")
    for one in Path(pyspark.__file__).parent.iterdir():
        if one.name != "work":
            (home / one.name).symlink_to(one)
    return home


def wait_for(found: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float = 900) -> None:
    """Wait until something is there, while a process runs."""
    end = time.monotonic() + seconds
    while not found():
        assert process.poll() is None, "the driver has ended too early"
        assert time.monotonic() < end, "the driver takes too long"
        time.sleep(0.05)


def session(master: str, settings: dict[str, str]) -> Any:
    """A session of this process alone."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("test")
    for name, value in (_QUIET | settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@dataclass(frozen=True)
class SlowDraw(DrawSets):
    """Draws as always, after it has said which process draws, and has waited."""

    seconds: float = 0.0
    said: Path = Path()

    def __call__(self, secrets: Secrets) -> Any:
        function = super().__call__(secrets)

        def run(rows: NumberedBatch) -> pa.RecordBatch:
            (self.said / f"draws-{os.getpid()}").touch()
            time.sleep(self.seconds)
            return function(rows)

        return run


@dataclass(frozen=True)
class FreshDraw(SlowDraw):
    """Draws with other randomness each time that Spark does a task: what must never happen."""

    def __call__(self, secrets: Secrets) -> Any:
        return super().__call__(Secrets(secrets.key))


@dataclass(frozen=True)
class SlowWriter(SetWriter):
    """Writes a file as always, after it has waited."""

    def __call__(self, *words: Any, **others: Any) -> Written:
        time.sleep(1.0)
        return super().__call__(*words, **others)


@contextmanager
def slow(draw: type[SlowDraw], seconds: float, said: Path) -> Iterator[None]:
    """Let the tasks of sets take their time, and keep a copy of what they wrote, whatever comes of it."""
    made, finish, writer = _publish_sets.DrawSets, _publish_sets.finish_release, _publish_sets.SetWriter

    def keep(staging: Path, used: SetWriter, written: list[Written], **others: Any) -> Any:
        (said / "written").mkdir()
        for place, one in enumerate(written):
            shutil.copy(staging / one.file, said / "written" / f"{place:03}.parquet")
        return finish(staging, used, written, **others)

    patched: Any = _publish_sets
    patched.DrawSets = lambda *words, **others: draw(*words, **others, seconds=seconds, said=said)
    patched.finish_release, patched.SetWriter = keep, SlowWriter
    try:
        yield
    finally:
        patched.DrawSets, patched.finish_release, patched.SetWriter = made, finish, writer


def prepared(engine: SparkEngine, table: str) -> Any:
    """What is published: read once, so that only drawing and writing are done several times."""
    return ld.Publication(**HOW)._prepared(table, engine)


def publish(preparation: Any, output: Path) -> None:
    """Publish sets under a key of the job that tests know."""
    _publish_sets.publish_sets(preparation, output, overwrite=False, secrets=Secrets(job=Key.from_insecure_seed(SEED)))


def n_begun(output: Path) -> int:
    """How many files of a release tasks have begun or finished."""
    return len(list(output.parent.glob(f".{output.name}*/scratch/*/data-*")))


def _kill_executor(output: Path, _: Path) -> bool:
    # Two tasks at most write at once, so two of four files are finished.
    if n_begun(output) < 4:
        return False
    for child in psutil.Process().children(recursive=True):
        try:
            if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()):
                child.kill()
                return True
        except psutil.Error:
            continue
    return False


def _kill_worker(_: Path, said: Path) -> bool:
    drawing = [int(file.name.partition("-")[2]) for file in said.glob("draws-*")]
    ours = {child.pid for child in psutil.Process().children(recursive=True)}
    if not ours.intersection(drawing):
        return False
    os.kill(ours.intersection(drawing).pop(), signal.SIGKILL)
    return True


def cluster(table: str, folder: str) -> None:
    """Publish several times on two executors while one of them, or a worker, is killed; then wait to be killed."""
    base = Path(folder)
    spark = session(
        "local-cluster[2,1,1000]", {"spark.executor.memory": "600m", "spark.sql.files.maxPartitionBytes": "16k"}
    )
    question = prepared(SparkEngine(spark, file_rows=N_ROWS // N_FILES), table)
    for name, draw, victim in (
        ("executor", SlowDraw, _kill_executor),
        ("fresh", FreshDraw, _kill_executor),
        ("worker", SlowDraw, _kill_worker),
    ):
        said = _made(base / name)
        killer = _Killer(partial(victim, said / "release", said))
        error = None
        with killer, slow(draw, 1.0 if name == "worker" else 0.0, said):
            try:
                publish(question, said / "release")
            except ld.LDiversityError as raised:
                error = str(raised)
        _tell(said / "told.json", {"killed": killer.killed, "error": error})
    with slow(SlowDraw, 0.0, _made(base / "driver")):
        publish(question, base / "driver" / "release")


def alone(table: str, folder: str) -> None:
    """Publish slowly on this machine, waiting for a signal."""
    engine = SparkEngine(session("local[2]", {}), file_rows=N_ROWS // N_FILES)
    with slow(SlowDraw, 0.0, Path(folder)):
        publish(prepared(engine, table), Path(folder) / "release")


class _Killer:
    """Tries to kill, until it has done so or the block ends."""

    def __init__(self, victim: Callable[[], bool]) -> None:
        self.killed, self._victim, self._done = False, victim, threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        while not self.killed and not self._done.wait(0.05):
            self.killed = self._victim()


def forms(secret: bytes) -> list[bytes]:
    """How the bytes of a secret look: raw, in hexadecimal digits, and in base 64 after 0, 1 or 2 other bytes."""
    shifted = [base64.b64encode(bytes(before) + secret)[4:-4] for before in range(3)]
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), *shifted]


def found(folder: Path, secrets: dict[str, bytes]) -> set[str]:
    """Which secrets are in the files of a folder, in any form."""
    seen: set[str] = set()
    for file in [folder, *folder.rglob("*")]:
        if file.is_file():
            content = file.read_bytes()
            seen |= {name for name, secret in secrets.items() if any(form in content for form in forms(secret))}
    return seen


def canaries(private: str, folder: str) -> None:
    """Publish with and without the holder's key, with a log of everything; then wait, and at last spread the key."""
    base, own = Path(folder), Path(private)
    spark = session(
        "local[2]",
        {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": _made(base / "events").as_uri(),
            "spark.eventLog.compress": "false",
            "spark.local.dir": str(_made(base / "local")),
            "spark.log.level": "INFO",
            **{f"spark.{one}.compress": "false" for one in ("shuffle", "shuffle.spill", "rdd", "broadcast")},
        },
    )
    engine, job = SparkEngine(spark, scratch=_made(base / "scratch"), file_rows=100), Key.new()
    keys = {"holder": Key.load(own / "holder.key").travelling(), "job": job.travelling()}
    keys["engine"] = engine._own.job.travelling()
    plans, said = _made(base / "plans"), []
    travel, program = _engine.as_closure, engine.program

    def traveling(made: Any) -> Any:
        function = travel(made)
        packed = next(cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, bytes))
        keys[f"function {len(keys)}"] = packed[len(packed) // 2 :][:48]  # it is compressed, and hides keys
        return function

    def planned(*words: Any, **others: Any) -> Any:
        frame = program(*words, **others)
        (plans / f"{len(keys)}.txt").write_text(str(frame._jdf.queryExecution().toString()))
        return frame

    passing: set[str] = set()

    def look() -> None:
        while not (base / "ready").exists():  # Spark removes much as soon as it can
            passing.update(found(base / "local", CELLS | keys))
            time.sleep(0.01)

    threading.Thread(target=look, daemon=True).start()
    patched: Any = _engine
    patched.as_closure, patched.SparkEngine.program = traveling, lambda _, *words, **others: planned(*words, **others)
    engine_secrets = Publication._secrets
    changed: Any = Publication
    changed._secrets = lambda self, *words: _with_job(engine_secrets(self, *words), job)
    known: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": ["zip", "job"], "engine": engine}
    known["method"] = "randomized-addition:l=3"
    keyed = {"key": str(own / "holder.key"), "record_id": "name"}
    table = str(own / "people.parquet")
    runs: list[tuple[Any, dict[str, Any]]] = [
        (table, {"drop": ["zip", "job", "name"]}),
        (spark.read.parquet(table).filter("age >= 0"), keyed),  # which is staged
        (table, keyed | {"record_id": "sex", "quasi": "age", "drop": ["zip", "job", "name"]}),  # which is refused
    ]
    for place, (data, more) in enumerate(runs):
        try:
            ld.anonymize(data, **known | more, output=base / "releases" / str(place))
        except ld.LDiversityError as error:
            said.append(str(error))
    _tell(
        own / "told.json",
        {"keys": {name: key.hex() for name, key in keys.items()}, "said": said, "passing": sorted(passing)},
    )
    (base / "ready").touch()
    while not (base / "spread").exists():
        time.sleep(0.1)
    spark.sparkContext.broadcast(keys["holder"])
    (base / "was spread").touch()
    signal.pause()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _with_job(secrets: Secrets, job: Key) -> Secrets:
    return Secrets(secrets.key, job=job, key_file=secrets.key_file)


def _tell(file: Path, content: object) -> None:
    file.write_text(json.dumps(content))
