"""Rows that are counted as numbers are those that are counted one by one."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.evaluation.audit import _packing
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._packing import PackedCounts
from ldiversity.evaluation.audit._tally import Tally, counts_of

KINDS: dict[str, list[Any]] = {
    "text": ["b", "a", "", None, "ä"],
    "whole": [3, -1, None, 2**62, 0],
    "short": [3, -1, 40, 0, 7],
    "real": [0.5, None, -1e300, 0.0, 7.0],
    "truth": [True, None, False, True, False],
    "day": [dt.date(2020, 2, 29), None, dt.date(1, 1, 1), dt.date(2020, 1, 1), dt.date(1999, 9, 9)],
    "nothing": [None] * 5,
}


def counted_slowly(batches: list[pa.Table], names: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[name] for name in names) for batch in batches for row in batch.to_pylist())


def as_counter(rows: pa.Table, counts: np.ndarray) -> Counter[tuple[Any, ...]]:
    return Counter(dict(zip((tuple(row.values()) for row in rows.to_pylist()), counts.tolist(), strict=True)))


def random_batches(names: list[str], sizes: list[int], seed: int) -> list[pa.Table]:
    """Later batches hold cells that earlier ones do not."""
    rng = np.random.default_rng(seed)
    whole = pa.table(KINDS)
    batches = []
    for number, size in enumerate(sizes, start=1):
        columns = [whole[name].take(pa.array(rng.integers(0, min(5, number + 1), size))) for name in names]
        batches.append(pa.table(columns, names=names))
    return batches


@pytest.mark.parametrize(
    ("most_places", "spacious"), [(0, False), (1 << 24, False), (1 << 24, True)], ids=["sorted", "by place", "in place"]
)
@pytest.mark.parametrize("merge_rows", [1, 10, 1000])
@pytest.mark.parametrize(
    "names", [["text"], ["whole", "truth"], ["short", "text"], list(KINDS), ["nothing"]], ids="-".join
)
def test_counts_are_those_of_the_slow_way(
    names: list[str],
    merge_rows: int,
    most_places: int,
    spacious: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_packing, "_MOST_PLACES", most_places)
    batches = random_batches(names, [0, 7, 40, 1, 60], seed=merge_rows)
    packed = PackedCounts(names, merge_rows, spacious=spacious)

    assert all(packed.add(batch) for batch in batches)
    rows, counts = packed.result()

    assert rows.cast(batches[0].schema).schema == batches[0].schema
    assert as_counter(rows, counts) == counted_slowly(batches, names)


def test_results_are_in_the_order_of_their_cells_so_that_numbering_them_need_not_sort() -> None:
    names = ["text", "whole", "truth"]
    packed = PackedCounts(names)
    for batch in random_batches(names, [50, 50, 50], seed=2):
        packed.add(batch)

    rows, _ = packed.result()

    for known in (names, names[:2], names[:1]):
        ids, first = number_rows(rows, known)
        mixed = np.random.default_rng(1).permutation(rows.num_rows)
        mixed_ids, mixed_first = number_rows(rows.take(pa.array(mixed)), known)
        assert (np.diff(ids) >= 0).all()
        np.testing.assert_array_equal(mixed_ids, ids[mixed])
        np.testing.assert_array_equal(ids[first], mixed_ids[mixed_first])


def test_a_dictionary_that_names_a_value_twice_or_a_missing_one_is_no_difference() -> None:
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3], pa.int8()), pa.array(["a", "b", "a", None]))
    table = pa.table({"letter": twice})
    packed = PackedCounts(["letter"])

    assert packed.add(table)
    assert packed.add(pa.table({"letter": pa.array(["c", "a"]).dictionary_encode()}))
    rows, counts = packed.result()

    assert dict(zip(rows["letter"].to_pylist(), counts.tolist(), strict=True)) == {None: 2, "a": 3, "b": 1, "c": 1}


def test_what_does_not_fit_into_a_number_is_refused_and_a_tally_goes_on_with_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_packing, "_MOST_BITS", 4)
    names = ["text", "whole"]
    batches = random_batches(names, [30, 30, 30, 30], seed=3)
    tally, packed = Tally(names, 10), PackedCounts(names, 10)

    taken = [packed.add(batch) for batch in batches]
    for batch in batches:
        tally.add(batch)
    found = tally.result()

    assert taken[0]
    assert not taken[-1]
    assert as_counter(found.select(names), counts_of(found)) == counted_slowly(batches, names)


def test_a_column_of_too_many_different_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_packing, "_MOST_VALUES", 100)

    assert not PackedCounts(["id"]).add(pa.table({"id": range(100)}))
    assert PackedCounts(["id"]).add(pa.table({"id": range(99)}))


def test_a_batch_that_has_lost_all_its_rows_is_counted() -> None:
    packed = PackedCounts(["text"])
    empty = pa.table({"text": pa.chunked_array([], pa.string())})

    assert packed.add(empty)
    assert packed.add(pa.table({"text": ["a", "a"]}))
    assert packed.add(empty)

    rows, counts = packed.result()
    assert (rows["text"].to_pylist(), counts.tolist()) == (["a"], [2])
