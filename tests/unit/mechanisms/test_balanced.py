"""Balanced selection: its claim and its exact facts, against enumeration of all valid sets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from ldiversity.base.arrays import FloatArray
from ldiversity.distances import DiscreteDistance, Distance, MatrixDistance, NumericDistance, OrderedDistance
from ldiversity.errors import ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms import BalancedSelection
from ldiversity.mechanisms import _balanced as module
from ldiversity.mechanisms import _balanced_chain as chain_module
from ldiversity.mechanisms import _balanced_listed as listed_module
from ldiversity.mechanisms import _compatibility as compatibility_module
from ldiversity.mechanisms._balanced_sampling import ListedSampler
from ldiversity.schema import Domain


@dataclass(frozen=True)
class Case:
    """A goal on a small domain."""

    domain: Domain
    distance: Distance
    l: int
    d: float
    prior: tuple[float, ...] | None = None

    def fit(self) -> BalancedSelection:
        return BalancedSelection.fit(self.domain, self.distance, self.l, self.d, prior=self.prior)


def matrix_case(distances: np.ndarray, l: int, d: float, prior: tuple[float, ...] | None = None) -> Case:
    values = tuple(f"v{i}" for i in range(len(distances)))
    return Case(Domain(values), MatrixDistance(values=values, distances=distances.astype(float)), l, d, prior)


def blocks(of_values: list[int]) -> np.ndarray:
    """Distance 1 within a block, 2 between blocks."""
    return np.not_equal.outer(of_values, of_values) + 1 - np.eye(len(of_values), dtype=int)


def around(size: int) -> np.ndarray:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.minimum(steps, size - steps)


ORDERED = Domain(tuple(range(9)), ordered=True)
UNEVEN = (0.0, 1.0, 2.5, 3.0, 5.0, 7.0, 8.5, 12.0)
CASES = {
    "ordered": Case(ORDERED, OrderedDistance(), 3, 2),
    "ordered, tight": Case(Domain(tuple(range(10)), ordered=True), OrderedDistance(), 3, 3),
    "uneven": Case(Domain(UNEVEN, ordered=True, positions=UNEVEN), NumericDistance(), 2, 2.5),
    "blocks": matrix_case(blocks([0, 0, 1, 1, 2, 3, 4, 4]), 3, 2),
    "complete": Case(Domain(tuple("abcdef")), DiscreteDistance(), 3, 1),
    "general": matrix_case(around(7), 3, 2),
    "ordered, prior": Case(ORDERED, OrderedDistance(), 3, 2, (0.1, 0.15, 0.08, 0.12, 0.1, 0.1, 0.15, 0.05, 0.15)),
    "blocks, prior": matrix_case(blocks([0, 0, 1, 1, 2, 3, 4]), 2, 2, (0.1, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1)),
    "complete, prior": Case(Domain(tuple("abcdef")), DiscreteDistance(), 3, 1, (0.3, 0.2, 0.1, 0.1, 0.1, 0.2)),
    "general, prior": matrix_case(around(7), 2, 2, (0.1, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1)),
}
STRUCTURES = {"ordered": "line", "uneven": "line", "blocks": "blocks", "complete": "complete", "general": "general"}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def valid_sets(case: Case) -> np.ndarray:
    distances = case.distance.matrix(case.domain)
    rows = combinations(range(len(case.domain)), case.l)
    return np.array([row for row in rows if all(distances[i, j] >= case.d for i, j in combinations(row, 2))])


def drawn_probabilities(mechanism: BalancedSelection) -> FloatArray:
    """P(R | v) for every valid set and value, read back from the whole-number tables of the sampler."""
    sampler = mechanism._weights.sampler
    assert isinstance(sampler, ListedSampler)
    drawn = np.zeros((len(sampler.sets), mechanism.n_values))
    for value in range(mechanism.n_values):
        shares = sampler.tables.shares(value)
        drawn[list(shares), value] = list(shares.values())
    return drawn


# --- the claim ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STRUCTURES)
def test_cases_cover_every_structure(name: str) -> None:
    assert CASES[name].fit().compatibility.structure == STRUCTURES[name]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.prior is None])
def test_every_set_is_as_likely_from_each_of_its_members(name: str) -> None:
    case = CASES[name]
    sets = valid_sets(case)

    drawn = drawn_probabilities(case.fit())

    of_members = np.take_along_axis(drawn, sets, axis=1)
    np.testing.assert_allclose(of_members, of_members[:, :1] * np.ones(case.l), rtol=1e-9)


def test_no_set_is_drawn_from_a_value_outside_it(case: Case) -> None:
    sets = valid_sets(case)

    drawn = drawn_probabilities(case.fit())

    np.put_along_axis(drawn, sets, 0.0, axis=1)
    assert not drawn.any()


def test_sets_of_each_value_have_probability_one(case: Case) -> None:
    np.testing.assert_allclose(drawn_probabilities(case.fit()).sum(axis=0), 1.0, rtol=1e-12)


def test_every_valid_set_occurs(case: Case) -> None:
    assert (drawn_probabilities(case.fit()).max(axis=1) > 0).all()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.prior is not None])
def test_prior_makes_every_posterior_one_in_l(name: str) -> None:
    case = CASES[name]
    joint = np.take_along_axis(drawn_probabilities(case.fit()) * np.array(case.prior), valid_sets(case), axis=1)

    np.testing.assert_allclose(joint / joint.sum(axis=1, keepdims=True), 1.0 / case.l, rtol=1e-9)


def test_weights_have_maximum_entropy() -> None:
    mechanism = CASES["ordered"].fit()
    drawn = drawn_probabilities(mechanism).max(axis=1)
    sets = valid_sets(CASES["ordered"])

    # Log weights of maximum entropy are sums over members: no part is left over.
    members = np.zeros((len(sets), 9))
    np.put_along_axis(members, sets, 1.0, axis=1)
    left_over = np.linalg.lstsq(members, np.log(drawn), rcond=None)[1]
    assert left_over[0] < 1e-18


def test_complete_graph_gives_the_uniform_mechanism() -> None:
    mechanism = CASES["complete"].fit()

    np.testing.assert_allclose(drawn_probabilities(mechanism).max(axis=1), 1 / 10, rtol=1e-12)


# --- exact facts -------------------------------------------------------------------------------------


def test_inclusion_is_that_of_the_drawn_sets(case: Case) -> None:
    mechanism = case.fit()
    sets = valid_sets(case)
    members = np.zeros((len(sets), mechanism.n_values))
    np.put_along_axis(members, sets, 1.0, axis=1)

    np.testing.assert_allclose(mechanism.inclusion, drawn_probabilities(mechanism).T @ members, atol=1e-10)


def test_inclusion_is_read_only(case: Case) -> None:
    with pytest.raises(ValueError, match="read-only"):
        case.fit().inclusion[0, 0] = 0


def test_variance_factors_are_those_of_the_drawn_sets(case: Case) -> None:
    mechanism = case.fit()
    sets = valid_sets(case)
    members = np.zeros((len(sets), mechanism.n_values))
    np.put_along_axis(members, sets, 1.0, axis=1)
    estimates = members @ np.linalg.inv(mechanism.inclusion)

    expected = (estimates**2).T @ drawn_probabilities(mechanism) - np.eye(mechanism.n_values)

    np.testing.assert_allclose(mechanism.variance_factors, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.prior is None])
def test_expected_error_under_a_uniform_prior_has_a_closed_form(name: str) -> None:
    mechanism = CASES[name].fit()
    size = mechanism.n_values

    closed = (mechanism.l * np.trace(np.linalg.inv(mechanism.inclusion)) / size - 1) / size

    assert mechanism.expected_mse(n=1) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("skew", [None, 0.0, 1.0, 3.0])
def test_worst_posterior_is_that_of_all_sets(case: Case, skew: float | None) -> None:
    mechanism = case.fit()
    prior = None if skew is None else np.exp(skew * np.sin(np.arange(mechanism.n_values)))
    shares = np.ones(mechanism.n_values) if prior is None else prior
    joint = np.take_along_axis(drawn_probabilities(mechanism) * shares, valid_sets(case), axis=1)

    expected = (joint / joint.sum(axis=1, keepdims=True)).max()

    assert mechanism.worst_posterior(prior) == pytest.approx(expected, rel=1e-9)


def test_impossible_values_hide_nobody() -> None:
    prior = [1, 0, 0, 0, 0, 0, 0, 0, 0]

    assert CASES["ordered"].fit().worst_posterior(prior) == 1.0


def test_likelihood_is_proportional_to_the_drawn_probabilities(case: Case) -> None:
    mechanism = case.fit()
    sets = valid_sets(case)
    drawn = np.take_along_axis(drawn_probabilities(mechanism), sets, axis=1)

    told = mechanism.likelihood(sets)

    np.testing.assert_allclose(told / told[:, :1], drawn / drawn[:, :1], rtol=1e-9)


def test_likelihood_is_flat_exactly_without_a_prior(case: Case) -> None:
    assert case.fit().flat_likelihood == (case.prior is None)


def test_admits_the_valid_sets_in_ascending_order_only(case: Case) -> None:
    sets = valid_sets(case)

    mechanism = case.fit()

    assert mechanism.admits(sets).all()
    assert not mechanism.admits(sets[:, ::-1]).any()


def test_sets_of_another_size_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"sets must have shape \(n, 3\)"):
        CASES["ordered"].fit().admits(np.zeros((1, 2), dtype=np.int32))


def test_poor_condition_is_told() -> None:
    mechanism = BalancedSelection.fit(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l=4, d=3)

    assert mechanism.cautions() == ("Estimates will be poor: the inclusion matrix has condition 57.",)


# --- drawing -----------------------------------------------------------------------------------------


def test_drawn_sets_are_admitted_and_contain_the_true_value(case: Case) -> None:
    mechanism = case.fit()
    rng = np.random.default_rng(5)
    codes = rng.integers(0, mechanism.n_values, 500).astype(np.int32)
    words = rng.integers(0, 2**64, (500, mechanism.words_per_record), dtype=np.uint64)

    sets, short = mechanism.sample(codes, words)

    assert mechanism.admits(sets).all()
    assert (sets == codes[:, None]).any(axis=1).all()
    assert not short.any()


def test_further_words_change_nothing(case: Case) -> None:
    mechanism = case.fit()
    rng = np.random.default_rng(6)
    codes = rng.integers(0, mechanism.n_values, 100).astype(np.int32)
    words = rng.integers(0, 2**64, (100, mechanism.words_per_record + 2), dtype=np.uint64)

    enough = mechanism.sample(codes, words[:, : mechanism.words_per_record])[0]

    np.testing.assert_array_equal(mechanism.sample(codes, words)[0], enough)


def test_no_records_give_no_sets(case: Case) -> None:
    mechanism = case.fit()

    sets, _ = mechanism.sample(np.empty(0, np.int32), np.empty((0, mechanism.words_per_record), np.uint64))

    assert sets.shape == (0, mechanism.l)


def test_unknown_codes_are_refused() -> None:
    with pytest.raises(ParameterError, match="codes must be integers from 0 to 8"):
        CASES["ordered"].fit().sample(np.array([9], np.int32), np.zeros((1, 1), np.uint64))


# --- parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        ([0.5, 0.5, 0.0, 0, 0, 0, 0, 0, 0], "prior must be positive for every value"),
        ([0.2] * 9, "prior must sum to 1"),
        ([0.5, 0.5], "prior must be 9 finite weights"),
    ],
)
def test_bad_priors_are_refused(prior: list[float], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BalancedSelection.fit(ORDERED, OrderedDistance(), 3, 2, prior=prior)


@pytest.mark.parametrize(("l", "d", "sentence"), [(1, 2, "l must be an integer of at least 2"), (3, -1, "d must be")])
def test_bad_goals_are_refused(l: int, d: float, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BalancedSelection.fit(ORDERED, OrderedDistance(), l, d)


def test_a_domain_that_nobody_could_read_back_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatibility_module, "MOST_VALUES", 8)

    with pytest.raises(UnsupportedError, match="at most 8 values, got 9"):
        BalancedSelection.fit(ORDERED, OrderedDistance(), 3, 2)


def test_too_many_sets_without_structure_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_module, "SET_LIMIT", 3)

    with pytest.raises(UnsupportedError, match="more than 3 valid sets of 3 values"):
        CASES["general"].fit()


# --- as data -----------------------------------------------------------------------------------------


def test_description_survives_json_exactly(case: Case) -> None:
    mechanism = case.fit()

    read = BalancedSelection.from_dict(json.loads(json.dumps(mechanism.to_dict())), case.domain)

    assert read.to_dict() == mechanism.to_dict()
    np.testing.assert_array_equal(read.inclusion, mechanism.inclusion)


def test_description_draws_the_same_sets(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    monkeypatch.setattr(chain_module, "LISTED_ENTRIES", 0)
    mechanism = case.fit()
    read = BalancedSelection.from_dict(json.loads(json.dumps(mechanism.to_dict())), case.domain)
    rng = np.random.default_rng(7)
    codes = rng.integers(0, mechanism.n_values, 500).astype(np.int32)
    words = rng.integers(0, 2**64, (500, mechanism.words_per_record), dtype=np.uint64)

    np.testing.assert_array_equal(read.sample(codes, words)[0], mechanism.sample(codes, words)[0])


def test_reading_does_not_fit_again(monkeypatch: pytest.MonkeyPatch) -> None:
    described = CASES["ordered"].fit().to_dict()
    monkeypatch.setattr(chain_module, "calibrate", None)

    assert BalancedSelection.from_dict(described, ORDERED).l == 3


@pytest.mark.parametrize(
    "change",
    [
        {"fitted": [1.0] * 9},
        {"fitted": [1.0] * 8},
        {"fitted": "theta"},
        {"fitted": [float("nan")] * 9},
        {"fitted": [float("inf")] * 9},
        {"fitted": [-1.0] * 9},
        {"fitted": [True] * 9},
        {"fitted": [1e300] * 9},
        {"fitted": [1e-300] * 9},
        {"fitted": None},
        {"l": 1},
        {"l": 10},
        {"l": 2.0},
        {"d": -1},
        {"d": "2"},
        {"d": 3},
        {"prior": [1.0] * 9},
        {"prior": [0.2] + [0.1] * 8},
        {"distance": {"kind": "unknown"}},
        {"distance": None},
    ],
)
def test_damaged_descriptions_are_refused(change: dict[str, object]) -> None:
    described = CASES["ordered"].fit().to_dict() | change

    with pytest.raises(ReleaseFormatError):
        BalancedSelection.from_dict(described, ORDERED)


@pytest.mark.parametrize("factor", [3.0, 1.0001, 1.000001])
@pytest.mark.parametrize("code", [0, 8])
def test_weights_that_are_off_for_one_value_are_refused_however_rare_it_is(code: int, factor: float) -> None:
    prior = [1e-9, *[(1 - 1e-9) / 8] * 8]
    described = BalancedSelection.fit(ORDERED, OrderedDistance(), 3, 2, prior=prior).to_dict()
    described["fitted"][code] *= factor

    with pytest.raises(ReleaseFormatError, match="balanced and recoverable"):
        BalancedSelection.from_dict(described, ORDERED)


def test_weights_of_a_prior_with_tiny_shares_are_read() -> None:
    mechanism = BalancedSelection.fit(ORDERED, OrderedDistance(), 3, 2, prior=[1e-9, *[(1 - 1e-9) / 8] * 8])

    assert BalancedSelection.from_dict(mechanism.to_dict(), ORDERED).to_dict() == mechanism.to_dict()


def test_balanced_but_singular_weights_are_refused() -> None:
    # F = l: only one set, balanced, and it tells nothing.
    described = {
        "kind": "balanced",
        "version": 1,
        "l": 2,
        "d": 1.0,
        "distance": {"kind": "discrete"},
        "fitted": [1.0, 1.0],
    }

    with pytest.raises(ReleaseFormatError, match="balanced and recoverable"):
        BalancedSelection.from_dict(described, Domain(("a", "b")))


def test_endless_lists_of_a_stranger_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    described = CASES["general"].fit().to_dict()
    monkeypatch.setattr(listed_module, "SET_LIMIT", 3)

    with pytest.raises(ReleaseFormatError, match="more than 3 valid sets"):
        BalancedSelection.from_dict(described, CASES["general"].domain)


def test_sets_whose_facts_would_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORK", 3 * 81 - 1)

    with pytest.raises(UnsupportedError, match="l must be at most 2 for 9 values, got 3"):
        BalancedSelection.fit(ORDERED, OrderedDistance(), 3, 2)


def test_sets_of_a_stranger_whose_facts_would_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    described = CASES["ordered"].fit().to_dict()
    monkeypatch.setattr(module, "MOST_WORK", 3 * 81 - 1)

    with pytest.raises(ReleaseFormatError, match="l must be at most 2 for 9 values, got 3"):
        BalancedSelection.from_dict(described, ORDERED)


def test_representation_names_the_goal() -> None:
    assert repr(CASES["ordered"].fit()) == "BalancedSelection(n_values=9, l=3, d=2)"
