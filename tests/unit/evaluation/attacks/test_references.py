"""Fast parts of attacks against slow and obvious ones."""

from __future__ import annotations

from itertools import permutations, product
from math import factorial

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks._assign import Entries, deal_out
from ldiversity.evaluation.attacks._attack import _targets
from ldiversity.evaluation.attacks._clusters import binomial_interval
from ldiversity.evaluation.attacks._matching import match_evidence
from ldiversity.evaluation.attacks._phase_one import moved_values
from ldiversity.models import count_classes
from ldiversity.schema import Domain
from ldiversity.tables import open_source


def dealt_slowly(odds: np.ndarray, values: list[int]) -> np.ndarray:
    """Shape (records, F): by all ways to deal out the values of one class."""
    found = np.zeros(odds.shape)
    for way in permutations(values):
        weight = np.prod([odds[record, value] for record, value in enumerate(way)])
        for record, value in enumerate(way):
            found[record, value] += weight
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 2], [3, 1, 2, 0], [0, 0, 1, 1, 2]])
def test_small_classes_are_dealt_out_exactly(values: list[int]) -> None:
    odds = np.random.default_rng(len(values)).random((len(values), 4)) + 0.01
    class_of = np.zeros(len(values), dtype=np.int32)
    classes = count_classes(class_of, np.array(values), 1, Domain(tuple("abcd")))
    entries = Entries(class_of, classes)

    share = deal_out(odds[entries.row, entries.code], entries, class_of, classes)

    expected = dealt_slowly(odds, values)
    assert share == pytest.approx(expected[entries.row, entries.code])


def test_large_classes_give_every_record_and_every_value_their_due() -> None:
    rng = np.random.default_rng(3)
    class_of = np.zeros(40, dtype=np.int32)
    classes = count_classes(class_of, rng.integers(0, 4, 40), 1, Domain(tuple("abcd")))
    entries = Entries(class_of, classes)

    share = deal_out(rng.random(len(entries.row)) + 0.01, entries, class_of, classes)

    assert np.bincount(entries.row, share) == pytest.approx(np.ones(40))
    assert np.bincount(entries.pair, share) == pytest.approx(classes.counts, rel=1e-4)


def phase_one(counts: list[int], l: int) -> list[int]:
    """Move one most frequent record after the other until the group is eligible; ties: the first."""
    left = list(counts)
    while sum(left) < l * max(left):
        left[left.index(max(left))] -= 1
    height = max(left)  # of equals all are cut, so that nothing depends on which came first
    while height and sum(min(count, height) for count in counts) < l * height:
        height -= 1
    return [min(count, height) for count in counts]


def moved_slowly(published: list[int], moved: int, l: int, prior: list[float]) -> np.ndarray:
    """The mean of what was moved over all groups that phase 1 turns into what is published, weighed by the prior."""
    total, expected = 0.0, np.zeros(len(published))
    for extra in product(range(moved + 1), repeat=len(published)):
        counts = [count + more for count, more in zip(published, extra, strict=True)]
        if sum(extra) != moved or phase_one(counts, l) != published:
            continue
        weight = np.prod([p**count / factorial(count) for p, count in zip(prior, counts, strict=True)])
        total += weight
        expected += weight * np.array(extra)
    return expected / total


@pytest.mark.parametrize(
    ("published", "moved", "l"),
    [
        ([2, 2, 0], 3, 2),
        ([1, 1, 1], 2, 3),
        ([2, 2, 2], 4, 3),
        ([1, 1, 1, 1], 3, 3),
        ([3, 2, 1], 2, 2),
        ([0, 0, 0], 2, 3),
        ([0, 0, 0], 4, 2),
        ([0, 0, 0, 0], 3, 3),
    ],
)
def test_what_phase_one_moved_is_weighed_over_all_ways(published: list[int], moved: int, l: int) -> None:
    prior = [0.4, 0.3, 0.2, 0.1][: len(published)]

    found = moved_values(np.array(published), moved, l, np.array(prior))

    assert found == pytest.approx(moved_slowly(published, moved, l, prior))


@pytest.mark.parametrize("method", [ld.BSGI(l=2), ld.Mondrian(l=2)])
def test_everyone_is_in_a_region_that_contains_them_and_in_no_other(method: ld.Method) -> None:
    rng = np.random.default_rng(4)
    n = 300
    table = pa.table(
        {
            "age": pa.array(rng.integers(20, 60, n), mask=rng.random(n) < 0.02),
            "job": [f"j{k}" for k in rng.integers(0, 7, n)],
            "s": [f"v{k}" for k in rng.integers(0, 5, n)],
        }
    )
    release = ld.anonymize(table, quasi=["age", "job"], sensitive="s", method=method)
    matches = match_evidence(release, _targets(release, open_source(table), "s"), "s")
    regions = release.regions().to_pylist()

    found = [set(matches.weights[[group]].indices.tolist()) for group in matches.of_target]

    expected = [
        {number for number, region in enumerate(regions) if _inside(person, region)} for person in table.to_pylist()
    ]
    assert found == expected


def _inside(person: dict[str, object], region: dict[str, object]) -> bool:
    low, high = region["age"]["low"], region["age"]["high"]
    return (low is None or (person["age"] is not None and low <= person["age"] <= high)) and person["job"] in region[
        "job"
    ]


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (40, 100), (9, 9)])
def test_the_binomial_interval_is_scipy_s_exact_one(hits: int, n: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(hits, n).proportion_ci(method="exact")

    assert binomial_interval(hits, n) == pytest.approx((expected.low, expected.high))
