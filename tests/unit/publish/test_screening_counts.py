"""What the screening counts fast is what slow, obvious code counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.base.hashing import cell_hashes
from ldiversity.engines import LocalEngine, NumberedBatch, Secrets
from ldiversity.publish._levels import NumberLevel
from ldiversity.publish._prepare import prepare
from ldiversity.publish._screening import screen
from ldiversity.publish._screening._cell_counts import Remembered, looks
from ldiversity.publish._screening._people import even_samples
from ldiversity.publish._screening._sketch import Sketch, SketchRows
from ldiversity.publish._screening._tally import HashCounts
from ldiversity.publish._screening._telling import telling
from ldiversity.publish._text_levels import PrefixLevel
from ldiversity.tables import open_source


def guessed_by_others(pairs: Sequence[tuple[int, int]]) -> float:
    """For each row, guess by the rows with the same value but itself; a draw of two is right half of the time."""
    right = 0.0
    for place, (value, hidden) in enumerate(pairs):
        others = Counter(other for at, (same, other) in enumerate(pairs) if same == value and at != place)
        most = max(others.values(), default=0)
        if most and others[hidden] == most:
            right += 1.0 if list(others.values()).count(most) == 1 else 0.5
    return right / max(len(pairs), 1)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=40))
def test_what_a_column_tells_is_how_often_the_others_guess_right(pairs: list[tuple[int, int]]) -> None:
    counts = HashCounts(bits=1)
    keys = np.array([2 * value + hidden for value, hidden in pairs], dtype=np.uint64)
    counts.add(keys, np.ones(len(keys), dtype=np.int64))

    assert telling(counts, len(pairs)).share == pytest.approx(guessed_by_others(pairs))


@example(parts=[[0], [1, 4], [0, 2]], most=1)
@given(parts=st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=30), max_size=6), most=st.integers(1, 20))
def test_counts_that_were_gathered_can_be_gathered_again(parts: list[list[int]], most: int) -> None:
    at_once, in_parts = (HashCounts(bits=0, most=most) for _ in range(2))
    for part in parts:
        keys, once = np.array(part, dtype=np.uint64), np.ones(len(part), dtype=np.int64)
        alone = HashCounts(bits=0, most=most)
        alone.add(keys, once)
        at_once.add(keys, once)
        in_parts.add(alone.keys, alone.counts, alone.halvings)

    assert in_parts.keys.tolist() == at_once.keys.tolist()
    assert in_parts.counts.tolist() == at_once.counts.tolist()
    assert in_parts.scale == at_once.scale


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=60))
def test_equal_cells_alone_have_equal_hashes(cells: list[str | None]) -> None:
    hashes = cell_hashes(pa.array(cells, pa.string())).tolist()

    assert len(set(hashes)) == len(set(cells))
    assert len(set(zip(cells, hashes, strict=True))) == len(set(cells))


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2, None, 2] * 700),
        pa.array([0.5, float("nan"), None, -0.0, 0.0] * 600),
        pa.array(["a", "bb", None] * 900),
        pa.array(["a", "bb", None] * 900).dictionary_encode(),
        pa.array([True, False, None] * 900),
        pa.array([1, 86_400_000, None] * 900, pa.timestamp("ms")),
        pa.array([b"x", b"y", None] * 900),
    ],
    ids=str,
)
def test_a_cell_has_the_same_hash_wherever_it_stands(cells: pa.Array) -> None:
    whole = cell_hashes(cells).tolist()

    assert cell_hashes(cells.slice(3, 11)).tolist() == whole[3:14]
    known = {str(cell) for cell in cells.to_pylist() if cell is not None and cell == cell}  # noqa: PLR0124 - NaN
    known = {"0.0" if text == "-0.0" else text for text in known}
    assert len(set(whole)) == len(known) + 1  # the missing one


def test_a_sample_of_values_estimates_the_whole() -> None:
    # Of 40,000 values each is kept with probability 1/16: the standard error of the estimate is sqrt(15 * 40,000) or
    # 775, so 4.5 of them are exceeded with a probability below 1e-5.
    keys = cell_hashes(pa.array(np.arange(40_000)))
    counts = HashCounts(bits=0, most=4_000)
    for part in np.array_split(np.concatenate([keys, keys]), 20):
        counts.add(part, np.ones(len(part), dtype=np.int64))

    assert counts.scale == 16
    assert len(counts.keys) <= 4_000
    assert abs(len(counts.keys) * counts.scale - 40_000) < 4.5 * 775
    assert set(counts.counts.tolist()) == {2}  # whoever is in the sample has all rows there


class _AddsUp(LocalEngine):
    """Adds up what several batches give, as workers elsewhere do before they send it."""

    def map(self, factory: Any, *rest: Any, **others: Any) -> Any:
        batches = list(super().map(factory, *rest, **others))
        sent = [one for some in (batches[:5], batches[5:]) for one in factory.together(iter(some))]
        assert len(sent) == 2 < len(batches)
        return sent


def test_what_is_found_does_not_depend_on_how_the_table_is_cut() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 5, 900)
    table = pa.table(
        {
            "birth": pa.array(rng.permutation(20_000)[:900].astype(np.int32), pa.date32()),
            "mail": [f"p{i}@example.org" for i in range(900)],
            "ward": [f"w{code}" for code in codes],
            "disease": [f"d{code}" for code in codes],
        }
    )
    publication = ld.Publication(
        quasi=["birth"], plain=["mail", "ward"], sensitive="disease", method="randomized-addition:l=2"
    )

    def found(engine: LocalEngine) -> list[tuple[str | None, str, bool]]:
        screened = screen(prepare(publication, open_source(table), engine)).findings
        return [(one.column, one.kind, one.blocking) for one in screened]

    whole = found(LocalEngine(workers=1))
    assert ("ward", "tells", True) in whole
    assert ("mail", "identifier", True) in whole
    assert ("birth", "near-unique", False) in whole
    assert found(LocalEngine(workers=2, chunk_rows=37)) == whole
    assert found(_AddsUp(chunk_rows=37)) == whole


def test_labels_of_dictionaries_are_counted_as_those_of_cells() -> None:
    zips = pa.array([f"{i % 40:05d}" if i % 9 else None for i in range(500)])
    ages = pa.array([i % 30 for i in range(500)])
    levels = {"zip": PrefixLevel(4), "age": NumberLevel(5)}
    sketches = tuple(Sketch("coarser", name) for name in levels)
    found = []
    for plain in (True, False):
        shown = [zips, ages] if plain else [with_another(zips, "99"), with_another(ages, 77)]
        batch = NumberedBatch(pa.record_batch(shown, names=["zip", "age"]))
        for sampled in (0, 1):
            choices = SketchRows(sketches, {}, {}, ("zip", "age"), None, levels, sampled)
            found.append(choices(Secrets())(batch).to_pydict())

    assert found[0] == found[2]
    assert found[1] == found[3]
    assert len(found[1]["key"]) < len(found[0]["key"]) == 1000


def with_another(cells: pa.Array, never_shown: object) -> pa.Array:
    coded = cells.dictionary_encode()
    more = pa.concat_arrays([pa.array([never_shown], cells.type), coded.dictionary])
    return pa.DictionaryArray.from_arrays(pc.add(coded.indices, 1), more)


def test_samples_are_smaller_where_the_other_columns_have_many_combinations() -> None:
    rng = np.random.default_rng(2)
    first = {name: pa.array(rng.integers(0, kinds, 2_000)) for name, kinds in (("a", 2), ("b", 6_000), ("c", 50_000))}
    found = even_samples(["a", "b", "c"], first, 8)

    # The others of c have 12,000 combinations: one in 2 ** 4 are 750, whose share has a standard error of 3.7 %.
    assert found == {"a": 8, "b": 7, "c": 4}
    assert even_samples(["a"], first, 8) == {"a": 0}  # without others all rows stay together


@pytest.mark.parametrize("other", range(4))
def test_looks_do_not_depend_on_what_every_fourth_row_is(other: int) -> None:
    cells = pa.array(["n/a" if row % 4 == other else f"a{row % 40}@b.org" for row in range(1600)])

    _, counts = looks(cells, Remembered())

    # 400 cells in which addresses are three of four: six standard errors are 52.
    assert abs(int(counts[:-1].max()) - 300) < 52
