"""The folder of a rerun: written under another name, and renamed only when it is complete."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import ldiversity as ld

__all__ = ["FACTS_FILE", "FORMAT", "check_folder", "staged"]

FACTS_FILE: Final = "reproduction.json"
FORMAT: Final = "ldiversity-reproduction"


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that holds anything, except an earlier rerun that may be overwritten.

    A folder that cannot be written is refused as well. To find out, an empty folder is made beside it and removed.
    """
    with _refused(folder):
        _check_content(folder, overwrite=overwrite)
        parent = folder.absolute().parent
        while not parent.exists():
            parent = parent.parent
        trial = _beside(parent / folder.absolute().name, "partial")
        trial.mkdir()
        trial.rmdir()


def _check_content(folder: Path, *, overwrite: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not overwrite:
        raise ld.ParameterError(
            "output",
            f"folder {str(folder)!r} must not exist yet, or be empty.",
            hint="Choose another folder, or replace an earlier rerun with --overwrite.",
        )
    if not _is_rerun_alone(folder):
        raise ld.ParameterError(
            "output",
            f"{str(folder)!r} must hold an earlier rerun, and nothing else, to be overwritten.",
            hint="Choose another folder.",
        )


@contextmanager
def staged(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a new folder beside `folder`, which takes its name when the block ends well, and is removed otherwise.

    An earlier rerun is moved aside first and removed last. So there is a complete rerun on the disk at all times, and
    a failure, or an interruption that raises an exception, puts the earlier one back.
    """
    folder = folder.resolve()  # a link stays; what it leads to is replaced
    staging, aside = _beside(folder, "partial"), _beside(folder, "replaced")
    try:
        with _refused(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            staging.mkdir()
            yield staging
            _check_content(folder, overwrite=overwrite)
            if folder.exists():
                folder.rename(aside)
            staging.rename(folder)
    finally:
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        for leftover in (staging, aside):
            shutil.rmtree(leftover, ignore_errors=True)


def _beside(folder: Path, what: str) -> Path:
    return folder.parent / f".{folder.name}.{what}-{secrets.token_hex(6)}"


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    """Turn an error of the file system into one sentence."""
    try:
        yield
    except ld.LDiversityError:
        raise
    except OSError as error:
        reason = error.strerror or "the disk may be full"
        raise ld.StorageError(
            "output", f"folder {str(folder)!r} cannot be written: {reason}.", hint="Choose another folder."
        ) from None


def _is_rerun_alone(folder: Path) -> bool:
    try:
        facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
        listed = {FACTS_FILE, *facts["files"]} if facts["format"] == FORMAT else set()
    except (OSError, ValueError, TypeError, KeyError):
        return False
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return bool(listed) and there <= listed
