from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import ldiversity as ld
from ldiversity.reproduction._crew import Crew


@pytest.fixture(autouse=True)
def _these_jobs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))


def double(number: int, report: Callable[[float, str], None]) -> int:
    report(0.5, f"doubling {number}")
    return 2 * number


def refuse(_report: Callable[[float, str], None]) -> None:
    raise ld.SchemaError("a rule is broken.", hint="Mend it.")


def end(_report: Callable[[float, str], None]) -> None:
    os._exit(3)


def give_a_function(_report: Callable[[float, str], None]) -> Callable[[], None]:
    return lambda: None


def untold(place: int, share: float, what: str) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers: int) -> None:
    with Crew(workers) as crew:
        assert crew.run([partial(double, number) for number in range(5)], untold) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_names_its_job(workers: int) -> None:
    told: set[tuple[int, float, str]] = set()

    with Crew(workers) as crew:
        crew.run([partial(double, 7), partial(double, 8)], lambda *what: told.add(what))

    assert told == {(0, 0.5, "doubling 7"), (1, 0.5, "doubling 8")}


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_is_raised_with_its_hint(workers: int) -> None:
    with pytest.raises(ld.SchemaError, match="a rule is broken") as refusal, Crew(workers) as crew:
        crew.run([refuse, partial(double, 1)], untold)

    assert refusal.value.hint == "Mend it."


def test_a_process_that_ends_early_is_told() -> None:
    with pytest.raises(ld.InternalError, match="ended early"), Crew(2) as crew:
        crew.run([end, partial(double, 1)], untold)


def test_a_result_that_cannot_be_handed_over_is_told() -> None:
    with pytest.raises(ld.InternalError, match="cannot be handed over"), Crew(2) as crew:
        crew.run([give_a_function, partial(double, 1)], untold)


def test_processes_serve_again() -> None:
    with Crew(2) as crew:
        first = crew.run([partial(double, 1), partial(double, 2)], untold)

        assert crew.run([partial(double, number) for number in first], untold) == [4, 8]
