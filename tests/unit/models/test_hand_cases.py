"""Each model on classes that can be checked by hand."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from ldiversity.entries import ENTRIES
from ldiversity.hierarchies import Hierarchy
from ldiversity.models import (
    MODELS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    Population,
    PrivacyModel,
    RecursiveDiversity,
    SemanticClassDiversity,
    TCloseness,
    UniqueDiversity,
)
from ldiversity.models._exact import is_positive
from ldiversity.schema import Domain

DISEASES = Hierarchy.from_rows(
    [
        ("gastric ulcer", "stomach", "digestive", "*"),
        ("gastritis", "stomach", "digestive", "*"),
        ("colitis", "colon", "digestive", "*"),
        ("flu", "viral", "respiratory", "*"),
        ("pneumonia", "bacterial", "respiratory", "*"),
        ("bronchitis", "bacterial", "respiratory", "*"),
    ]
)


def everyone(counts: list[int], *, values: tuple[object, ...] | None = None) -> Population:
    names = tuple(range(len(counts))) if values is None else values
    return Population(Domain(names, ordered=True, positions=None), np.array(counts))  # type: ignore[arg-type]


def reached(model: PrivacyModel, counts: list[int], population: Population | None = None) -> float:
    return float(model.reached(np.array([counts]), population or everyone(counts))[0])


def holds(model: PrivacyModel, counts: list[int], population: Population | None = None) -> bool:
    return bool(model.holds(np.array([counts]), population or everyone(counts))[0])


@pytest.mark.parametrize(
    ("model", "counts", "expected"),
    [
        (KAnonymity(2), [3, 0, 4], 7),
        (DistinctDiversity(2), [3, 0, 4], 2),
        (EntropyDiversity(2), [5] * 14, 14),
        (EntropyDiversity(2), [2, 1, 1], math.exp(1.5 * math.log(2))),
        (FrequencyDiversity(2), [3, 2, 1], 2),
        (UniqueDiversity(2), [1, 1, 1], 3),
        (UniqueDiversity(2), [1, 2, 1], 0),
        (RecursiveDiversity(1, 2), [98, 1, 1], 49),
        (RecursiveDiversity(1, 3), [98, 1, 1], 98),
        (RecursiveDiversity(1, 3), [1, 3, 2, 1], 1.5),
        (RecursiveDiversity(1, 4), [98, 1, 1], math.inf),
        (AlphaK(0.5, 3), [3, 1], 0.75),
        (AlphaK(0.5, 5), [3, 1], math.inf),
    ],
)
def test_a_class_reaches_what_is_computed_by_hand(model: PrivacyModel, counts: list[int], expected: float) -> None:
    assert reached(model, counts) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("satisfied", "violated", "counts"),
    [
        (KAnonymity(7), KAnonymity(8), [3, 0, 4]),
        (DistinctDiversity(2), DistinctDiversity(3), [3, 0, 4]),
        (EntropyDiversity(14), EntropyDiversity(14.000001), [7] * 14),
        (EntropyDiversity(2.828427124746), EntropyDiversity(2.828427124747), [2, 1, 1]),
        (FrequencyDiversity(2), FrequencyDiversity(3), [3, 2, 1]),
        (UniqueDiversity(3), UniqueDiversity(4), [1, 1, 1]),
        (RecursiveDiversity(49.1, 2), RecursiveDiversity(49, 2), [98, 1, 1]),
        (RecursiveDiversity(1.01, 3), RecursiveDiversity(1, 3), [2, 2, 2]),
        (AlphaK(0.3, 10), AlphaK(0.29, 10), [3, 3, 3, 1]),
        (AlphaK(0.3, 10), AlphaK(0.3, 11), [3, 3, 3, 1]),
    ],
)
def test_a_class_satisfies_a_rule_up_to_its_border(
    satisfied: PrivacyModel, violated: PrivacyModel, counts: list[int]
) -> None:
    assert (holds(satisfied, counts), holds(violated, counts)) == (True, False)


def test_recursive_diversity_of_too_few_values_holds_for_no_c() -> None:
    assert not holds(RecursiveDiversity(1e300, 4), [1, 1, 1])


def test_entropy_of_powers_of_two_is_decided_exactly_at_the_border() -> None:
    # Shares 1/2, 1/8, 1/8, 1/8, 1/8 have an entropy of exactly log 4, but no float says so.
    assert holds(EntropyDiversity(4), [4, 1, 1, 1, 1])


def test_entropy_just_below_the_border_is_seen() -> None:
    # 2^30 + 1 against 2^30 - 1 is less than log 2 by 4e-19, far below the resolution of floats.
    assert not holds(EntropyDiversity(2), [2**30 + 1, 2**30 - 1])


def test_ordered_closeness_is_that_of_the_papers_salaries() -> None:
    salaries = everyone([1] * 9)

    assert reached(TCloseness(0.1, "ordered"), [1, 1, 1, 0, 0, 0, 0, 0, 0], salaries) == pytest.approx(0.375)
    assert reached(TCloseness(0.1, "ordered"), [0, 0, 0, 1, 0, 1, 0, 0, 1], salaries) == pytest.approx(1 / 6)
    assert reached(TCloseness(0.1, "ordered"), [0, 0, 0, 0, 1, 0, 1, 1, 0], salaries) == pytest.approx(17 / 72)


def test_equal_closeness_is_half_the_sum_of_differences() -> None:
    assert reached(TCloseness(0.1), [3, 1, 0], everyone([1, 1, 2])) == pytest.approx(0.5)


def test_hierarchical_closeness_moves_records_through_the_tree() -> None:
    population = everyone([1] * 6, values=DISEASES.leaves)
    # All of the class is gastric ulcer: 1/6 comes from level 1, 1/6 from level 2, and 3/6 over the root.
    expected = (1 / 6) * (1 / 3) + (1 / 6) * (2 / 3) + (3 / 6) * 1

    assert reached(TCloseness(0.1, "hierarchical", DISEASES), [2, 0, 0, 0, 0, 0], population) == pytest.approx(expected)


def test_a_missing_category_outside_the_tree_hangs_from_the_root() -> None:
    population = everyone([1, 1], values=("flu", None))

    assert reached(TCloseness(0.1, "hierarchical", DISEASES), [1, 0], population) == pytest.approx(0.5)


def test_closeness_holds_exactly_at_a_decimal_border() -> None:
    assert holds(TCloseness(0.3), [8, 2], everyone([5, 5]))
    assert not holds(TCloseness(0.29), [8, 2], everyone([5, 5]))


def test_closeness_is_decided_without_overflow_on_billions_of_records() -> None:
    billions = everyone([3 * 10**9, 3 * 10**9])

    assert reached(TCloseness(0.1, "ordered"), [4 * 10**9, 0], billions) == 0.5
    assert holds(TCloseness(0.5, "ordered"), [4 * 10**9, 0], billions)


def test_likeness_is_the_greatest_relative_gain() -> None:
    assert reached(BetaLikeness(1), [1, 1], everyone([6, 2])) == pytest.approx(1.0)


def test_likeness_holds_up_to_its_border() -> None:
    assert holds(BetaLikeness(0.2), [6, 4], everyone([5, 5]))
    assert not holds(BetaLikeness(0.19), [6, 4], everyone([5, 5]))


def test_enhanced_likeness_keeps_a_frequent_value_from_certainty() -> None:
    # p = 3/4: the gain to certainty is 1/3, above -ln(3/4) = .288.
    assert holds(BetaLikeness(1), [4, 0], everyone([6, 2]))
    assert not holds(BetaLikeness(1, enhanced=True), [4, 0], everyone([6, 2]))
    assert reached(BetaLikeness(1, enhanced=True), [4, 0], everyone([6, 2])) == math.inf


def test_enhanced_likeness_at_the_border_is_decided_with_enough_digits() -> None:
    # p = 1/2 and gains .6931471804 and .6931471806 against ln 2 = .69314718056.
    halves = everyone([10**10, 10**10])

    assert holds(BetaLikeness(1, enhanced=True), [8465735902, 10**10 - 8465735902], halves)
    assert not holds(BetaLikeness(1, enhanced=True), [8465735903, 10**10 - 8465735903], halves)


def test_a_sign_that_no_digits_decide_is_not_claimed() -> None:
    assert not is_positive(lambda: Decimal(0))


def test_enhanced_likeness_allows_the_only_value_there_is() -> None:
    assert holds(BetaLikeness(1, enhanced=True), [4, 0], everyone([6, 0]))


def test_a_value_that_all_records_together_lack_breaks_likeness_and_disclosure() -> None:
    assert not holds(BetaLikeness(9), [1, 1], everyone([5, 0]))
    assert not holds(DeltaDisclosure(9), [1, 1], everyone([5, 0]))


def test_disclosure_is_the_greatest_logarithm_of_a_ratio() -> None:
    assert reached(DeltaDisclosure(1), [1, 3], everyone([2, 2])) == pytest.approx(math.log(2))


def test_disclosure_at_the_border_is_decided_with_enough_digits() -> None:
    # ln 2 = 0.693147180559945309...: the next decimals decide.
    assert not holds(DeltaDisclosure(0.6931471805599453), [1, 3], everyone([2, 2]))
    assert holds(DeltaDisclosure(0.6931471805599454), [1, 3], everyone([2, 2]))


def test_a_class_that_lacks_a_value_discloses_it() -> None:
    assert reached(DeltaDisclosure(1), [4, 0], everyone([4, 4])) == math.inf


def test_a_value_that_occurs_nowhere_does_not_matter() -> None:
    assert reached(DeltaDisclosure(1), [2, 2, 0], everyone([4, 4, 0])) == 0


def test_values_that_are_alike_count_as_one() -> None:
    assert reached(SemanticClassDiversity(2, 3, "ordered"), [1, 1, 1, 0, 0, 0]) == 1
    assert reached(SemanticClassDiversity(2, 3, "ordered"), [1, 1, 1, 1, 0, 1]) == 2


def test_values_apart_are_counted_where_a_pass_from_the_middle_would_fail() -> None:
    # 0 and 4 are 4 apart; taking 2 first would block both.
    assert reached(SemanticClassDiversity(2, 4, "ordered"), [1, 0, 1, 0, 1]) == 2


def test_nodes_at_a_depth_are_counted() -> None:
    population = everyone([1] * 6, values=DISEASES.leaves)

    assert reached(LevelDiversity(2, 1, DISEASES), [1, 1, 1, 0, 0, 0], population) == 1
    assert reached(LevelDiversity(2, 2, DISEASES), [1, 1, 1, 0, 0, 0], population) == 2
    assert reached(LevelDiversity(2, 3, DISEASES), [1, 1, 1, 0, 0, 0], population) == 3


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        (FrequencyDiversity(4), 0.25),
        (UniqueDiversity(4), 0.25),
        (AlphaK(0.4, 2), 0.4),
        (RecursiveDiversity(3, 2), 0.75),
        (DistinctDiversity(4), 1.0),
        (TCloseness(0.1), 1.0),
    ],
)
def test_the_posterior_is_what_the_rule_implies_for_every_table(model: PrivacyModel, bound: float) -> None:
    assert model.posterior == bound


def test_the_bound_of_recursive_diversity_is_approached() -> None:
    # 2,999 of 3,999 records with c = 3 and l = 2: just below 3/4.
    assert holds(RecursiveDiversity(3, 2), [2999, 1000])
    assert 2999 / 3999 < RecursiveDiversity(3, 2).posterior < 2999 / 3999 + 1e-4


@pytest.mark.parametrize("name", sorted(set(ENTRIES["models"]) - {"level-unique", "unique"}))
def test_models_that_compare_shares_or_sets_claim_to_be_monotone(name: str) -> None:
    assert MODELS[name].monotone


def test_two_unique_classes_together_need_not_be_unique() -> None:
    assert not UniqueDiversity.monotone
    assert holds(UniqueDiversity(2), [1, 1])
    assert not holds(UniqueDiversity(2), [2, 2])
