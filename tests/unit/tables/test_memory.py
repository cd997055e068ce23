"""Too little memory is said to be that: no damaged file, no full disk, no fault of the package."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import ldiversity as ld
from ldiversity.base.memory import lacks_memory
from ldiversity.faces.cli._main import cli
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import _files, _parquet, _sinks

TOLD: dict[str, BaseException] = {
    "Arrow": pa.ArrowMemoryError("malloc of size 1073741824 failed"),
    "Python": MemoryError(),
    "Arrow as a fault of a file": OSError("malloc of size 1073741824 failed"),
    "the system": OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    "threads": RuntimeError("can't start new thread"),
    "Arrow about threads": pa.ArrowException("Unknown error: Resource temporarily unavailable"),
}
TABLE = pa.table({"age": list(range(30)), "disease": [f"value {i % 5}" for i in range(30)]})


def raising(fault: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise fault

    return fail


@pytest.mark.parametrize("fault", TOLD.values(), ids=TOLD.keys())
def test_every_way_to_tell_it_is_known(fault: BaseException) -> None:
    assert lacks_memory(fault)


@pytest.mark.parametrize(
    "fault",
    [OSError(errno.ENOSPC, "No space left"), pa.ArrowInvalid("In row 2: out of memory"), RuntimeError("no"), None],
)
def test_other_faults_are_not_taken_for_it(fault: BaseException | None) -> None:
    assert not lacks_memory(fault)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {ending: tmp_path / f"table.{ending}" for ending in ("csv", "parquet", "jsonl", "arrow")}
    pa_csv.write_csv(TABLE, made["csv"])
    pq.write_table(TABLE, made["parquet"])
    made["jsonl"].write_text("\n".join(json.dumps(row) for row in TABLE.to_pylist()))
    with pa.ipc.new_file(str(made["arrow"]), TABLE.schema) as writer:
        writer.write_table(TABLE)
    return made


def publish(file: Path, folder: Path, *more: str) -> Result:
    words = ["anonymize", file, "--quasi", "age", "--sensitive", "disease", "-l", 2, "-o", folder, *more]
    return CliRunner().invoke(cli, [str(word) for word in words])


STEPS: dict[str, tuple[Any, str, str, str]] = {
    "reading CSV": (pa_csv, "open_csv", "csv", "parquet"),
    "reading Parquet": (pq.ParquetFile, "iter_batches", "parquet", "parquet"),
    "reading JSON lines": (pa_json, "read_json", "jsonl", "parquet"),
    "reading Arrow": (pa.ipc, "open_file", "arrow", "parquet"),
    "drawing": (UniformSelection, "sample", "parquet", "parquet"),
    "writing Parquet": (pq.ParquetWriter, "write_table", "parquet", "parquet"),
    "writing CSV": (_sinks, "_open_sink", "parquet", "csv"),
    "reading back Parquet": (_parquet, "read_footer", "csv", "parquet"),
    "reading back CSV": (_files.pa_csv, "open_csv", "parquet", "csv"),
}


@pytest.mark.parametrize("fault", TOLD.values(), ids=TOLD.keys())
@pytest.mark.parametrize("step", STEPS)
def test_too_little_memory_at_any_step_is_said_and_leaves_nothing(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, fault: BaseException
) -> None:
    owner, name, ending, data_format = STEPS[step]
    monkeypatch.setattr(owner, name, raising(fault))

    result = publish(files[ending], tmp_path / "out" / "release", "--format", data_format)

    assert result.exit_code == 71, result.output
    assert "there must be enough memory, got too little" in result.stderr
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_too_little_memory_to_read_a_release_is_no_damage(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str
) -> None:
    assert publish(files["csv"], tmp_path / "r", "--format", data_format).exit_code == 0
    release = ld.load_release(tmp_path / "r")
    fault = raising(TOLD["Arrow"])
    monkeypatch.setattr(*((_files.pa_csv, "open_csv") if data_format == "csv" else (pq, "ParquetFile")), fault)

    with pytest.raises(ld.NotEnoughMemoryError):
        release.sets("disease")


def test_a_frame_that_does_not_fit_is_no_broken_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(nw.DataFrame, "to_arrow", raising(TOLD["Arrow"]))

    with pytest.raises(ld.NotEnoughMemoryError):
        ld.anonymize(pandas.DataFrame(TABLE.to_pydict()), sensitive="disease", method=ld.RandomizedAddition(l=2))


PROGRAM = """
import resource, sys
from ldiversity.faces.cli._main import cli, main
words = sys.argv[2:]
# Threads are started while there is room: Arrow waits for ever for one that cannot be.
cli.main([words[0], words[1] + ".small.csv", *words[2:-1], words[-1] + "-small"], standalone_mode=False)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]) * 2**20,) * 2)
sys.argv[:2] = ["ldiversity"]
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are tested on Linux")
def test_an_honest_file_on_a_machine_that_is_too_small_is_not_called_damaged(tmp_path: Path) -> None:
    text = "a text that is as long as a line of a letter to fill the memory with it " * 8
    for name, n in (("table.csv", 60_000), ("table.csv.small.csv", 50)):
        with (tmp_path / name).open("w") as file:
            file.write("age,note,disease\n")
            file.writelines(f"{i % 90},{text}{i},value {i % 5}\n" for i in range(n))
    words = [
        "anonymize",
        tmp_path / "table.csv",
        "--quasi",
        "age",
        "--plain",
        "note",
        "--sensitive",
        "disease",
        "-l",
        2,
    ]

    # Where not even a thread can be started, the C and C++ libraries end the process, or Arrow waits for ever.
    for room in (8, 6, 4, 2) * 3:
        program = [sys.executable, "-c", PROGRAM, str(room), *map(str, words), "-o", str(tmp_path / "release")]
        # Other pools of memory hold room that is not used yet.
        surroundings = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(program, check=False, capture_output=True, text=True, timeout=30, env=surroundings)
            if done.returncode not in {-signal.SIGABRT, 127}:
                break

    assert done.returncode == 71, done.stderr
    assert "there must be enough memory" in done.stderr
    assert not (tmp_path / "release").exists()
