"""Checksums of files, by which damage is noticed."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

__all__ = ["sha256_of"]

_LARGE: Final = 1 << 24
_TICK: Final = 20_000_000
"""Nanoseconds after which a file system surely writes another time."""

_MOST_KNOWN: Final = 64

_Seen: TypeAlias = tuple[int, int, int, int, int]
_known: dict[_Seen, str] = {}
_lock: Final = Lock()


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file.

    A large file is read once, as long as the system notes no change of it. It notes one through mapped memory only when
    the page is written to disk; another process reads every file itself.
    """
    before = file.stat()
    if before.st_size < _LARGE:
        return _read(file)
    # A change within the same tick of the clock as the last one would leave no trace.
    time.sleep(max(0, min(_TICK, _changed(before) + _TICK - time.time_ns())) / 1e9)
    seen = _seen(file.stat())
    digest = _known.get(seen) or _read(file)
    if _seen(file.stat()) == seen:
        with _lock:
            _known[seen] = digest
            for old in list(_known)[:-_MOST_KNOWN]:
                del _known[old]
    return digest


def _read(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _changed(found: os.stat_result) -> int:
    return max(found.st_mtime_ns, found.st_ctime_ns)


def _seen(found: os.stat_result) -> _Seen:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
