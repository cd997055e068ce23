"""Report that loops are being compiled, which happens once per machine and takes seconds.

The kernels report it, and progress listens. Listening does not load the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["COMPILING", "hear_of_compiling", "tell_of_compiling"]

COMPILING: Final = "compiling, once"
"""The word for this step in progress reports."""

_listeners: list[Callable[[bool], None]] = []


@contextmanager
def hear_of_compiling(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call the listener with True when compiling begins and with False when it ends, from any thread.

    If there are several listeners, only the last is called.

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


def tell_of_compiling(*, begins: bool) -> None:
    """Call the last listener, if there is one."""
    if _listeners:
        _listeners[-1](begins)
