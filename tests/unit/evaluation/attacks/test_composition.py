"""Composition against all ways to deal out the values of two groupings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks._attack import _targets
from ldiversity.tables import open_source

Make = Callable[..., ld.ClassRelease]
PEOPLE = 6


def both(bucketized: Make, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the attack believes of six people, and what all ways to deal out say."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, PEOPLE)
    classes = [rng.permutation([0, 0, 1, 1, 2, 2]), rng.permutation([0, 0, 0, 1, 1, 1])]
    first, second = (bucketized(one, values) for one in classes)
    table = pa.table({"who": np.arange(PEOPLE), "s": ["abcdef"[value] for value in values]})
    beliefs = ld.Composition(second).beliefs(first, _targets(first, open_source(table), "s"), "s")
    return beliefs.probability[beliefs.of_target], dealt_slowly(values, classes)


def dealt_slowly(values: np.ndarray, classes: list[np.ndarray]) -> np.ndarray:
    def shown(way: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        return [sorted(zip(one.tolist(), way, strict=True)) for one in classes]

    published = shown(tuple(values.tolist()))
    found = np.zeros((PEOPLE, 6))
    for way in set(permutations(values.tolist())):
        if shown(way) == published:
            found[np.arange(PEOPLE), way] += 1
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(10))
def test_nothing_that_is_possible_is_ruled_out(bucketized: Make, seed: int) -> None:
    believed, exact = both(bucketized, seed)

    assert not ((believed == 0) & (exact > 0)).any()


@pytest.mark.parametrize("seed", range(10))
def test_whoever_can_only_have_one_value_is_found(bucketized: Make, seed: int) -> None:
    believed, exact = both(bucketized, seed)

    assert believed[exact == 1] == pytest.approx(1)


def test_other_classes_rule_values_out(bucketized: Make) -> None:
    # The second grouping gives c away to persons 2 and 3, whose partners 0 and 1 in the first then cannot have it.
    values = [0, 1, 2, 2]
    first, second = bucketized([0, 1, 0, 1], values), bucketized([0, 0, 1, 1], values)
    table = pa.table({"who": range(4), "s": ["abcdef"[value] for value in values]})

    (result,) = ld.attack(first, table, second=second, attacks="composition").results

    assert (result.success, result.certain) == (1.0, 1.0)


def test_people_of_classes_that_are_not_known_in_full_are_still_weighed(bucketized: Make) -> None:
    values = [0, 1, 2, 3, 0, 1]
    first, second = bucketized([0, 0, 1, 1, 2, 2], values), bucketized([0, 1, 1, 0, 2, 2], values)
    table = pa.table({"who": range(6), "s": ["a", None, "c", None, "a", None]})

    (result,) = ld.attack(first, table, second=second, attacks="composition").results

    # Persons 0 and 2 have one value in common in both classes; person 4 has the same class twice.
    assert (result.found, result.success) == (3, pytest.approx((1 + 1 + 0.5) / 3))


def test_releases_that_contradict_each_other_are_weighed_person_by_person(bucketized: Make) -> None:
    first, second = bucketized([0, 0, 1, 1], [0, 1, 2, 3]), bucketized([0, 1, 1, 0], [4, 5, 5, 4])
    table = pa.table({"who": range(4), "s": ["a", "b", "c", "d"]})

    (result,) = ld.attack(first, table, second=second, attacks="composition").results

    assert (result.details["contradictions"], result.success) == (4, 0.5)
