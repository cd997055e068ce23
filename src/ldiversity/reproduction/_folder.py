"""The folder of a rerun: written beside its place, and named only when it is complete."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ldiversity.errors import LDiversityError, ParameterError, StorageError

__all__ = ["FACTS_FILE", "FORMAT", "check_folder", "staged"]

FACTS_FILE: Final = "reproduction.json"
FORMAT: Final = "ldiversity-reproduction"


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that exists, unless it is empty, or holds an earlier rerun alone that may be overwritten.

    One that cannot be written is refused as well: an empty folder is made where it will stand, and removed.
    """
    with _refused(folder):
        _check_content(folder, overwrite=overwrite)
        parent = folder.absolute().parent
        while not parent.exists():
            parent = parent.parent
        trial = _beside(parent / folder.absolute().name)
        trial.mkdir()
        trial.rmdir()


def _check_content(folder: Path, *, overwrite: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not overwrite:
        raise ParameterError("output", f"folder {str(folder)!r} must not exist yet, or be empty").with_hint(
            "Choose another folder, or allow overwriting."
        )
    if not _is_rerun_alone(folder):
        raise ParameterError(
            "output", f"{str(folder)!r} must hold an earlier rerun, and nothing else, to be overwritten"
        ).with_hint("Choose another folder.")


@contextmanager
def staged(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder beside `folder` that becomes it when the block ends well, and vanishes otherwise."""
    folder = folder.absolute()
    staging = _beside(folder)
    try:
        with _refused(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            staging.mkdir()
            yield staging
            _check_content(folder, overwrite=overwrite)
            if folder.exists():
                shutil.rmtree(folder)
            staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _beside(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.partial-{secrets.token_hex(6)}"


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    """Give one sentence for a folder that cannot be written."""
    try:
        yield
    except LDiversityError:
        raise
    except OSError as error:
        reason = error.strerror or "the disk may be full"
        raise StorageError(
            "output", f"folder {str(folder)!r} cannot be written: {reason}", hint="Choose another folder."
        ) from None


def _is_rerun_alone(folder: Path) -> bool:
    try:
        facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
        known = {FACTS_FILE, *facts["files"]} if facts["format"] == FORMAT else set()
    except (OSError, ValueError, TypeError, KeyError):
        return False
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return bool(known) and found <= known
