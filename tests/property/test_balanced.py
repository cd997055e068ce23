"""Balanced selection on any domain: what a linear program says about existence, and what it publishes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.mechanisms import Compatibility
from ldiversity.mechanisms._balanced_weights import Weights, fit_weights
from ldiversity.mechanisms._feasibility import balance_verdict

L = st.integers(2, 4)


@st.composite
def blocks(draw: st.DrawFn) -> Compatibility:
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=5))
    block_of = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    return Compatibility(np.not_equal.outer(block_of, block_of))


@st.composite
def lines(draw: st.DrawFn) -> Compatibility:
    places = np.cumsum(draw(st.lists(st.integers(1, 4), min_size=3, max_size=9)))
    return Compatibility(np.abs(np.subtract.outer(places, places)) >= draw(st.integers(1, 8)))


@st.composite
def graphs(draw: st.DrawFn) -> Compatibility:
    size = draw(st.integers(3, 7))
    edges = draw(st.lists(st.booleans(), min_size=size * (size - 1) // 2, max_size=size * (size - 1) // 2))
    allowed = np.zeros((size, size), dtype=bool)
    allowed[np.triu_indices(size, 1)] = edges
    return Compatibility(allowed | allowed.T)


@st.composite
def goals(draw: st.DrawFn) -> tuple[Compatibility, int, FloatArray]:
    """A graph, l, and wanted sums: ones, or those of a prior in twentieths."""
    compatibility = draw(st.one_of(blocks(), lines(), graphs()))
    size = len(compatibility)
    if draw(st.booleans()):
        return compatibility, draw(L), np.ones(size)
    parts = np.array(draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)), dtype=float)
    return compatibility, draw(L), parts * (size / parts.sum())


def members_of(compatibility: Compatibility, l: int) -> tuple[SetArray, FloatArray]:
    sets = compatibility.enumerate_sets(l, 10_000)
    assert sets is not None
    members = np.zeros((len(sets), len(compatibility)))
    np.put_along_axis(members, sets.astype(np.intp), 1.0, axis=1)
    return sets, members


def reference_verdict(members: FloatArray, targets: FloatArray) -> str:
    """Maximize the least weight: above zero when a balanced mechanism may use every set."""
    if not members.any(axis=0).all():
        return "absent"
    constraints = np.column_stack([members.T, members.sum(axis=0)])
    cost = np.append(np.zeros(len(members)), -1.0)
    program = linprog(cost, A_eq=constraints, b_eq=targets, method="highs")
    if program.status != 0:
        return "absent"
    everywhere = -program.fun > 1e-7
    return "balanced" if everywhere and np.linalg.matrix_rank(members) == len(targets) else "singular"


@given(goals())
@settings(max_examples=150, deadline=None)
def test_verdict_is_that_of_a_linear_program(goal: tuple[Compatibility, int, FloatArray]) -> None:
    compatibility, l, targets = goal
    _, members = members_of(compatibility, l)

    assert balance_verdict(compatibility, l, targets) == reference_verdict(members, targets)


@given(goals())
@settings(max_examples=150, deadline=None)
def test_weights_exist_exactly_when_the_verdict_says_so(goal: tuple[Compatibility, int, FloatArray]) -> None:
    compatibility, l, targets = goal

    fitted = fit_weights(compatibility, l, targets)

    assert (fitted is not None) == (balance_verdict(compatibility, l, targets) == "balanced")


@given(goals())
@settings(max_examples=150, deadline=None)
def test_fitted_weights_have_the_wanted_sums_and_exact_facts(goal: tuple[Compatibility, int, FloatArray]) -> None:
    compatibility, l, targets = goal
    weights = fit_weights(compatibility, l, targets)
    sets, members = members_of(compatibility, l)

    if weights is not None:
        check_facts(weights, sets, members, targets)


def check_facts(weights: Weights, sets: SetArray, members: FloatArray, targets: FloatArray) -> None:
    of_sets = np.prod(weights.theta[sets], axis=1)
    numbers = np.sin(np.arange(members.shape[1] ** 2)).reshape(members.shape[1], -1)
    costs = 1.0 + np.cos(np.arange(members.shape[1]))

    assert members.T @ of_sets == pytest.approx(targets, rel=1e-8)
    assert weights.pairs == pytest.approx((members.T * of_sets) @ members, abs=1e-9)
    assert weights.squares(numbers) == pytest.approx(
        ((members @ numbers.T) ** 2 * of_sets[:, None]).T @ members, abs=1e-8
    )
    lightest = np.where(members > 0, (members @ costs)[:, None], np.inf).min(axis=0)
    assert weights.lightest(costs) == pytest.approx(lightest, rel=1e-12)


@given(goals(), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_drawn_sets_are_valid_and_contain_the_true_value(
    goal: tuple[Compatibility, int, FloatArray], seed: int
) -> None:
    compatibility, l, targets = goal
    weights = fit_weights(compatibility, l, targets)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(compatibility), 50).astype(np.int32)

    for sampler in [] if weights is None else {weights.sampler, getattr(weights, "walk", weights.sampler)}:
        drawn = sampler.sample(codes, rng.integers(0, 2**64, (50, l), dtype=np.uint64))
        assert compatibility.admits(drawn).all()
        assert (np.diff(drawn, axis=1) > 0).all()
        assert (drawn == codes[:, None]).any(axis=1).all()
