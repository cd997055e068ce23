"""Laws of privacy models on random classes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ldiversity.hierarchies import Hierarchy
from ldiversity.models import (
    AlphaK,
    BetaLikeness,
    ClassCounts,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    LevelUnique,
    Population,
    PrivacyModel,
    RecursiveDiversity,
    SemanticClassDiversity,
    TCloseness,
    UniqueDiversity,
    count_classes,
)
from ldiversity.schema import Domain

N_VALUES = 5
DOMAIN = Domain(("a", "b", "c", "d", "e"), ordered=True)
TREE = Hierarchy.from_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "z", "*")])

NUMBERS = st.floats(0.05, 6.0).map(lambda number: round(number, 2))
SHARES = st.integers(1, 100).map(lambda percent: percent / 100)
WHOLE = st.integers(2, 6)
MODELS = st.one_of(
    st.builds(KAnonymity, WHOLE),
    st.builds(DistinctDiversity, WHOLE),
    st.builds(EntropyDiversity, st.one_of(WHOLE, st.floats(1.1, 5.0))),
    st.builds(FrequencyDiversity, WHOLE),
    st.builds(UniqueDiversity, WHOLE),
    st.builds(LevelUnique, WHOLE, st.just((0, 0, 1, 1, 2))),
    st.builds(RecursiveDiversity, NUMBERS, WHOLE),
    st.builds(AlphaK, SHARES, st.integers(1, 6)),
    st.builds(TCloseness, SHARES),
    st.builds(TCloseness, SHARES, st.just("ordered")),
    st.builds(TCloseness, SHARES, st.just("hierarchical"), st.just(TREE)),
    st.builds(BetaLikeness, NUMBERS, st.booleans()),
    st.builds(DeltaDisclosure, NUMBERS),
    st.builds(SemanticClassDiversity, WHOLE, st.integers(1, 4), st.just("ordered")),
    st.builds(LevelDiversity, WHOLE, st.integers(1, 2), st.just(TREE)),
)
ROWS = st.lists(st.integers(0, 6), min_size=N_VALUES, max_size=N_VALUES).filter(any)
TABLES = st.lists(ROWS, min_size=2, max_size=8).map(lambda rows: np.array(rows, dtype=np.int64))


def as_classes(counts: NDArray[np.int64]) -> ClassCounts:
    class_of, codes = np.nonzero(counts)
    times = counts[class_of, codes]
    return count_classes(np.repeat(class_of, times), np.repeat(codes, times).astype(np.int32), len(counts), DOMAIN)


def population(counts: NDArray[np.int64]) -> Population:
    return Population(DOMAIN, counts.sum(axis=0))


@given(model=MODELS, counts=TABLES)
def test_a_class_holds_exactly_when_it_reaches_what_is_required(model: PrivacyModel, counts: NDArray[np.int64]) -> None:
    reached, holds = model.reached(counts, population(counts)), model.holds(counts, population(counts))
    excess = (reached - model.required) * (1 if model.higher_is_safer else -1)

    # At the border itself, up to the rounding of `reached`, only exact arithmetic knows.
    assert holds[excess > 1e-9].all()
    assert not holds[excess < -1e-9].any()


@settings(max_examples=300)
@given(model=MODELS.filter(lambda model: model.monotone), counts=TABLES)
def test_merging_classes_that_hold_gives_a_class_that_holds(model: PrivacyModel, counts: NDArray[np.int64]) -> None:
    everyone = population(counts)
    kept = counts[model.holds(counts, everyone)]
    merged = (kept[:, None, :] + kept[None, :, :]).reshape(-1, N_VALUES)

    assert model.holds(merged, everyone).all()


@pytest.mark.parametrize("model", [UniqueDiversity(2), LevelUnique(2, (0, 0, 1, 1, 2))])
def test_a_model_that_does_not_claim_to_be_monotone_is_not(model: PrivacyModel) -> None:
    counts = np.array([[1, 0, 1, 0, 0], [1, 0, 0, 1, 0]])

    assert not model.monotone
    assert model.holds(counts, population(counts)).all()
    assert not model.holds(counts.sum(axis=0, keepdims=True), population(counts)).any()


@given(model=MODELS, counts=TABLES)
def test_a_verdict_says_what_a_loop_over_classes_says(model: PrivacyModel, counts: NDArray[np.int64]) -> None:
    everyone = population(counts)
    holds = [bool(model.holds(row[None], everyone)[0]) for row in counts]
    reached = [float(model.reached(row[None], everyone)[0]) for row in counts]
    verdict = model.verdict(as_classes(counts))

    assert verdict.passed == all(holds)
    assert verdict.n_failing == holds.count(False)
    assert verdict.n_records_failing == counts[~np.array(holds)].sum()
    assert verdict.reached == (min(reached) if model.higher_is_safer else max(reached))


@given(model=MODELS, counts=TABLES)
def test_the_strongest_form_holds_and_a_little_more_does_not(model: PrivacyModel, counts: NDArray[np.int64]) -> None:
    classes = as_classes(counts)
    weaker = model.weakened(classes)
    margin = 0.0 if weaker is None else weaker.verdict(classes).margin
    slack = 1 if weaker is not None and isinstance(getattr(weaker, weaker.scale), int) else 1e-8

    assert weaker is None or weaker.verdict(classes).passed
    assert abs(margin) < slack


@given(model=MODELS, counts=TABLES)
def test_no_value_has_more_than_the_posterior_in_a_class_that_holds(
    model: PrivacyModel, counts: NDArray[np.int64]
) -> None:
    kept = counts[model.holds(counts, population(counts))]

    assert (kept.max(axis=1) <= model.posterior * kept.sum(axis=1) + 1e-9).all()


Reference = Callable[[list[int], list[int]], float]


def recursive(l: int) -> Reference:
    def reached(row: list[int], _: list[int]) -> float:
        ranked = sorted(row, reverse=True)
        return float(Fraction(ranked[0], sum(ranked[l - 1 :]))) if sum(ranked[l - 1 :]) else inf

    return reached


def entropy(row: list[int], _: list[int]) -> float:
    return exp(-sum(count / sum(row) * log(count / sum(row)) for count in row if count))


def differences(row: list[int], everyone: list[int]) -> list[Fraction]:
    return [Fraction(a, sum(row)) - Fraction(b, sum(everyone)) for a, b in zip(row, everyone, strict=True)]


def moved_equal(row: list[int], everyone: list[int]) -> float:
    return float(sum(u for u in differences(row, everyone) if u > 0))


def moved_in_order(row: list[int], everyone: list[int]) -> float:
    """Carry what is too much on to the next value."""
    cost, carried = Fraction(0), Fraction(0)
    for u in differences(row, everyone):
        carried += u
        cost += abs(carried)
    return float(cost / (N_VALUES - 1))


def moved_in_tree(row: list[int], everyone: list[int]) -> float:
    """The recursion of the paper: under each node move the lesser of what is too much and too little."""
    u = differences(row, everyone)
    nodes = [[u[0], u[1]], [u[2], u[3]], [u[4]]]
    cost = sum(Fraction(1, 2) * moved(below) for below in nodes)
    return float(cost + moved([sum(below) for below in nodes]))


def moved(children: list[Fraction]) -> Fraction:
    return min(sum((u for u in children if u > 0), Fraction(0)), -sum((u for u in children if u < 0), Fraction(0)))


def gain(row: list[int], everyone: list[int]) -> float:
    pairs = zip(differences(row, everyone), everyone, strict=True)
    return float(max(u / Fraction(b, sum(everyone)) for u, b in pairs if b))


def disclosure(row: list[int], everyone: list[int]) -> float:
    ratios = [Fraction(a * sum(everyone), b * sum(row)) for a, b in zip(row, everyone, strict=True) if b]
    return max(abs(log(ratio)) if ratio else inf for ratio in ratios)


@pytest.mark.parametrize(
    ("model", "reference"),
    [
        (KAnonymity(2), lambda row, _: sum(row)),
        (DistinctDiversity(2), lambda row, _: sum(count > 0 for count in row)),
        (EntropyDiversity(2), entropy),
        (FrequencyDiversity(2), lambda row, _: sum(row) / max(row)),
        (RecursiveDiversity(1, 2), recursive(2)),
        (RecursiveDiversity(1, 4), recursive(4)),
        (RecursiveDiversity(1, 6), recursive(6)),
        (AlphaK(0.5, 1), lambda row, _: max(row) / sum(row)),
        (TCloseness(0.1), moved_equal),
        (TCloseness(0.1, "ordered"), moved_in_order),
        (TCloseness(0.1, "hierarchical", TREE), moved_in_tree),
        (BetaLikeness(1), gain),
        (DeltaDisclosure(1), disclosure),
        (LevelDiversity(2, 1, TREE), lambda row, _: bool(sum(row[:2])) + bool(sum(row[2:4])) + bool(row[4])),
    ],
    ids=lambda value: repr(value) if isinstance(value, PrivacyModel) else "",
)
@settings(max_examples=40)
@given(counts=TABLES)
def test_what_is_reached_agrees_with_a_slow_reference(
    model: PrivacyModel, reference: Reference, counts: NDArray[np.int64]
) -> None:
    everyone = counts.sum(axis=0).tolist()
    expected = [reference(row.tolist(), everyone) for row in counts]

    np.testing.assert_allclose(model.reached(counts, population(counts)), expected, rtol=1e-12, atol=1e-12)
