"""A release is published whole, after its check, or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection


def publish(table: pa.Table, target: Path) -> ld.Release:
    return ld.anonymize(table, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3), output=target)


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_sets_that_break_the_claim_are_never_published(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str
) -> None:
    def faulty(self: UniformSelection, codes: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(codes[:, None], 3, axis=1), np.zeros(len(codes), dtype=bool)

    monkeypatch.setattr(UniformSelection, "sample", faulty)

    with pytest.raises((ld.ClaimError, ld.ReleaseFormatError)):
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            data_format=data_format,
        )

    assert not list(tmp_path.iterdir())


def test_sets_that_break_the_claim_never_leave_memory_either(people: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: UniformSelection, codes: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(codes[:, None], 3, axis=1), np.zeros(len(codes), dtype=bool)

    monkeypatch.setattr(UniformSelection, "sample", faulty)

    with pytest.raises(ld.ClaimError, match="3 distinct values"):
        ld.anonymize(people, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3))


def test_a_full_disk_leaves_no_release(people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)

    with pytest.raises(ld.StorageError, match="No space left"):
        publish(people, tmp_path / "release")

    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named(people: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ld.StorageError, match="cannot be written"):
        publish(people, tmp_path / "file" / "release")


def test_a_fault_while_replacing_keeps_the_old_release(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(people, tmp_path / "release")
    before = (tmp_path / "release" / "data.parquet").read_bytes()
    monkeypatch.setattr(pq.ParquetWriter, "write_table", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))

    with pytest.raises(ld.StorageError):
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            overwrite=True,
        )

    assert (tmp_path / "release" / "data.parquet").read_bytes() == before


def test_a_killed_run_leaves_no_release(tmp_path: Path) -> None:
    program = (
        "import sys, time, pyarrow as pa, pyarrow.parquet as pq, ldiversity as ld\n"
        "real = pq.ParquetWriter.write_table\n"
        "def slow(self, *args, **kwargs):\n"
        "    real(self, *args, **kwargs); print('writing', flush=True); time.sleep(60)\n"
        "pq.ParquetWriter.write_table = slow\n"
        "table = pa.table({'age': [1, 2, 3], 'disease': ['a', 'b', 'c']})\n"
        "ld.anonymize(table, quasi='age', sensitive='disease', method=ld.RandomizedAddition(l=2), output=sys.argv[1])\n"
    )
    target = tmp_path / "release"
    with subprocess.Popen([sys.executable, "-c", program, str(target)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0)

    assert not target.exists()
    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release(next(tmp_path.iterdir()))


def test_a_private_folder_holds_what_is_not_finished(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    real = pq.ParquetWriter.write_table

    def spy(self: pq.ParquetWriter, table: pa.Table) -> None:
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())
        real(self, table)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", spy)
    publish(people, tmp_path / "release")

    assert seen == [0o700]
