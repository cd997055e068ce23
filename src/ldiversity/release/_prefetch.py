"""Working ahead: the next item is made while the present one is used."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ldiversity.base.progress import in_context

__all__ = ["prefetch"]

Item = TypeVar("Item")


def prefetch(items: Iterable[Item]) -> Generator[Item]:
    """The same items, each made by a second thread while the caller uses the one before; close it to end the thread.

    Examples
    --------
    >>> list(prefetch(range(3)))
    [0, 1, 2]
    """
    iterator = iter(items)
    end = object()
    following = in_context(lambda: next(iterator, end))
    try:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(following)
            while (item := waiting.result()) is not end:
                waiting = pool.submit(following)
                yield item  # type: ignore[misc]  # `end` never leaves the loop
    finally:
        # Files that the items are made from are closed now, and not when the garbage collector finds them.
        if isinstance(iterator, Generator):
            iterator.close()
