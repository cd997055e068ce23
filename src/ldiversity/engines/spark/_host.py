"""What a worker's machine needs before it computes: a place for compiled loops, and that they are compiled once."""

from __future__ import annotations

import gc
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["first_of_host", "prepare_host", "spare_modules"]

_CACHE: Final = "NUMBA_CACHE_DIR"
_MOST_JOBS: Final = 64
_MOST_BYTES: Final = 1 << 14
_done: set[str] = set()
_n_spared = 0


def prepare_host() -> None:
    """Give compiled loops a folder that this process can write, where the package's own cannot be written.

    Numba reads the name of the folder when it is first imported, so this comes before any work.
    """
    if os.environ.get(_CACHE):
        return
    kernels = Path(__file__).parents[2] / "_kernels" / "__pycache__"
    if not os.access(kernels if kernels.exists() else kernels.parent, os.W_OK):
        os.environ[_CACHE] = str(_private_folder() / "loops")


def spare_modules() -> None:
    """Leave the modules that are loaded by now out of later garbage collections.

    Spark collects garbage after every task, and looks at all objects of all modules each time.
    """
    global _n_spared  # noqa: PLW0603 - one number for the process
    if len(sys.modules) != _n_spared:
        _n_spared = len(sys.modules)
        gc.freeze()


@contextmanager
def first_of_host(job: str) -> Iterator[None]:
    """Let one worker of this machine begin `job` alone; the others wait until it is through, and then go on together.

    The first one compiles the loops that the job needs, and the others find them on disk.
    """
    if job in _done:
        yield
        return
    _done.add(job)
    try:
        import fcntl

        lock = os.open(_private_folder() / "first", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError):  # no such locks here: each worker compiles by itself
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = os.pread(lock, _MOST_BYTES, 0).split()
        if job.encode() in known:
            fcntl.flock(lock, fcntl.LOCK_UN)
            yield
            return
        yield
        os.ftruncate(lock, 0)
        os.pwrite(lock, b"\n".join([*known, job.encode()][-_MOST_JOBS:]), 0)
    finally:
        os.close(lock)


def _private_folder() -> Path:
    """A folder of this user in the system's temporary folder, shared by the workers of a machine.

    Loops are loaded from there, so a folder that others can write is never used.
    """
    owner = os.geteuid() if hasattr(os, "geteuid") else 0
    folder = Path(tempfile.gettempdir()) / f"ldiversity-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="ldiversity-"))
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o077
    return folder if ours else Path(tempfile.mkdtemp(prefix="ldiversity-"))
