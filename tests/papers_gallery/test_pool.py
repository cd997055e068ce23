from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

import pytest

import ldiversity as ld
from papers.pool import ProcessPool


def double(number: int, report: Callable[[float, str], None]) -> int:
    report(0.5, f"doubling {number}")
    return 2 * number


def refuse(_report: Callable[[float, str], None]) -> None:
    raise ld.SchemaError("a rule is broken.", hint="Mend it.")


def end(_report: Callable[[float, str], None]) -> None:
    os._exit(3)


def wait(_report: Callable[[float, str], None]) -> None:
    time.sleep(60)


def give_a_function(_report: Callable[[float, str], None]) -> Callable[[], None]:
    return lambda: None


def untold(place: int, share: float, what: str) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers: int) -> None:
    with ProcessPool(workers) as pool:
        assert pool.run([partial(double, number) for number in range(5)], untold) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_names_its_job(workers: int) -> None:
    told: set[tuple[int, float, str]] = set()

    with ProcessPool(workers) as pool:
        pool.run([partial(double, 7), partial(double, 8)], lambda *what: told.add(what))

    assert told == {(0, 0.5, "doubling 7"), (1, 0.5, "doubling 8")}


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_is_raised_with_its_hint(workers: int) -> None:
    with pytest.raises(ld.SchemaError, match="a rule is broken") as refusal, ProcessPool(workers) as pool:
        pool.run([refuse, partial(double, 1)], untold)

    assert refusal.value.hint == "Mend it."


def test_a_process_that_ends_early_is_told() -> None:
    with pytest.raises(ld.InternalError, match="ended early"), ProcessPool(2) as pool:
        pool.run([end, partial(double, 1)], untold)


def test_a_result_that_cannot_be_handed_over_is_told() -> None:
    with pytest.raises(ld.InternalError, match="cannot be handed over"), ProcessPool(2) as pool:
        pool.run([give_a_function, partial(double, 1)], untold)


def test_the_processes_have_ended_when_the_error_of_a_job_arrives() -> None:
    with ProcessPool(2) as pool:
        pool.run([partial(double, 1), partial(double, 2)], untold)
        processes = list(pool._processes.values())
        with pytest.raises(ld.SchemaError):
            pool.run([refuse, wait], untold)

        assert [process.is_alive() for process in processes] == [False, False]


def test_processes_serve_again() -> None:
    with ProcessPool(2) as pool:
        first = pool.run([partial(double, 1), partial(double, 2)], untold)

        assert pool.run([partial(double, number) for number in first], untold) == [4, 8]
