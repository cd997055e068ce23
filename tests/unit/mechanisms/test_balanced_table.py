"""The figures that the method's page gives for balanced selection: worst posterior and error of the linear estimate."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.base.arrays import FloatArray
from ldiversity.distances import MatrixDistance, OrderedDistance
from ldiversity.errors import InfeasibleError
from ldiversity.mechanisms import BalancedSelection, RingSelection, SimpleSelection
from ldiversity.schema import Domain

# The groups of paper 004's education tree, from the lowest level to the second highest.
EDUCATION = {
    "Preschool": ("Preschool", "Preschool", "W"),
    "1st-4th": ("Elementary", "Elementary", "W"),
    "5th-6th": ("Elementary", "Elementary", "W"),
    "7th-8th": ("Elementary", "Elementary", "W"),
    "9th": ("Junior", "Secondary", "W"),
    "10th": ("Junior", "Secondary", "W"),
    "11th": ("Senior", "Secondary", "W"),
    "12th": ("Senior", "Secondary", "W"),
    "HS-grad": ("Senior", "Secondary", "W"),
    "Some-college": ("Some-college", "Some-college", "P"),
    "Assoc-voc": ("Associate", "Associate", "P"),
    "Assoc-acdm": ("Associate", "Associate", "P"),
    "Bachelors": ("Bachelors", "University", "P"),
    "Prof-school": ("Professional", "University", "P"),
    "Masters": ("Post-graduate", "University", "P"),
    "Doctorate": ("Post-graduate", "University", "P"),
}


def education(l: int, d: int) -> BalancedSelection:
    groups = list(EDUCATION.values())
    apart = [[4 - sum(a == b for a, b in zip(x, y, strict=True)) for y in groups] for x in groups]
    distances = np.array(apart, dtype=float)
    np.fill_diagonal(distances, 0.0)
    return BalancedSelection.fit(Domain(tuple(EDUCATION)), MatrixDistance(tuple(EDUCATION), distances), l, d)


def ordered(l: int, d: int) -> BalancedSelection:
    return BalancedSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l, d)


def adult_shares() -> FloatArray:
    """The shares of the 30,162 complete records of Adult's training part."""
    column = ld.datasets.adult().column("education").to_pylist()
    return np.array([column.count(value) for value in EDUCATION]) / len(column)


def salaries() -> FloatArray:
    """Fourteen bands of a log-normal income with median 3.7 and spread 0.62."""
    edges = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25]
    below = [0.5 * (1 + math.erf((math.log(edge) - math.log(3.7)) / (0.62 * math.sqrt(2)))) for edge in edges]
    return np.diff([0.0, *below, 1.0])


@pytest.mark.parametrize(("l", "d"), [(2, 3), (3, 2), (3, 3)])
def test_education_sets_move_no_odds(l: int, d: int) -> None:
    assert education(l, d).worst_posterior() == 1 / l


@pytest.mark.parametrize(("l", "d", "error"), [(2, 3, 0.070), (3, 2, 0.154), (3, 3, 0.252)])
def test_education_error_on_adult(public_data: Path, l: int, d: int, error: float) -> None:
    assert education(l, d).expected_mse(1, adult_shares()) == pytest.approx(error, abs=0.0006)


@pytest.mark.parametrize(("l", "d", "error"), [(2, 3, 0.0707), (3, 2, 0.1533), (3, 3, 0.2636)])
def test_education_error_under_uniform_shares(l: int, d: int, error: float) -> None:
    assert education(l, d).expected_mse(1) == pytest.approx(error, abs=0.00006)


@pytest.mark.parametrize(("l", "d", "error"), [(3, 3, 0.246), (3, 4, 0.560), (4, 3, 1.011)])
def test_ordered_error_on_salaries(l: int, d: int, error: float) -> None:
    assert ordered(l, d).expected_mse(1, salaries()) == pytest.approx(error, abs=0.0006)


@pytest.mark.parametrize(("l", "d", "error"), [(3, 3, 0.2553), (3, 4, 0.6363), (4, 3, 1.0825)])
def test_ordered_error_under_uniform_shares(l: int, d: int, error: float) -> None:
    assert ordered(l, d).expected_mse(1) == pytest.approx(error, abs=0.00006)


@pytest.mark.parametrize(
    ("l", "d", "posterior", "error"), [(2, 3, 0.577, 0.069), (3, 2, 0.383, 0.151), (3, 3, 0.443, 0.167)]
)
def test_simple_selection_favors_members_on_education(
    public_data: Path, l: int, d: int, posterior: float, error: float
) -> None:
    balanced = education(l, d)

    simple = SimpleSelection.fit(balanced.domain, balanced.distance, l, d)

    assert simple.worst_posterior() == pytest.approx(posterior, abs=0.0006)
    assert simple.expected_mse(1, adult_shares()) == pytest.approx(error, abs=0.0006)


@pytest.mark.parametrize(
    ("l", "d", "posterior", "error"), [(3, 3, 0.411, 0.253), (3, 4, 0.506, 0.862), (4, 3, 0.393, 2.841)]
)
def test_simple_selection_favors_members_on_salaries(l: int, d: int, posterior: float, error: float) -> None:
    balanced = ordered(l, d)

    simple = SimpleSelection.fit(balanced.domain, balanced.distance, l, d)

    assert simple.worst_posterior() == pytest.approx(posterior, abs=0.0006)
    assert simple.expected_mse(1, salaries()) == pytest.approx(error, abs=0.0006)


def test_ring_discloses_on_salaries() -> None:
    ring = RingSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), 3, 3)

    assert ring.worst_posterior() == 1.0
    assert ring.expected_mse(1, salaries()) == pytest.approx(0.546, abs=0.0006)
    assert ring.leak().ruled_out == pytest.approx(0.30, abs=0.006)
    assert ring.leak().disclosed == pytest.approx(0.023, abs=0.0006)


@pytest.mark.parametrize(("l", "d"), [(3, 4), (4, 3)])
def test_ring_needs_more_values(l: int, d: int) -> None:
    with pytest.raises(InfeasibleError):
        RingSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l, d)


# --- what 1/l does not cover -------------------------------------------------------------------------


def test_guesser_who_knows_the_marginal_of_adult_is_often_right(public_data: Path) -> None:
    mechanism = education(3, 3)
    shares = adult_shares()
    sets = mechanism.compatibility.enumerate_sets(3, 1000)
    assert sets is not None

    # Of each set the most frequent member: P(R and it is true) = weight of the set times its share.
    right = float((np.prod(mechanism.theta[sets], axis=1) * shares[sets].max(axis=1)).sum())

    assert right == pytest.approx(0.728, abs=0.0006)
    assert shares.max() == pytest.approx(0.326, abs=0.0006)


def test_one_set_can_point_at_one_value_of_adult(public_data: Path) -> None:
    assert education(3, 3).worst_posterior(adult_shares()) == pytest.approx(0.980, abs=0.0006)


def test_calibration_to_a_prior_costs_accuracy() -> None:
    shares = 0.8 / 14 + 0.2 * salaries()
    plain = ordered(3, 3)

    calibrated = BalancedSelection.fit(plain.domain, plain.distance, 3, 3, prior=shares)

    assert plain.worst_posterior(shares) == pytest.approx(0.453, abs=0.0006)
    assert calibrated.worst_posterior(shares) == pytest.approx(1 / 3, rel=1e-9)
    assert calibrated.expected_mse(1, shares) / plain.expected_mse(1, shares) == pytest.approx(1.30, abs=0.006)


def test_prior_that_is_too_skewed_is_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"they hold 0\.533"):
        BalancedSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), 3, 3, prior=salaries())
