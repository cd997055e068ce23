"""Uniform selection: the sampler against unlimited integers, the closed forms against enumeration."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

from ldiversity.distances import OrderedDistance
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError
from ldiversity.mechanisms import UniformSelection, mechanism_from_dict
from ldiversity.schema import Domain

WORD = 1 << 64
SIZES = [(3, 2), (4, 3), (6, 3), (20, 2), (20, 3), (20, 5), (148, 9), (2000, 6), (70_000, 3), (2**31 - 1, 3)]
SMALL = [(3, 2), (5, 2), (5, 3), (6, 4), (7, 6)]


def random_words(seed: int, n: int, n_words: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, WORD, size=(n, n_words), dtype=np.uint64)


def slow_sample(code: int, words: list[int], n_values: int, l: int, per_word: int) -> list[int] | None:
    """Draw with unlimited integers: one number below the product of the bounds, then its digits."""
    left = list(words)
    chosen = [code]
    for first in range(1, l, per_word):
        bounds = [n_values - k for k in range(first, min(first + per_word, l))]
        product = prod(bounds)
        while left and (left[0] * product) % WORD < WORD % product:
            left.pop(0)
        if not left:
            return None
        number = left.pop(0) * product // WORD
        for i in range(len(bounds)):
            digit = number // prod(bounds[i + 1 :]) % bounds[i]
            for value in sorted(chosen):
                digit += value <= digit
            chosen.append(digit)
    return sorted(chosen)


def all_sets(n_values: int, l: int) -> np.ndarray:
    return np.array(list(combinations(range(n_values), l)), dtype=np.int32)


# --- drawing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_values", "l"), SIZES)
def test_sets_equal_those_drawn_with_unlimited_integers(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    words = random_words(n_values, 300, mechanism.words_per_record)
    codes = np.random.default_rng(l).integers(0, n_values, 300).astype(np.int32)

    sets, short = mechanism.sample(codes, words)

    assert not short.any()
    assert sets.tolist() == [
        slow_sample(int(code), [int(word) for word in row], n_values, l, mechanism._draws_per_word)
        for code, row in zip(codes, words, strict=True)
    ]


@pytest.mark.parametrize(("n_values", "l"), SIZES)
def test_rows_are_ascending_and_contain_the_true_code(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    codes = np.random.default_rng(l).integers(0, n_values, 500).astype(np.int32)

    sets, _ = mechanism.sample(codes, random_words(1, 500, mechanism.words_per_record))

    assert mechanism.admits(sets).all()
    assert (np.diff(sets.astype(np.int64), axis=1) > 0).all()
    assert (sets == codes[:, None]).any(axis=1).all()


@pytest.mark.parametrize(("bounds", "bits"), [((5, 4), 12), ((9, 8, 7), 14), ((6,), 10)])
def test_draws_that_share_a_word_are_equally_likely_for_all_words_of_few_bits(
    bounds: tuple[int, ...], bits: int
) -> None:
    # The kernel's steps on every word of a smaller machine: high part out, low part on to the next bound.
    size = 1 << bits
    low = np.arange(size)
    outcome = np.zeros(size, dtype=np.int64)
    for bound in bounds:
        outcome = outcome * bound + low * bound // size
        low = low * bound % size

    accepted = outcome[low >= size % prod(bounds)]

    assert set(np.bincount(accepted, minlength=prod(bounds))) == {size // prod(bounds)}


@pytest.mark.parametrize("l", [3, 4])
def test_every_outcome_is_drawn_from_the_same_number_of_words(l: int) -> None:
    # The accepted words of an outcome are one interval; its ends are found with unlimited integers and tried.
    mechanism = UniformSelection(6, l)
    product = prod(range(6 - l + 1, 6))
    least = [-(-(number * WORD + WORD % product) // product) for number in range(product)]
    most = [-(-((number + 1) * WORD) // product) - 1 for number in range(product)]
    first = np.array([[word, 0] for word in least], dtype=np.uint64)
    last = np.array([[word, 0] for word in most], dtype=np.uint64)
    between = sorted(set(range(least[0])) | {word + 1 for word in most[:-1]} - set(least))
    skipped = np.array([[word, 0] for word in between], dtype=np.uint64)
    codes = np.full(product, 2, dtype=np.int32)

    sets, short = mechanism.sample(codes, first)

    assert {high - low + 1 for low, high in zip(least, most, strict=True)} == {WORD // product}
    assert not short.any()
    assert (mechanism.sample(codes, last)[0] == sets).all()
    assert len(between) == WORD % product
    assert mechanism.sample(codes[: len(between)], skipped)[1].all()
    assert set(np.unique(sets, axis=0, return_counts=True)[1]) == {product // comb(5, l - 1)}


@pytest.mark.parametrize(("n_values", "l"), [(6, 2), (6, 3), (6, 4), (20, 9)])
def test_words_that_would_bias_a_draw_are_rejected_and_the_record_is_short(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    words = np.zeros((2, mechanism.words_per_record), dtype=np.uint64)

    sets, short = mechanism.sample(np.array([1, 5], dtype=np.int32), words)

    assert short.all()
    assert not sets.any()


@pytest.mark.parametrize(("n_values", "l"), [(6, 2), (6, 3), (6, 4), (20, 9)])
def test_a_short_record_is_drawn_once_there_are_more_words(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    good = random_words(3, 1, mechanism.words_per_record)
    words = np.concatenate([np.zeros_like(good), good], axis=1)
    codes = np.array([4], dtype=np.int32)

    sets, short = mechanism.sample(codes, words)

    assert not short.any()
    assert (sets == mechanism.sample(codes, good)[0]).all()


def test_more_words_never_change_a_set() -> None:
    mechanism = UniformSelection(148, 6)
    codes = np.arange(148, dtype=np.int32)
    words = random_words(4, 148, mechanism.words_per_record + 5)

    few = mechanism.sample(codes, words[:, : mechanism.words_per_record])[0]

    assert (mechanism.sample(codes, words)[0] == few).all()


def test_sets_do_not_depend_on_chunks() -> None:
    mechanism = UniformSelection(20, 3)
    codes = np.random.default_rng(5).integers(0, 20, 1000).astype(np.int32)
    words = random_words(5, 1000, mechanism.words_per_record)

    parts = [mechanism.sample(codes[i : i + 7], words[i : i + 7])[0] for i in range(0, 1000, 7)]

    assert (np.concatenate(parts) == mechanism.sample(codes, words)[0]).all()


@pytest.mark.parametrize("l", [2, 3, 4])
def test_all_sets_of_a_value_are_equally_frequent(l: int) -> None:
    n = 60_000
    mechanism = UniformSelection(6, l)

    sets, _ = mechanism.sample(np.full(n, 2, dtype=np.int32), random_words(l, n, mechanism.words_per_record))
    _, counts = np.unique(sets, axis=0, return_counts=True)

    # One chi-square test of comb(5, l - 1) cells: false alarm 1e-6.
    cells = comb(5, l - 1)
    assert len(counts) == cells
    assert ((counts - n / cells) ** 2 / (n / cells)).sum() < stats.chi2.isf(1e-6, cells - 1)


def test_a_code_outside_the_domain_is_refused() -> None:
    with pytest.raises(ParameterError, match="codes must be integers from 0 to 4"):
        UniformSelection(5, 2).sample(np.array([5], dtype=np.int32), random_words(1, 1, 2))


def test_too_few_words_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"words must have shape \(1, 2 or more\)"):
        UniformSelection(5, 2).sample(np.array([1], dtype=np.int32), random_words(1, 1, 1))


# --- facts ---------------------------------------------------------------------------------------------


def enumerated_inclusion(n_values: int, l: int) -> np.ndarray:
    rows = (all_sets(n_values, l)[:, :, None] == np.arange(n_values)).any(axis=1).astype(float)
    return rows.T @ rows / comb(n_values - 1, l - 1)


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_inclusion_equals_enumeration(n_values: int, l: int) -> None:
    np.testing.assert_allclose(UniformSelection(n_values, l).inclusion, enumerated_inclusion(n_values, l), atol=1e-14)


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_inverse_undoes_the_inclusion(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)

    np.testing.assert_allclose(mechanism.inverse @ mechanism.inclusion.T, np.eye(n_values), atol=1e-12)


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_condition_equals_the_computed_one(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)

    assert mechanism.condition == pytest.approx(np.linalg.cond(mechanism.inclusion), rel=1e-10)


def enumerated_covariance(n_values: int, l: int, counts: np.ndarray) -> np.ndarray:
    """Cov = sum over v of V_v sum over R of P(R|v) a_R a_R' - diag(V)."""
    solved = np.linalg.inv(enumerated_inclusion(n_values, l).T)
    total = -np.diag(counts).astype(float)
    for members in all_sets(n_values, l):
        a = solved[:, members].sum(axis=1)
        total += counts[members].sum() / comb(n_values - 1, l - 1) * np.outer(a, a)
    return total


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_covariance_equals_enumeration(n_values: int, l: int) -> None:
    counts = np.arange(1.0, n_values + 1) ** 2

    covariance = UniformSelection(n_values, l).covariance(counts)

    np.testing.assert_allclose(covariance, enumerated_covariance(n_values, l, counts), atol=1e-9)


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_variance_factors_give_the_diagonal_of_the_covariance(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    counts = np.arange(1.0, n_values + 1) ** 2

    np.testing.assert_allclose(mechanism.variance_factors @ counts, np.diag(mechanism.covariance(counts)), rtol=1e-12)


@pytest.mark.parametrize(("n_values", "l"), SMALL)
def test_expected_mse_is_the_mean_variance_of_the_shares(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    counts = np.arange(1.0, n_values + 1) ** 2
    n = counts.sum()

    variance = np.diag(enumerated_covariance(n_values, l, counts)).mean() / n**2

    assert mechanism.expected_mse(n, counts / n) == pytest.approx(variance, rel=1e-9)


def test_counts_of_another_domain_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"counts must have shape \(5,\), got \(4,\)"):
        UniformSelection(5, 2).covariance([1, 2, 3, 4])


def slow_worst_posterior(n_values: int, l: int, prior: np.ndarray) -> float:
    masses = prior[all_sets(n_values, l)]
    totals = masses.sum(axis=1)
    return float((masses.max(axis=1)[totals > 0] / totals[totals > 0]).max())


@pytest.mark.parametrize(("n_values", "l"), SMALL)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_worst_posterior_equals_enumeration(n_values: int, l: int, seed: int) -> None:
    prior = np.random.default_rng(seed).dirichlet(np.full(n_values, 0.3))

    found = UniformSelection(n_values, l).worst_posterior(prior)

    assert found == pytest.approx(slow_worst_posterior(n_values, l, prior), rel=1e-12)


def test_worst_posterior_of_a_uniform_prior_is_one_over_l() -> None:
    assert UniformSelection(10, 4).worst_posterior() == 0.25


def test_values_that_cannot_be_true_hide_nothing() -> None:
    assert UniformSelection(5, 3).worst_posterior([0.5, 0.5, 0, 0, 0]) == 1.0


@pytest.mark.parametrize("prior", [[0, 0, 0], [1, 1], [1, -1, 1], [1, np.nan, 1], [[1, 1, 1]], "abc"])
def test_a_prior_that_is_none_is_refused(prior: object) -> None:
    with pytest.raises(ParameterError, match="prior must be 3 finite weights of at least 0, not all 0"):
        UniformSelection(3, 2).worst_posterior(prior)  # type: ignore[arg-type]


def test_all_members_explain_a_set_equally_well() -> None:
    mechanism = UniformSelection(4, 2)

    assert mechanism.flat_likelihood
    assert mechanism.likelihood(np.array([[0, 3], [2, 2]])).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_only_sets_of_distinct_codes_of_the_domain_are_admitted() -> None:
    sets = np.array([[0, 1, 2], [2, 0, 1], [0, 0, 1], [-1, 0, 1], [0, 1, 4]])

    assert UniformSelection(4, 3).admits(sets).tolist() == [True, True, False, False, False]


def test_sets_of_another_size_are_not_admitted() -> None:
    assert not UniformSelection(5, 3).admits(np.array([[0, 1]])).any()


@pytest.mark.parametrize("n", [0, -1, float("nan")])
def test_the_error_of_no_records_is_refused(n: float) -> None:
    with pytest.raises(ParameterError, match="n must be"):
        UniformSelection(5, 2).expected_mse(n)


# --- limits --------------------------------------------------------------------------------------------


def test_a_set_must_leave_one_value_out() -> None:
    with pytest.raises(InfeasibleError, match="at most F - 1 = 4 for the F = 5 values") as caught:
        UniformSelection.fit(Domain(tuple("abcde")), 5)

    assert caught.value.nearest == [{"l": 4}]


@pytest.mark.parametrize(("size", "l", "least"), [(2, 2, 3), (2, 4, 5), (1, 3, 4)])
def test_a_tiny_domain_is_told_how_many_values_l_needs(size: int, l: int, least: int) -> None:
    with pytest.raises(InfeasibleError) as caught:
        UniformSelection(size, l)

    assert caught.value.hint == f"Declare a domain of at least {least} values."
    assert caught.value.nearest == []


def test_a_domain_that_is_too_small_is_told_how_many_values_l_needs() -> None:
    with pytest.raises(InfeasibleError) as caught:
        UniformSelection.fit(Domain(tuple("abc")), 4)

    assert caught.value.hint == "Use l=2 or less, or declare a domain of at least 5 values."


def test_too_few_bins_are_told_how_many_l_needs() -> None:
    binned = Domain(("0 to 10", "10 to 20"), ordered=True, edges=(0, 10, 20))

    with pytest.raises(InfeasibleError) as caught:
        UniformSelection.fit(binned, 4)

    assert caught.value.hint == "Give edges or a width that make at least 5 bins."


def test_any_fault_in_a_description_is_one_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ParameterError("UniformSelection: l must be smaller.")

    monkeypatch.setattr(UniformSelection, "from_dict", refuse)

    with pytest.raises(
        ReleaseFormatError, match=r"mechanism 'uniform' is damaged: UniformSelection: l must be smaller\."
    ):
        mechanism_from_dict({"kind": "uniform", "version": 1}, Domain(tuple("abc")))


def test_l_of_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="UniformSelection: l must be an integer of at least 2, got 1"):
        UniformSelection(5, 1)


# --- broken distances ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_values", "l", "d"), [(10, 3, 2), (10, 4, 3), (8, 2, 7), (9, 3, 1)])
def test_violation_of_each_value_equals_enumeration(n_values: int, l: int, d: int) -> None:
    domain = Domain(tuple(range(n_values)), ordered=True)
    sets = all_sets(n_values, l)
    broken = np.diff(sets, axis=1).min(axis=1) < d
    counts = [int(broken[(sets == v).any(axis=1)].sum()) for v in range(n_values)]

    violation = UniformSelection(n_values, l).violation_probability(OrderedDistance(), domain, d)

    np.testing.assert_allclose(violation.by_value, np.array(counts) / comb(n_values - 1, l - 1), atol=1e-15)


def test_violation_that_is_certain_is_certain_for_a_table() -> None:
    domain = Domain(tuple(range(6)), ordered=True)

    violation = UniformSelection(6, 4).violation_probability(OrderedDistance(), domain, d=3, n=10)

    assert (violation.bound, violation.least, violation.of_table) == (1.0, 1.0, 1.0)


def test_violation_of_a_table_is_at_least_that_of_one_record() -> None:
    domain = Domain(tuple(range(20)), ordered=True)

    violation = UniformSelection(20, 3).violation_probability(OrderedDistance(), domain, d=2, n=3)

    assert violation.of_table == pytest.approx(1 - (1 - violation.least) ** 3)
    assert violation.least <= violation.greatest


def test_violation_needs_the_domain_of_the_mechanism() -> None:
    with pytest.raises(ParameterError, match="domain must have 5 values, got 4"):
        UniformSelection(5, 2).violation_probability(OrderedDistance(), Domain(tuple("abcd"), ordered=True), 2)


# --- as data -------------------------------------------------------------------------------------------


def test_a_description_comes_back_from_json() -> None:
    described = json.loads(json.dumps(UniformSelection(5, 3).to_dict()))

    assert mechanism_from_dict(described, Domain(tuple("abcde"))).to_dict() == described


@pytest.mark.parametrize(
    "change",
    [
        {"l": 5},
        {"l": 1},
        {"l": True},
        {"l": "3"},
        {"l": None},
        {"n_values": 6},
        {"version": 3},
        {"version": 0},
        {"version": True},
        {"version": None},
        {"kind": "os.system"},
        {"kind": ["uniform"]},
        {"kind": None},
    ],
)
def test_a_damaged_description_is_refused(change: dict[str, object]) -> None:
    described = UniformSelection(5, 3).to_dict() | change

    with pytest.raises(ReleaseFormatError, match="release: mechanism"):
        mechanism_from_dict(described, Domain(tuple("abcde")))


@pytest.mark.parametrize("described", [None, [], "uniform", 3])
def test_a_description_that_is_no_object_is_refused(described: object) -> None:
    with pytest.raises(ReleaseFormatError, match="of a known kind"):
        mechanism_from_dict(described, Domain(tuple("abcde")))


def test_facts_cannot_be_written_to() -> None:
    mechanism = UniformSelection(5, 3)

    for fact in (mechanism.inclusion, mechanism.inverse, mechanism.variance_factors):
        assert not fact.flags.writeable
