"""The holder's key and its file."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path

import pytest

from ldiversity import Key
from ldiversity.errors import ParameterError, StorageError


def test_a_saved_key_is_loaded_again(tmp_path: Path) -> None:
    key = Key.new()
    key.save(tmp_path / "holder.key")

    loaded = Key.load(tmp_path / "holder.key")

    assert loaded.derive("draw") == key.derive("draw")


def test_a_key_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    Key.new().save(tmp_path / "holder.key")

    assert stat.S_IMODE((tmp_path / "holder.key").stat().st_mode) == 0o600


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    Key.new().save(tmp_path / "holder.key")

    with pytest.raises(ParameterError, match="must not exist yet"):
        Key.new().save(tmp_path / "holder.key")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    Key.new().save(tmp_path / "holder.key")
    (tmp_path / "holder.key").chmod(mode)

    with pytest.raises(ParameterError, match="chmod 600"):
        Key.load(tmp_path / "holder.key")


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"ldiversity-key-v1 c2hvcnQ=", b"other-key-v1 " + b"A" * 43 + b"=", b"\xff\xfe x"]
)
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wrong.key").write_bytes(content)
    (tmp_path / "wrong.key").chmod(0o600)

    with pytest.raises(ParameterError, match="must be a key file"):
        Key.load(tmp_path / "wrong.key")


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"nowhere\.key"):
        Key.load(tmp_path / "nowhere.key")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        Key.new().save(tmp_path / "nowhere" / "holder.key")


def test_a_key_shows_nothing_of_itself() -> None:
    assert repr(Key(b"x" * 32)) == "Key(<secret>)"


def test_a_key_cannot_be_pickled() -> None:
    with pytest.raises(ParameterError, match="pickled"):
        pickle.dumps(Key.new())


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ParameterError, match="32 bytes"):
        Key(b"short")


def test_keys_for_different_purposes_differ() -> None:
    key = Key.new()

    assert len({key.derive("a"), key.derive("b"), key.derive("a", b"context")}) == 3
