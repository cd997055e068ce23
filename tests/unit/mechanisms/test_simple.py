"""Simple selection: sampler, likelihood and inclusion against a slow reading of the definition."""

from __future__ import annotations

import json
from functools import cache, cached_property
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from ldiversity._kernels.draws import below
from ldiversity.distances import Distance, MatrixDistance, NumericDistance, OrderedDistance
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError
from ldiversity.mechanisms import SimpleSelection, UniformSelection, _enumerated, mechanism_from_dict
from ldiversity.mechanisms import _compatibility as compatibility_module
from ldiversity.mechanisms import _simple as simple_module
from ldiversity.schema import Domain

WORD = 1 << 64


def ordered(n_values: int) -> tuple[Domain, Distance]:
    return Domain(tuple(range(n_values)), ordered=True), OrderedDistance()


def uneven() -> tuple[Domain, Distance]:
    places = (0.0, 1.0, 1.5, 2.9, 4.0, 4.2, 5.0, 6.5, 8.0, 9.9, 11.0, 11.1)
    return Domain(places, ordered=True, positions=places), NumericDistance()


def of_matrix(allowed: np.ndarray) -> tuple[Domain, Distance]:
    values = tuple(f"v{i}" for i in range(len(allowed)))
    return Domain(values), MatrixDistance(values, np.where(allowed, 2.0, 1.0) * ~np.eye(len(allowed), dtype=bool))


def blocks() -> tuple[Domain, Distance]:
    block = np.array([0, 1, 0, 2, 3, 1, 2, 0, 4, 4])
    return of_matrix(block[:, None] != block)


def graph() -> tuple[Domain, Distance]:
    upper = np.triu(np.random.default_rng(18).random((12, 12)) < 0.75, 1)
    return of_matrix(upper | upper.T)


CASES = {
    "pairs of a line": (*ordered(7), 2, 3),
    "a roomy line": (*ordered(9), 3, 2),
    "a tight line": (*ordered(10), 4, 2),
    "a tighter line": (*ordered(13), 4, 3),
    "an uneven line": (*uneven(), 3, 2.0),
    "an uneven tight line": (*uneven(), 4, 2.5),
    "blocks": (*blocks(), 3, 2.0),
    "all blocks but one": (*blocks(), 4, 2.0),
    "a graph": (*graph(), 3, 2.0),
    "a graph with look ahead": (*graph(), 4, 2.0),
    "a graph with deep look ahead": (*graph(), 5, 2.0),
    "a graph with the deepest look ahead": (*graph(), 6, 2.0),
    "everything": (*ordered(6), 3, 1),
}
STRUCTURES = {
    "a roomy line": "line",
    "an uneven line": "line",
    "an uneven tight line": "line",
    "blocks": "blocks",
    "a graph": "general",
}
each_case = pytest.mark.parametrize("name", list(CASES))


@cache
def fitted(name: str) -> SimpleSelection:
    domain, distance, l, d = CASES[name]
    mechanism = SimpleSelection(domain, distance, l, d)
    assert mechanism._why_infeasible() is None
    return mechanism


class Slow:
    """The definition, read word by word."""

    def __init__(self, mechanism: SimpleSelection) -> None:
        self.allowed = mechanism.compatibility.allowed
        self.l = mechanism.l
        rows = combinations(range(mechanism.n_values), self.l)
        self.sets = [row for row in rows if all(self.allowed[a, b] for a, b in combinations(row, 2))]

    def candidates(self, chosen: frozenset[int]) -> list[int]:
        return sorted({v for row in self.sets if chosen <= set(row) for v in row} - chosen)

    def probability(self, row: tuple[int, ...], true: int) -> float:
        total = 0.0
        for order in permutations([v for v in row if v != true]):
            chance, chosen = 1.0, frozenset([true])
            for v in order:
                chance /= len(self.candidates(chosen))
                chosen |= {v}
            total += chance
        return total

    @cached_property
    def likelihood(self) -> np.ndarray:
        return np.array([[self.probability(row, v) for v in row] for row in self.sets])

    def inclusion(self) -> np.ndarray:
        matrix = np.zeros(self.allowed.shape)
        for row, chances in zip(self.sets, self.likelihood, strict=True):
            matrix[np.ix_(row, row)] += chances[:, None]
        return matrix

    def draw(self, code: int, words: np.ndarray, order: list[int]) -> list[int]:
        chosen, used = frozenset([code]), 0
        while len(chosen) < self.l:
            candidates = sorted(self.candidates(chosen), key=order.index)
            index, used = below(words, used, len(candidates))
            chosen |= {candidates[index]}
        return sorted(chosen)


@cache
def slow(name: str) -> Slow:
    return Slow(fitted(name))


def random_words(seed: int, n: int, n_words: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, WORD, size=(n, n_words), dtype=np.uint64)


@pytest.mark.parametrize(("name", "structure"), STRUCTURES.items())
def test_the_cases_have_the_structure_they_are_named_for(name: str, structure: str) -> None:
    assert fitted(name).compatibility.structure == structure


# --- drawing -------------------------------------------------------------------------------------------


@each_case
def test_sets_equal_those_of_the_definition(name: str) -> None:
    mechanism = fitted(name)
    codes = np.random.default_rng(1).integers(0, mechanism.n_values, 200).astype(np.int32)
    words = random_words(1, 200, mechanism.words_per_record)

    sets, short = mechanism.sample(codes, words)

    order = mechanism._order.tolist()
    assert not short.any()
    assert sets.tolist() == [slow(name).draw(int(v), row, order) for v, row in zip(codes, words, strict=True)]


@pytest.mark.parametrize("name", ["a tighter line", "blocks", "a graph with look ahead"])
def test_sets_are_as_frequent_as_their_likelihood(name: str) -> None:
    mechanism, n = fitted(name), 40_000
    true = mechanism.n_values // 2
    sets = np.array([row for row in slow(name).sets if true in row], dtype=np.int32)
    expected = n * mechanism.likelihood(sets)[sets == true]

    drawn, _ = mechanism.sample(np.full(n, true, dtype=np.int32), random_words(2, n, mechanism.words_per_record))
    counts = np.array([(drawn == row).all(axis=1).sum() for row in sets])

    # A chi-square test for one value: false alarm 1e-6.
    assert counts.sum() == n
    assert ((counts - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(sets) - 1)


@each_case
def test_rejected_words_make_a_record_short_and_more_words_do_not(name: str) -> None:
    mechanism = fitted(name)
    # Zero is rejected for every number of candidates that is no power of two.
    code = next(v for v in range(mechanism.n_values) if len(slow(name).candidates(frozenset([v]))) in {3, 5, 6, 7, 9})
    codes = np.array([code], dtype=np.int32)
    good = random_words(3, 1, mechanism.words_per_record)
    bad = np.zeros_like(good)

    sets, short = mechanism.sample(codes, bad)
    more, still_short = mechanism.sample(codes, np.concatenate([bad, good], axis=1))

    assert short.all()
    assert not sets.any()
    assert not still_short.any()
    assert (more == mechanism.sample(codes, good)[0]).all()


@each_case
def test_sets_do_not_depend_on_chunks_or_further_words(name: str) -> None:
    mechanism = fitted(name)
    codes = np.random.default_rng(4).integers(0, mechanism.n_values, 100).astype(np.int32)
    words = random_words(4, 100, mechanism.words_per_record + 3)

    parts = [mechanism.sample(codes[i : i + 9], words[i : i + 9])[0] for i in range(0, 100, 9)]

    assert (np.concatenate(parts) == mechanism.sample(codes, words[:, : mechanism.words_per_record])[0]).all()


# --- facts ---------------------------------------------------------------------------------------------


@each_case
def test_likelihood_equals_the_definition(name: str) -> None:
    sets = np.array(slow(name).sets, dtype=np.int32)

    np.testing.assert_allclose(fitted(name).likelihood(sets), slow(name).likelihood, rtol=1e-12)


@each_case
def test_inclusion_equals_the_definition(name: str) -> None:
    np.testing.assert_allclose(fitted(name).inclusion, slow(name).inclusion(), atol=1e-13)


@each_case
def test_an_exact_inclusion_has_no_error(name: str) -> None:
    assert fitted(name).inclusion_error == 0.0


def test_likelihood_follows_the_order_of_a_row_and_repeats_for_repeated_rows() -> None:
    mechanism = fitted("a roomy line")
    there = mechanism.likelihood(np.array([[0, 2, 7], [0, 2, 7]]))

    back = mechanism.likelihood(np.array([[7, 2, 0]]))

    np.testing.assert_array_equal(there[0], there[1])
    np.testing.assert_allclose(back[0], there[0][::-1], rtol=1e-15)


def test_sets_that_are_never_published_have_no_likelihood() -> None:
    assert not fitted("a roomy line").likelihood(np.array([[0, 1, 7], [0, 2, 9], [3, 3, 5]])).any()


@each_case
def test_variance_factors_equal_enumeration(name: str) -> None:
    mechanism = fitted(name)
    expected = -np.eye(mechanism.n_values)
    for row, chances in zip(slow(name).sets, slow(name).likelihood, strict=True):
        expected[:, row] += mechanism.inverse[:, row].sum(axis=1)[:, None] ** 2 * chances

    np.testing.assert_allclose(mechanism.variance_factors, expected, atol=1e-9 * mechanism.condition**2)


@each_case
@pytest.mark.parametrize("seed", [None, 1])
def test_worst_posterior_equals_enumeration(name: str, seed: int | None) -> None:
    mechanism = fitted(name)
    prior = None if seed is None else np.random.default_rng(seed).dirichlet(np.ones(mechanism.n_values))
    joint = slow(name).likelihood * (1.0 if prior is None else prior[np.array(slow(name).sets)])

    found = mechanism.worst_posterior(prior)

    assert mechanism.worst_posterior_is_exact
    assert found == pytest.approx((joint.max(axis=1) / joint.sum(axis=1)).max(), rel=1e-12)


def test_a_prior_with_zeros_leaves_sets_aside_that_cannot_be_published() -> None:
    mechanism = fitted("a roomy line")
    prior = np.zeros(9)
    prior[0] = 1.0

    assert mechanism.worst_posterior(prior) == 1.0


def test_a_prior_of_zeros_is_refused() -> None:
    with pytest.raises(ParameterError, match="SimpleSelection: prior must be 9 finite weights"):
        fitted("a roomy line").worst_posterior(np.zeros(9))


def test_simple_selection_without_conflicts_is_uniform_selection() -> None:
    mechanism = fitted("everything")

    assert mechanism.flat_likelihood
    np.testing.assert_allclose(mechanism.inclusion, UniformSelection(6, 3).inclusion, atol=1e-14)


@pytest.mark.parametrize(("n_values", "l", "d"), [(148, 3, 10), (148, 4, 20), (300, 3, 7)])
def test_rows_of_a_large_inclusion_sum_to_l(n_values: int, l: int, d: int) -> None:
    mechanism = SimpleSelection.fit(*ordered(n_values), l, d)

    np.testing.assert_allclose(mechanism.inclusion.sum(axis=1), l, rtol=1e-11)


# --- simulation ----------------------------------------------------------------------------------------


@pytest.fixture
def no_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every domain were too large to be enumerated."""
    monkeypatch.setattr(simple_module, "_MOST_SUBSETS", 0)
    monkeypatch.setattr(simple_module, "_SIMULATED_STEPS", 1_000_000)
    monkeypatch.setattr(_enumerated, "_MOST_SETS", 0)


@pytest.mark.parametrize("name", ["a tighter line", "all blocks but one", "a graph with look ahead"])
def test_a_simulated_inclusion_is_within_its_error(name: str, no_lists: None) -> None:
    domain, distance, l, d = CASES[name]
    simulated = SimpleSelection(domain, distance, l, d)

    deviation = np.abs(simulated.inclusion - fitted(name).inclusion).max()

    # At most 169 entries; six of the largest standard errors give a false alarm below 4e-7.
    assert 0 < simulated.inclusion_error < 0.01
    assert deviation < 6 * simulated.inclusion_error
    np.testing.assert_allclose(simulated.inclusion.sum(axis=1), l, rtol=1e-12)


def test_a_simulated_inclusion_is_the_same_every_time(no_lists: None) -> None:
    first = SimpleSelection(*CASES["a tighter line"]).inclusion

    assert (SimpleSelection(*CASES["a tighter line"]).inclusion == first).all()


def test_a_simulated_inclusion_is_a_caution(no_lists: None) -> None:
    mechanism = SimpleSelection(*CASES["a roomy line"])

    assert "was simulated" in mechanism.cautions()[-1]


def test_sampled_sets_give_a_lower_bound_of_the_worst_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_enumerated, "_MOST_SETS", 0)
    sampled = SimpleSelection(*CASES["a tighter line"])

    assert not sampled.worst_posterior_is_exact
    assert sampled.worst_posterior() <= fitted("a tighter line").worst_posterior() * (1 + 1e-12)


def test_sampled_sets_give_the_variance_factors_within_sampling_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_enumerated, "_MOST_SETS", 0)
    sampled = SimpleSelection(*CASES["an uneven line"]).variance_factors
    exact = fitted("an uneven line").variance_factors
    largest = np.abs(fitted("an uneven line").inverse).sum(axis=1) ** 2

    # The sample is fixed, so this cannot fail by chance. Tolerance: a mean of 16,000 numbers between 0 and `largest`
    # deviates by 0.03 of it with probability below 2 exp(-2 * 16,000 * 0.03**2) = 6e-13 (Hoeffding).
    assert (np.abs(sampled - exact) < 0.03 * largest[:, None]).all()


def test_a_graph_that_is_too_large_to_search_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatibility_module, "COUNT_LIMIT", 5)
    monkeypatch.setattr(_enumerated, "_MOST_SETS", 5)
    monkeypatch.setattr(simple_module, "_SIMULATED_STEPS", 1_000_000)
    mechanism = SimpleSelection(*CASES["a graph"])

    assert mechanism.inclusion_error > 0
    assert not mechanism.worst_posterior_is_exact


def test_tables_that_are_too_large_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simple_module, "_MOST_TABLE", 8)
    monkeypatch.setattr(simple_module, "_SIMULATED_STEPS", 1_000_000)

    assert SimpleSelection(*CASES["a roomy line"]).inclusion_error > 0


def test_a_simulated_inclusion_that_may_be_singular_is_refused(no_lists: None) -> None:
    with pytest.raises(InfeasibleError, match="cannot be distinguished from a singular one"):
        SimpleSelection.fit(*ordered(12), 3, 4)


def test_a_simulated_inclusion_that_is_far_from_singular_is_accepted(no_lists: None) -> None:
    assert SimpleSelection.fit(*ordered(20), 3, 2).inclusion_error > 0


def test_rows_too_wide_for_one_number_are_told_apart() -> None:
    rows = np.array([[0, 9, 5, 6, 7, 8], [1, 9, 5, 6, 7, 8], [0, 9, 5, 6, 7, 8]], dtype=np.int32)

    distinct, back = _enumerated.distinct_rows(rows, 100_000)

    assert (distinct[back] == rows).all()
    assert len(distinct) == 2


# --- as data -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a roomy line", "an uneven line", "blocks", "a graph"])
def test_a_description_comes_back_from_json_with_the_same_facts(name: str) -> None:
    mechanism = fitted(name)
    described = json.loads(json.dumps(mechanism.to_dict()))

    back = mechanism_from_dict(described, mechanism.domain)

    assert back.to_dict() == mechanism.to_dict()
    np.testing.assert_array_equal(back.inclusion, mechanism.inclusion)


@pytest.mark.parametrize(("pair", "l", "most"), [(ordered(100), 13, 12), (graph(), 7, 6)])
def test_large_sets_of_a_stranger_are_refused(pair: tuple[Domain, Distance], l: int, most: int) -> None:
    domain, distance = pair
    described = {"kind": "simple", "version": 1, "l": l, "d": 2.0, "distance": distance.to_dict(domain)}

    with pytest.raises(
        ReleaseFormatError,
        match=f"SimpleSelection: l must be at most {most}, got {l}",
    ):
        mechanism_from_dict(described, domain)


@pytest.mark.parametrize(
    "change",
    [{"l": 10}, {"l": 1}, {"l": 3.0}, {"d": -1}, {"d": "2"}, {"d": float("nan")}, {"d": 5}, {"distance": None}],
)
def test_a_damaged_description_is_refused(change: dict[str, object]) -> None:
    mechanism = fitted("a roomy line")

    with pytest.raises(ReleaseFormatError):
        mechanism_from_dict(mechanism.to_dict() | change, mechanism.domain)


def test_the_parameters_can_be_read_back() -> None:
    mechanism = fitted("a roomy line")

    assert (mechanism.n_values, mechanism.l, mechanism.d) == (9, 3, 2.0)
    assert repr(mechanism) == "SimpleSelection(F=9, l=3, d=2, distance='ordered')"


def test_sets_of_another_size_are_not_admitted() -> None:
    assert fitted("a roomy line").admits(np.array([[0, 2]])).tolist() == [False]
