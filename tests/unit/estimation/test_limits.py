"""What fits into a limit of memory, as far as it was measured: answers, and what is counted for them."""

from __future__ import annotations

import pytest

from ldiversity.base.budget import Budget
from ldiversity.errors import ParameterError
from ldiversity.estimation._limits import CELL_LIMIT, Limits

PROGRAM, OF_NUMBER, OF_SET = 350_000_000, 800, 200


@pytest.mark.parametrize("memory", ["400MB", "500MB", "2GB"])
def test_the_largest_answer_and_all_that_is_counted_for_it_fit_together(memory: str) -> None:
    budget = Budget(memory)

    limits = Limits.within(budget)

    assert PROGRAM + OF_NUMBER * limits.numbers + OF_SET * limits.sets <= budget.bytes
    assert limits.sets > 100_000


def test_less_than_the_program_itself_takes_is_refused() -> None:
    with pytest.raises(ParameterError, match="memory must be at least 400 MB, got 350 MB"):
        Limits.within(Budget("350MB"))


def test_without_a_limit_of_memory_an_answer_has_its_own() -> None:
    assert Limits.within(None).numbers == CELL_LIMIT
