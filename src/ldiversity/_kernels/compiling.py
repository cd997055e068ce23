"""Who is told that loops are being compiled, which happens once on a machine and takes seconds.

The kernels tell; whoever shows progress listens. Listening loads no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["COMPILING", "hear_of_compiling", "tell_of_compiling"]

COMPILING: Final = "compiling, once"
"""What is being done, in words."""

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


def tell_of_compiling(*, begins: bool) -> None:
    """Call the last listener, if there is one."""
    if _listeners:
        _listeners[-1](begins)
