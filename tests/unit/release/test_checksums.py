"""Checksums of large files: read once, and again as soon as anybody changed them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ldiversity.release import _checksums as checksums


def test_a_file_that_was_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "_LARGE", 1)
    reads = []
    read = checksums._read
    monkeypatch.setattr(checksums, "_read", lambda file: reads.append(file) or read(file))
    file = tmp_path / "data.csv"
    file.write_bytes(b"abc")
    before = file.stat()

    assert checksums.sha256_of(file) == checksums.sha256_of(file) == hashlib.sha256(b"abc").hexdigest()
    assert len(reads) == 1

    file.write_bytes(b"abd")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the time of the change of its times stays
    assert checksums.sha256_of(file) == hashlib.sha256(b"abd").hexdigest()

    other = tmp_path / "other.csv"
    other.write_bytes(b"abe")
    other.replace(file)
    assert checksums.sha256_of(file) == hashlib.sha256(b"abe").hexdigest()


def test_small_files_are_always_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    monkeypatch.setattr(checksums, "_read", lambda file: reads.append(file) or "0")
    file = tmp_path / "data.csv"
    file.write_bytes(b"abc")
    checksums.sha256_of(file)
    checksums.sha256_of(file)

    assert len(reads) == 2
