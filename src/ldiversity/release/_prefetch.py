"""Working ahead: the next item is made while the present one is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["prefetch"]

Item = TypeVar("Item")


def prefetch(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, each made by a second thread while the caller uses the one before.

    Examples
    --------
    >>> list(prefetch(range(3)))
    [0, 1, 2]
    """
    iterator = iter(items)
    end = object()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, iterator, end)
        while (item := waiting.result()) is not end:
            waiting = pool.submit(next, iterator, end)
            yield item  # type: ignore[misc]  # `end` never leaves the loop
