"""What runs that were killed have left beside a release: put back or removed by the next run.

A folder that a run works in is locked as long as the run lives; the system takes the lock away when the run dies,
however it dies. Only a folder whose name, owner and content are those that this package gives, and that no run holds,
is touched. Where the system has no such locks, nothing is.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ldiversity.errors import LDiversityWarning
from ldiversity.release._manifest import MANIFEST_NAME

__all__ = ["held", "new_private_folder", "put_back_retired", "remove_leftovers", "retired_name"]

_FILES: Final = re.compile(rf"{re.escape(MANIFEST_NAME)}|data\.(parquet|csv)|sensitive_\d+\.(parquet|csv)")
_FOLDERS: Final = frozenset({"scratch", "mode"})
"""Everything that a run writes into its folder."""


def retired_name(target: Path) -> Path:
    """A fresh name for an old release that steps aside."""
    return target.parent / f".{target.name}.retired-{secrets.token_hex(6)}"


@contextmanager
def new_private_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target` that is held for the time of the block."""
    while True:
        folder = target.parent / f".{target.name}.partial-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700)
        lock = _lock(folder, wait=True)
        # Another run may have taken the folder for a leftover before it was locked; then there is none any more.
        if os.path.lexists(folder) if lock is None else _is_at(lock, folder):
            break
        if lock is not None:
            os.close(lock)
    try:
        yield folder
    finally:
        if lock is not None:
            os.close(lock)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for the time of the block, under whatever name, so that nobody takes it for a leftover."""
    lock = _lock(folder)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def put_back_retired(target: Path) -> None:
    """Give its name back to a release that stepped aside for one that never came."""
    if os.path.lexists(target):
        return
    for folder in _leftovers(target, "retired"):
        if (folder / MANIFEST_NAME).is_file():
            with _held_leftover(folder) as stale:
                if not stale or os.path.lexists(target):
                    continue
                folder.rename(target)
            rule = f"an earlier run was stopped while it replaced {target.name!r}; the release that was there before"
            warnings.warn(LDiversityWarning("output", f"{rule} has its name again"), stacklevel=2)
            return


def remove_leftovers(target: Path) -> None:
    """Remove what killed runs left: unfinished folders, and old releases that were replaced."""
    kinds = ["partial", "retired"] if os.path.lexists(target) else ["partial"]
    for kind in kinds:
        for folder in _leftovers(target, kind):
            with _held_leftover(folder) as stale:
                if stale:
                    shutil.rmtree(folder, ignore_errors=True)


def _leftovers(target: Path, kind: str) -> list[Path]:
    """Folders of ours beside `target`, whether or not a run still holds them."""
    name = re.compile(rf"{re.escape(f'.{target.name}.{kind}-')}[0-9a-f]{{12}}")
    try:
        return sorted(path for path in target.parent.iterdir() if name.fullmatch(path.name) and _is_ours(path))
    except OSError:
        return []


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.lstat()
        return (
            folder.is_dir()
            and not folder.is_symlink()
            and found.st_uid == os.geteuid()
            and all(_is_our_part(path) for path in folder.iterdir())
        )
    except (AttributeError, OSError):  # a system without owners, or a folder that has gone
        return False


def _is_our_part(path: Path) -> bool:
    if path.is_symlink():
        return False
    return path.is_dir() if path.name in _FOLDERS else path.is_file() and _FILES.fullmatch(path.name) is not None


@contextmanager
def _held_leftover(folder: Path) -> Iterator[bool]:
    """Whether a leftover could be locked, which says that no run holds it; it is held for the time of the block."""
    lock = _lock(folder)
    try:
        yield lock is not None and _is_at(lock, folder)
    finally:
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """Lock a folder and return its descriptor; None when another run holds it, or the system has no such locks."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (AttributeError, ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _is_at(descriptor: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), folder.lstat())
    except OSError:
        return False
