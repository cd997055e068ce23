"""Combinations are counted exactly, whether or not they fit in memory."""

from __future__ import annotations

from collections import Counter
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.combinations import Combinations, sizes_of


def table(n: int, n_values: int) -> pa.Table:
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, n_values, n)
    return pa.table(
        {
            "number": numbers,
            "text": pa.array([None if i % 5 == 0 else f"t{i % 3}" for i in numbers]),
            "coded": pa.array([f"c{i % 7}" for i in numbers]).dictionary_encode(),
            "float": pa.array([(0.0, -0.0, float("nan"), None, 1.5)[i % 5] for i in range(n)]),
            "day": pa.array([date(2020, 1, 1 + i % 2) for i in numbers]),
            "flag": pa.array([bool(i % 2) for i in numbers]),
        }
    )


def expected(rows: pa.Table) -> Counter[tuple[object, ...]]:
    """The slow way: NaN is missing, and minus zero is zero."""

    def plain(cell: object) -> object:
        return None if cell != cell else cell + 0.0 if isinstance(cell, float) else cell  # noqa: PLR0124 - NaN

    columns = [[plain(cell) for cell in column.to_pylist()] for column in rows.columns]
    return Counter(zip(*columns, strict=True))


def counted(seen: Combinations) -> list[Counter[tuple[object, ...]]]:
    return [
        Counter({tuple(row[:-1]): row[-1] for row in zip(*(c.to_pylist() for c in part.columns), strict=True)})
        for part in seen.parts()
    ]


@pytest.mark.parametrize("n_values", [3, 400, 100_000])
@pytest.mark.parametrize("most", [10, 300, 1 << 18])
def test_counts_are_those_of_the_slow_way(n_values: int, most: int) -> None:
    rows = table(3000, n_values)
    seen, again = Combinations(most=most), Combinations(most=most)
    for start in range(0, 3000, 500):
        seen.add(rows.slice(start, 500))
        again.add(rows.slice(start, 500))
    parts = counted(seen)

    # Each combination is in one part alone.
    assert len(parts) > 1 or most > 10 or n_values == 3
    assert sum(map(len, parts)) == len(expected(rows))
    assert sum(parts, Counter()) == expected(rows)
    sizes = again.sizes()
    found = Counter(expected(rows).values())
    assert dict(zip(sizes.sizes.tolist(), sizes.numbers.tolist(), strict=True)) == found
    assert (sizes.n_rows, sizes.n_combinations) == (3000, len(expected(rows)))


@pytest.mark.parametrize("most", [5, 1 << 18])
def test_rows_may_stand_for_several(most: int) -> None:
    seen = Combinations(most=most)
    for _ in range(20):
        seen.add(pa.table({"a": range(50)}), np.arange(50) + 1)

    assert seen.sizes().sizes.tolist() == [20 * (i + 1) for i in range(50)]


def test_the_first_columns_may_decide_what_stays_together() -> None:
    seen = Combinations(whole=1, most=20)
    for start in range(0, 4000, 100):
        seen.add(pa.table({"a": np.arange(start, start + 100) % 211, "b": np.arange(start, start + 100) % 7}))
    parts = [set(part.column("k0").to_pylist()) for part in seen.parts()]

    assert len(parts) > 1
    assert sum(map(len, parts)) == 211


def test_no_rows_have_no_combinations_and_no_columns_have_one() -> None:
    assert Combinations().sizes().n_combinations == 0
    seen = Combinations()
    seen.add(pa.table({"a": [1, 2, 3]}).select([]))
    assert (seen.sizes().n_combinations, seen.sizes().n_rows) == (1, 3)
    assert sizes_of([]).n_rows == 0


def test_one_combination_that_cannot_be_divided_is_counted_all_the_same() -> None:
    seen = Combinations(whole=1, most=10)
    for _ in range(50):
        seen.add(pa.table({"a": ["same"] * 40, "b": range(40)}))

    sizes = seen.sizes()
    assert sizes.sizes.tolist() == [50]
    assert sizes.numbers.tolist() == [40]
