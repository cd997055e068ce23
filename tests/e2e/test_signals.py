"""A run that is told to end leaves nothing behind: as a command, as a worker process, in threads."""

from __future__ import annotations

import json
import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import csv

import ldiversity as ld
from ldiversity.datasets import patients
from ldiversity.engines import LocalEngine
from ldiversity.methods import METHODS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")

ROWS = 60_000
POINTS = [("reading", 2), ("drawing", 2), ("writing", 2), ("checking what was written", 1)]
CLASS_POINTS = [("reading", 2), ("cutting", 1), ("writing", 2), ("checking what was written", 1)]

COMMAND = """
import json, os, signal, sys
from ldiversity.base import progress
word, nth, arguments = json.loads(sys.argv[1])
seen = 0
real = progress._Stage.tell
def tell(self, share, doing=None):
    global seen
    real(self, share, doing)
    seen += (doing or self._word) == word
    if seen == nth:
        os.kill(os.getpid(), signal.SIGTERM)
progress._Stage.tell = tell
sys.argv[1:] = arguments
from ldiversity.faces.cli import main
with progress.watched(lambda *_: None):
    main()
"""


def only_the_table(folder: Path) -> bool:
    return [path.name for path in folder.iterdir()] == ["table.csv"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    csv.write_csv(patients(ROWS, seed=2), tmp_path / "table.csv")
    return tmp_path


@pytest.mark.parametrize(("word", "nth"), POINTS, ids=[word for word, _ in POINTS])
def test_a_command_ends_in_order(word: str, nth: int, folder: Path) -> None:
    arguments = ["anonymize", "table.csv", "--quasi", "age,sex,zip,job", "--sensitive", "disease", "--drop", "name"]
    given = json.dumps([word, nth, [*arguments, "-l", "3", "--chunk-rows", "5000", "-o", "release"]])
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, given], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, ""), done.stderr
    assert only_the_table(folder)


def work(folder: Path, method: str, told: multiprocessing.Queue[str]) -> None:
    """Publish again and again, and say what is being done."""
    while True:
        ld.anonymize(
            folder / "table.csv",
            quasi=["age", "sex", "zip", "job"],
            sensitive="disease",
            drop="name",
            method=METHODS[method](l=2),
            output=folder / "release",
            engine=LocalEngine(workers=2, chunk_rows=5000),
            progress=lambda _, word: told.put(word),
        )
        ld.load_release(folder / "release").table  # noqa: B018 - it is whole
        for path in (folder / "release").iterdir():
            path.unlink()
        (folder / "release").rmdir()


@pytest.mark.parametrize(
    ("method", "word", "nth"),
    [("randomized-addition", *point) for point in POINTS] + [("mondrian", *point) for point in CLASS_POINTS],
)
def test_a_worker_process_ends_in_order(method: str, word: str, nth: int, folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[str] = context.Queue()
    worker = context.Process(target=work, args=(folder, method, told))
    worker.start()
    while nth:
        nth -= told.get(timeout=100) == word
    worker.terminate()
    worker.join(timeout=60)

    assert worker.exitcode == -signal.SIGTERM
    assert only_the_table(folder)


def test_what_a_killed_process_left_is_removed_by_the_next_run(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[str] = context.Queue()
    worker = context.Process(target=work, args=(folder, "randomized-addition", told))
    worker.start()
    while told.get(timeout=100) != "writing":
        pass
    worker.kill()
    worker.join(timeout=60)
    left = [path.name for path in folder.iterdir() if path.name != "table.csv"]
    assert all(name.startswith(".release.partial-") for name in left)

    table = csv.read_csv(folder / "table.csv").slice(0, 100)
    ld.anonymize(table, sensitive="disease", method=ld.RandomizedAddition(l=2), output=folder / "release")

    assert sorted(path.name for path in folder.iterdir()) == ["release", "table.csv"]


def test_a_handler_of_the_program_is_not_disturbed(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        ld.anonymize(
            patients(200, seed=1),
            sensitive="disease",
            method=ld.RandomizedAddition(l=2),
            output=tmp_path / "release",
            progress=lambda *_: signal.raise_signal(signal.SIGTERM) if not seen else None,
        )
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
    assert signal.getsignal(signal.SIGTERM) == before


LOST = """
import signal, sys, weakref
from pathlib import Path
from ldiversity.release import staging_folder
class Thing: pass
thing = Thing()
ask = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGTERM))
with staging_folder(Path(sys.argv[1]), overwrite=False) as folder:
    (folder / "data").touch()
    del thing
    print("the request was lost", flush=True)
print("and so was its memory")
"""


def test_a_request_to_end_that_python_drops_is_heeded_before_anything_is_published(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(tmp_path / "release")], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "the request was lost\n")
    assert not [*tmp_path.iterdir()]
