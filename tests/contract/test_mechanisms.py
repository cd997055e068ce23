"""What every mechanism must do, whatever its kind."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import ldiversity as ld
from ldiversity.base.randomness import FreshWords
from ldiversity.entries import ENTRIES
from ldiversity.mechanisms import BalancedSelection, SetMechanism, mechanism_from_dict
from ldiversity.publish import draw_sets

LINE = ld.OrderedDistance()
LEVELS = ld.Domain(values=tuple(range(11)), ordered=True)
TREE = ld.TreeDistance(
    ld.Hierarchy.from_rows(
        [[f"{block}{leaf}", block, "any"] for block, n in [("a", 3), ("b", 2), ("c", 3), ("d", 2)] for leaf in range(n)]
    )
)
LEAVES = ld.Domain(values=tuple(TREE.hierarchy.leaves))
GRAPH = ld.MatrixDistance(
    values=("p", "q", "r", "s", "t", "u", "v"),
    distances=[[0 if i == j else 1 + ((i * j + i + j) % 3 > 0) for j in range(7)] for i in range(7)],
)
NODES = ld.Domain(values=("p", "q", "r", "s", "t", "u", "v"))
BLOCK_OF = np.array([0, 1, 2, 3, 3, 4, 4, 5, 5])
BLOCKS = ld.MatrixDistance(values=tuple(range(9)), distances=1.0 + np.not_equal.outer(BLOCK_OF, BLOCK_OF) - np.eye(9))
NINE = ld.Domain(values=tuple(range(9)))
TAIL = ld.MatrixDistance(  # five values that all stand together, and one that stands with the last of them alone
    values=tuple(range(6)),
    distances=[[0 if i == j else 2 if max(i, j) < 5 or i + j == 9 else 1 for j in range(6)] for i in range(6)],
)
SIX = ld.Domain(values=tuple(range(6)))
GROUP = np.array([0, 0, 0, 0, 0, 0, 1, 2, 2, 3])  # too many values are alike for balanced sets
UNEVEN = ld.MatrixDistance(values=tuple(range(10)), distances=1.0 + np.not_equal.outer(GROUP, GROUP) - np.eye(10))
TEN = ld.Domain(values=tuple(range(10)))
BINARY = ld.Domain(values=("no", "yes"))


def semantic(domain: ld.Domain, distance: ld.Distance, l: int, d: float, selection: str) -> SetMechanism:
    return ld.SemanticDiversity(l=l, d=d, distance=distance, selection=selection).fit(domain)


CASES: dict[str, tuple[ld.Domain, SetMechanism]] = {
    "uniform": (LEVELS, ld.RandomizedAddition(l=3).fit(LEVELS)),
    "balanced line": (LEVELS, semantic(LEVELS, LINE, 3, 3, "balanced")),
    "balanced tree": (LEAVES, semantic(LEAVES, TREE, 3, 2, "balanced")),
    "balanced graph": (NODES, semantic(NODES, GRAPH, 2, 2, "balanced")),
    "simple line": (LEVELS, semantic(LEVELS, LINE, 3, 3, "simple")),
    "simple tree": (LEAVES, semantic(LEAVES, TREE, 3, 2, "simple")),
    "simple blocks": (NINE, semantic(NINE, BLOCKS, 3, 2, "simple")),
    "balanced tail": (SIX, BalancedSelection.fit(SIX, TAIL, 2, 2, prior=[0.2, 0.18, 0.19, 0.17, 0.16, 0.1])),
    "simple graph": (NODES, semantic(NODES, GRAPH, 2, 2, "simple")),
    "ring": (LEVELS, semantic(LEVELS, LINE, 3, 3, "ring")),
    "minmax tree": (TEN, semantic(TEN, UNEVEN, 2, 2, "minmax")),
    "minmax three": (TEN, semantic(TEN, UNEVEN, 3, 2, "minmax")),
    "epsilon uniform": (LEVELS, ld.RandomizedAddition(l=3, epsilon=2).fit(LEVELS)),
    "epsilon line": (LEVELS, ld.SemanticDiversity(l=3, d=3, distance=LINE, epsilon=3).fit(LEVELS)),
    "epsilon graph": (NODES, ld.SemanticDiversity(l=2, d=2, distance=GRAPH, epsilon=1).fit(NODES)),
    "response": (NINE, ld.RandomizedAddition(l=1, epsilon=1).fit(NINE)),
    "yes or no": (BINARY, ld.RandomizedAddition(l=1, epsilon=0.5).fit(BINARY)),
}

every_case = pytest.mark.parametrize(("domain", "mechanism"), CASES.values(), ids=CASES)


def all_sets(domain: ld.Domain, mechanism: SetMechanism) -> tuple[np.ndarray, np.ndarray]:
    """Every set that the mechanism may publish, and how likely each value leads to it, shape (sets, F)."""
    sets = np.array(list(combinations(range(len(domain)), mechanism.l)), dtype=np.int32)
    sets = sets[mechanism.admits(sets)]
    values, likelihood = mechanism.explanations(sets)
    known = np.zeros((len(sets), len(domain)))
    np.put_along_axis(known, values.astype(np.int64), likelihood, axis=1)
    return sets, known


def test_every_kind_is_covered() -> None:
    assert {mechanism.kind for _, mechanism in CASES.values()} == set(ENTRIES["mechanisms"])


@every_case
def test_inclusion_has_ones_on_its_diagonal_and_rows_that_sum_to_l(domain: ld.Domain, mechanism: SetMechanism) -> None:
    if mechanism.epsilon is None:
        np.testing.assert_allclose(np.diag(mechanism.inclusion), 1)
    np.testing.assert_allclose(mechanism.inclusion.sum(axis=1), mechanism.l)


@every_case
def test_impossible_entries_of_inclusion_are_exactly_zero_and_certain_ones_exactly_one(
    domain: ld.Domain, mechanism: SetMechanism
) -> None:
    sets, known = all_sets(domain, mechanism)
    holds = (sets[:, :, None] == np.arange(len(domain))).any(axis=1)
    explains = known > 0
    # How many sets come from v, and how many of those hold j.
    of_value, with_other = explains.sum(axis=0)[:, None], explains.T.astype(int) @ holds

    Q = mechanism.inclusion

    assert (with_other.diagonal() > 0).all()
    np.testing.assert_array_equal(Q == 0.0, with_other == 0)
    np.testing.assert_array_equal(Q == 1.0, with_other == of_value)
    assert ((Q >= 0) & (Q <= 1)).all()


@every_case
def test_the_inverse_undoes_inclusion(domain: ld.Domain, mechanism: SetMechanism) -> None:
    np.testing.assert_allclose(mechanism.inverse @ mechanism.inclusion.T, np.eye(len(domain)), atol=1e-9)


@every_case
def test_facts_cannot_be_changed_by_a_caller(domain: ld.Domain, mechanism: SetMechanism) -> None:
    with pytest.raises(ValueError, match="read-only"):
        mechanism.inclusion[0, 0] = 0.5


@every_case
def test_samples_are_admitted_ascending_and_hold_the_truth(domain: ld.Domain, mechanism: SetMechanism) -> None:
    codes = np.arange(2000, dtype=np.int32) % len(domain)

    sets = draw_sets(mechanism, codes, FreshWords.from_insecure_seed(1))

    assert sets.dtype == np.int32
    assert mechanism.admits(sets).all()
    assert (np.diff(sets, axis=1) > 0).all()
    assert (sets == codes[:, None]).any(axis=1).all() == (mechanism.epsilon is None)


@every_case
def test_an_epsilon_bounds_every_ratio_of_likelihoods_and_nothing_else_does(
    domain: ld.Domain, mechanism: SetMechanism
) -> None:
    _, known = all_sets(domain, mechanism)

    if mechanism.epsilon is None:
        assert (known.min(axis=1) == 0).all()
    else:
        assert (known.max(axis=1) <= known.min(axis=1) * np.exp(mechanism.epsilon)).all()


@every_case
def test_samples_follow_the_inclusion_matrix(domain: ld.Domain, mechanism: SetMechanism) -> None:
    n = 20_000
    codes = np.repeat(np.arange(len(domain), dtype=np.int32), n)

    sets = draw_sets(mechanism, codes, FreshWords.from_insecure_seed(2)).reshape(len(domain), n, mechanism.l)

    share = np.array([np.bincount(rows.ravel(), minlength=len(domain)) / n for rows in sets])
    spread = np.sqrt(mechanism.inclusion * (1 - mechanism.inclusion) / n).clip(1e-9)
    # At most 121 binomial z-scores; beyond 5 in one of 14,000 seeds. Entries of 0 and 1 must be exact.
    assert np.abs((share - mechanism.inclusion) / spread).max() < 5


@every_case
def test_each_record_depends_on_its_own_code_and_words_alone(domain: ld.Domain, mechanism: SetMechanism) -> None:
    codes = np.arange(500, dtype=np.int32) % len(domain)
    words = FreshWords.from_insecure_seed(3).draw(500, mechanism.words_per_record)
    order = np.random.default_rng(0).permutation(500)

    whole, _ = mechanism.sample(codes, words)
    parts = np.concatenate(
        [mechanism.sample(codes[order][i : i + 7], words[order][i : i + 7])[0] for i in range(0, 500, 7)]
    )

    np.testing.assert_array_equal(whole[order], parts)


@every_case
def test_more_words_change_nothing(domain: ld.Domain, mechanism: SetMechanism) -> None:
    codes = np.arange(500, dtype=np.int32) % len(domain)
    words = FreshWords.from_insecure_seed(4).draw(500, mechanism.words_per_record + 5)

    few, _ = mechanism.sample(codes, np.ascontiguousarray(words[:, : mechanism.words_per_record]))
    many, _ = mechanism.sample(codes, words)

    np.testing.assert_array_equal(few, many)


@every_case
def test_a_description_survives_json(domain: ld.Domain, mechanism: SetMechanism) -> None:
    described = json.loads(json.dumps(mechanism.to_dict()))

    read = mechanism_from_dict(described, ld.Domain.from_dict(json.loads(json.dumps(domain.to_dict()))))

    assert read.to_dict() == mechanism.to_dict()
    np.testing.assert_array_equal(read.inclusion, mechanism.inclusion)
    codes = np.arange(500, dtype=np.int32) % len(domain)
    words = FreshWords.from_insecure_seed(5).draw(500, mechanism.words_per_record)
    np.testing.assert_array_equal(read.sample(codes, words)[0], mechanism.sample(codes, words)[0])


@every_case
def test_parameters_hold_nothing_that_was_computed(domain: ld.Domain, mechanism: SetMechanism) -> None:
    chosen = mechanism.parameters()
    numbers = [name for name, value in chosen.items() if isinstance(value, list) and name != "prior"]

    assert not numbers


@every_case
def test_the_worst_posterior_lies_between_one_in_l_and_one(domain: ld.Domain, mechanism: SetMechanism) -> None:
    least = mechanism.l if mechanism.epsilon is None else len(domain)
    assert 1 / least - 1e-9 <= mechanism.worst_posterior() <= 1


@every_case
def test_no_simulated_posterior_exceeds_the_worst(domain: ld.Domain, mechanism: SetMechanism) -> None:
    prior = np.random.default_rng(6).dirichlet(np.ones(len(domain)))
    codes = np.arange(3000, dtype=np.int32) % len(domain)
    sets = draw_sets(mechanism, codes, FreshWords.from_insecure_seed(6))

    values, likelihood = mechanism.explanations(sets)
    joint = likelihood * prior[values]

    assert (joint.max(axis=1) / joint.sum(axis=1)).max() <= mechanism.worst_posterior(prior) + 1e-9


@every_case
def test_variance_factors_predict_the_error_of_the_linear_estimate(domain: ld.Domain, mechanism: SetMechanism) -> None:
    counts = np.arange(1, len(domain) + 1) * 20
    codes = np.repeat(np.arange(len(domain), dtype=np.int32), counts)
    words = FreshWords.from_insecure_seed(7)
    runs = 400

    estimates = np.array(
        [
            mechanism.inverse @ np.bincount(draw_sets(mechanism, codes, words).ravel(), minlength=len(domain))
            for _ in range(runs)
        ]
    )

    predicted = mechanism.variance_factors @ counts
    # A variance of 400 nearly normal draws is chi-square/399; both tails at 1e-6 for each of at most 11 values.
    low, high = stats.chi2.ppf([1e-6, 1 - 1e-6], runs - 1) / (runs - 1)
    ratio = estimates.var(axis=0, ddof=1) / predicted
    assert ((ratio > low) & (ratio < high)).all()
    # And without bias: 11 z-scores beyond 5 in one of 150,000 seeds.
    assert np.abs((estimates.mean(axis=0) - counts) / np.sqrt(predicted / runs)).max() < 5
