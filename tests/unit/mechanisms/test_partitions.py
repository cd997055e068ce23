"""Partition draws: every partition is chosen with its exact share, and a value gets its block."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

from ldiversity._kernels.partitions import _hash
from ldiversity.distances import DiscreteDistance, MatrixDistance, OrderedDistance
from ldiversity.mechanisms import BalancedSelection, RingSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.mechanisms import _partitions as module
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.schema import Domain

GRIDS = {
    "4 by 2": (2, 4, 1),
    "6 by 2": (2, 6, 1),
    "6 by 3": (3, 6, 1),
    "5 by 2, one left over": (2, 5, 1),
    "5 by 3, two left over": (3, 5, 1),
    "3 pairs by 2": (2, 3, 2),
    "3 pairs by 3": (3, 3, 2),
    "4 pairs by 3, two left over": (3, 4, 2),
}
"""How many values a set has, and the shape of the grid."""


def partitions_of(case: str) -> Partitions:
    l, rows, columns = GRIDS[case]
    codes = np.random.default_rng(1).permutation(rows * columns)  # any order of the codes
    return Partitions(l, codes.reshape(rows, columns))


def every_outcome(partitions: Partitions, n_partitions: int = 1) -> np.ndarray:
    """Words that choose every combination of draws exactly once."""
    assert len(partitions._ends) == 1  # all draws of one partition share a word
    n = prod(partitions._bounds.tolist())
    middle = np.array([((2 * k + 1) << 63) // n for k in range(n)], dtype=np.uint64)
    columns = np.meshgrid(*[middle] * n_partitions, indexing="ij")
    return np.stack([column.ravel() for column in columns], axis=1)


def sets_of_all(partitions: Partitions, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The set of every value under every row of words, shape (F, n, l), and which ran out of words."""
    drawn = [partitions.sample(np.full(len(words), code), words) for code in range(partitions.n_values)]
    return np.stack([sets for sets, _ in drawn]), np.stack([short for _, short in drawn])


def valid_sets(partitions: Partitions, code: int) -> set[tuple[int, ...]]:
    """All sets of l values of different rows of the grid that hold a value."""
    row_of = {int(value): row for row, values in enumerate(partitions._grid) for value in values}
    every = combinations(range(partitions.n_values), partitions.l)
    return {one for one in every if code in one and len({row_of[value] for value in one}) == partitions.l}


@pytest.mark.parametrize("case", GRIDS)
def test_every_set_of_a_value_comes_from_exactly_as_many_outcomes(case: str) -> None:
    partitions = partitions_of(case)

    # Where values are left over: all pairs of partitions, unless too many. Those left over in both lack words.
    n_partitions = 2 if partitions.left_over and partitions.n_values < 8 else 1
    sets, short = sets_of_all(partitions, every_outcome(partitions, n_partitions))

    for code in range(partitions.n_values):
        counts = Counter(map(tuple, sets[code][~short[code]].tolist()))
        assert set(counts) == valid_sets(partitions, code)
        assert len(set(counts.values())) == 1


@pytest.mark.parametrize(("n_values", "l"), [(6, 2), (6, 3), (5, 2)])
def test_the_sets_of_uniform_selection_have_its_probability(n_values: int, l: int) -> None:
    partitions = UniformSelection(n_values, l).partitions
    assert partitions is not None

    sets, short = sets_of_all(partitions, every_outcome(partitions))

    counts = Counter(map(tuple, sets[0][~short[0]].tolist()))
    assert len(counts) == comb(n_values - 1, l - 1)
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("case", GRIDS)
def test_two_sets_of_one_person_are_equal_or_disjoint_unless_a_value_was_left_over(case: str) -> None:
    partitions = partitions_of(case)

    sets, short = sets_of_all(partitions, every_outcome(partitions))

    assert short.any() == (partitions.left_over > 0)
    for first, second in combinations(range(partitions.n_values), 2):
        whole = ~short[first] & ~short[second]
        shared = (sets[first][:, :, None] == sets[second][:, None, :]).any(axis=(1, 2))
        equal = (sets[first] == sets[second]).all(axis=1)
        assert (shared == equal)[whole].all()
    np.testing.assert_array_equal(short.sum(axis=0), partitions.left_over)


@pytest.mark.parametrize(("n_values", "l"), [(7, 3), (9, 2), (8, 3)])
def test_overlapping_sets_are_as_rare_and_tell_as_much_as_is_said(n_values: int, l: int) -> None:
    rng, n = np.random.default_rng(3), 400_000
    partitions = Partitions(l, np.arange(n_values)[:, None])
    old = rng.integers(0, n_values, n)
    new = (old + rng.integers(1, n_values, n)) % n_values
    words = rng.integers(0, 2**64, (n, 40), dtype=np.uint64)
    first, second = (partitions.sample(codes, words)[0] for codes in (old, new))

    in_second = (first[:, :, None] == second[:, None, :]).any(axis=2)
    shared = in_second.sum(axis=1)
    some = (shared > 0) & (shared < l)
    most = shared == l - 1
    only_first = first[most][~in_second[most]]
    right = (only_first == old[most]).mean()

    assert 0 < some.mean() <= partitions.overlapping
    # A binomial share; 4.5 standard errors: a false alarm in 7e-6 of runs, had the seed not been fixed.
    error = np.sqrt(partitions.overlap_posterior * (1 - partitions.overlap_posterior) / most.sum())
    assert abs(right - partitions.overlap_posterior) < 4.5 * error
    # Equal and disjoint sets keep all members equally likely.
    lowest = (first[~some, 0] == old[~some]).mean()
    assert abs(lowest - 1 / l) < 4.5 * np.sqrt(1 / l * (1 - 1 / l) / (~some).sum())


@pytest.mark.parametrize(("n_values", "l", "rows", "share"), [(16, 3, 4, 0.037), (16, 3, 10, 0.28), (7, 3, 3, 0.095)])
def test_three_sets_of_a_person_can_tell_a_value_left_over_for_certain(
    n_values: int, l: int, rows: int, share: float
) -> None:
    rng, n = np.random.default_rng(4), 4_000
    partitions = Partitions(l, np.arange(n_values)[:, None])
    values = rng.integers(0, n_values, (rows, n))
    words = rng.integers(0, 2**64, (n, 40), dtype=np.uint64)
    sets = np.array([partitions.sample(codes, words)[0] for codes in values])

    told = set()
    for person in range(n):
        own = [frozenset(one) for one in sets[:, person].tolist()]
        for row, mine in enumerate(own):
            others = {one for one in own if one != mine}
            only_here = mine.difference(*others)
            # One value is left over. So of sets that overlap, the one that overlaps two others is the late one.
            if len(only_here) == 1 and sum(bool(one & mine) for one in others) > 1:
                assert only_here == {values[row, person]}
                told.add(person)

    assert partitions.can_be_certain
    # A binomial share; 4.5 standard errors: a false alarm in 7e-6 of runs, had the seed not been fixed.
    assert abs(len(told) / n - share) < 4.5 * np.sqrt(share * (1 - share) / n)


@pytest.mark.parametrize(("n_values", "l"), [(16, 4), (9, 2), (4, 3)])
def test_nothing_is_certain_where_nobody_can_show_such_sets(n_values: int, l: int) -> None:
    assert not Partitions(l, np.arange(n_values)[:, None]).can_be_certain


def test_more_words_do_not_change_a_set_and_too_few_are_told() -> None:
    partitions = Partitions(3, np.arange(50)[:, None])
    words = np.random.default_rng(4).integers(0, 2**64, (300, 40), dtype=np.uint64)
    codes = np.arange(300) % 50

    enough, short = partitions.sample(codes, words[:, : partitions.words_per_record])
    more, still_short = partitions.sample(codes, words)

    assert short.any()  # two of fifty values are left over
    assert not still_short.any()
    np.testing.assert_array_equal(enough[~short], more[~short])
    assert not enough[short].any()


def test_a_rejected_word_is_left_out() -> None:
    partitions = Partitions(3, np.arange(9)[:, None])
    good = np.random.default_rng(5).integers(0, 2**64, (1, 4), dtype=np.uint64)
    bad = np.zeros((1, 1), dtype=np.uint64)

    assert partitions.sample(np.array([2]), bad)[1].all()
    again, short = partitions.sample(np.array([2]), np.concatenate([bad, good], axis=1))

    assert not short.any()
    np.testing.assert_array_equal(again, partitions.sample(np.array([2]), good)[0])


# --- many values ---------------------------------------------------------------------------------


def test_the_hash_of_large_domains_is_siphash() -> None:
    """The vector for sixteen bytes in the reference implementation of its authors."""
    first, second = np.frombuffer(bytes(range(16)), dtype="<u8")
    with np.errstate(over="ignore"):
        assert int(_hash(first, second, first, second)) == 0x3F2ACC7F57C29BDB


def slow_order(key: np.ndarray, label: int, size: int, rounds: int) -> list[int]:
    """Follow every place through a swap-or-not shuffle, round by round."""
    order = list(range(size))
    with np.errstate(over="ignore"):
        for r in range(rounds):
            word = int(_hash(key[0], key[1], np.uint64(label), np.uint64(r << 32)))
            shift = word * size >> 64
            for place, x in enumerate(order):
                larger = max(x, (shift - x) % size)
                message = np.uint64(1 << 63 | r << 32 | larger)
                if int(_hash(key[0], key[1], np.uint64(label), message)) & 1:
                    order[place] = (shift - x) % size
    return order


@pytest.mark.parametrize("case", GRIDS)
def test_followed_orders_give_the_blocks_of_the_whole_partition(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEALT_VALUES", 0)
    monkeypatch.setattr(Partitions, "_rounds", 10)
    partitions = partitions_of(case)
    rows, columns = partitions._grid.shape
    words = np.random.default_rng(6).integers(0, 2**64, (3, 2), dtype=np.uint64)

    sets, short = sets_of_all(partitions, words)

    assert not short.any()
    for which, key in enumerate(words):
        row_order = slow_order(key, 0, rows, 10)
        values = [slow_order(key, row + 1, columns, 10) if columns > 1 else [0] for row in range(rows)]
        positions = [(row_order[p % rows], values[row_order[p % rows]][p // rows]) for p in range(rows * columns)]
        line = [int(partitions._grid[place]) for place in positions]
        whole = partitions.n_values - partitions.left_over
        for start in range(0, whole, partitions.l):
            block = sorted(line[start : start + partitions.l])
            assert all(sets[code, which].tolist() == block for code in block)


@pytest.mark.parametrize(("n_values", "l", "columns"), [(6, 2, 1), (7, 3, 1), (8, 3, 2)])
def test_followed_orders_are_uniform(n_values: int, l: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEALT_VALUES", 0)
    partitions = Partitions(l, np.arange(n_values).reshape(-1, columns))
    words = np.random.default_rng(7).integers(0, 2**64, (20_000, 2), dtype=np.uint64)

    sets, _ = partitions.sample(np.full(len(words), 1), words)

    counts = Counter(map(tuple, sets.tolist()))
    assert set(counts) == valid_sets(partitions, 1)
    # A false alarm in one of 10,000 runs, had the seed not been fixed.
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_large_domains_take_few_words_and_many_rounds() -> None:
    partitions = UniformSelection(100_000, 5).partitions
    assert partitions is not None
    codes = np.array([0, 99_999, 41], dtype=np.int32)

    sets, short = partitions.sample(codes, np.random.default_rng(8).integers(0, 2**64, (3, 2), dtype=np.uint64))

    assert partitions.words_per_record == 2
    assert partitions._rounds >= 180
    assert not short.any()
    assert (sets == codes[:, None]).any(axis=1).all()
    assert UniformSelection(100_000, 5).admits(sets).all()


# --- which mechanisms know partitions ------------------------------------------------------------


def blocks(*sizes: int) -> MatrixDistance:
    """Values of one block are at distance 1, others at distance 2."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    matrix = 1 + np.not_equal.outer(block, block)
    np.fill_diagonal(matrix, 0)
    return MatrixDistance(tuple(range(len(block))), matrix.astype(float))


def of_blocks(kind: type[BalancedSelection | SimpleSelection], *sizes: int, l: int = 2) -> SetMechanism:
    return kind.fit(Domain(tuple(range(sum(sizes)))), blocks(*sizes), l, 2)


def test_partitions_are_known_for_groups_of_one_size() -> None:
    for kind in (BalancedSelection, SimpleSelection):
        assert of_blocks(kind, 2, 2, 2).partitions is not None
        assert of_blocks(kind, 3, 3, 3, 3, l=3).partitions is not None
        assert of_blocks(kind, 2, 2, 1, 1, 1).partitions is None


def test_partitions_are_not_known_where_weights_differ() -> None:
    ordered = Domain(tuple(range(9)), ordered=True)
    prior = np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.1])

    assert BalancedSelection.fit(ordered, OrderedDistance(), 3, 2).partitions is None
    assert RingSelection.fit(ordered, OrderedDistance(), 3, 2).partitions is None
    assert BalancedSelection.fit(Domain(tuple(range(6))), DiscreteDistance(), 2, 1, prior).partitions is None
    assert BalancedSelection.fit(Domain(tuple(range(6))), DiscreteDistance(), 2, 1).partitions is not None


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 2, 2, 2), (3, 3, 3)])
@pytest.mark.parametrize("kind", [BalancedSelection, SimpleSelection])
def test_partitions_have_the_inclusion_matrix_of_their_mechanism(
    kind: type[BalancedSelection | SimpleSelection], sizes: tuple[int, ...]
) -> None:
    mechanism = of_blocks(kind, *sizes)
    partitions = mechanism.partitions
    assert partitions is not None

    sets, short = sets_of_all(partitions, every_outcome(partitions))

    assert mechanism.admits(sets[~short]).all()
    for code in range(mechanism.n_values):
        own = sets[code][~short[code]]
        np.testing.assert_allclose(
            np.bincount(own.ravel(), minlength=mechanism.n_values) / len(own), mechanism.inclusion[code], atol=1e-9
        )


@pytest.mark.parametrize(
    ("n_values", "l", "expected"), [(16, 3, (2, 4)), (16, 4, (2, 8)), (7, 3, ()), (6, 5, (3,)), (9, 2, (3,))]
)
def test_the_nearest_l_that_divide_are_named(n_values: int, l: int, expected: tuple[int, ...]) -> None:
    assert Partitions(l, np.arange(n_values)[:, None]).dividing == expected
