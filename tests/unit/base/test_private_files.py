"""Files that only their owner may read: complete or not there at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from ldiversity.base.private_files import replace_private, write_private

FULL = OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_its_owners_alone_whatever_the_mask_allows(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_private(tmp_path / "new", b"one")
        replace_private(tmp_path / "replaced", b"two")
    finally:
        os.umask(before)

    assert [file.stat().st_mode & 0o777 for file in sorted(tmp_path.iterdir())] == [0o600, 0o600]


def test_a_file_that_is_there_is_never_overwritten_by_a_new_one(tmp_path: Path) -> None:
    write_private(tmp_path / "file", b"old")

    with pytest.raises(FileExistsError):
        write_private(tmp_path / "file", b"new")

    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    replace_private(tmp_path / "file", b"old")

    with patch("ldiversity.base.private_files.os.fsync", side_effect=FULL):
        for write, name in ((write_private, "other"), (replace_private, "file")):
            with pytest.raises(OSError, match="No space"):
                write(tmp_path / name, b"new")

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file": b"old"}


def test_what_a_crash_left_beside_the_file_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file.new").write_bytes(b"half")

    replace_private(tmp_path / "file", b"whole")

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file": b"whole"}
