"""The tables that balanced selection draws from, and the walks along a chain."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.mechanisms import Compatibility
from ldiversity.mechanisms._balanced_chain import ChainWeights
from ldiversity.mechanisms._balanced_sampling import AliasTables, ChainSampler, ListedSampler

STEPS = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
PLACES = np.array([0.0, 1.0, 1.5, 3.0, 4.0, 6.0, 6.5, 9.0])
MIXED = [0, 1, 0, 2, 3, 1, 4, 5]
GRAPHS = {
    "line": STEPS >= 2,
    "uneven": np.abs(np.subtract.outer(PLACES, PLACES)) >= 1.6,
    "blocks": np.not_equal.outer(MIXED, MIXED),
    "complete": STEPS[:6, :6] > 0,
}


@pytest.fixture(params=[(name, l) for name in GRAPHS for l in (2, 3, 4)], ids=lambda p: f"{p[0]}, l={p[1]}")
def weights(request: pytest.FixtureRequest) -> ChainWeights:
    """Weights that are not balanced, so that every probability is different."""
    name, l = request.param
    theta = 1.0 + np.random.default_rng(3).random(len(GRAPHS[name]))
    return ChainWeights(Compatibility(GRAPHS[name]), l, theta)


def conditional(weights: ChainWeights) -> tuple[SetArray, FloatArray]:
    """All valid sets, and P(R | v), shape (sets, F), by listing."""
    sets = weights.compatibility.enumerate_sets(weights.l, 10_000)
    assert sets is not None
    joint = np.zeros((len(sets), len(weights.theta)))
    np.put_along_axis(joint, sets.astype(np.intp), np.prod(weights.theta[sets], axis=1)[:, None], axis=1)
    return sets, joint / np.maximum(joint.sum(axis=0), 1e-300)


# --- alias tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 31, 32, 33, 148])
def test_table_holds_the_shares_of_the_weights(size: int) -> None:
    weights = np.random.default_rng(size).random(size) ** 4

    shares = AliasTables.of([weights], [np.arange(size)]).shares(0)

    # Rounding of `size` double-precision operations, and one unit of 2**-63 for each outcome.
    np.testing.assert_allclose(list(shares.values()), weights / weights.sum(), rtol=1e-14, atol=size * (2.0**-52))


def test_weight_zero_is_never_drawn() -> None:
    weights = np.array([0.0, 1.0, 0.0, 1e-300, 2.0])

    shares = AliasTables.of([weights], [np.arange(5)]).shares(0)

    assert set(shares) <= {1, 3, 4}


def test_equal_weights_get_exactly_equal_shares() -> None:
    assert set(AliasTables.of([np.full(8, 0.3)], [np.arange(8)]).shares(0).values()) == {0.125}


def test_states_do_not_mix() -> None:
    tables = AliasTables.of([np.array([1.0, 1.0]), np.array([1.0, 0.0, 3.0])], [np.array([4, 5]), np.array([1, 2, 3])])

    assert tables.shares(0) == {4: 0.5, 5: 0.5}
    assert tables.shares(1) == {1: 0.25, 3: 0.75}


# --- walks -------------------------------------------------------------------------------------------


def walked(sampler: ChainSampler, sets: SetArray, n_values: int) -> FloatArray:
    """P(R | v) of the walk, by multiplying the shares of its tables over every path."""
    row_of = {tuple(row): at for at, row in enumerate(sets.tolist())}
    found = np.zeros((len(sets), n_values))
    for value in range(n_values):
        for members, probability in paths(sampler, value):
            found[row_of[tuple(sorted(members))], value] += probability
    return found


def paths(sampler: ChainSampler, value: int) -> list[tuple[list[int], float]]:
    l, node_of = sampler.l, sampler.node_of
    found = []
    for outcome, share in sampler.first.shares(int(node_of[value])).items():
        on_left, member = outcome >> 20, outcome & 0xFFFFF
        lefts = [([value, member], share, member)]
        right_from = value if on_left else member
        for to_go in range(on_left - 1, 0, -1):
            lefts = step(sampler, 0, to_go, lefts)
        rights = [(members, chance, right_from) for members, chance, _ in lefts]
        for to_go in range(l - 1 - max(on_left, 1), 0, -1):
            rights = step(sampler, 1, to_go, rights)
        found += [(members, chance) for members, chance, _ in rights]
    return found


def step(
    sampler: ChainSampler, side: int, to_go: int, begun: list[tuple[list[int], float, int]]
) -> list[tuple[list[int], float, int]]:
    tables = (sampler.left, sampler.right)[side]
    width = len(tables.offsets) // (sampler.l - 1)
    grown = []
    for members, chance, last in begun:
        shares = tables.shares(to_go * width + int(sampler.states[side, sampler.node_of[last]]))
        grown += [([*members, value], chance * share, value) for value, share in shares.items()]
    return grown


def test_walks_have_the_probabilities_of_the_sets(weights: ChainWeights) -> None:
    sets, expected = conditional(weights)

    np.testing.assert_allclose(walked(weights.walk, sets, len(weights.theta)), expected, atol=1e-14)


def test_drawn_walks_follow_the_probabilities(weights: ChainWeights) -> None:
    sets, expected = conditional(weights)
    n, size = 4000, len(weights.theta)
    rng = np.random.default_rng(11)
    codes = np.repeat(np.flatnonzero(expected.any(axis=0)).astype(np.int32), n)
    words = rng.integers(0, 2**64, (len(codes), weights.l - 1), dtype=np.uint64)

    drawn = weights.walk.sample(codes, words)

    powers = size ** np.arange(weights.l)[::-1]
    rows = np.searchsorted(sets @ powers, drawn @ powers)
    observed = np.zeros(expected.shape)
    np.add.at(observed, (rows, codes), 1)
    cells = expected > 0
    statistic = ((observed - n * expected)[cells] ** 2 / (n * expected[cells])).sum()
    # Chi-square over all values together; a false alarm has probability 1e-6 for each of the 12 cases.
    assert statistic < chi2.isf(1e-6, cells.sum() - len(np.unique(codes)))
    assert (observed[~cells] == 0).all()


def test_lists_and_walks_draw_from_the_same_distribution(weights: ChainWeights) -> None:
    _, expected = conditional(weights)
    sampler = weights.sampler
    assert isinstance(sampler, ListedSampler)

    listed = np.zeros_like(expected)
    for value in range(len(weights.theta)):
        shares = sampler.tables.shares(value)
        listed[list(shares), value] = list(shares.values())

    np.testing.assert_allclose(listed, expected, atol=1e-14)


def test_long_walks_stay_valid() -> None:
    size, l, d = 120, 7, 12
    far = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= d
    weights = ChainWeights(Compatibility(far), l, np.ones(size))
    rng = np.random.default_rng(2)
    codes = rng.integers(0, size, 3000).astype(np.int32)

    drawn = weights.sampler.sample(codes, rng.integers(0, 2**64, (3000, weights.words), dtype=np.uint64))

    assert (np.diff(drawn, axis=1) >= d).all()
    assert (drawn == codes[:, None]).any(axis=1).all()


def test_extreme_words_are_as_good_as_others() -> None:
    weights = ChainWeights(Compatibility(STEPS >= 2), 3, np.ones(9))
    allowed = {row for row in combinations(range(9), 3) if min(np.diff(row)) >= 2}

    words = np.array([[0, 0], [2**64 - 1, 2**64 - 1], [0, 2**64 - 1], [2**64 - 1, 0]] * 9, dtype=np.uint64)
    drawn = weights.walk.sample(np.repeat(np.arange(9, dtype=np.int32), 4), words)

    assert set(map(tuple, drawn.tolist())) <= allowed
