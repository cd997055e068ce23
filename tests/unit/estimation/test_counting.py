"""Counting rows without keeping them."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import LDiversityError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, CellData, Estimator, Solution, bins
from ldiversity.estimation._coders import Lookup, Ranges
from ldiversity.estimation._count_sets import CountSets
from ldiversity.estimation._limits import Limits
from ldiversity.estimation._where import Filter
from ldiversity.estimation._words import Digits, Tally
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import RowBatch
from ldiversity.tables import COUNT

MANY = Limits(numbers=10**6, sets=10**6, values=10**6, rows=10**6)


@pytest.mark.parametrize("sizes", [(1,), (7, 3), (2**40, 2**20, 5, 2**30), (2**61, 2**61, 2)])
def test_digits_come_back_from_words(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    digits = [rng.integers(0, min(size, 2**31), 50) for size in sizes]
    packed = Digits(sizes)

    assert all((word >= 0).all() for word in packed.pack(digits))
    assert [one.tolist() for one in packed.unpack(packed.pack(digits))] == [one.tolist() for one in digits]


@pytest.mark.parametrize("most", [1 << 62, 30])
def test_rows_are_counted_as_a_counter_counts_them(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    from ldiversity.estimation import _words

    monkeypatch.setattr(_words, "_MOST", most)
    monkeypatch.setattr(_words, "_FEW", 10)
    rng = np.random.default_rng(1)
    batches = [[rng.integers(0, size, 40) for size in (5, 4, 3)] for _ in range(6)]
    digits = Digits((5, 4, 3))
    tally = Tally(digits.names, 100)
    for batch in batches:
        assert not tally.add(digits.count(batch))
    table = tally.result()
    assert table is not None
    found = np.stack(digits.unpack([np.asarray(table[name]) for name in digits.names]), axis=1)

    expected = Counter(row for batch in batches for row in zip(*(one.tolist() for one in batch), strict=True))
    assert list(map(tuple, found.tolist())) == sorted(expected)
    assert table[COUNT].to_pylist() == [expected[row] for row in sorted(expected)]


def test_a_tally_says_when_there_are_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from ldiversity.estimation import _words

    monkeypatch.setattr(_words, "_FEW", 2)

    assert Tally(["x"], 4).add(pa.table({"x": range(5), COUNT: [1] * 5}))
    assert not Tally(["x"], 5).add(pa.table({"x": range(5), COUNT: [1] * 5}))


def test_a_tally_of_too_many_rows_has_no_result() -> None:
    tally = Tally(["x"], 4)

    assert not tally.add(pa.table({"x": range(5), COUNT: [1] * 5}))
    assert tally.result() is None


def test_what_workers_count_can_be_sent_to_them() -> None:
    sexes = Lookup("sex", pa.array(["f", "m"]), np.array([0, 1], dtype=np.int32), pa.array(["f", "m"]))
    ages = Ranges("age", (20.0, 30.0), pa.array(["< 20", "[20, 30)", "> 30", None]))
    counter = CountSets(
        (sexes, ages), (Filter("age", ">=", ("20",)),), ("s",), (UniformSelection(n_values=4, l=2),), False
    )
    rows = RowBatch(
        3, pa.table({"sex": ["f", "m", "m"], "age": [25, 19, 24]}), {"s": np.array([[0, 1], [0, 2], [2, 3]], np.int32)}
    )

    assert pickle.loads(pickle.dumps(counter))(rows).equals(counter(rows))  # noqa: S301 - our own
    assert counter(rows)[COUNT].to_pylist() == [1, 1]


class OneByOne(Estimator):
    """Looks at every set by itself."""

    name = "one-by-one"
    summary = "One by one."

    def _solve(self, cells: CellData) -> Solution:
        return Solution(np.full(cells.counts.shape, float(len(cells.sets[0]))), (self.name,) * cells.n_cells)


@pytest.fixture(scope="module")
def release() -> ld.Release:
    rng = np.random.default_rng(2)
    table = pa.table({"x": rng.permutation(400), "wage": rng.random(400), "job": rng.integers(0, 6, 400)})
    return ld.anonymize(table, quasi=["x", "wage"], sensitive="job", method=ld.RandomizedAddition(l=2), confirm="x")


@pytest.mark.parametrize(
    ("limits", "by", "estimator", "rule"),
    [
        ({"values": 300}, "x", "auto", "'x' has more than 300 different values"),
        ({"values": 300}, bins("wage", quantiles=2), "auto", "'wage' has more than 300 different values"),
        ({"sets": 300}, "x", "auto", "more than 300 different sets"),
        ({"numbers": 300}, "x", "auto", "cells times values may be at most 300"),
        ({"rows": 300}, None, "one-by-one", "of which at most 300 fit"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    release: ld.Release,
    limits: dict[str, int],
    by: str | None,
    estimator: str,
    rule: str,
) -> None:
    given = Limits(**{**vars(MANY), **limits})
    monkeypatch.setattr(Limits, "within", lambda _: given)
    with ESTIMATORS.registered("one-by-one", OneByOne), pytest.raises(UnsupportedError, match=rule) as found:
        ld.estimate(release, by, estimator=estimator, memory="500MB")

    assert found.value.hint


def test_numbers_in_ranges_may_be_as_many_as_there_are_rows(
    monkeypatch: pytest.MonkeyPatch, release: ld.Release
) -> None:
    monkeypatch.setattr(Limits, "within", lambda _: Limits(100, 100, 3, 1000))

    result = ld.estimate(release, bins("wage", width=0.5), memory="500MB")

    assert result.records.tolist() == ld.estimate(release, bins("wage", width=0.5)).records.tolist()


@pytest.mark.parametrize("memory", ["1MB", "much", -3])
def test_memory_must_be_a_size_that_suffices(release: ld.Release, memory: str) -> None:
    with pytest.raises(LDiversityError, match="memory must be"):
        ld.estimate(release, memory=memory)
