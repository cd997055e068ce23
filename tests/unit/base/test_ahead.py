"""Work that is done before it is asked for: in order, and ended with its reader."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from ldiversity.base.ahead import made_ahead, prefetch


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_what_is_made_comes_in_the_order_of_what_is_given(workers: int, n: int) -> None:
    assert list(made_ahead(lambda one: one * one, range(n), workers)) == [one * one for one in range(n)]


def test_as_many_are_made_at_once_as_there_are_workers() -> None:
    both = threading.Barrier(2, timeout=20)
    assert list(made_ahead(lambda _: both.wait() >= 0, range(4), 2)) == [True] * 4


def test_no_more_than_some_are_made_ahead() -> None:
    made: list[int] = []

    def given() -> Iterator[int]:
        for one in range(100):
            made.append(one)
            yield one

    with closing(made_ahead(abs, given(), 2)) as found:
        next(found)
    assert len(made) == 3


def test_a_fault_comes_in_its_place() -> None:
    found = made_ahead(lambda one: 1 // one, [1, 0, 1], 2)
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_closing_ends_the_thread_and_what_it_reads() -> None:
    closed: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(threading.current_thread().name)

    before = threading.active_count()
    with closing(prefetch(items())) as found:
        assert next(found) == 0
    assert len(closed) == 1
    assert threading.active_count() == before
