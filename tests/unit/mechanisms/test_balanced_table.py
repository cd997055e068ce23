"""The figures that the method's page gives for balanced selection: worst posterior and error of the linear estimate."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld
from ldiversity._types import FloatArray
from ldiversity.distances import MatrixDistance, OrderedDistance
from ldiversity.mechanisms import BalancedSelection
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
    column = ld.datasets.adult().column("education").to_pylist()
    shares = np.array([column.count(value) for value in EDUCATION]) / len(column)

    assert education(l, d).expected_mse(1, shares) == pytest.approx(error, abs=0.0006)


@pytest.mark.parametrize(("l", "d", "error"), [(2, 3, 0.0707), (3, 2, 0.1533), (3, 3, 0.2636)])
def test_education_error_under_uniform_shares(l: int, d: int, error: float) -> None:
    assert education(l, d).expected_mse(1) == pytest.approx(error, abs=0.00006)


@pytest.mark.parametrize(("l", "d", "error"), [(3, 3, 0.246), (3, 4, 0.560), (4, 3, 1.011)])
def test_ordered_error_on_salaries(l: int, d: int, error: float) -> None:
    assert ordered(l, d).expected_mse(1, salaries()) == pytest.approx(error, abs=0.0006)


@pytest.mark.parametrize(("l", "d", "error"), [(3, 3, 0.2553), (3, 4, 0.6363), (4, 3, 1.0825)])
def test_ordered_error_under_uniform_shares(l: int, d: int, error: float) -> None:
    assert ordered(l, d).expected_mse(1) == pytest.approx(error, abs=0.00006)


def test_marginal_of_adult_still_points_at_values(public_data: Path) -> None:
    column = ld.datasets.adult().column("education").to_pylist()
    shares = np.array([column.count(value) for value in EDUCATION]) / len(column)

    assert education(3, 3).worst_posterior(shares) > 0.9


def test_calibration_to_a_skewed_prior_costs_accuracy() -> None:
    shares = 0.5 / 14 + 0.5 * salaries()
    shares /= shares.sum()
    domain = Domain(tuple(range(14)), ordered=True)

    calibrated = BalancedSelection.fit(domain, OrderedDistance(), 2, 2, prior=shares)
    plain = BalancedSelection.fit(domain, OrderedDistance(), 2, 2)

    assert plain.worst_posterior(shares) > 0.79
    assert calibrated.worst_posterior(shares) == pytest.approx(0.5, rel=1e-9)
    assert calibrated.expected_mse(1, shares) > plain.expected_mse(1, shares)
