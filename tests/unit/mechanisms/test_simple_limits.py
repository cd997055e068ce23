"""Simple selection: what it refuses, and what looking ahead may cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldiversity._kernels import candidates
from ldiversity.distances import Distance, MatrixDistance, OrderedDistance
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms import Compatibility, SimpleSelection
from ldiversity.mechanisms import _simple as simple_module
from ldiversity.schema import Domain


def ordered(n_values: int) -> tuple[Domain, Distance]:
    return Domain(tuple(range(n_values)), ordered=True), OrderedDistance()


def graph() -> tuple[Domain, Distance]:
    """Twelve values of which a random three quarters of the pairs may stand together."""
    upper = np.triu(np.random.default_rng(18).random((12, 12)) < 0.75, 1)
    values = tuple(f"v{i}" for i in range(12))
    return Domain(values), MatrixDistance(values, np.where(upper | upper.T, 2.0, 1.0) * ~np.eye(12, dtype=bool))


def test_a_value_without_a_valid_set_is_named() -> None:
    with pytest.raises(InfeasibleError, match="no valid set contains 2 of the") as caught:
        SimpleSelection.fit(*ordered(5), 3, 2)

    assert {"l": 2, "d": 2.0} in caught.value.nearest


def test_a_singular_inclusion_is_refused_before_anything_is_published() -> None:
    with pytest.raises(InfeasibleError, match="inclusion matrix is singular") as caught:
        SimpleSelection.fit(*ordered(14), 2, 7)

    assert caught.value.nearest == [{"l": 2, "d": 6.0}]


def test_a_set_of_the_whole_domain_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="singular"):
        SimpleSelection.fit(*ordered(5), 5, 1)


def test_more_values_than_the_domain_has_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="no valid set"):
        SimpleSelection.fit(*ordered(5), 6, 1)


def test_a_refusal_without_a_way_out_names_no_goal() -> None:
    distance = MatrixDistance(tuple("abc"), [[0, 2, 0], [2, 0, 0], [0, 0, 0]])

    with pytest.raises(InfeasibleError, match="no valid set contains 1 of the") as caught:
        SimpleSelection.fit(Domain(tuple("abc")), distance, 2, 2)

    assert caught.value.nearest == []


def test_an_exact_inclusion_that_is_far_from_singular_needs_no_caution() -> None:
    assert SimpleSelection.fit(*ordered(9), 3, 2).cautions() == ()


def test_large_sets_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="SimpleSelection: l must be at most 12, got 13"):
        SimpleSelection.fit(*ordered(100), 13, 2)


def test_large_sets_of_a_large_graph_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simple_module, "_MOST_PAIRED", 5)

    with pytest.raises(UnsupportedError, match="SimpleSelection: l must be at most 4, got 5"):
        SimpleSelection.fit(*graph(), 5, 2)


# Four kinds of values, and a fifth that is missing in every set of five; two values that are too close hide the blocks.
HARD = np.where(np.not_equal.outer(np.arange(120) % 4, np.arange(120) % 4), 2.0, 1.0)
HARD[0, 1] = HARD[1, 0] = 1.0
np.fill_diagonal(HARD, 0.0)


@pytest.mark.parametrize("steps", [10, 1_000, 100_000])
def test_graphs_that_are_hard_to_look_ahead_on_are_given_up(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    monkeypatch.setattr(simple_module, "_MOST_STEPS", steps)
    values = tuple(range(120))

    with pytest.raises(UnsupportedError, match="looking ahead to sets of 5 values takes too long"):
        SimpleSelection.fit(Domain(values), MatrixDistance(values, HARD), 5, 2)


@pytest.mark.parametrize("l", [4, 5])
def test_strangers_cannot_ask_for_an_endless_look_ahead(monkeypatch: pytest.MonkeyPatch, l: int) -> None:
    monkeypatch.setattr(simple_module, "_MOST_STEPS", 10_000)
    domain = Domain(tuple(range(120)))
    distance = MatrixDistance(domain.values, HARD).to_dict(domain)

    with pytest.raises(ReleaseFormatError, match="takes too long"):
        SimpleSelection.from_dict({"kind": "simple", "version": 1, "l": l, "d": 2.0, "distance": distance}, domain)


def test_looking_ahead_at_pairs_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, distance = graph()
    bits = np.array(Compatibility.of(distance, domain, 2).bits)
    first = candidates.first_masks(bits, 4, 1 << 40)[1]
    second = candidates.pair_masks(bits, 4, 1 << 40)[1]
    monkeypatch.setattr(simple_module, "_MOST_STEPS", first + second - 1)

    with pytest.raises(UnsupportedError, match="takes too long"):
        SimpleSelection.fit(*graph(), 4, 2)


def test_large_sets_of_a_graph_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="SimpleSelection: l must be at most 6, got 7"):
        SimpleSelection.fit(*graph(), 7, 2)


@pytest.mark.parametrize(("l", "d"), [(1, 2), (True, 2), (2.0, 2), (2, -1), (2, float("nan")), (2, "2")])
def test_wrong_parameters_are_refused(l: Any, d: Any) -> None:
    with pytest.raises(ParameterError, match=r"SimpleSelection: [ld] must be"):
        SimpleSelection(*ordered(5), l, d)
