"""Routing rows into parts: the same part in any batch, ties by their share, parts of about the wanted size."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ldiversity.base.randomness import Key, KeyedWords, row_identities
from ldiversity.errors import InternalError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    AlikeParts,
    CategoryColumn,
    CodedTable,
    Cuts,
    NumberColumn,
    RandomParts,
    SensitiveColumn,
    eligible,
)
from ldiversity.schema import Domain

N = 6000
LABELS = ("ab", "ac", "bb", "bc", "cc")
TREE = Hierarchy.from_rows([(label, label[0], "*") for label in LABELS])


def table(n: int = N, seed: int = 0, n_values: int = 6) -> CodedTable:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    values = np.where(rng.random(n) < 0.5, age // 11 % n_values, rng.integers(0, n_values, n)).astype(np.int32)
    return CodedTable(
        (
            CategoryColumn("zip", rng.choice(5, n, p=(0.4, 0.3, 0.15, 0.1, 0.05)).astype(np.int32), LABELS, TREE),
            NumberColumn("age", age, 18, 79, missing=rng.random(n) < 0.05),
            NumberColumn("income", rng.normal(0, 1, n), -6, 6),
        ),
        (SensitiveColumn("disease", values, Domain(tuple(range(n_values)))),),
    )


def taken(given: CodedTable, rows: NDArray[np.int64]) -> CodedTable:
    quasi = tuple(
        replace(column, values=column.values[rows], missing=None if column.missing is None else column.missing[rows])
        if isinstance(column, NumberColumn)
        else replace(column, codes=column.codes[rows])
        for column in given.quasi
    )
    return CodedTable(quasi, tuple(replace(column, codes=column.codes[rows]) for column in given.sensitive))


def words_for(n: int, seed: int = 0) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def slow_route(cuts: Cuts, given: CodedTable, words: NDArray[np.uint64]) -> list[int]:
    """Every row by itself, with whole numbers of any size."""
    points, parts = cuts.points(given), []
    tree = cuts.branches
    for row, word in enumerate(words.tolist()):
        node = depth = 0
        while node >= 0:
            depth += 1
            bound, share = float(tree.threshold[node]), float(tree.share[node])
            for j in range(tree.starts[node], tree.starts[node + 1]):
                if tree.values[j] == given.sensitive[cuts.column].codes[row]:
                    bound, share = float(tree.thresholds[j]), float(tree.shares[j])
            place = float(points[row, tree.coordinate[node]]) if tree.coordinate[node] >= 0 else bound
            mixed = (word + depth * 0x9E3779B97F4A7C15) % 2**64
            mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
            mixed ^= mixed >> 31
            goes_left = place < bound or (place == bound and (mixed >> 11) / 2**53 < share)
            node = int((tree.left if goes_left else tree.right)[node])
        parts.append(-1 - node)
    return parts


@pytest.mark.parametrize("l", [None, 2, 4])
def test_the_fast_routing_equals_the_slow_one(l: int | None) -> None:
    given = table()
    cuts = Cuts.of_sample("test", given, 20, l=l)
    words = words_for(N)

    assert cuts.route(given, words).tolist() == slow_route(cuts, given, words)


@given(st.lists(st.integers(1, N - 1), max_size=6), st.integers(0, 5))
def test_batches_do_not_change_parts(bounds: list[int], seed: int) -> None:
    given, words = table(seed=seed), words_for(N, seed)
    cuts = Cuts.of_sample("test", table(3000, seed), 9, l=3)

    whole = cuts.route(given, words)

    pieces = np.split(np.random.default_rng(seed).permutation(N), sorted(bounds))
    for rows in pieces:
        assert cuts.route(taken(given, rows), words[rows]).tolist() == whole[rows].tolist()


@pytest.mark.parametrize("l", [None, 2, 5])
@pytest.mark.parametrize("n_parts", [1, 2, 7, 32, 500])
def test_parts_have_about_the_wanted_size(l: int | None, n_parts: int) -> None:
    given = table(40_000, seed=1)

    cuts = Cuts.of_sample("test", table(seed=2), n_parts, l=l)
    sizes = np.bincount(cuts.route(given, words_for(40_000)), minlength=cuts.n_parts)

    # A part of m expected rows has a standard deviation of at most sqrt(m) for the rows and, for each of the cuts above
    # it, of m / sqrt(rows of the sample); six of them together are exceeded with a probability below 1e-8.
    wanted = 40_000 / n_parts
    assert sizes.max() <= 1.5 * wanted + 6 * np.sqrt(1.5 * wanted) + 6 * 1.5 * wanted / np.sqrt(6000 / n_parts)
    assert 2 / 3 * n_parts <= cuts.n_parts <= 2 * n_parts


def test_no_value_is_much_too_frequent_in_a_part() -> None:
    """Plain cuts would leave some parts with twice as many rows of a value as there can be classes."""
    given = table(40_000, seed=1)
    l = 4

    def excess(cuts: Cuts) -> int:
        counts = np.zeros((cuts.n_parts, 6), dtype=np.int64)
        np.add.at(counts, (cuts.route(given, words_for(40_000)), given.sensitive[0].codes), 1)
        return int(np.maximum(counts - counts.sum(axis=1, keepdims=True) // l, 0).sum())

    fair = excess(Cuts.of_sample("test", table(20_000, seed=2), 16, l=l))

    assert fair < 0.1 * excess(Cuts.of_sample("test", table(20_000, seed=2), 16, l=None))


def test_ties_are_split_by_their_share() -> None:
    alike = SensitiveColumn("disease", np.arange(6000, dtype=np.int32) % 3, Domain((0, 1, 2)))
    given = CodedTable((NumberColumn("age", np.repeat([1, 2, 3], (1500, 3000, 1500)), 1, 3),), (alike,))

    cuts = Cuts.of_sample("test", given, 2, l=2)
    parts = cuts.route(given, words_for(6000))

    assert set(parts[:1500]) == {0}
    assert set(parts[4500:]) == {1}
    # Half of 3,000 ties: 150 rows are 5.5 standard deviations, a false alarm below 1e-7.
    assert abs(int(parts[1500:4500].sum()) - 1500) < 150


def test_ties_stay_together_if_they_must() -> None:
    alike = SensitiveColumn("disease", np.zeros(6000, dtype=np.int32), Domain((0, 1)))
    given = CodedTable((NumberColumn("age", np.repeat([1, 2, 3], (1500, 3000, 1500)), 1, 3),), (alike,))

    cuts = Cuts.of_sample("test", given, 3, l=None, split_ties=False)
    parts = cuts.route(given, words_for(6000))

    assert [len(set(own.tolist())) for own in np.split(parts, [1500, 4500])][0::2] == [1, 1]


def test_sides_that_cannot_be_grouped_are_not_made() -> None:
    """Values go with age, so a side of the young would hold one value too often; cuts by income do not."""
    given = table(20_000, seed=4)
    codes = np.where(np.arange(20_000) % 4 > 0, given.numbers[0].values // 11 % 6, given.sensitive[0].codes)
    given = replace(given, sensitive=(replace(given.sensitive[0], codes=codes.astype(np.int32)),))

    def share(cuts: Cuts) -> float:
        counts = np.zeros((cuts.n_parts, 6), dtype=np.int64)
        np.add.at(counts, (cuts.route(given, words_for(20_000)), given.sensitive[0].codes), 1)
        return float((counts.max(axis=1) / counts.sum(axis=1)).max())

    careful = Cuts.of_sample("test", given, 8, l=None, feasible=lambda counts: bool(eligible(counts[0], 3)))

    assert share(careful) <= 1 / 3 < share(Cuts.of_sample("test", given, 8, l=None))


def test_records_that_are_all_alike_are_cut_by_chance() -> None:
    given = CodedTable(
        (NumberColumn("age", np.full(N, 5), 5, 5),),
        (SensitiveColumn("d", np.arange(N, dtype=np.int32) % 4, Domain((0, 1, 2, 3))),),
    )

    cuts = Cuts.of_sample("test", given, 4, l=2)
    sizes = np.bincount(cuts.route(given, words_for(N)))

    # A quarter of 6,000 has a standard deviation of 34; six of them.
    assert len(sizes) == 4
    assert np.abs(sizes - 1500).max() < 204


def test_cuts_are_the_same_after_pickling() -> None:
    given, words = table(), words_for(N)
    cuts = Cuts.of_sample("test", given, 16, l=4)

    again = pickle.loads(pickle.dumps(cuts))  # noqa: S301 - our own bytes

    assert again.route(given, words).tolist() == cuts.route(given, words).tolist()


def test_a_table_with_other_labels_is_refused() -> None:
    given = table()
    cuts = Cuts.of_sample("test", given, 4, l=2)
    short = replace(given.categories[0], codes=np.zeros(N, dtype=np.int32), labels=("ab",), hierarchy=None)

    with pytest.raises(InternalError, match="other labels"):
        cuts.route(CodedTable((short, *given.numbers), given.sensitive), words_for(N))


def test_random_parts_look_at_words_alone() -> None:
    words = words_for(60_000)

    parts = RandomParts(6).route(table(1), words)

    # 10,000 of 60,000 have a standard deviation of 91; six of them.
    assert np.abs(np.bincount(parts, minlength=6) - 10_000).max() < 546
    # Rows that are left out have the least words; they come from all parts alike. 1,000 of 6,000: deviation 29.
    assert np.abs(np.bincount(parts[np.argsort(words)[:6000]], minlength=6) - 1000).max() < 174


def test_equal_records_meet() -> None:
    given = table(2000)
    twice = taken(given, np.tile(np.arange(2000), 2))
    alike = AlikeParts(50)
    identities = alike.identities(twice, row_identities(0, 0, 4000))

    words = KeyedWords(Key.from_insecure_seed(1), b"parts").for_records(identities, 1)[:, 0]
    parts = alike.route(twice, words)

    assert parts[:2000].tolist() == parts[2000:].tolist()
    assert len(np.unique(identities[:2000], axis=0)) == 2000  # incomes differ
    # 40 of 2,000 in each part: six standard deviations.
    assert np.abs(np.bincount(parts[:2000], minlength=50) - 40).max() < 38
