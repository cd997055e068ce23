"""Report how far a run is, and let the watcher stop it.

A run is a sequence of stages, which may contain stages. Code that reads, draws, groups or writes rows reports to the
current stage several times a second. It needs no argument for that: the stage is a context variable. The reported
share never falls.

A watcher stops the run by raising any exception. The exception travels inside a `BaseException` of this module, so
that no handler on the way mistakes it for a fault of the table or the disk, and is raised again where the run began.
Until then it is raised in every thread that reports progress, so all of them stop.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from typing import Final, ParamSpec, TypeAlias, TypeVar

from ldiversity._kernels.compiling import COMPILING, hear_of_compiling
from ldiversity.base.ending import heed_request_to_end

__all__ = ["Progress", "in_context", "reading", "reports_progress", "stage", "tell", "unwatched", "watched"]

Progress: TypeAlias = Callable[[float, str], None]
"""Takes the share of the work that is done, and a word for the current step."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_UNANNOUNCED: Final = 0.25
"""The share of a stage that its readings may fill when the number of readings was not announced."""

_HALF_LIFE: Final = 1 << 20
"""In a reading of unknown length, half of the remaining share is reported after this many rows."""


class _StopRequest(BaseException):
    """Carries what a watcher raised to where the run began."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self.reason = reason


class _Watch:
    """One run and its watcher."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.RLock()
        self._last = (0.0, "")
        self._reason: BaseException | None = None

    def tell(self, share: float, word: str) -> None:
        with self._lock:
            if self._reason is None:
                self._last = (max(share, self._last[0]), word)
                self._call(*self._last)
            if self._reason is not None:
                raise _StopRequest(self._reason)

    def tell_of_compiling(self, begins: bool) -> None:  # noqa: FBT001 - one plain fact
        with self._lock:
            share, word = self._last
            self._call(share, COMPILING if begins else word)

    def _call(self, share: float, word: str) -> None:
        try:
            self._progress(share, word)
        except BaseException as reason:  # noqa: BLE001 - whatever the watcher stops the run with
            self._reason = reason


class _Stage:
    """A part of a run, from one share of the whole work to another."""

    def __init__(self, watch: _Watch, word: str, low: float, high: float, passes: int) -> None:
        self.watch, self._word, self._low, self._high = watch, word, low, high
        self._passes = passes
        self.done = 0.0

    def tell(self, share: float, word: str | None = None) -> None:
        self.done = max(self.done, min(share, 1.0))
        self.watch.tell(self._low + self.done * (self._high - self._low), word or self._word)

    def part(self, until: float, word: str, passes: int) -> _Stage:
        width = self._high - self._low
        low, high = self._low + self.done * width, self._low + max(until, self.done) * width
        return _Stage(self.watch, word, low, high, passes)

    def reading(self, total: int | None) -> Callable[[int], None]:
        """Begin a pass over the rows: an announced one, or one that takes half of what is left for such passes."""
        start, width = self.done, max(_UNANNOUNCED - self.done, 0.0) / 2
        if self._passes:
            width = (1 - start) / self._passes
            self._passes -= 1
        seen = 0

        def step(amount: int) -> None:
            nonlocal seen
            seen += amount
            share = 1 - 2 ** (-seen / _HALF_LIFE) if total is None else min(seen / max(total, 1), 1.0)
            self.tell(start + width * share)

        return step


_current: ContextVar[_Stage | None] = ContextVar("stage", default=None)


class watched:  # noqa: N801 - used as a context manager that is made by a function
    """Report all work of the block to `progress`; whatever it raises ends the block.

    Without `progress`, a run inside another run reports to that run's watcher.

    Examples
    --------
    >>> with watched(lambda share, word: print(round(share, 2), word)):
    ...     with stage("cutting", until=0.5):
    ...         tell(0.5)
    ...     tell(1.0, "done")
    0.0 reading
    0.0 cutting
    0.25 cutting
    0.5 cutting
    1.0 done
    """

    # Not a generator, because a generator cannot raise everything that a watcher may: StopIteration, for one.

    def __init__(self, progress: Progress | None, word: str = "reading") -> None:
        self._stage = None if progress is None else _Stage(_Watch(progress), word, 0.0, 1.0, passes=0)
        self._open = ExitStack()

    def __enter__(self) -> None:
        if self._stage is None:
            return
        self._open.callback(_current.reset, _current.set(self._stage))
        self._open.enter_context(hear_of_compiling(self._stage.watch.tell_of_compiling))
        try:
            tell(0.0)
        except _StopRequest as stop:
            self.__exit__(None, stop, None)

    def __exit__(self, _: object, fault: BaseException | None, __: object) -> None:
        self._open.close()
        if self._stage is not None and isinstance(fault, _StopRequest):
            # And not from the internal request.
            raise fault.reason from fault.reason.__cause__


def reports_progress(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Report all work of a function to its keyword argument `progress`."""

    @functools.wraps(function)
    def run(*args: _Given.args, **given: _Given.kwargs) -> _Result:
        with watched(given.get("progress")):  # type: ignore[arg-type]  # as the function declares it
            return function(*args, **given)

    return run


@contextmanager
def stage(word: str, *, until: float | None = None, passes: int = 0) -> Iterator[Progress]:
    """Make the block a stage that ends at the share `until` of the stage around it.

    When `until` is None, the stage takes half of what is left: use it when the number of stages to come is unknown.
    `passes` is how often the stage reads its rows, when reading is all that takes time in it. Yields a function that
    reports how much of the stage is done, for use in other threads.
    """
    outer = _current.get()
    if outer is None:
        yield _silent
        return
    end = outer.done + (1 - outer.done) / 2 if until is None else until
    inner = outer.part(end, word, passes)
    token = _current.set(inner)
    try:
        inner.tell(0.0)
        yield inner.tell
    finally:
        _current.reset(token)
    outer.tell(end, word)


def tell(share: float, word: str | None = None) -> None:
    """Report how much of the current stage is done; raises when the watcher or a signal has stopped the run."""
    heed_request_to_end()
    present = _current.get()
    if present is not None:
        present.tell(share, word)


def reading(total: int | None) -> Callable[[int], None]:
    """Begin a pass over `total` rows or bytes; returns a function to call with the number of newly read ones."""
    present = _current.get()
    return _ignore if present is None else present.reading(total)


@contextmanager
def unwatched() -> Iterator[None]:
    """Report nothing from the block, because it is too late to stop the run."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def in_context(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Wrap a function for another thread, so that it reports to the stage that this thread is in now."""
    context = copy_context()

    def run(*args: _Given.args, **given: _Given.kwargs) -> _Result:
        # A context cannot be entered twice at once, so each call gets its own copy.
        return context.copy().run(function, *args, **given)

    return run


def _silent(share: float, word: str) -> None:
    """Report nothing: there is no watcher."""


def _ignore(amount: int) -> None:
    """Count nothing: there is no watcher."""
