"""(l, d)-semantic diversity: Fig. 4, Eq. 11 and 12, and the measured comparison of the selections."""

from __future__ import annotations

from itertools import combinations
from math import comb, erf, log, sqrt

import numpy as np
import pytest

from ldiversity.distances import Distance, MatrixDistance, OrderedDistance
from ldiversity.errors import InfeasibleError
from ldiversity.mechanisms import RingSelection, SimpleSelection, UniformSelection
from ldiversity.schema import Domain

INCOMES = Domain(("30K", "40K", "50K", "60K", "70K", "80K", "90K", "100K", "110K"), ordered=True)
TRUE = "50K"


def word(index: int, bound: int) -> int:
    """A word in the middle of those that draw `index` below `bound`."""
    return ((2 * index + 1) << 63) // bound


def second_dummies(mechanism: SimpleSelection | RingSelection, first: str, first_of: list[str]) -> dict[str, int]:
    """How many of 600 evenly spread second draws give each value, after `first` was drawn from `first_of`."""
    n = 600
    words = np.zeros((n, 3), dtype=np.uint64)
    words[:, 0] = word(first_of.index(first), len(first_of))
    words[:, 1] = [word(i, n) for i in range(n)]
    sets, _ = mechanism.sample(np.full(n, INCOMES.code_of[TRUE], dtype=np.int32), words)
    members = [INCOMES.values[code] for code in sets.ravel()]
    return {str(v): members.count(v) for v in INCOMES.values if v in members and v not in {TRUE, first}}


# --- Fig. 4 --------------------------------------------------------------------------------------------

FIRST_OF_SIMPLE = ["30K", "70K", "80K", "90K", "100K", "110K"]
FIRST_OF_RING = ["70K", "80K", "90K", "100K", "110K", "30K"]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("80K", {"30K": 200, "100K": 200, "110K": 200}),
        ("70K", {"30K": 150, "90K": 150, "100K": 150, "110K": 150}),
        ("110K", {"30K": 150, "70K": 150, "80K": 150, "90K": 150}),
    ],
)
def test_simple_selection_draws_as_in_figure_4(first: str, expected: dict[str, int]) -> None:
    mechanism = SimpleSelection.fit(INCOMES, OrderedDistance(), l=3, d=2)

    assert second_dummies(mechanism, first, FIRST_OF_SIMPLE) == expected


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("80K", {"30K": 200, "100K": 200, "110K": 200}),
        ("70K", {"90K": 200, "100K": 200, "110K": 200}),
        ("110K", {"70K": 200, "80K": 200, "90K": 200}),
    ],
)
def test_ring_selection_draws_as_in_figure_4(first: str, expected: dict[str, int]) -> None:
    mechanism = RingSelection.fit(INCOMES, OrderedDistance(), l=3, d=2)

    assert second_dummies(mechanism, first, FIRST_OF_RING) == expected


def test_ring_inclusion_is_that_of_equation_2() -> None:
    mechanism = RingSelection.fit(INCOMES, OrderedDistance(), l=3, d=2)

    assert mechanism.inclusion[2] == pytest.approx([1 / 3, 0, 1, 0, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3])


def test_a_ring_set_of_figure_4_rules_out_the_middle_value() -> None:
    mechanism = RingSelection.fit(INCOMES, OrderedDistance(), l=3, d=2)

    likelihood = mechanism.likelihood(np.array([[0, 2, 4]]))[0]

    assert (likelihood > 0).tolist() == [True, False, True]


# --- Eq. 11 and 12 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_values", "l", "d"), [(10, 4, 2), (14, 3, 3), (20, 5, 2)])
def test_equation_11_is_the_exact_violation_of_the_first_value(n_values: int, l: int, d: int) -> None:
    domain = Domain(tuple(range(n_values)), ordered=True)
    others = combinations(range(1, n_values), l - 1)
    kept = sum(min(np.diff((0, *row))) >= d for row in others)

    violation = UniformSelection(n_values, l).violation_probability(OrderedDistance(), domain, d)

    assert violation.bound == pytest.approx(1 - kept / comb(n_values - 1, l - 1), rel=1e-12)
    assert violation.bound == pytest.approx(violation.by_value[0], rel=1e-12)


@pytest.mark.parametrize(("n_values", "l", "d"), [(10, 4, 2), (14, 3, 3), (20, 5, 2)])
def test_equation_11_bounds_the_violation_of_every_value(n_values: int, l: int, d: int) -> None:
    domain = Domain(tuple(range(n_values)), ordered=True)

    violation = UniformSelection(n_values, l).violation_probability(OrderedDistance(), domain, d)

    assert violation.bound == pytest.approx(violation.least, rel=1e-12)


def test_equation_12_for_a_table() -> None:
    domain = Domain(tuple(range(14)), ordered=True)

    violation = UniformSelection(14, 3).violation_probability(OrderedDistance(), domain, 3, n=4)

    rho = 1 - comb(14 + 3 + 3 - 9 - 2, 2) / comb(13, 2)
    assert violation.of_table == pytest.approx(1 - (1 - rho) ** 4, rel=1e-12)


# --- the comparison of selections ----------------------------------------------------------------------

# The tree of Adult's education in which the elementary years and the two associate degrees meet one level up.
EDUCATION = {
    "Preschool": ("Preschool", "Preschool", "Without"),
    "1st-4th": ("Elementary", "Elementary", "Without"),
    "5th-6th": ("Elementary", "Elementary", "Without"),
    "7th-8th": ("Elementary", "Elementary", "Without"),
    "9th": ("Junior", "Secondary", "Without"),
    "10th": ("Junior", "Secondary", "Without"),
    "11th": ("Senior", "Secondary", "Without"),
    "12th": ("Senior", "Secondary", "Without"),
    "HS-grad": ("Senior", "Secondary", "Without"),
    "Some-college": ("Some-college", "Some-college", "Post"),
    "Assoc-voc": ("Assoc", "Assoc", "Post"),
    "Assoc-acdm": ("Assoc", "Assoc", "Post"),
    "Bachelors": ("Bachelors", "University", "Post"),
    "Prof-school": ("Prof-school", "University", "Post"),
    "Masters": ("Post-grad", "University", "Post"),
    "Doctorate": ("Post-grad", "University", "Post"),
}
# Adult's 30,162 training records without missing cells, in the order above.
EDUCATION_COUNTS = (45, 151, 288, 557, 455, 820, 1048, 377, 9840, 6678, 1307, 1008, 5044, 542, 1627, 375)


def education() -> tuple[Domain, Distance]:
    values = tuple(EDUCATION)
    paths = np.array([(value, *EDUCATION[value], "Any") for value in values])
    return Domain(values), MatrixDistance(values, (paths[:, None] == paths).argmax(axis=2))


def income_shares() -> np.ndarray:
    """Fourteen income bands of a log-normal shape, in whole records of 100,000."""
    edges = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25]
    below = [0.5 * (1 + erf((log(edge) - log(3.7)) / (0.62 * sqrt(2)))) for edge in edges]
    counts = np.floor(np.diff([0.0, *below, 1.0]) * 100_000)
    counts[counts.argmax()] += 100_000 - counts.sum()
    return np.asarray(counts / 100_000)


@pytest.mark.parametrize(
    ("l", "d", "posterior", "mse"), [(2, 3, 0.577, 0.069), (3, 2, 0.383, 0.151), (3, 3, 0.443, 0.167)]
)
def test_simple_selection_on_education(l: int, d: int, posterior: float, mse: float) -> None:
    mechanism = SimpleSelection.fit(*education(), l, d)
    shares = np.array(EDUCATION_COUNTS) / sum(EDUCATION_COUNTS)

    assert mechanism.worst_posterior() == pytest.approx(posterior, abs=5e-4)
    assert mechanism.expected_mse(1, shares) == pytest.approx(mse, abs=5e-4)


@pytest.mark.parametrize(
    ("l", "d", "posterior", "mse"), [(3, 3, 0.411, 0.253), (3, 4, 0.506, 0.862), (4, 3, 0.393, 2.84)]
)
def test_simple_selection_on_fourteen_incomes(l: int, d: int, posterior: float, mse: float) -> None:
    mechanism = SimpleSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l, d)

    assert mechanism.worst_posterior() == pytest.approx(posterior, abs=5e-4)
    assert mechanism.expected_mse(1, income_shares()) == pytest.approx(mse, rel=2e-3)  # three digits are known


def test_ring_selection_on_fourteen_incomes() -> None:
    mechanism = RingSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), 3, 3)

    assert mechanism.worst_posterior() == 1.0
    assert mechanism.expected_mse(1, income_shares()) == pytest.approx(0.546, abs=5e-4)


def test_ring_selection_on_fourteen_incomes_rules_members_out() -> None:
    leak = RingSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), 3, 3).leak()

    assert leak.ruled_out == pytest.approx(0.30, abs=0.005)
    assert leak.disclosed == pytest.approx(0.023, abs=5e-4)


@pytest.mark.parametrize(("l", "d"), [(3, 4), (4, 3)])
def test_ring_selection_needs_more_than_fourteen_incomes(l: int, d: int) -> None:
    with pytest.raises(InfeasibleError, match="its rings need"):
        RingSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l, d)


@pytest.mark.parametrize(("l", "d", "feasible"), [(3, 4, True), (7, 2, True), (3, 5, False), (2, 8, False)])
def test_every_value_can_be_masked_when_l_times_d_is_at_most_the_number_of_values(
    l: int, d: int, *, feasible: bool
) -> None:
    mechanism = SimpleSelection(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l, d)

    assert (mechanism._why_infeasible() is None) == feasible
