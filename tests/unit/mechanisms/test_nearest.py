"""The nearest goals that can be met, and what is said of goals that were not searched."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.distances import MatrixDistance, NumericDistance, OrderedDistance
from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.mechanisms import BalancedSelection, Compatibility, RingSelection, SimpleSelection, nearest_feasible
from ldiversity.mechanisms import _nearest as module
from ldiversity.mechanisms._balanced_weights import fit_weights
from ldiversity.schema import Domain

SELECTIONS = {"balanced": BalancedSelection, "simple": SimpleSelection, "ring": RingSelection}


def ordered(size: int) -> Domain:
    return Domain(tuple(range(size)), ordered=True)


def points(size: int, seed: int) -> tuple[Domain, MatrixDistance]:
    """Random points in a square with sides of 10, distances rounded to tenths."""
    places = np.random.default_rng(seed).uniform(0, 10, (size, 2))
    distances = np.round(np.hypot(*(places[:, None] - places).transpose(2, 0, 1)), 1)
    distances[distances == 0] = 0.1
    np.fill_diagonal(distances, 0.0)
    values = tuple(range(size))
    return Domain(values), MatrixDistance(values, distances)


def pendant() -> tuple[Domain, MatrixDistance]:
    """A triangle 0-1-2 of values at distance 2, and one value that is far from 2 only."""
    distances = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 2], [1, 1, 2, 0]], dtype=float)
    return Domain(tuple("abcd")), MatrixDistance(tuple("abcd"), distances)


def can_be_met(domain: Domain, distance: MatrixDistance, l: int, d: float) -> bool:
    return fit_weights(Compatibility.of(distance, domain, d), l, np.ones(len(domain))) is not None


def greatest_d(domain: Domain, distance: MatrixDistance, l: int, most: float) -> float:
    """Try every distance from above, without any search."""
    distances = np.unique(distance.matrix(domain))[::-1]
    return next(float(d) for d in distances if d <= most and can_be_met(domain, distance, l, float(d)))


# --- order and blocks ----------------------------------------------------------------------------------


def test_nearest_goals_of_simple_selection_need_sets_for_every_value() -> None:
    assert nearest_feasible(ordered(14), OrderedDistance(), 3, 7, "simple") == [{"l": 3, "d": 4.0}, {"l": 2, "d": 6.0}]


def test_nearest_goals_of_the_ring_keep_its_stricter_bound() -> None:
    # (2, 7) has rings that are long enough, but its inclusion matrix is singular.
    assert nearest_feasible(ordered(14), OrderedDistance(), 3, 7, "ring") == [{"l": 3, "d": 3.0}, {"l": 2, "d": 6.0}]


def test_nearest_goals_of_the_ring_are_told_in_the_unit_of_the_distance() -> None:
    places = tuple(range(0, 140, 10))
    domain = Domain(places, ordered=True, positions=places)

    assert nearest_feasible(domain, NumericDistance(), 3, 70, "ring") == [{"l": 3, "d": 30.0}, {"l": 2, "d": 60.0}]


def test_the_d_asked_for_counts_when_no_distance_equals_it() -> None:
    places = tuple(range(0, 140, 10))
    domain = Domain(places, ordered=True, positions=places)

    assert nearest_feasible(domain, NumericDistance(), 3, 55) == [{"l": 3, "d": 40.0}, {"l": 2, "d": 55.0}]


def test_at_most_five_goals_are_listed() -> None:
    assert [goal["l"] for goal in nearest_feasible(ordered(40), OrderedDistance(), 40, 20)] == [39, 19, 13, 9, 7]


def test_long_lines_are_searched() -> None:
    nearest = nearest_feasible(ordered(1000), OrderedDistance(), 1000, 500)

    assert nearest[:2] == [{"l": 999, "d": 1.0}, {"l": 499, "d": 2.0}]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(("size", "l", "d"), [(9, 3, 4), (14, 4, 5), (15, 5, 5), (20, 3, 12)])
def test_every_goal_on_a_line_can_be_met(selection: str, size: int, l: int, d: int) -> None:
    nearest = nearest_feasible(ordered(size), OrderedDistance(), l, d, selection)

    fitted = [SELECTIONS[selection].fit(ordered(size), OrderedDistance(), int(g["l"]), g["d"]) for g in nearest]
    assert fitted


# --- graphs without structure --------------------------------------------------------------------------


def test_nearest_goals_on_a_graph_without_structure_are_balanced() -> None:
    values = tuple(range(8))
    steps = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    distance = MatrixDistance(values, np.minimum(steps, 8 - steps).astype(float))

    nearest = nearest_feasible(Domain(values), distance, l=3, d=4)

    assert [BalancedSelection.fit(Domain(values), distance, int(g["l"]), g["d"]).l for g in nearest] == [3, 2]


@pytest.mark.parametrize(("size", "l", "seed"), [(40, 3, 3), (60, 3, 4), (40, 4, 5), (25, 2, 6), (30, 5, 7)])
def test_nearest_goal_among_points_is_the_greatest_d_there_is(size: int, l: int, seed: int) -> None:
    domain, distance = points(size, seed)

    assert nearest_feasible(domain, distance, l, 9.0)[0] == {"l": l, "d": greatest_d(domain, distance, l, 9.0)}


@pytest.mark.parametrize("quick", [0, 100, 1_000, 1_000_000])
def test_the_goal_does_not_depend_on_where_the_quick_look_ends(monkeypatch: pytest.MonkeyPatch, quick: int) -> None:
    monkeypatch.setattr(module, "QUICK_SETS", quick)
    domain, distance = points(40, 3)

    assert nearest_feasible(domain, distance, 3, 9.0) == [{"l": 3, "d": 5.0}, {"l": 2, "d": 6.0}]


def test_a_searched_goal_is_named_without_a_doubt() -> None:
    with pytest.raises(InfeasibleError) as caught:
        BalancedSelection.fit(*points(40, 3), 3, 9.0)

    assert caught.value.hint == "Feasible nearby: l=3, d=5, or l=2, d=6."


def test_a_goal_is_at_least_so_great_when_greater_ones_were_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCH_WORK", 0)

    with pytest.raises(InfeasibleError) as caught:
        BalancedSelection.fit(*points(40, 3), 3, 9.0)

    assert caught.value.hint == "Feasible nearby: l=3, d=0.8 (at least: greater d were not all searched)."


def test_work_that_runs_out_on_the_way_leaves_goals_that_can_be_met(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, distance = points(40, 3)
    monkeypatch.setattr(module, "QUICK_SETS", 0)
    monkeypatch.setattr(module, "SEARCH_WORK", 6_000)

    nearest = nearest_feasible(domain, distance, 3, 9.0)

    assert [BalancedSelection.fit(domain, distance, int(g["l"]), g["d"]).l for g in nearest]


def test_without_a_search_nothing_is_said_to_be_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCH_WORK", 0)
    distances = 2.0 * (1 - np.eye(5))
    distances[[0, 1, 2, 2], [2, 2, 0, 1]] = 0.0  # c is close to a and b, which are far apart: no order, no blocks
    domain = Domain(tuple("abcde"))

    with pytest.raises(InfeasibleError, match="was not searched: there are too many valid sets") as caught:
        BalancedSelection.fit(domain, MatrixDistance(tuple("abcde"), distances), 3, 2)

    assert caught.value.nearest == []


def test_simple_goals_on_a_graph_without_structure_tell_values_apart() -> None:
    assert nearest_feasible(*pendant(), 2, 2, "simple") == [{"l": 2, "d": 2.0}]


def test_simple_goals_keep_to_the_sets_that_are_offered() -> None:
    # Sets of seven points are only drawn one by one where too close points come in blocks.
    domain, distance = points(30, 1)

    nearest = nearest_feasible(domain, distance, 7, 3.0, "simple")

    assert SimpleSelection.fit(domain, distance, int(nearest[0]["l"]), nearest[0]["d"]).l == 7


@pytest.mark.parametrize("work", [2, 4])  # too few to list the four sets; enough to list but not to weigh them
def test_graphs_with_too_many_sets_are_not_searched(monkeypatch: pytest.MonkeyPatch, work: int) -> None:
    monkeypatch.setattr(module, "SEARCH_WORK", work)

    assert nearest_feasible(*pendant(), 2, 2, "simple") == [{"l": 2, "d": 1.0}]


def test_graphs_with_too_many_partial_sets_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VISITS", 0)

    assert nearest_feasible(*pendant(), 2, 2, "simple") == [{"l": 2, "d": 1.0}]


def test_ring_has_no_goal_on_a_graph_without_order() -> None:
    assert nearest_feasible(*pendant(), 2, 2, "ring") == [{"l": 2, "d": 1.0}]


def test_ring_has_no_goal_where_two_values_are_the_same() -> None:
    distance = MatrixDistance(tuple("abc"), [[0, 0, 2], [0, 0, 1], [2, 1, 0]])

    assert nearest_feasible(Domain(tuple("abc")), distance, 2, 2, "ring") == []


def test_unknown_selection_is_refused() -> None:
    with pytest.raises(ParameterError, match="selection must be one of"):
        nearest_feasible(ordered(5), OrderedDistance(), 3, 2, "best")
