"""A finite epsilon: facts against enumeration, the draw against the claim, and descriptions that are refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp, tanh

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.base.randomness import FreshWords
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError
from ldiversity.mechanisms import (
    BalancedSelection,
    EpsilonSelection,
    SetMechanism,
    SimpleSelection,
    UniformSelection,
    mechanism_from_dict,
)
from ldiversity.mechanisms._epsilon import least_error_l
from ldiversity.mechanisms._itself import Itself
from ldiversity.schema import Domain

LINE = Domain(tuple(range(8)), ordered=True)
BASES: dict[str, SetMechanism] = {
    "uniform": UniformSelection(8, 3),
    "nearly all": UniformSelection(5, 4),
    "apart": BalancedSelection.fit(LINE, ld.OrderedDistance(), l=2, d=3),
    "response": Itself(7),
    "yes or no": Itself(2),
}
every_base = pytest.mark.parametrize("base", BASES.values(), ids=BASES)
every_epsilon = pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])


def published(mechanism: EpsilonSelection) -> tuple[np.ndarray, np.ndarray]:
    """All sets as rows of 0 and 1, and P(set | value), written down from the definition; shapes (sets, F)."""
    size, l = mechanism.n_values, mechanism.l
    sets = np.array(list(combinations(range(size), l)), dtype=np.int32)
    sets = sets[mechanism.admits(sets)]
    holds = (sets[:, :, None] == np.arange(size)).any(axis=1)
    theta = getattr(mechanism.base, "theta", np.ones(size))
    weights = np.where(holds, theta, 1.0).prod(axis=1)
    weights = weights / (weights @ holds)[0]
    e = exp(mechanism.epsilon)
    p = l * e / (l * e + size - l)
    return holds.astype(float), weights[:, None] * np.where(holds, p, p / e)


@every_base
@every_epsilon
def test_all_facts_are_those_of_an_enumeration(base: SetMechanism, epsilon: float) -> None:
    mechanism = EpsilonSelection(base, epsilon)
    holds, likely = published(mechanism)
    inclusion = likely.T @ holds
    inverse = np.linalg.inv(inclusion.T)
    moments = ((holds @ inverse.T) ** 2).T @ likely

    np.testing.assert_allclose(likely.sum(axis=0), 1)
    # The probability of a replacement is rounded by about a millionth of e**epsilon.
    tolerance = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(mechanism.inclusion, inclusion, **tolerance)
    np.testing.assert_allclose(mechanism.inverse * mechanism.kept, inverse * mechanism.kept, **tolerance)
    np.testing.assert_allclose(mechanism.variance_factors, moments - np.eye(len(inclusion)), rtol=1e-3, atol=1e-4)
    assert mechanism.condition == pytest.approx(np.linalg.cond(inclusion), rel=1e-4)
    assert mechanism.truth == pytest.approx(inclusion[0, 0], rel=1e-4)


@every_base
@every_epsilon
def test_no_belief_moves_further_than_epsilon_allows(base: SetMechanism, epsilon: float) -> None:
    mechanism = EpsilonSelection(base, epsilon)
    holds, _ = published(mechanism)
    sets = np.array([np.flatnonzero(row) for row in holds], dtype=np.int32)
    _, likely = mechanism.explanations(sets)
    ratios = likely.max(axis=1) / likely.min(axis=1)
    assert ratios.max() <= exp(epsilon)
    assert ratios.min() > exp(epsilon) * (1 - 1e-5)  # and no noise is wasted
    assert mechanism.likelihood_ratio == pytest.approx(ratios.max(), rel=1e-9)
    rng = np.random.default_rng(1)
    for concentration in (0.1, 1.0, 10.0):
        prior = rng.dirichlet(np.full(mechanism.n_values, concentration)).clip(1e-12)
        prior /= prior.sum()
        posterior = likely * prior / (likely @ prior)[:, None]
        assert posterior.max() == pytest.approx(mechanism.worst_posterior(prior), rel=1e-9)
        assert np.abs(np.log(posterior / prior)).max() <= epsilon  # delta-disclosure
        assert (posterior / prior - 1).max() <= exp(epsilon) - 1  # beta-likeness
        assert np.abs(posterior - prior).sum(axis=1).max() / 2 <= tanh(epsilon / 4)  # t-closeness


def test_the_bound_of_t_closeness_is_reached() -> None:
    mechanism = EpsilonSelection(Itself(2), 2.0)
    likely = mechanism.explanations(np.array([[1]], dtype=np.int32))[1][0]
    reached = 0.0
    for share in np.linspace(0.001, 0.999, 999):
        prior = np.array([1 - share, share])
        reached = max(reached, np.abs(likely * prior / (likely @ prior) - prior).sum() / 2)
    assert reached == pytest.approx(tanh(0.5), rel=1e-4)


@every_epsilon
def test_the_words_that_replace_a_value_keep_the_promise_exactly(epsilon: float) -> None:
    mechanism = EpsilonSelection(UniformSelection(24, 6), epsilon)
    threshold = mechanism._threshold
    response = EpsilonSelection(Itself(24), epsilon)
    own = np.array([response._threshold - 1, 5], dtype=np.uint64)[None]

    assert response.sample(np.array([3]), own)[0].tolist() == [[5]]
    assert response.sample(np.array([3]), own + np.array([1, 0], dtype=np.uint64))[0].tolist() == [[3]]
    # In whole numbers: P(R | member) / P(R | other), whatever the weights of R are.
    kept = Fraction(2**64 - threshold, 2**64)
    ratio = 1 + kept * 24 / ((1 - kept) * 6)
    assert ratio <= Fraction(exp(epsilon))
    assert float(ratio) == pytest.approx(mechanism.likelihood_ratio)


@every_base
def test_draws_have_the_enumerated_distribution(base: SetMechanism) -> None:
    mechanism = EpsilonSelection(base, 1.5)
    holds, likely = published(mechanism)
    n = 20_000
    words = FreshWords.from_insecure_seed(5).draw(n, mechanism.words_per_record + 8)

    drawn, short = mechanism.sample(np.full(n, 1, dtype=np.int32), words)

    assert not short.any()
    shown = np.zeros((n, mechanism.n_values))
    np.put_along_axis(shown, drawn.astype(np.int64), 1.0, axis=1)
    powers = 2.0 ** np.arange(mechanism.n_values)
    order = np.argsort(holds @ powers)
    place = order[np.searchsorted((holds @ powers)[order], shown @ powers)]
    counts, expected = np.bincount(place, minlength=len(holds)), n * likely[:, 1]
    # Binomial counts of at most 56 sets; the seed is fixed, and six standard deviations in any set would be one of 1e7.
    assert np.abs((counts - expected) / np.sqrt(expected * (1 - likely[:, 1]))).max() < 6


def test_the_l_of_least_error_is_that_of_a_search() -> None:
    for size, epsilon in [(2, 1.0), (5, 0.5), (24, 0.5), (24, 1.0), (24, 2.0), (60, 0.1), (100, 3.0)]:
        errors = {
            l: ld.RandomizedAddition(l=l, epsilon=epsilon).fit(domain(size)).expected_mse(1) for l in range(1, size)
        }
        assert least_error_l(size, epsilon) == min(errors, key=errors.__getitem__)


def domain(size: int) -> Domain:
    return Domain(tuple(range(size)))


def test_the_expected_error_is_that_of_the_variance_factors() -> None:
    prior = np.random.default_rng(2).dirichlet(np.ones(8))
    for base in (BASES["uniform"], BASES["apart"]):
        mechanism = EpsilonSelection(base, 2.0)
        assert mechanism.expected_mse(50, prior) == pytest.approx(SetMechanism.expected_mse(mechanism, 50, prior))
        assert mechanism.expected_mse(50) == pytest.approx(SetMechanism.expected_mse(mechanism, 50))


def test_bases_whose_sets_favor_a_member_are_refused() -> None:
    simple = SimpleSelection.fit(LINE, ld.OrderedDistance(), l=2, d=3)
    with pytest.raises(ParameterError, match="equally likely from each of their members"):
        EpsilonSelection(simple, 1.0)
    with pytest.raises(ParameterError, match="equally likely from each of their members"):
        EpsilonSelection(EpsilonSelection(UniformSelection(5, 2), 1.0), 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, 0.001, 21, float("nan"), float("inf"), "2", True])
def test_an_epsilon_that_promises_nothing_is_refused(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        ld.RandomizedAddition(l=2, epsilon=epsilon)


def test_methods_refuse_what_no_epsilon_is_proven_for() -> None:
    line = ld.OrderedDistance()
    with pytest.raises(ParameterError, match="unless selection is 'balanced'"):
        ld.SemanticDiversity(l=2, d=3, distance=line, selection="simple", epsilon=1)
    with pytest.raises(ParameterError, match="there is no prior"):
        ld.SemanticDiversity(l=2, d=3, distance=line, prior=[0.125] * 8, epsilon=1)
    with pytest.raises(ParameterError, match="l must be an integer of at least 1"):
        ld.RandomizedAddition(l=0, epsilon=1)
    with pytest.raises(ParameterError, match="l must be given"):
        ld.RandomizedAddition()
    with pytest.raises(InfeasibleError, match="at most F - 1 = 4"):
        ld.RandomizedAddition(l=5, epsilon=1).fit(domain(5))
    with pytest.raises(InfeasibleError, match="at least 2 values"):
        ld.RandomizedAddition(epsilon=1).fit(domain(1))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"epsilon": 0.0}, "epsilon must be from"),
        ({"epsilon": 1e9}, "epsilon must be from"),
        ({"epsilon": "2"}, "epsilon must be a finite number"),
        ({"base": None}, "base must be uniform or balanced"),
        ({"base": {"kind": "epsilon", "version": 1}}, "base must be uniform or balanced"),
        ({"base": {"kind": "itself", "version": 1, "n_values": 5}}, "n_values must be"),
        ({"base": {"kind": "uniform", "version": 2, "n_values": 8, "l": 8}}, "l must be an integer"),
    ],
)
def test_damaged_descriptions_are_refused(change: dict[str, object], why: str) -> None:
    described = {**EpsilonSelection(BASES["uniform"], 2.0).to_dict(), **change}
    with pytest.raises(ReleaseFormatError, match=why):
        mechanism_from_dict(described, domain(8))


def test_a_base_with_a_prior_is_refused_in_a_description() -> None:
    calibrated = BalancedSelection.fit(LINE, ld.OrderedDistance(), l=2, d=3, prior=np.full(8, 1 / 8))
    described = {**EpsilonSelection(BASES["apart"], 2.0).to_dict(), "base": calibrated.to_dict()}
    with pytest.raises(ReleaseFormatError, match="base must be without a prior"):
        mechanism_from_dict(described, LINE)


def apart(sizes: tuple[int, ...]) -> tuple[Domain, ld.Distance]:
    """Values in groups; those of a group are alike."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    alike = np.equal.outer(group, group)
    names = tuple(range(len(group)))
    return Domain(names), ld.MatrixDistance(names, np.where(alike, 1.0, 2.0) - np.eye(len(group)))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(
    ("domain", "distance"),
    [
        (Domain(tuple(range(24)), ordered=True), ld.OrderedDistance()),
        apart((2, 2, 2, 2, 2)),
        apart((4, 4, 4, 3, 3, 2, 1)),
    ],
    ids=["ordered", "equal groups", "groups"],
)
def test_without_l_sets_apart_have_the_size_of_least_error(
    domain: Domain, distance: ld.Distance, epsilon: float
) -> None:
    errors = {}
    for l in range(2, len(domain)):
        try:
            errors[l] = EpsilonSelection(BalancedSelection.fit(domain, distance, l, 2), epsilon).expected_mse(1)
        except InfeasibleError:
            break
    assert len(errors) > 2

    chosen = ld.SemanticDiversity(d=2, distance=distance, epsilon=epsilon).fit(domain)

    assert chosen.l == min(errors, key=errors.__getitem__)
    assert chosen.epsilon == epsilon


def test_without_l_a_distance_that_no_set_has_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="closer than d"):
        ld.SemanticDiversity(d=2, distance=ld.MatrixDistance((0, 1, 2), 1.0 - np.eye(3)), epsilon=1).fit(
            Domain((0, 1, 2))
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"d": 2, "distance": "ordered"}, "l must be given.*epsilon=2 for the l of least error"),
        ({"l": 2, "distance": "ordered"}, "d must be given"),
        ({"l": 2, "d": 2}, "distance must be given"),
        ({"l": 1, "d": 2, "distance": "ordered", "epsilon": 1}, "l must be an integer of at least 2"),
        ({"d": 2, "distance": "ordered", "epsilon": 1, "selection": "ring"}, "epsilon must be left out"),
    ],
)
def test_what_semantic_diversity_lacks_is_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=f"(?s){words}"):
        ld.SemanticDiversity(**options)  # type: ignore[arg-type]
