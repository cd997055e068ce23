"""Who is told that loops are being compiled, which happens once on a machine and takes seconds.

The kernels tell; whoever shows progress listens. Listening loads no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

__all__ = ["COMPILING", "hear_of_compiling", "say_compiling", "tell_of_compiling"]

COMPILING: Final = "compiling, once"
"""What is being done, in words."""

Progress: TypeAlias = Callable[[float, str], None]
"""Takes the share of the work that is done, and a word for what is being done."""

_listeners: list[Callable[[bool], None]] = []


@contextmanager
def hear_of_compiling(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call the listener with True when loops begin to be compiled and with False when they are; from any thread.

    Only the last of several listeners is called.

    Examples
    --------
    >>> with hear_of_compiling(print):
    ...     tell_of_compiling(begins=True)
    True
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _silent(share: float, what: str) -> None:
    """Show no progress."""


def tell_of_compiling(*, begins: bool) -> None:
    """Call the last listener, if there is one."""
    if _listeners:
        _listeners[-1](begins)


@contextmanager
def say_compiling(progress: Progress | None, what: str) -> Iterator[Progress]:
    """Give a function that does what `progress` does, and let `progress` know when loops are compiled.

    After that it is told again what it was told last; when that is nothing yet, that `what` is being done.

    Examples
    --------
    >>> with say_compiling(lambda share, what: print(share, what), "grouping") as progress:
    ...     progress(0.5, "cutting")
    ...     tell_of_compiling(begins=True)
    ...     tell_of_compiling(begins=False)
    0.5 cutting
    0.5 compiling, once
    0.5 cutting
    """
    if progress is None:
        yield _silent
        return
    last = (0.0, what)

    def report(share: float, doing: str) -> None:
        nonlocal last
        last = (share, doing)
        progress(share, doing)

    def listener(begins: bool) -> None:  # noqa: FBT001 - one plain fact
        progress(last[0], COMPILING if begins else last[1])

    with hear_of_compiling(listener):
        yield report
