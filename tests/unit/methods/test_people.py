"""Rows of one person are kept apart: the kernels against slow, obvious references."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity._kernels.apart import deal
from ldiversity.methods import CodedTable, Dealer, SensitiveColumn
from ldiversity.methods._anatomy_classes import divide, divide_rest
from ldiversity.methods._base import Partition
from ldiversity.methods._people import spread_people
from ldiversity.schema import Domain


def repeats(class_of: NDArray[np.integer], keys: NDArray[np.integer]) -> int:
    """How many rows share a class with an earlier row of the same key."""
    seen = list(zip(class_of.tolist(), keys.tolist(), strict=True))
    return len(seen) - len(set(seen))


def crowded(rng: np.random.Generator, n_classes: int, l: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """People and values of rows, of which several have as many as there are classes."""
    n = n_classes * l
    heavy = np.repeat(np.arange(l - 1), n_classes)
    person = np.concatenate([heavy, l + rng.integers(0, n, n - len(heavy))])
    person = np.unique(person, return_inverse=True)[1].ravel().astype(np.int64)
    values = rng.permutation(np.repeat(np.arange(l), n_classes)).astype(np.int32)
    while np.bincount(person).max() > n_classes:
        person[np.argmax(np.bincount(person)[person])] = person.max() + 1
    return person, values


@pytest.mark.parametrize("l", [2, 3, 5])
@pytest.mark.parametrize("n_classes", [1, 2, 7, 40])
def test_classes_are_found_even_where_people_and_values_fill_all_of_them(n_classes: int, l: int) -> None:
    rng = np.random.default_rng(n_classes * l)
    person, values = crowded(rng, n_classes, l)
    mixed = Partition(rng.permutation(np.repeat(np.arange(n_classes, dtype=np.int32), l)), n_classes)

    class_of = spread_people(mixed, person, values)

    assert repeats(class_of, person) == repeats(class_of, values) == 0
    assert np.bincount(class_of, minlength=n_classes).tolist() == [l] * n_classes


def test_classes_without_repetition_stay_as_they_are() -> None:
    good = Partition(np.array([0, 0, 1, 1, -1], dtype=np.int32), 2)

    class_of = spread_people(good, np.array([0, 1, 0, 1, 0]), np.array([0, 1, 1, 0, 0], dtype=np.int32))

    assert class_of.tolist() == [0, 0, 1, 1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_every_row_is_placed_when_no_person_and_no_value_has_too_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    l, n_classes = int(rng.integers(2, 5)), int(rng.integers(1, 30))
    person, values = crowded(rng, n_classes, l)

    partition = divide(values, l, l, person)

    assert partition.n_classes == n_classes
    assert partition.suppressed == repeats(partition.class_of, person) == repeats(partition.class_of, values) == 0


def test_classes_are_dissolved_for_rows_that_alone_make_none() -> None:
    # Both rows without a class are of person 0 and of value 0.
    given = Partition(np.array([-1, -1, 0, 0, 1, 1], dtype=np.int32), 2)
    person, values = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 0, 1, 2, 1, 2], dtype=np.int32)

    found, n_divided = divide_rest(given, values, 3, person, 2)

    assert n_divided in {4, 6}
    assert found.suppressed == repeats(found.class_of, person) == repeats(found.class_of, values) == 0
    assert found.sizes.min() == 2


def slow_deal(person: list[int], values: list[int]) -> tuple[int, list[int]]:
    """People with several rows first; each row takes the part that has its value least often, then the smallest."""
    runs = {one: [row for row, other in enumerate(person) if other == one] for one in dict.fromkeys(person)}
    n_parts = max(map(len, runs.values()))
    pool, part_of = list(range(n_parts)), [0] * len(person)
    placed: list[int] = []
    several = [rows for rows in runs.values() if len(rows) > 1]
    for rows in [*several, *(rows for rows in runs.values() if len(rows) == 1)]:
        left = n_parts
        for row in rows:
            looked_at = [(row % left + step) % left for step in range(min(left, 16))]
            alike = [sum(part_of[i] == pool[p] and values[i] == values[row] for i in placed) for p in looked_at]
            sizes = [sum(part_of[i] == pool[p] for i in placed) for p in looked_at]
            best = looked_at[min(range(len(looked_at)), key=lambda i: (alike[i], sizes[i]))]
            part_of[row] = pool[best]
            left -= 1
            pool[best], pool[left] = pool[left], pool[best]
            placed.append(row)
    return n_parts, part_of


@pytest.mark.parametrize("seed", range(20))
def test_dealing_is_what_its_description_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    person = np.sort(rng.integers(0, n // 2 + 1, n))
    values = rng.integers(0, 4, n)
    parts, part_of = np.ones(1, dtype=np.int64), np.empty(n, dtype=np.int64)

    deal(np.array([0, n]), person, values[:, None], 4, parts, part_of)

    if parts[0] == 1:
        assert not part_of.any()
    else:
        assert (parts[0], part_of.tolist()) == slow_deal(person.tolist(), values.tolist())
    assert repeats(part_of, person) == 0


def test_a_class_is_dealt_alike_wherever_it_stands() -> None:
    rng = np.random.default_rng(1)
    person, codes = rng.integers(0, 20, 80), rng.integers(0, 3, 80).astype(np.int32)
    table = CodedTable((), (SensitiveColumn("s", codes, Domain(tuple("abc"))),), person)
    dealer = Dealer.of(table)
    assert dealer is not None
    some = dealer.by_person[17:61]

    alone = dealer.deal(some, np.array([0, len(some)]))[1]
    among = dealer.deal(np.concatenate([dealer.by_person, some]), np.array([0, 80, 80 + len(some)]))[1]

    assert np.array_equal(alone, among[80:])


def test_rows_that_are_not_published_are_in_no_part() -> None:
    alike = SensitiveColumn("s", np.zeros(6, dtype=np.int32), Domain(("a",)))
    table = CodedTable((), (alike,), np.repeat([0, 1, 2], 2))
    dealer = Dealer.of(table)
    assert dealer is not None

    class_of, old = dealer.split(np.array([-1, 0, 0, 0, 1, -1], dtype=np.int32), 2)

    assert class_of[[0, 5]].tolist() == [-1, -1]
    assert old.tolist() == [0, 0, 1]
    assert sorted(class_of.tolist()) == [-1, -1, 0, 0, 1, 2]
