"""Work that other threads do before it is asked for, in the order in which it is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ldiversity.base.progress import in_context

__all__ = ["made_ahead", "prefetch"]

Item = TypeVar("Item")
Given = TypeVar("Given")


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


def made_ahead(make: Callable[[Given], Item], given: Iterable[Given], workers: int) -> Generator[Item]:
    """What a function makes of each, `workers` of them at the same time; close it to end the threads.

    Examples
    --------
    >>> list(made_ahead(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    run = in_context(make)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Item]] = deque()
        try:
            for one in given:
                waiting.append(pool.submit(run, one))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
