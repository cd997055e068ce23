"""Memory that was freed: it goes back to the system before more is taken, or is used again.

Allocators keep what is freed, so that a process may hold twice what it uses. Within a limit, Arrow takes memory where
Python's arrays are taken from too, so that one can use what the other has freed, and whole free pages go back to the
system as soon as the process comes near its limit.

Without a limit, it is the other way round. Large arrays go back to the system as soon as they are freed, and the next
ones get pages that the system has to fill with zeros first. So they are kept until the run ends, and ten seconds more,
in which another run often begins.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Timer, current_thread
from typing import Final

import pyarrow as pa

from ldiversity.base.budget import Budget

__all__ = ["LARGE_PIECE", "give_back", "held_to", "resident_bytes", "used_again"]

_STATISTICS: Final = Path("/proc/self/statm")
_NEAR: Final = 100_000_000
"""How near the limit the process must be before pages are given back."""

LARGE_PIECE: Final = 100_000_000
"""What large pieces of work take more than others: whole parts of a table, and the first use of compiled loops."""

_GROWTH: Final = 24_000_000
"""How much the process must grow before it is worth to look for free pages again."""


_KEPT_SECONDS: Final = 10.0
"""How long what is free is kept for the next run."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_KEEP: Final = {_MMAP_THRESHOLD: 1 << 30, _TRIM_THRESHOLD: (1 << 31) - 1}
"""Settings of the C library by which arrays of any size are kept when they are freed."""

_USUAL: Final = {_MMAP_THRESHOLD: 1 << 25, _TRIM_THRESHOLD: 1 << 26}
"""Settings that the C library itself comes to in a process that frees large arrays."""


class _Holder:
    """What all threads of the process know of the limit; runs within runs and beside each other share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._limits: list[int] = []
        self._using_again = 0
        self._pool: pa.MemoryPool | None = None
        self._after = 0
        self._later: Timer | None = None

    def begin(self, limit: int) -> None:
        with self._lock:
            if self._keep():
                _give_all_back()
            self._share_memory()
            self._limits.append(limit)
            self._after = 0

    def end(self, limit: int) -> None:
        with self._lock:
            self._limits.remove(limit)
            self._part_memory()

    def begin_using_again(self) -> None:
        with self._lock:
            self._share_memory()
            self._keep()
            if not self._using_again:
                _set(_KEEP)
            self._using_again += 1

    def end_using_again(self) -> None:
        with self._lock:
            self._using_again -= 1
            self._part_memory()
            if self._using_again:
                return
            _set(_USUAL)
            if _trim() is None:
                return
            self._later = Timer(_KEPT_SECONDS, self._give_back_unless_used)
            self._later.daemon = True  # a process that ends does not wait
            try:
                self._later.start()
            except RuntimeError:  # no thread can begin: the process ends
                self._later = None

    def _keep(self) -> bool:
        """Do not give back what the last run has left; whether it has left something."""
        later, self._later = self._later, None
        if later is not None:
            later.cancel()
        return later is not None

    def _give_back_unless_used(self) -> None:
        with self._lock:
            if current_thread() is not self._later:
                return
            self._later = None
        # Without the lock: nobody knows of this thread, and a process forked meanwhile could never take it.
        _give_all_back()

    def _share_memory(self) -> None:
        if self._pool is None and _trim() is not None:
            self._pool = pa.default_memory_pool()
            pa.set_memory_pool(pa.system_memory_pool())

    def _part_memory(self) -> None:
        if self._pool is not None and not self._limits and not self._using_again:
            pa.set_memory_pool(self._pool)
            self._pool = None

    def give_back(self, ahead: int) -> None:
        with self._lock:
            if not self._limits:
                return
            trim, now = _trim(), resident_bytes()
            if trim is None or now is None:
                pa.default_memory_pool().release_unused()
            elif now > min(self._limits) - _NEAR - ahead and (ahead or now > self._after + _GROWTH):
                pa.default_memory_pool().release_unused()
                trim(0)
                self._after = resident_bytes() or now


_holder: Final = _Holder()


@contextmanager
def held_to(budget: Budget | None) -> Iterator[None]:
    """Give memory back within the block, so that the process stays within a limit; without one, nothing changes.

    Examples
    --------
    >>> with held_to(Budget("500MB")):
    ...     give_back()
    """
    if budget is None:
        yield
        return
    _holder.begin(budget.bytes)
    try:
        yield
    finally:
        _holder.end(budget.bytes)


@contextmanager
def used_again() -> Iterator[None]:
    """Keep what is freed within the block for what comes next; soon after it ends, all that is free goes back.

    Examples
    --------
    >>> with used_again():
    ...     pa.default_memory_pool().backend_name in {"system", "mimalloc", "jemalloc"}
    True
    """
    _holder.begin_using_again()
    try:
        yield
    finally:
        _holder.end_using_again()


def give_back(ahead: int = 0) -> None:
    """Return free memory to the system, if the process is near a limit; long work calls it after each of its pieces.

    A piece that takes more than most, and does not call it on the way, says `ahead` how many bytes more.
    """
    _holder.give_back(ahead)


def resident_bytes() -> int | None:
    """How much memory the process has now; None where the system does not say.

    Examples
    --------
    >>> (resident_bytes() or 1) > 0
    True
    """
    try:
        return int(_STATISTICS.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _give_all_back() -> None:
    if (trim := _trim()) is not None:
        trim(0)


def _set(settings: Mapping[int, int]) -> None:
    """Change settings of the C library, where it has them."""
    if (change := _mallopt()) is not None:
        for setting, value in settings.items():
            change(setting, value)


@functools.cache
def _mallopt() -> Callable[[int, int], int] | None:
    """How the C library is told what to do with memory that is freed; None where it has no such function."""
    try:
        change = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return None
    change.argtypes, change.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    function: Callable[[int, int], int] = change
    return function


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """How the C library is told to return free pages; None where it has no such function."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    function: Callable[[int], int] = trim
    return function
