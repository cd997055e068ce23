"""Faults on workers, interrupted jobs and wrong settings: one sentence, and nothing is left behind."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.engines.spark import SparkEngine, _host
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.engines.spark._host import first_of_host, prepare_host
from ldiversity.engines.spark._java import check_java
from ldiversity.engines.spark._program import FromPieces, Program, as_closure
from ldiversity.engines.spark._session import open_session
from ldiversity.engines.spark._wire import WIRE, Note, Piece, received, wired
from ldiversity.tables import open_source


@dataclass(frozen=True)
class Failing:
    """Fails on a worker, in one of several ways."""

    way: str

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("row", pa.int64())])

    def __call__(self, _: Secrets, /) -> Callable[[NumberedBatch], pa.RecordBatch]:
        def run(rows: NumberedBatch) -> pa.RecordBatch:
            cell = rows.cells["name"][0].as_py()
            if self.way == "ours":
                raise ld.SchemaError("table", "must hold other names", column="name", got=7).with_hint("Rename them.")
            if self.way == "memory":
                raise MemoryError(cell)
            raise ValueError(cell)

        return run


@pytest.mark.parametrize(
    ("way", "kind", "said"),
    [
        ("ours", ld.SchemaError, "table: column 'name' must hold other names, got 7."),
        ("memory", ld.LDiversityError, "spark: there must be enough memory, got too little."),
        ("theirs", ld.LDiversityError, "spark: a worker failed with ValueError in "),
    ],
)
def test_an_error_on_a_worker_is_one_sentence_without_cells(
    engine: SparkEngine, one_file: Path, table: pa.Table, way: str, kind: type[Exception], said: str
) -> None:
    rows = engine.map(Failing(way), engine.open(one_file), ["row", "name"], secrets=Secrets())

    reads = (lambda: list(rows), lambda: engine.keep(rows, scratch=None), lambda: engine.count(rows, ["row"]))
    for read in reads[: 1 if way == "memory" else 3]:  # a worker that fails is started anew, which takes long
        with pytest.raises(kind) as caught:
            read()
        message = str(caught.value.message)  # type: ignore[attr-defined]
        assert message.startswith(said)
        assert "\n" not in message
        assert "Traceback" not in str(caught.value)
        assert not [name for name in table["name"].to_pylist() if name in str(caught.value)]
        assert caught.value.__cause__ is None


def test_a_watcher_stops_a_job_and_nothing_is_left(engine: SparkEngine, one_file: Path, tmp_path: Path) -> None:
    class Enough(Exception):  # noqa: N818 - what a caller may raise
        pass

    def stop(share: float, word: str) -> None:
        if "writ" in word or share > 0.5:
            raise Enough

    with pytest.raises(Enough):
        ld.anonymize(
            one_file,
            quasi=["age", "sex"],
            drop=["name", "zip", "job", "row"],
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            engine=engine,
            progress=stop,
        )
    assert not list(tmp_path.iterdir())
    assert not engine.session.sparkContext.statusTracker().getActiveJobsIds()


def test_a_key_that_is_no_file_is_refused(engine: SparkEngine, one_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ld.UnsupportedError, match="path of its file"):
        ld.anonymize(
            one_file,
            quasi=["age", "sex"],
            drop=["zip", "job", "row"],
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            key=ld.Key.new(),
            record_id="name",
            output=tmp_path / "release",
            engine=engine,
        )
    assert not list(tmp_path.iterdir())


def test_a_release_may_stay_in_memory(engine: SparkEngine, one_file: Path) -> None:
    how: dict[str, Any] = {"quasi": ["age"], "drop": ["name", "zip", "job", "row", "sex"], "sensitive": "disease"}

    release = ld.anonymize(one_file, **how, method=ld.RandomizedAddition(l=2), engine=engine)

    assert release.sets("disease").shape == (3000, 2)


def test_settings_of_the_session_are_put_back(engine: SparkEngine, one_file: Path) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    engine.session.conf.set(name, "1234")

    engine.sample(engine.open(one_file), ["row"], 10, secrets=Secrets())

    assert engine.session.conf.get(name) == "1234"
    engine.session.conf.unset(name)


def test_what_is_too_large_for_memory_alone_is_refused_before_work() -> None:
    incompressible = os.urandom(1_000_000)
    program = Program(Envelope.of(Secrets()), FromPieces(), (incompressible,), "job")  # type: ignore[arg-type]

    with pytest.raises(ld.UnsupportedError, match="so that Spark does not write it to disk"):
        as_closure(program)


def test_what_workers_hand_to_each_other_is_encrypted_and_cannot_be_changed() -> None:
    seal = Seal(ld.Key.new())
    batch = pa.record_batch({"name": ["somebody whose name must not be on a disk"] * 3})

    packed = seal.pack(batch, 3)

    assert b"somebody" not in packed
    assert seal.unpack(packed, 3).equals(batch)
    with pytest.raises(ld.ParameterError, match="must arrive unchanged"):
        seal.unpack(packed[:-1] + bytes([packed[-1] ^ 1]), 3)
    with pytest.raises(ld.ParameterError):
        pickle.dumps(seal)


@pytest.mark.parametrize("swap", ["parts", "note and fault", "rows and note"])
def test_a_piece_stands_for_no_other(swap: str) -> None:
    """Someone who writes to a worker's disk cannot put rows into another part, or make Python load a note."""
    seal = Seal(ld.Key.new())
    (sent,) = wired(seal, [Piece(pa.record_batch({"row": [1]}), part=1), Note(2, b"a note")])
    rows = sent.to_pylist()
    assert len(list(received(seal, [sent]))) == 2

    if swap == "parts":
        rows[0]["part"], rows[1]["part"] = rows[1]["part"], rows[0]["part"]
    elif swap == "note and fault":
        rows[1]["note"], rows[1]["fault"] = None, rows[1]["note"]
    else:
        rows[0]["note"], rows[0]["cells"] = rows[0]["cells"], None

    with pytest.raises(ld.ParameterError, match="must arrive unchanged"):
        list(received(seal, [pa.RecordBatch.from_pylist(rows, schema=WIRE)]))


def test_what_spark_counts_is_encrypted_on_its_disks(engine: SparkEngine, tmp_path: Path, local_dir: Path) -> None:
    names = [os.urandom(8).hex() for _ in range(300)]
    pq.write_table(pa.table({"name": names}), tmp_path / "people.parquet")

    counted = engine.count(engine.open(tmp_path / "people.parquet"), ["name"])

    assert counted is not None
    assert counted.num_rows == len(names)
    files = [file.read_bytes() for file in local_dir.rglob("shuffle_*.data")]
    assert files
    assert not [name for name in names if any(name.encode() in content for content in files)]


def test_java_is_looked_for_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ld.UnsupportedError, match="needs Java 17 or newer on this machine, got none in the folder"):
        check_java()
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    old.chmod(0o700)
    with pytest.raises(ld.UnsupportedError, match="got Java 8"):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ld.UnsupportedError, match="got none in JAVA_HOME or PATH"):
        check_java()


@pytest.mark.usefixtures("engine")
def test_a_java_that_is_started_does_not_write_to_the_terminal() -> None:
    start = "from ldiversity.engines.spark import SparkEngine; SparkEngine(master={!r})"
    # A master that is none is refused by Java with a stack trace, and starts nothing.
    program = f"import sys\ntry:\n    {start.format('nonsense')}\nexcept Exception as error:\n    print(error)\n"
    program += "print('still heard', file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "'nonsense' must be a Spark that can be reached and started" in done.stdout
    assert done.stderr == "still heard\n"


def test_two_addresses_are_refused() -> None:
    with pytest.raises(ld.ParameterError, match="remote must be left out when there is 'master'"):
        open_session(None, "local[2]", "sc://somewhere")


def test_a_folder_of_the_package_that_cannot_be_written_gets_another_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("os.access", lambda *_: False)

    prepare_host()

    folder = Path(os.environ["NUMBA_CACHE_DIR"]).parent
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    folder.chmod(0o777)  # which others could have filled
    prepare_host()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent != folder


def test_one_worker_of_a_machine_begins_a_job_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def begin(job: str) -> tuple[bool, bool]:
        """Whether a worker is kept out while another begins, and whether one is kept out after that."""
        _host._done.clear()
        with first_of_host(job):
            kept_out = _is_locked(tmp_path)
        _host._done.clear()  # as in another process
        with first_of_host(job):
            return kept_out, _is_locked(tmp_path)

    assert begin("a") == begin("b") == (True, False)


def _is_locked(folder: Path) -> bool:
    import fcntl

    (file,) = folder.glob("*/first")
    with file.open("rb+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_table_of_this_machine_is_staged_for_workers(engine: SparkEngine, table: pa.Table) -> None:
    found = list(engine.rows(open_source(table), ["row"]))

    assert sorted(row for batch in found for row in batch.cells["row"].to_pylist()) == list(range(table.num_rows))
    assert all(
        (batch.identities[:, 0] == batch.cells["row"].to_numpy().astype("uint64")).all() and batch.first == 0
        for batch in found
    )
