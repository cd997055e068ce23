"""Combinations that are counted in parts are those that a plain count finds, wherever they wait."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.budget import Budget
from ldiversity.base.spill import Spill
from ldiversity.evaluation.audit import _tally
from ldiversity.evaluation.audit._tally import DividedTallies, counts_of

ROWS = 400_000


@pytest.mark.parametrize("kinds", [50, 300_000], ids=["in memory", "on disk"])
def test_parts_have_each_combination_once_and_cells_have_all_of_them(kinds: int) -> None:
    rng = np.random.default_rng(3)
    ages, people = rng.integers(0, kinds, ROWS), rng.integers(0, 90, ROWS)
    plain = Counter(zip(ages.tolist(), people.tolist(), strict=True))
    with Spill(waiting_bytes=1 << 20) as spill:
        tallies = DividedTallies([["age", "who"]], by=["age"], budget=Budget("300MB"), spill=spill)
        for first in range(0, ROWS, 50_000):
            some = slice(first, first + 50_000)
            tallies.add(0, pa.table({"age": ages[some], "who": people[some]}))
        once = [(cells, counts_of(cells)) for (cells,) in tallies.parts() if cells.num_rows]
        raw = pa.concat_tables(cells for cells in tallies.cells(0) if cells.num_rows)

    counted = {
        (age, who): n
        for cells, counts in once
        for age, who, n in zip(*cells.select(["age", "who"]).to_pydict().values(), counts.tolist(), strict=True)
    }
    added: Counter[tuple[int, int]] = Counter()
    for age, who, n in zip(*raw.select(["age", "who"]).to_pydict().values(), counts_of(raw).tolist(), strict=True):
        added[age, who] += n

    assert (len(once) > 1) == (kinds > 50)
    assert sum(cells.num_rows for cells, _ in once) == len(plain)
    assert counted == plain
    assert added == plain


@pytest.mark.parametrize("n_buckets", [128, 4], ids=["many small buckets", "buckets that are divided again"])
def test_parts_are_about_as_large_as_they_may_be_however_many_buckets_there_are(
    n_buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tally, "_BUCKETS", n_buckets)
    budget = Budget("300MB")
    fit = budget.for_rows // 2 // (_tally._BESIDE_BYTES + _tally._COPIES * 16)
    with Spill(waiting_bytes=1 << 20) as spill:
        tallies = DividedTallies([["age"]], by=["age"], budget=budget, spill=spill)
        for first in range(0, ROWS, 50_000):
            tallies.add(0, pa.table({"age": np.arange(first, first + 50_000)}))
        sizes = [cells.num_rows for (cells,) in tallies.parts()]

    assert sum(sizes) == ROWS
    assert max(sizes) <= fit
    assert len(sizes) <= 4 * ROWS / fit


def test_no_part_is_empty_where_few_combinations_are_dealt_into_many_buckets() -> None:
    rng = np.random.default_rng(3)
    with Spill(waiting_bytes=1 << 20) as spill:
        tallies = DividedTallies([["age", "who"]], by=["age"], budget=Budget("300MB"), spill=spill)
        for first in range(0, ROWS, 50_000):
            tallies.add(0, pa.table({"age": rng.integers(0, 10, 50_000), "who": np.arange(first, first + 50_000)}))
        sizes = [cells.num_rows for (cells,) in tallies.parts()]

    assert sum(sizes) == ROWS
    assert all(sizes)
