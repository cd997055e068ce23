"""How much memory a run may take, as people write it."""

from __future__ import annotations

import pytest

from ldiversity.base.budget import Budget
from ldiversity.errors import ParameterError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("2GiB", 2 * 1024**3),
        ("1.5GB", 1_500_000_000),
        ("400000kB", 400_000_000),
        ("500000000", 500_000_000),
        (500_000_000, 500_000_000),
        ("1TiB", 1024**4),
    ],
)
def test_a_budget_is_bytes_or_a_text(given: str | int, expected: int) -> None:
    assert Budget(given).bytes == expected


@pytest.mark.parametrize("given", ["", "much", "5 GX", "-1GB", "1e9", True, 1.5e9, None, "0x10", "५GB"])
def test_what_is_not_a_number_of_bytes_is_refused_in_one_sentence(given: str) -> None:
    with pytest.raises(ParameterError, match="memory must be a number of bytes, such as '500MB' or '2GiB', got"):
        Budget(given)


@pytest.mark.parametrize("given", ["1MB", 0, -5, "299MB"])
def test_too_little_names_the_least(given: str | int) -> None:
    with pytest.raises(ParameterError, match="memory must be at least 300 MB, got") as caught:
        Budget(given)

    assert "take 250 MB" in (caught.value.hint or "")


@pytest.mark.parametrize("given", ["9" * 400 + "GB", 10**400, "2000000TB"])
def test_more_than_any_machine_has_is_refused_in_one_sentence(given: str | int) -> None:
    with pytest.raises(ParameterError, match=r"^memory must be at most 1000000 TB, got more\."):
        Budget(given)


def test_rows_fit_beside_the_program() -> None:
    budget = Budget("500MB")

    assert budget.rows(250) * 250 == budget.for_rows < budget.bytes
    assert budget.rows(1e12) == 1
    assert budget.rows(0.001) == budget.for_rows


def test_less_memory_means_fewer_rows_at_once_and_longer_rows_too() -> None:
    large, small = Budget("4GB"), Budget("400MB")

    assert large.chunk_rows(100, 2) == 1 << 18 > small.chunk_rows(100, 2) > small.chunk_rows(10_000, 2) >= 1 << 10
    assert small.chunk_rows(100, 2) > small.chunk_rows(100, 64)
    assert large.bucket_rows(100) == 1 << 18 > small.bucket_rows(100) > small.bucket_rows(10_000) >= 1 << 10
    assert large.most_workers > small.most_workers >= 1
    # What is in memory at once fits: rows of all threads in two copies, and what is counted about them.
    for width in (10, 100, 1000):
        for workers in (1, 2, 8):
            rows = small.chunk_rows(width, workers)
            assert rows == 1 << 10 or (workers + 2) * rows * 2 * width < small.for_rows / 2
