"""What a sample says about people outside it: exact on every sample of a tiny population, and by the definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from ldiversity.evaluation.audit._looking_up import (
    LEAST_RECORDS,
    Rule,
    Sample,
    between,
    commonest_value,
    look_like,
    only_value,
    people_outside,
    shares_of,
)

Finds = Callable[[int, list[int]], float]
"""What is found about a person with a value, by the values of those in the table who look like them."""


def size(least: int, below: int) -> Finds:
    return lambda _, others: float(least <= len(others) < below)


def only(value: int, others: list[int]) -> float:
    return float(set(others) == {value})


def commonest(value: int, others: list[int]) -> float:
    most = max(map(others.count, others), default=0)
    first = {one for one in others if others.count(one) == most}
    return float(value in first) / max(len(first), 1)


RULES: dict[str, tuple[Finds, Callable[[Sample, np.ndarray], Rule]]] = {
    "nobody": (size(0, 1), lambda sample, _: look_like(sample, 0, 1)),
    "one": (size(1, 2), lambda sample, _: look_like(sample, 1, 2)),
    "fewer than 4": (size(1, 4), lambda sample, _: look_like(sample, 1, 4)),
    "only value": (only, only_value),
    "commonest value": (commonest, commonest_value),
}


def by_definition(
    finds: Finds, weights: np.ndarray, classes: np.ndarray, codes: np.ndarray
) -> tuple[list[float], float]:
    """What is found without each record, and the sum over pairs, one record after the other."""

    def found(j: int, gone: set[int]) -> float:
        return finds(int(codes[j]), [int(codes[k]) for k in np.flatnonzero(classes == classes[j]) if k not in gone])

    n = range(len(weights))
    alone = [found(j, {j}) for j in n]
    pairs = sum(
        (weights[j] - 1) * (weights[k] - 1) * (alone[j] - found(j, {j, k})) * (alone[k] - found(k, {j, k}))
        for j in n
        for k in n
        if j != k and classes[j] == classes[k]
    )
    return alone, pairs


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_what_its_definition_says(name: str) -> None:
    finds, rule = RULES[name]
    rng = np.random.default_rng(71)
    for n_classes, n_values in ((2, 2), (3, 3), (6, 2), (12, 4)):
        weights, classes = rng.uniform(1, 9, 22), np.sort(rng.integers(0, n_classes, 22))
        classes, codes = np.unique(classes, return_inverse=True)[1], rng.integers(0, n_values, 22).astype(np.int32)
        made = rule(Sample(weights, np.zeros(22, dtype=np.int64), classes), codes)

        found, pairs = by_definition(finds, weights, classes, codes)

        assert made.found.tolist() == pytest.approx(found)
        assert made.pairs.sum() == pytest.approx(pairs)


@pytest.mark.parametrize("name", RULES)
def test_estimates_and_squares_of_errors_are_exact_over_all_samples(name: str) -> None:
    """Seven people, drawn independently: the mean over all 128 tables, each as likely as it is."""
    finds, rule = RULES[name]
    chance = np.array([0.5, 0.3, 0.8, 0.4, 0.6, 0.25, 0.9])
    classes, codes = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 2, 2, 1])
    means = np.zeros(4)
    for drawn in product([False, True], repeat=7):
        table = np.array(drawn)
        likely = np.where(table, chance, 1 - chance).prod()
        truth = sum(finds(codes[i], codes[table & (classes == classes[i])].tolist()) for i in np.flatnonzero(~table))
        if not table.any():
            means += likely * np.array([truth, 0, truth**2, 0])
            continue
        numbers = np.unique(classes[table], return_inverse=True)[1]
        sample = Sample(1 / chance[table], np.zeros(table.sum(), dtype=np.int64), numbers)
        made = rule(sample, codes[table].astype(np.int32))
        estimate = (sample.outside * made.found).sum()
        square = (sample.weights * sample.outside * made.found**2).sum() + made.pairs.sum()
        means += likely * np.array([truth, estimate, (estimate - truth) ** 2, square])

    assert means[1] == pytest.approx(means[0])
    assert means[3] == pytest.approx(means[2])


def test_nothing_varies_where_the_number_of_records_explains_all() -> None:
    """In one stratum all look like many, in the other like few, and strata are fixed."""
    stratum = np.repeat([0, 1], [40, 60])
    classes = np.where(stratum == 0, 0, 1 + np.arange(100) // 4)
    sample = Sample(np.array([4.0, 10.0])[stratum], stratum, classes)

    found = people_outside(sample, look_like(sample, 10, 1000))

    assert found.value == 3 * 40
    assert found.low == pytest.approx(found.value)
    assert found.high == pytest.approx(found.value)


def test_what_holds_for_every_record_has_no_interval() -> None:
    """Of 60 records none is otherwise, but of 60,000 people some may be."""
    sample = Sample(np.full(60, 1000.0), np.zeros(60, dtype=np.int64), np.zeros(60, dtype=np.int64))

    found = people_outside(sample, look_like(sample, 0, 1000))

    assert (found.value, found.low, found.high) == (60 * 999, None, None)


def test_shares_are_those_of_the_textbook() -> None:
    """Cochran's variance of a stratified share; with equal weights, Wilson's interval of the finite population."""
    rng = np.random.default_rng(72)
    n, people = np.array([60, 90]), np.array([600, 300])
    stratum, codes = np.repeat([0, 1], n), rng.integers(0, 2, 150).astype(np.int32)
    sample = Sample((people / n)[stratum], stratum, np.zeros(150, dtype=np.int64))

    none, one = shares_of(sample, codes, 2)

    inside = np.array([codes[stratum == h].mean() for h in (0, 1)])
    variance = (((people / 900) ** 2 * (1 - n / people) * inside * (1 - inside) / (n - 1)) * 1.0).sum()
    # The share is estimated as a ratio, but with fixed strata the number of people is known: both are the same.
    low, high = between(float(inside @ people / 900), float(variance))
    assert one.value == pytest.approx(inside @ people / 900)
    assert (one.low, one.high) == pytest.approx((low, high))
    assert none.value == pytest.approx(1 - one.value)


def test_few_records_have_no_interval_and_a_census_needs_none() -> None:
    classes, zeros = np.minimum(np.arange(50) // 2, 10), np.zeros(50, dtype=np.int64)
    few = Sample(np.full(50, 5.0), zeros, classes)
    everybody = Sample(np.ones(50), zeros, classes)

    told, known = (people_outside(one, look_like(one, 1, 2)) for one in (few, everybody))

    assert (told.value, told.low, told.records) == (80.0, None, 20.0)
    assert told.records < LEAST_RECORDS
    assert (known.value, known.low, known.high) == (0.0, 0.0, 0.0)


def test_few_classes_make_intervals_wider() -> None:
    """Of as many records, those of few classes say less about how much the number of people varies."""

    def width(records: int) -> float:
        several = np.arange(240) // records  # with one record less, a class is no longer found
        classes = np.concatenate([several, several.max() + 1 + np.arange(240) // 2])
        sample = Sample(np.full(480, 5.0), np.zeros(480, dtype=np.int64), classes)
        rule = look_like(sample, 1, records - 1)
        found = people_outside(sample, rule)
        assert found.low is not None
        assert found.high is not None
        share = found.value / sample.outside.sum()
        usual = between(share, (sample.variance(rule.found) + rule.pairs.sum()) / sample.outside.sum() ** 2)
        return (found.high - found.low) / ((usual[1] - usual[0]) * sample.outside.sum())

    assert 1 < width(4) < width(8) < width(20)
