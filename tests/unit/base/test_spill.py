"""Rows on disk: what was dealt comes back, nobody else can read it, and nothing is left of it."""

from __future__ import annotations

import os
import pickle
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.secret import Secret
from ldiversity.base.spill import BlockCipher, Buckets, Spill
from ldiversity.errors import InternalError, ParameterError, StorageError

CANARY = "a canary in a cell"

ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Open files are listed in /proc.")


def nested() -> pa.Table:
    n = 300
    return pa.table(
        {
            "row": np.arange(n),
            "text": [None if i % 7 == 0 else f"t{i}" * (i % 5) for i in range(n)],
            "set": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.int32(), 2)),
            "list": pa.array([None if i % 11 == 0 else [f"{i}"] * (i % 3) for i in range(n)]),
            "struct": [{"a": i, "b": None} for i in range(n)],
            "flag": [i % 3 == 0 for i in range(n)],
            "key": pa.array([i.to_bytes(16, "big") for i in range(n)], pa.binary(16)),
            "date": pa.array(range(n), pa.date32()),
            "nothing": pa.nulls(n),
        }
    )


def coded(kind: pa.DataType) -> pa.Table:
    """Every batch has a dictionary of its own."""
    batches = []
    for first in range(0, 300, 60):
        texts = [None if i % 4 == 0 else f"{first // 120}-{i % 9}" for i in range(first, first + 60)]
        batches.append(pa.record_batch({"row": range(first, first + 60), "coded": pa.array(texts).cast(kind)}))
    return pa.Table.from_batches(batches)


def coded_within() -> pa.Table:
    inner = pa.array([f"{i % 4}" for i in range(300)]).dictionary_encode()
    return pa.table({"row": range(300), "list": pa.ListArray.from_arrays(pa.array(range(301), pa.int32()), inner)})


TABLES = {
    "plain and nested": nested(),
    "dictionaries": coded(pa.dictionary(pa.int32(), pa.string())),
    "small ordered dictionaries": coded(pa.dictionary(pa.int8(), pa.string(), ordered=True)),
    "dictionaries within lists": coded_within(),
    "no columns of values": pa.table({"row": range(300)}),
    "names that repeat": pa.table([pa.array(range(300)), pa.array(range(300))], names=["row", "row"]),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("waiting_bytes", "memory_bytes"), [(1, 0), (2000, 5000), (1 << 25, 0), (2000, 1 << 25)])
@pytest.mark.parametrize("n", [1, 5])
def test_a_bucket_has_what_was_dealt_in_its_order(name: str, waiting_bytes: int, memory_bytes: int, n: int) -> None:
    table = TABLES[name].replace_schema_metadata({"kept": "yes"})
    numbers = np.random.default_rng(5).integers(0, n, table.num_rows)
    done = 0
    with Spill(waiting_bytes=waiting_bytes, memory_bytes=memory_bytes) as spill:
        buckets = spill.buckets(n)
        for batch in table.to_batches(max_chunksize=70):
            buckets.deal(batch, numbers[done : done + batch.num_rows])
            done += batch.num_rows
            buckets.deal(batch.slice(0, 0), numbers[:0])

        for bucket in range(n):
            expected = table.take(np.flatnonzero(numbers == bucket))
            for _ in range(2):  # as often as one likes
                read = pa.Table.from_batches(buckets.read(bucket), schema=table.schema)
                read.validate(full=True)
                assert read.schema.equals(table.schema, check_metadata=True)
                assert [column.to_pylist() for column in read.columns] == [c.to_pylist() for c in expected.columns]
            assert buckets.n_rows(bucket) == expected.num_rows


def test_only_what_does_not_fit_in_memory_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    seal = BlockCipher.seal
    monkeypatch.setattr(BlockCipher, "seal", lambda self, content: written.append(content.size) or seal(self, content))
    rows = pa.record_batch({"row": np.arange(1000)})
    for memory_bytes, n_written in ((1 << 20, 0), (8_000, 2), (0, 3)):
        written.clear()
        with Spill(waiting_bytes=1, memory_bytes=memory_bytes) as spill:
            buckets = spill.buckets(1)
            for _ in range(3):
                buckets.deal(rows, np.zeros(1000, dtype=np.int64))
            assert pa.Table.from_batches(buckets.read(0)).num_rows == 3000
        assert len(written) == n_written


def test_a_bucket_without_rows_gives_none_and_one_that_was_dropped_too() -> None:
    with Spill() as spill:
        buckets = spill.buckets(3)
        assert not list(buckets.read(0))
        buckets.deal(pa.record_batch({"a": [1, 2, 3]}), np.array([0, 2, 0]))
        buckets.drop(0)

        assert not list(buckets.read(0))
        assert not list(buckets.read(1))
        assert [buckets.n_rows(bucket) for bucket in range(3)] == [0, 0, 1]

        buckets.drop(2)
        buckets.deal(pa.record_batch({"b": ["x"]}), np.array([1]))
        assert pa.Table.from_batches(buckets.read(1)).to_pydict() == {"b": ["x"]}


def test_large_rows_are_read_in_parts() -> None:
    batch = pa.record_batch({"text": ["x" * 1000] * 20_000})
    with Spill() as spill:
        buckets = spill.buckets(1)
        buckets.deal(batch, np.zeros(20_000, dtype=np.int64))
        parts = list(buckets.read(0))

    assert len(parts) == 5
    assert sum(part.num_rows for part in parts) == 20_000


def test_only_so_many_bytes_wait_in_memory() -> None:
    limit, rows = 1 << 20, 10_000
    batch = pa.record_batch({"a": np.arange(rows)})
    with Spill(waiting_bytes=limit) as spill:
        buckets = spill.buckets(4)
        before, most = pa.total_allocated_bytes(), 0
        for _ in range(200):
            buckets.deal(pa.record_batch({"a": np.arange(rows)}), np.arange(rows) % 4)
            most = max(most, pa.total_allocated_bytes() - before)

        assert sum(buckets.n_rows(bucket) for bucket in range(4)) * 8 > 10 * limit
        assert most <= limit + batch.nbytes


@pytest.mark.parametrize("numbers", [[0, 5], [-1, 0], [0]])
def test_a_row_without_a_bucket_is_a_fault(numbers: list[int]) -> None:
    with Spill() as spill, pytest.raises((InternalError, ValueError)):
        spill.buckets(5).deal(pa.record_batch({"a": [1, 2]}), np.array(numbers))


@pytest.mark.parametrize("n", [0, 1 << 17])
def test_a_number_of_buckets_that_does_not_work_is_a_fault(n: int) -> None:
    with Spill() as spill, pytest.raises(InternalError):
        spill.buckets(n)


@ON_LINUX
def test_files_have_no_name_and_no_mode_for_others_and_hold_no_plain_byte(tmp_path: Path) -> None:
    n = 5000
    texts = pa.array([f"{CANARY} {i}" for i in range(n)])
    batch = pa.record_batch({CANARY: texts, "coded": texts.dictionary_encode()})
    with Spill(tmp_path, waiting_bytes=1000) as spill:
        buckets = spill.buckets(8)
        buckets.deal(batch, np.arange(n) % 8)

        assert not list(tmp_path.iterdir())
        (file,) = open_files(tmp_path)
        found = os.fstat(file)
        content = os.pread(file, found.st_size, 0)
        assert found.st_nlink == 0
        assert stat.S_IMODE(found.st_mode) == 0o600
        assert len(content) > batch.nbytes
        assert CANARY.encode() not in content
        assert b"canary" not in content
        # Encrypted bytes look uniform: each of 256 values has n / 256, with deviation sqrt(n / 256); 8 of them: 1e-13.
        counts = np.bincount(np.frombuffer(content, dtype=np.uint8), minlength=256)
        assert np.abs(counts - len(content) / 256).max() < 8 * np.sqrt(len(content) / 256)

    assert not open_files(tmp_path)


@ON_LINUX
def test_nothing_is_left_after_a_fault_or_a_reader_that_stops(tmp_path: Path) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        with Spill(tmp_path) as spill:
            buckets = spill.buckets(2)
            buckets.deal(pa.record_batch({"a": [1, 2, 3]}), np.array([0, 1, 0]))
            yield from buckets.read(0)
            yield from buckets.read(1)

    with closing(rows()) as reader:  # type: ignore[type-var]
        next(reader)
        assert open_files(tmp_path)
    assert not open_files(tmp_path)

    with pytest.raises(ZeroDivisionError), Spill(tmp_path) as spill:
        assert 1 / (len(dealt(spill)) - 1)
    assert not open_files(tmp_path)

    forgotten = dealt(Spill(tmp_path))
    assert open_files(tmp_path)
    del forgotten
    assert not open_files(tmp_path)


def dealt(spill: Spill) -> Buckets:
    buckets = spill.buckets(1)
    buckets.deal(pa.record_batch({"a": [1]}), np.array([0]))
    assert len(list(buckets.read(0))) == 1
    return buckets


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    program = f"""
import time, numpy as np, pyarrow as pa
from pathlib import Path
from ldiversity.base.ending import orderly_end
from ldiversity.base.spill import Spill
with orderly_end(), Spill(Path({str(tmp_path)!r})) as spill:
    buckets = spill.buckets(1)
    buckets.deal(pa.record_batch({{"a": [1]}}), np.array([0]))
    list(buckets.read(0))
    print("written", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        child.send_signal(number)
        assert child.wait(20) == -number

    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="The system has no device that is always full.")
def test_a_full_disk_is_one_sentence_without_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = lambda **_: Path("/dev/full").open("r+b", buffering=0)  # noqa: E731, SIM115 - closed by its owner
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StorageError, match=r"temporary files: cannot be kept in .*No space left") as caught:
        dealt(Spill(tmp_path))

    assert CANARY not in str(caught.value)
    assert "Make room" in (caught.value.hint or "")


def test_a_folder_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot be kept in .*missing.*No such file"):
        dealt(Spill(tmp_path / "missing"))


@ON_LINUX
def test_a_file_that_was_changed_is_not_read(tmp_path: Path) -> None:
    with Spill(tmp_path) as spill:
        buckets = dealt(spill)
        (file,) = open_files(tmp_path)
        os.pwrite(file, b"\0\1\2\3", 40)

        with pytest.raises(StorageError, match="were changed"):
            list(buckets.read(0))


def test_no_block_stands_in_for_another() -> None:
    cipher = BlockCipher()
    first, second = cipher.seal(pa.py_buffer(b"one")), cipher.seal(pa.py_buffer(b"two"))

    assert first[0] != second[0]
    with pytest.raises(StorageError):
        cipher.open(first[0], second[1])
    with pytest.raises(StorageError):
        BlockCipher().open(*first)


def test_the_key_does_not_travel() -> None:
    spill = Spill()
    for held in (spill, dealt(spill)):
        with pytest.raises((ParameterError, TypeError)):
            pickle.dumps(held)
    assert isinstance(spill, Secret)
    assert repr(spill) == "Spill(<secret>)"


def test_writing_and_reading_is_much_faster_than_a_disk() -> None:
    n = 1_000_000
    batch = pa.record_batch({str(i): np.arange(n) for i in range(4)})
    numbers = np.arange(n) % 32
    began = time.process_time()
    with Spill() as spill:
        buckets = spill.buckets(32)
        for start in range(0, n, 100_000):
            buckets.deal(batch.slice(start, 100_000), numbers[start : start + 100_000])
        assert sum(part.num_rows for bucket in range(32) for part in buckets.read(bucket)) == n

    # About 0.1 s; 20 MB a second would be 1.6 s.
    assert time.process_time() - began < 1.6


def open_files(folder: Path) -> list[int]:
    """Files of this process that are or were in a folder."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            name = link.readlink()
        except OSError:  # that of the listing itself
            continue
        if name.is_relative_to(folder):
            found.append(int(link.name))
    return found
