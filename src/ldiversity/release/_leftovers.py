"""What killed runs left beside a release: the next run puts it back or removes it.

A run locks the folder that it works in. The system drops the lock when the run dies, however it dies. A folder is
touched only when its name, owner and content are those that this package gives, and no run holds it. Where the system
has no such locks, nothing is touched.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ldiversity.base.warned import warn
from ldiversity.errors import LDiversityWarning
from ldiversity.release._manifest import MANIFEST_NAME
from ldiversity.release._written import is_part

__all__ = ["held", "new_private_folder", "put_back_retired", "remove_leftovers", "retired_name"]

_FOLDERS: Final = frozenset({"scratch", "mode"})
"""What a run writes into its folder besides the files of a release."""


def retired_name(target: Path) -> Path:
    """A new name for an old release, until the new one is in its place."""
    return target.parent / f".{target.name}.retired-{secrets.token_hex(6)}"


@contextmanager
def new_private_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, locked during the block."""
    while True:
        folder = target.parent / f".{target.name}.partial-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700)
        lock = _lock(folder, wait=True)
        # Another run may have removed the folder as a leftover before it was locked.
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
def held(folder: Path) -> Iterator[bool]:
    """Lock a folder during the block, so that no other run takes it for a leftover.

    Yields whether that was possible. If so, no other run holds the folder.
    """
    lock = _lock(folder)
    try:
        yield lock is not None and _is_at(lock, folder)
    finally:
        if lock is not None:
            os.close(lock)


def put_back_retired(target: Path) -> None:
    """Give an old release its name back when the one that was to replace it was never finished."""
    if os.path.lexists(target):
        return
    for folder in _leftovers(target, "retired"):
        if (folder / MANIFEST_NAME).is_file():
            with held(folder) as stale:
                if not stale or os.path.lexists(target):
                    continue
                folder.rename(target)
            rule = f"an earlier run was stopped while it replaced {target.name!r}; the release before it was put back"
            warn(LDiversityWarning("output", rule))
            return


def remove_leftovers(target: Path) -> None:
    """Remove what killed runs left behind: unfinished folders, and old releases that were replaced."""
    kinds = ["partial", "retired"] if os.path.lexists(target) else ["partial"]
    for kind in kinds:
        for folder in _leftovers(target, kind):
            with held(folder) as stale:
                if stale:
                    shutil.rmtree(folder, ignore_errors=True)


def _leftovers(target: Path, kind: str) -> list[Path]:
    """Folders that this package made beside `target`, whether or not a run still holds them."""
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
    return (
        path.is_dir()
        if path.name in _FOLDERS
        else path.is_file() and (path.name == MANIFEST_NAME or is_part(path.name))
    )


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
