"""What can be reached on a domain, and the sentence when a goal cannot."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from ldiversity.distances import DiscreteDistance, MatrixDistance, NumericDistance, OrderedDistance
from ldiversity.errors import InfeasibleError, InternalError
from ldiversity.mechanisms import BalancedSelection, Compatibility
from ldiversity.mechanisms import _balanced_listed as listed_module
from ldiversity.mechanisms import _calibration as calibration_module
from ldiversity.mechanisms import _programs as programs_module
from ldiversity.mechanisms import _refusal as refusal_module
from ldiversity.mechanisms._calibration import calibrate
from ldiversity.mechanisms._feasibility import balance_verdict, coverable, spans
from ldiversity.mechanisms._programs import TOLERANCE, best_worst_posterior, depth
from ldiversity.schema import Domain


def ordered(size: int) -> Domain:
    return Domain(tuple(range(size)), ordered=True)


def grouped(sizes: list[int]) -> tuple[Domain, MatrixDistance]:
    """Blocks of these sizes: distance 1 within, 2 between."""
    block_of = np.repeat(np.arange(len(sizes)), sizes)
    values = tuple(f"v{i}" for i in range(len(block_of)))
    distances = np.not_equal.outer(block_of, block_of) + 1.0 - np.eye(len(block_of))
    return Domain(values), MatrixDistance(values, distances)


def line(size: int, d: int) -> Compatibility:
    return Compatibility(np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= d)


def cycle(size: int, d: int) -> Compatibility:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return Compatibility(np.minimum(steps, size - steps) >= d)


def pairs(size: int, *allowed: tuple[int, int]) -> Compatibility:
    matrix = np.zeros((size, size), dtype=bool)
    for i, j in allowed:
        matrix[i, j] = matrix[j, i] = True
    return Compatibility(matrix)


# A triangle 0-1-2, and one or two values that only stand with 2.
ONE_PENDANT = pairs(4, (0, 1), (0, 2), (1, 2), (2, 3))
TWO_PENDANTS = pairs(5, (0, 1), (0, 2), (1, 2), (2, 3), (2, 4))


def as_distance(compatibility: Compatibility) -> tuple[Domain, MatrixDistance]:
    """Distance 2 between allowed pairs, 1 between others."""
    values = tuple(f"v{i}" for i in range(len(compatibility)))
    distances = np.where(compatibility.allowed, 2.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    return Domain(values), MatrixDistance(values, distances)


# --- ordered domains -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "l", "d"), [(14, 3, 3), (14, 3, 4), (14, 2, 6), (16, 5, 3), (148, 5, 29)])
def test_ordered_goal_is_met_when_l_d_is_less_than_f(size: int, l: int, d: int) -> None:
    assert balance_verdict(line(size, d), l, np.ones(size)) == "balanced"


@pytest.mark.parametrize(("size", "l", "d"), [(14, 2, 7), (15, 3, 5), (15, 5, 3)])
def test_ordered_goal_is_singular_when_l_d_is_f(size: int, l: int, d: int) -> None:
    assert balance_verdict(line(size, d), l, np.ones(size)) == "singular"


@pytest.mark.parametrize(("size", "l", "d"), [(14, 3, 5), (14, 3, 7), (15, 2, 8)])
def test_ordered_goal_is_absent_when_l_d_exceeds_f(size: int, l: int, d: int) -> None:
    assert balance_verdict(line(size, d), l, np.ones(size)) == "absent"


def test_infeasible_ordered_goal_names_the_bound_and_the_nearest_goals() -> None:
    with pytest.raises(InfeasibleError, match=r"l \* d must be at most the number of values, 14") as caught:
        BalancedSelection.fit(ordered(14), OrderedDistance(), l=3, d=7)

    assert caught.value.nearest == [{"l": 3, "d": 4.0}, {"l": 2, "d": 6.0}]
    assert caught.value.hint == "Feasible nearby: l=3, d=4, or l=2, d=6."


def test_values_that_nobody_can_hide_are_named() -> None:
    with pytest.raises(InfeasibleError, match="no mechanism at all can hide 2 of the"):
        BalancedSelection.fit(ordered(5), OrderedDistance(), l=3, d=2)


def test_singular_ordered_goal_is_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"l \* d must be less than .*cannot be recovered") as caught:
        BalancedSelection.fit(ordered(14), OrderedDistance(), l=2, d=7)

    assert caught.value.nearest == [{"l": 2, "d": 6.0}]


def test_as_many_members_as_values_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="l must be less than the number of values, 3"):
        BalancedSelection.fit(Domain(("a", "b", "c")), DiscreteDistance(), l=3, d=1)


def test_uneven_line_is_refused_with_the_share_of_its_largest_clique() -> None:
    places = (0, 1, 2, 3, 5, 9, 20)
    domain = Domain(places, ordered=True, positions=places)

    with pytest.raises(InfeasibleError, match=r"at most 1/l = 0\.333 of the domain \(they hold 0.572\)") as caught:
        BalancedSelection.fit(domain, NumericDistance(), l=3, d=4)

    assert "best worst posterior of any mechanism is 0.572" in caught.value.message


def test_long_line_is_refused_with_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusal_module, "PROGRAM_SETS", 1)
    places = (0, 1, 2, 3, 5, 9, 20)
    domain = Domain(places, ordered=True, positions=places)

    with pytest.raises(InfeasibleError, match=r"no mechanism has a worst posterior below 0\.571"):
        BalancedSelection.fit(domain, NumericDistance(), l=3, d=4)


# --- blocks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "l", "verdict"),
    [([2, 2, 1, 1], 2, "balanced"), ([3, 2, 1], 2, "singular"), ([4, 2, 1], 2, "absent"), ([2, 2, 2], 3, "singular")],
)
def test_blocks_are_judged_by_the_largest(sizes: list[int], l: int, verdict: str) -> None:
    domain, distance = grouped(sizes)

    assert balance_verdict(Compatibility.of(distance, domain, 2), l, np.ones(len(domain))) == verdict


def test_infeasible_blocks_name_the_best_worst_posterior() -> None:
    domain, distance = grouped([5, 2, 1])

    with pytest.raises(InfeasibleError, match=r"best worst posterior of any mechanism is 0\.625"):
        BalancedSelection.fit(domain, distance, l=2, d=2)


def test_best_worst_posterior_of_blocks_is_what_the_program_finds() -> None:
    domain, distance = grouped([5, 2, 1])
    sets = Compatibility.of(distance, domain, 2).enumerate_sets(2, 100)

    assert sets is not None
    assert best_worst_posterior(sets, np.full(8, 1 / 8)) == pytest.approx(0.625, abs=1e-6)


# --- other graphs --------------------------------------------------------------------------------------


def test_cycle_with_enough_values_is_balanced() -> None:
    assert balance_verdict(cycle(7, 2), 3, np.ones(7)) == "balanced"


def test_even_cycle_of_close_pairs_is_singular() -> None:
    # Six values around a table, opposite ones only: three sets cannot tell six values apart.
    assert balance_verdict(cycle(6, 3), 2, np.ones(6)) == "singular"


def test_graph_whose_balance_must_leave_out_sets_is_singular() -> None:
    # {2, 3} needs the whole weight of 3, so {0, 2} and {1, 2} get none.
    assert spans(ONE_PENDANT, 2)
    assert balance_verdict(ONE_PENDANT, 2, np.ones(4)) == "singular"


def test_singular_graph_without_structure_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="the valid sets must distinguish all values, got l=2, d=2"):
        BalancedSelection.fit(*as_distance(ONE_PENDANT), l=2, d=2)


def test_two_values_that_need_the_same_third_are_absent() -> None:
    assert balance_verdict(TWO_PENDANTS, 2, np.ones(5)) == "absent"


def test_unbalanced_graph_without_structure_is_refused_with_the_best_worst_posterior() -> None:
    # A set of 3 or 4 shows 2 as well, and 2 is half as frequent: 2/3 at best.
    with pytest.raises(InfeasibleError, match=r"best worst posterior of any mechanism is 0\.667") as caught:
        BalancedSelection.fit(*as_distance(TWO_PENDANTS), l=2, d=2)

    assert caught.value.nearest == [{"l": 2, "d": 1.0}]


def test_large_unbalanced_graph_is_refused_without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusal_module, "PROGRAM_SETS", 1)

    with pytest.raises(InfeasibleError, match=r"the same for every value, got l=2, d=2\.\n"):
        BalancedSelection.fit(*as_distance(TWO_PENDANTS), l=2, d=2)


def test_value_without_any_set_is_absent_on_a_graph_without_structure() -> None:
    compatibility = pairs(6, (0, 1), (0, 2), (1, 2), (2, 3), (4, 5))

    assert balance_verdict(compatibility, 3, np.ones(6)) == "absent"


def test_program_without_enough_sets_finds_no_weights() -> None:
    assert depth(np.array([[0, 1]]), np.ones(3)) < 0


# Every set must hold the first two values: 18 of 1,140 sets, most of which the program does not start with.
ALL_TRIPLES = np.array(list(combinations(range(20), 3)), dtype=np.int32)
FIRST_TWO = np.array([18.0, 18.0] + [1.0] * 18)


def test_program_asks_for_the_sets_it_needs() -> None:
    assert depth(ALL_TRIPLES, FIRST_TWO) == pytest.approx(0, abs=TOLERANCE / 10)


def test_program_ends_when_no_set_helps() -> None:
    sets = ALL_TRIPLES[(ALL_TRIPLES[:, :2] != [0, 1]).any(axis=1)]

    assert depth(sets, FIRST_TWO) < -TOLERANCE


def test_program_that_does_not_end_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs_module, "ROUNDS", 1)

    with pytest.raises(InternalError, match="did not end"):
        depth(ALL_TRIPLES, FIRST_TWO)


def test_program_that_fails_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: SimpleNamespace(status=4))

    with pytest.raises(InternalError, match="failed with status 4"):
        depth(ALL_TRIPLES, FIRST_TWO)


def test_best_worst_posterior_does_not_exist_for_a_value_without_a_set() -> None:
    assert best_worst_posterior(np.array([[0, 1]]), np.full(3, 1 / 3)) is None


# --- prior ---------------------------------------------------------------------------------------------


def test_prior_above_one_in_l_is_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"at most 1/l = 0\.333 of the prior \(they hold 0.5\)") as caught:
        BalancedSelection.fit(ordered(6), OrderedDistance(), l=3, d=1, prior=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])

    assert caught.value.hint == "No smaller l or d above 0 is feasible on this domain. Or leave out the prior."


def test_prior_makes_a_smaller_l_the_nearest_goal() -> None:
    prior = [0.4, 0.1, 0.2, 0.1, 0.1, 0.1]

    with pytest.raises(InfeasibleError) as caught:
        BalancedSelection.fit(ordered(6), OrderedDistance(), l=3, d=1, prior=prior)

    assert caught.value.nearest == [{"l": 2, "d": 1.0}]


# --- sets that exist -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "compatibility", [line(9, 3), line(8, 3), cycle(7, 2), cycle(6, 2), ONE_PENDANT, TWO_PENDANTS], ids=range(6)
)
@pytest.mark.parametrize("l", [2, 3])
def test_coverable_and_spanning_agree_with_listing(compatibility: Compatibility, l: int) -> None:
    size = len(compatibility)
    sets = compatibility.enumerate_sets(l, 1000)
    assert sets is not None
    members = np.zeros((len(sets), size))
    np.put_along_axis(members, sets.astype(np.intp), 1.0, axis=1)

    assert coverable(compatibility, l).tolist() == members.any(axis=0).tolist()
    assert spans(compatibility, l) == (len(sets) > 0 and np.linalg.matrix_rank(members) == size)


def test_no_sets_span_nothing() -> None:
    assert not spans(line(4, 3), 3)


def test_empty_domain_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="at least one value"):
        BalancedSelection.fit(Domain(()), DiscreteDistance(), 2, 1)


# --- calibration ---------------------------------------------------------------------------------------


def test_calibration_without_a_solution_gives_up() -> None:
    def always_even(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(x.sum() / 2), np.array([0.5, 0.5])

    assert calibrate(always_even, lambda _: np.zeros((2, 2)), np.array([0.25, 0.75])) is None


def test_calibration_without_a_solution_is_given_up_early() -> None:
    sets = TWO_PENDANTS.enumerate_sets(2, 10)
    assert sets is not None
    model = listed_module._Model(sets, 5)
    steps = []

    def curvature(x: np.ndarray) -> np.ndarray:
        steps.append(x)
        return model.curvature(x)

    assert calibrate(model.value, curvature, np.full(5, 2 / 5)) is None
    assert len(steps) < 10


def test_calibration_stops_after_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_module, "MOST_STEPS", 1)

    with pytest.raises(InternalError, match="did not find them"):
        BalancedSelection.fit(ordered(14), OrderedDistance(), l=3, d=4)
