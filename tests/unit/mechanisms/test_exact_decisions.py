"""What is feasible is decided exactly: by no convergence, no last digit and no kernel of a processor."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.base.arrays import FloatArray
from ldiversity.distances import OrderedDistance
from ldiversity.errors import InfeasibleError, InternalError
from ldiversity.mechanisms import BalancedSelection, Compatibility
from ldiversity.mechanisms import _balanced_weights as weights_module
from ldiversity.mechanisms import _calibration as calibration_module
from ldiversity.mechanisms._balanced_weights import fit_weights
from ldiversity.mechanisms._feasibility import _is_regular, balance_verdict
from ldiversity.mechanisms._programs import best_worst_posterior
from ldiversity.schema import Domain

STEPS = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
LINE = Compatibility(STEPS >= 2)
BLOCKS = Compatibility(np.not_equal.outer([0, 0, 1, 1, 2, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2, 3, 4, 5]))
CYCLE = Compatibility(np.minimum(STEPS, 9 - STEPS) >= 2)
GRAPHS = {"line": LINE, "blocks": BLOCKS, "general": CYCLE}
PENDANT = Compatibility(np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], dtype=bool))
"""A triangle 0-1-2, and a value 3 that stands with 2 alone: 2 must be more frequent than 3."""
TAIL = Compatibility(np.pad(~np.eye(5, dtype=bool), (0, 1)) | np.pad(np.array([[0, 1], [1, 0]], dtype=bool), (4, 0)))
"""Five values that all stand together, and a value 5 that stands with 4 alone: 4 must be more frequent than 5."""

ORDERED = Domain(tuple(range(9)), ordered=True)


def with_rare_values(share: float) -> FloatArray:
    """Shares of nine values of which the first and the last are rare, times nine."""
    shares = np.array([share, 1, 1, 1, 1, 1, 1, 1, share])
    targets: FloatArray = shares * (9 / shares.sum())
    return targets


def with_two_thirds_in_reach(slack: float) -> FloatArray:
    """Shares of nine values of which the first two hold a third, less `slack`."""
    rest = (2 / 3 + slack) / 7
    return np.array([1 / 6 - slack / 2] * 2 + [rest] * 7)


# --- rare values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12, 1e-30, 1e-100])
@pytest.mark.parametrize("structure", GRAPHS)
def test_a_prior_is_feasible_however_rare_some_values_are(structure: str, share: float) -> None:
    targets = with_rare_values(share)

    weights = fit_weights(GRAPHS[structure], 3, targets)

    assert GRAPHS[structure].structure == structure
    assert weights is not None
    np.testing.assert_allclose(weights.marginals, targets, rtol=1e-9)


# --- borders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slack", "verdict"), [(1e-3, "balanced"), (1e-7, "balanced"), (1e-10, "singular"), (0, "singular")]
)
def test_a_clique_that_holds_one_in_l_up_to_rounding_is_singular(slack: float, verdict: str) -> None:
    targets = with_two_thirds_in_reach(slack) * 9

    assert balance_verdict(LINE, 3, targets) == verdict
    assert (fit_weights(LINE, 3, targets) is not None) == (verdict == "balanced")


@pytest.mark.parametrize("frequency", [1.0, 1e-9])
@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        (1e-2, "balanced"),
        (1e-6, "balanced"),
        (1e-10, "singular"),
        (0.0, "singular"),
        (-1e-10, "singular"),
        (-1e-6, "absent"),
    ],
)
def test_a_border_of_a_graph_without_structure_has_a_stated_width(more: float, verdict: str, frequency: float) -> None:
    targets = np.array([1.0, 1.0, 1.0, 1.0, frequency * (1.0 + more), frequency])

    assert TAIL.structure == "general"
    assert balance_verdict(TAIL, 2, targets) == verdict
    assert (fit_weights(TAIL, 2, targets) is not None) == (verdict == "balanced")


def test_a_mechanism_near_a_border_can_be_read() -> None:
    prior = with_two_thirds_in_reach(3e-8)
    mechanism = BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2, prior=prior)

    assert BalancedSelection.from_dict(mechanism.to_dict(), ORDERED).condition > 1e7


def test_whole_numbers_whose_rank_floats_cannot_see_are_decided() -> None:
    large = 10**6

    assert _is_regular(np.array([[large, large - 1], [large - 1, large - 2]], dtype=float))
    assert not _is_regular(np.array([[large, large], [large, large]], dtype=float))
    assert not _is_regular(np.zeros((2, 2)))


# --- refusals say what is so ---------------------------------------------------------------------------


def test_a_border_is_refused_with_its_rule() -> None:
    with pytest.raises(InfeasibleError, match=r"must hold less than 1/l = 0\.333 of the prior \(they hold 0\.333\)"):
        BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2, prior=with_two_thirds_in_reach(0))


def test_a_calibration_that_fails_is_no_statement_about_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_module, "MOST_STEPS", 1)

    with pytest.raises(InternalError, match="weights exist for this goal, but the calibration did not find them"):
        BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2, prior=with_two_thirds_in_reach(1e-3))


def test_a_poor_condition_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "FITTED_CONDITION", 2.0)

    with pytest.raises(InfeasibleError, match="the inclusion matrix must have a condition below"):
        BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2)


def test_the_best_posterior_of_a_pendant_is_that_of_its_partner() -> None:
    # A set with 3 shows 2 as well, which is a quarter as frequent.
    sets = PENDANT.enumerate_sets(2, 10)

    assert sets is not None
    assert best_worst_posterior(sets, np.array([0.25, 0.25, 0.1, 0.4])) == pytest.approx(0.8, abs=1e-6)
