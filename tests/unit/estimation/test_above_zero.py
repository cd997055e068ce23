"""Limits of numbers that cannot be below zero: compared with a search through all, and with normal estimates."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from ldiversity.estimation._above_zero import limits_above_zero

TIMES = 100_000


def reach_of(confidence: float, n: int) -> np.ndarray:
    return np.full(n, NormalDist().inv_cdf((1 + confidence) / 2))


def slow_limits(estimate: float, confidence: float) -> tuple[float, float]:
    """Try every number: the likeliest estimates for it, taken one by one until they are as many as the confidence."""
    estimates = np.arange(-12, 14, 0.005)
    held = []
    for number in np.arange(0, 8, 0.01):
        chances = stats.norm.pdf(estimates - number) * 0.005
        ratios = stats.norm.logpdf(estimates - number) - stats.norm.logpdf(estimates - np.maximum(estimates, 0))
        order = np.argsort(-ratios, kind="stable")
        taken = order[: int(np.searchsorted(np.cumsum(chances[order]), confidence)) + 1]
        if estimates[taken].min() - 0.0025 <= estimate <= estimates[taken].max() + 0.0025:
            held.append(number)
    return min(held), max(held)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("estimate", [-2.0, -0.5, 0.0, 1.0, 2.5, 5.0])
def test_limits_are_those_of_a_search_through_all_numbers(estimate: float, confidence: float) -> None:
    (low,), (high,) = limits_above_zero(np.array([estimate]), reach_of(confidence, 1), confidence)

    assert (low, high) == pytest.approx(slow_limits(estimate, confidence), abs=0.02)  # two steps of the search


@pytest.mark.parametrize("number", [0.0, 0.3, 1.0, 2.0, 4.0, 20.0])
def test_limits_hold_as_often_as_they_say(number: float) -> None:
    estimates = np.random.default_rng(3).normal(number, 1, TIMES)

    low, high = limits_above_zero(estimates, reach_of(0.95, TIMES), 0.95)

    # Missed by chance once in 100,000 runs: 4.4 standard errors.
    held = np.mean((low <= number) & (number <= high))
    assert held == pytest.approx(0.95, abs=4.4 * np.sqrt(0.95 * 0.05 / TIMES))


def test_limits_on_both_sides_of_the_estimate_would_be_found_out() -> None:
    estimates = np.maximum(np.random.default_rng(3).normal(0.5, 1, TIMES), 0)

    held = np.mean(estimates + 1.96 >= 0.5)

    assert held > 0.95 + 4.4 * np.sqrt(0.95 * 0.05 / TIMES)


def test_limits_are_never_empty_or_below_zero_and_grow_with_the_estimate() -> None:
    estimates = np.linspace(-30, 30, 500)

    low, high = limits_above_zero(estimates, reach_of(0.95, 500), 0.95)

    assert (low >= 0).all()
    assert (high > low).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert high[-1] - low[-1] == pytest.approx(2 * 1.959964)


def test_what_is_known_exactly_has_no_width_and_units_do_not_matter() -> None:
    low, high = limits_above_zero(np.array([-1.0, 3.0, 30.0]), np.array([0.0, 0.0, 19.6]), 0.95)
    (small,), (large,) = limits_above_zero(np.array([3.0]), np.array([1.96]), 0.95)

    assert low[:2].tolist() == high[:2].tolist() == [0.0, 3.0]
    assert (low[2], high[2]) == pytest.approx((10 * small, 10 * large))


@pytest.mark.parametrize("confidence", [1e-17, 1e-9, 1e-5, 1 - 1e-9, 1 - 1e-15])
def test_limits_of_any_confidence_hold_the_number_and_grow_with_it(confidence: float) -> None:
    estimates = np.array([-3.0, -0.5, 0.0, 0.5, 1.0, 2.0, 10.0])

    low, high = limits_above_zero(estimates, np.ones(7), confidence)  # in units of the reach

    assert (low <= np.maximum(estimates, 0)).all()
    assert (np.maximum(estimates, 0) <= high).all()
    assert (np.diff(high) >= 0).all()
    assert (high <= np.maximum(estimates, 0) + 1 + 1e-9).all()


def test_what_may_be_anything_has_no_upper_limit() -> None:
    low, high = limits_above_zero(np.array([-1.0, 0.0, 3.0]), np.array([np.inf, np.inf, np.nan]), 0.95)

    assert low.tolist() == [0.0, 0.0, 0.0]
    assert high.tolist() == [np.inf, np.inf, np.inf]
