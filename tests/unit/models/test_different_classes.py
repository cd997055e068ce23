"""Classes with equal counts stand for each other, and no others do."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.models import ClassCounts, RecursiveDiversity, count_classes
from ldiversity.schema import Domain

GLOBALS = ClassCounts.different.func.__globals__  # type: ignore[attr-defined] # those of its own module
DOMAIN = Domain(("a", "b", "c", "d"))


def random_classes(n_classes: int, most: int, seed: int) -> ClassCounts:
    rng = np.random.default_rng(seed)
    class_of = np.repeat(np.arange(n_classes), rng.integers(1, most + 1, n_classes))
    return count_classes(class_of, rng.integers(0, 4, len(class_of), dtype=np.int32), n_classes, DOMAIN)


@pytest.mark.parametrize("most", [1, 3, 12])
def test_they_are_those_of_comparing_all(most: int) -> None:
    classes = random_classes(2_000, most, seed=most)

    found = classes.different

    rows = [tuple(row) for row in found.dense().tolist()]
    assert len(set(rows)) == len(rows)
    assert set(rows) == {tuple(row) for row in classes.dense().tolist()}
    np.testing.assert_array_equal(found.population.counts, classes.population.counts)


def test_the_worst_class_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = random_classes(1_500, 9, seed=7)
    found = RecursiveDiversity(1, 2).overall(classes, 1)
    monkeypatch.setitem(GLOBALS, "_FEW_CLASSES", 1_000_000)

    assert RecursiveDiversity(1, 2).overall(random_classes(1_500, 9, seed=7), 1) == found


def test_classes_with_equal_marks_and_other_counts_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = random_classes(1_500, 3, seed=8)
    monkeypatch.setitem(GLOBALS, "_ODD_OF_CODES", np.uint64(0))  # every mark is the same

    assert classes.different is classes


def test_few_classes_and_those_without_records_are_left_as_they_are() -> None:
    few, empty = random_classes(10, 3, seed=9), count_classes(np.array([0]), np.array([1]), 2_000, DOMAIN)

    assert few.different is few
    assert empty.different is empty
