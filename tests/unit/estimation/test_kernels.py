"""The compiled loops against slow, obvious references."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from ldiversity._kernels.cells import (
    count_limits,
    count_members,
    group_sets,
    pair_counts,
    square_sums,
)
from ldiversity._kernels.em import em_cells


@pytest.fixture
def sets() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([np.sort(rng.choice(7, 3, replace=False)) for _ in range(200)], dtype=np.int32)


@pytest.fixture
def cells() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 4, 200)


def indicators(sets: np.ndarray, n_values: int) -> np.ndarray:
    return (sets[:, :, None] == np.arange(n_values)).any(axis=1).astype(float)


def limits(counts: np.ndarray, records: np.ndarray, p: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.zeros_like(counts), np.zeros_like(counts)
    count_limits(counts, records, p, p, tail, stats.norm.isf(tail), 0, len(counts), low, high)
    return low, high


def slow_limits(published: int, records: int, p: float, tail: float) -> tuple[int, int]:
    true = np.arange(published + 1)
    above = stats.binom.sf(published - true - 1, records - true, p) > tail
    # An unluckily low count is lifted to one deviation below what a value without records shows.
    lifted = max(published, int(np.ceil(records * p - np.sqrt(records * p * (1 - p)))))
    below = stats.binom.cdf(lifted - true, records - true, p) > tail
    return int(true[above].min()), int(true[below].max(initial=0))


def slow_em(sets: np.ndarray, likelihood: np.ndarray, prior: np.ndarray, n_values: int) -> np.ndarray:
    table = np.zeros((len(sets), n_values))
    np.put_along_axis(table, sets.astype(np.int64), likelihood, axis=1)
    shares = np.full(n_values, 1 / n_values)
    for _ in range(20_000):
        joint = table * shares
        expected = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + prior
        shares = expected / expected.sum()
    return shares


def fast_em(sets: np.ndarray, likelihood: np.ndarray, prior: np.ndarray, n_values: int) -> np.ndarray:
    shares, steps = np.full((1, n_values), 1 / n_values), np.zeros(1, dtype=np.int64)
    starts, ones, total = np.array([0, len(sets)]), np.ones(len(sets)), prior.sum()
    center = prior / total if total else np.full(n_values, 1 / n_values)
    em_cells(sets, likelihood, ones, starts, center[None, :], np.array([total]), 1e-11, 100_000, 0, 1, shares, steps)
    return shares[0]


def test_members_are_counted_by_cell(sets: np.ndarray, cells: np.ndarray) -> None:
    counts = np.zeros((4, 7), dtype=np.int64)

    count_members(cells, sets, counts)

    expected = [indicators(sets[cells == cell], 7).sum(axis=0) for cell in range(4)]
    assert (counts == expected).all()


def test_sets_are_grouped_in_their_old_order(sets: np.ndarray, cells: np.ndarray) -> None:
    starts, grouped = np.concatenate([[0], np.cumsum(np.bincount(cells))]), np.empty_like(sets)

    group_sets(cells, sets, starts, grouped)

    assert (grouped == sets[np.argsort(cells, kind="stable")]).all()


def test_pairs_are_counted_once(sets: np.ndarray) -> None:
    pairs = np.zeros((2, 49))

    pair_counts(np.sort(sets, axis=1), np.array([0, 120, 200]), 0, 2, np.arange(7) * 7, pairs)

    first, second = indicators(sets[:120], 7), indicators(sets[120:], 7)
    assert (pairs.reshape(2, 7, 7) == [np.triu(first.T @ first, 1), np.triu(second.T @ second, 1)]).all()


def test_squares_are_summed_by_cell(sets: np.ndarray) -> None:
    matrix, sums = np.random.default_rng(3).normal(size=(7, 7)), np.zeros((2, 7))

    square_sums(np.ascontiguousarray(matrix.T), sets, np.array([0, 120, 200]), 0, 2, sums)

    squares = (indicators(sets, 7) @ matrix.T) ** 2
    assert np.allclose(sums, [squares[:120].sum(axis=0), squares[120:].sum(axis=0)])


@pytest.mark.parametrize("tail", [0.2, 0.05, 0.025, 0.005])
@pytest.mark.parametrize("most", [3, 40, 3000])
def test_limits_are_the_inverted_binomial_tails(tail: float, most: int) -> None:
    rng = np.random.default_rng(most)
    records = rng.integers(1, most, 150)
    p = rng.uniform(0.001, 0.97, 3)
    counts = rng.integers(0, records[:, None] + 1, (150, 3))

    low, high = limits(counts, records, p, tail)

    slow = [
        [slow_limits(w, n, q, tail) for w, q in zip(row, p, strict=True)]
        for row, n in zip(counts, records, strict=True)
    ]
    assert (np.stack([low, high], axis=2) == slow).all()


@pytest.mark.parametrize("p", [5e-324, 1e-300, 2.8e-17, 5.6e-17, 1.2e-16, 1e-9, 1 - 1e-9, 1 - 1e-15, 1 - 2**-53])
@pytest.mark.parametrize("records", [1, 5, 40])
def test_limits_of_probabilities_next_to_none_and_all(p: float, records: int) -> None:
    counts = np.arange(records + 1)[None, :]

    low, high = limits(counts, np.array([records]), np.full(records + 1, p), 0.025)

    slow = [slow_limits(w, records, p, 0.025) for w in counts[0]]
    assert (np.stack([low[0], high[0]], axis=1) == slow).all()


def test_limits_are_shared_by_equal_counts() -> None:
    counts = np.array([[10, 40, 10, 11]])

    low, high = limits(counts, np.array([200]), np.full(4, 0.05), 0.025)

    slow = [slow_limits(w, 200, 0.05, 0.025) for w in counts[0]]
    assert (np.stack([low[0], high[0]], axis=1) == slow).all()


def test_no_interval_is_without_width_by_luck() -> None:
    low, high = limits(np.array([[25, 41]]), np.array([1000]), np.full(2, 0.05), 0.025)

    assert (low == 0).all()
    assert (high > 5).all()


def test_limits_of_a_very_large_cell() -> None:
    low, high = limits(np.array([[61_000]]), np.array([1_000_000]), np.array([0.04]), 0.025)

    v = np.arange(20_000, 24_000)
    above = stats.binom.sf(61_000 - v - 1, 1_000_000 - v, 0.04) > 0.025
    below = stats.binom.cdf(61_000 - v, 1_000_000 - v, 0.04) > 0.025
    assert (low[0, 0], high[0, 0]) == (v[above].min(), v[below].max())


@pytest.mark.parametrize("prior", [0.0, 0.5])
@pytest.mark.parametrize("flat", [True, False])
def test_accelerated_em_finds_what_plain_em_finds(sets: np.ndarray, prior: float, *, flat: bool) -> None:
    likelihood = np.ones(sets.shape) if flat else np.random.default_rng(4).uniform(0.2, 1.0, sets.shape)
    given = np.empty((0, 3)) if flat else likelihood

    fast = fast_em(sets, given, np.full(7, prior), 7)

    assert np.allclose(fast, slow_em(sets, likelihood, np.full(7, prior), 7), atol=1e-6)


def test_em_finds_the_maximum_that_a_general_optimizer_finds(sets: np.ndarray) -> None:
    table = indicators(sets, 7)

    def loss(x: np.ndarray) -> float:
        return -float(np.log(table @ (np.exp(x) / np.exp(x).sum())).sum())

    best = optimize.minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-4})

    shares = fast_em(sets, np.empty((0, 3)), np.zeros(7), 7)
    assert -np.log(table @ shares).sum() <= best.fun + 1e-6


def test_no_round_of_em_lowers_the_likelihood() -> None:
    # Here some extrapolated points are worse than the plain steps they start from, and must be taken back.
    rng = np.random.default_rng(10)
    sets = np.array([np.sort(rng.choice(12, 4, replace=False)) for _ in range(60)], dtype=np.int32)
    table, starts, flat, reached = indicators(sets, 12), np.array([0, 60]), np.full(12, 1 / 12), []

    for rounds in range(1, 41):
        shares, steps = np.full((1, 12), 1 / 12), np.zeros(1, dtype=np.int64)
        em_cells(
            sets, np.empty((0, 4)), np.ones(60), starts, flat[None, :], np.zeros(1),
            0.0, 3 * rounds, 0, 1, shares, steps,
        )  # fmt: skip
        reached.append(np.log(table @ shares[0]).sum())

    assert np.diff(reached).min() > -1e-9


def test_em_of_one_record_shares_it_among_its_members() -> None:
    shares = fast_em(np.array([[0, 2]], dtype=np.int32), np.empty((0, 2)), np.zeros(4), 4)

    assert np.allclose(shares, [0.5, 0, 0.5, 0])


def test_weights_stand_for_repeated_sets(sets: np.ndarray) -> None:
    distinct, times = np.unique(sets, axis=0, return_counts=True)
    shares, steps = np.full((1, 7), 1 / 7), np.zeros(1, dtype=np.int64)

    em_cells(
        distinct, np.empty((0, 3)), times.astype(float), np.array([0, len(distinct)]), np.full((1, 7), 1 / 7),
        np.zeros(1), 1e-11, 100_000, 0, 1, shares, steps,
    )  # fmt: skip

    assert np.allclose(shares[0], fast_em(sets, np.empty((0, 3)), np.zeros(7), 7), atol=1e-6)
