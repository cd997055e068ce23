"""Balanced weights of chains at sizes where sets cannot be listed."""

from __future__ import annotations

from math import exp, lgamma

import numpy as np
import pytest

from ldiversity.mechanisms import Compatibility
from ldiversity.mechanisms import _chain as chain_module
from ldiversity.mechanisms._balanced_chain import ChainWeights
from ldiversity.mechanisms._chain import Chain


def line(size: int, d: int) -> Compatibility:
    return Compatibility(np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= d)


@pytest.mark.parametrize(
    ("size", "l", "d"),
    [(148, 5, 1), (148, 5, 10), (148, 5, 20), (148, 5, 29), (148, 2, 73), (300, 30, 9), (500, 10, 20)],
)
def test_marginals_are_calibrated_to_rounding(size: int, l: int, d: int) -> None:
    weights = ChainWeights.fit(line(size, d), l, np.ones(size))

    assert weights is not None
    np.testing.assert_allclose(weights.marginals, 1.0, rtol=1e-10)


@pytest.mark.parametrize("d", [10, 20, 29])
def test_rows_of_the_pair_matrix_sum_to_l(d: int) -> None:
    weights = ChainWeights.fit(line(148, d), 5, np.ones(148))

    assert weights is not None
    np.testing.assert_allclose(weights.pairs.sum(axis=1), 5.0, rtol=1e-10)


def test_pairs_too_close_never_stand_together() -> None:
    compatibility = line(148, 20)
    weights = ChainWeights.fit(compatibility, 5, np.ones(148))

    assert weights is not None
    close = ~compatibility.allowed & ~np.eye(148, dtype=bool)
    assert not weights.pairs[close].any()


def test_many_blocks_are_calibrated_to_a_prior() -> None:
    rng = np.random.default_rng(0)
    block_of = rng.integers(0, 60, 200)
    targets = 1.0 + rng.random(200)
    targets *= 200 / targets.sum()

    weights = ChainWeights.fit(Compatibility(np.not_equal.outer(block_of, block_of)), 6, targets)

    assert weights is not None
    np.testing.assert_allclose(weights.marginals, targets, rtol=1e-10)


def test_totals_beyond_double_precision_are_scaled() -> None:
    # More than 10**430 sets of each value, all with the same weight.
    sets_of_one = lgamma(1500) - lgamma(600) - lgamma(901)
    weights = ChainWeights(Compatibility(~np.eye(1500, dtype=bool)), 600, np.full(1500, exp(-sets_of_one / 600)))

    np.testing.assert_allclose(weights.marginals, 1.0, rtol=1e-9)


def test_moments_do_not_depend_on_how_columns_are_chunked(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = ChainWeights(line(12, 3), 3, 1.0 + np.arange(12.0))
    numbers = np.random.default_rng(1).normal(size=(12, 12))
    expected = weights.squares(numbers)
    monkeypatch.setattr(chain_module, "COLUMNS", 1)

    np.testing.assert_allclose(weights.squares(numbers), expected, rtol=1e-13)


def test_values_without_a_set_cost_infinitely_much() -> None:
    chain = Chain.of(line(5, 2))

    assert chain is not None
    assert chain.lightest(np.ones(5), 3).tolist() == [3.0, np.inf, 3.0, np.inf, 3.0]


def test_lightest_set_uses_the_cheapest_value_of_each_block() -> None:
    chain = Chain.of(Compatibility(np.not_equal.outer([0, 0, 1, 2], [0, 0, 1, 2])))

    assert chain is not None
    assert chain.lightest(np.array([5.0, 1.0, 2.0, 9.0]), 2).tolist() == [7.0, 3.0, 3.0, 10.0]


def test_graph_without_structure_is_no_chain() -> None:
    pentagon = np.isin(np.subtract.outer(np.arange(5), np.arange(5)) % 5, [1, 4])

    assert Chain.of(Compatibility(pentagon)) is None
