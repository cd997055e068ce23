"""Combinations of quasi-identifiers at levels: fast answers against slow ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.publish._shown import Shown


def nested_levels(rng: np.random.Generator, n_values: int, depth: int) -> NDArray[np.int64]:
    """Labels that are joined from level to level; the last one says nothing."""
    levels = [np.arange(n_values)]
    for _ in range(depth - 2):
        join = rng.integers(0, max(1, levels[-1].max() // 2 + 1), levels[-1].max() + 1)
        levels.append(np.unique(join[levels[-1]], return_inverse=True)[1])
    return np.column_stack([*levels, np.zeros(n_values, dtype=np.int64)])


def fewest(
    rows: Sequence[NDArray[np.int64]],
    labels: Sequence[NDArray[np.int64]],
    levels: Sequence[int],
    whose: NDArray[np.int64],
) -> int:
    """The smallest number of people who show one combination, counted slowly."""
    holders: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for row, person in enumerate(whose.tolist()):
        key = tuple(int(known[own[row], level]) for own, known, level in zip(rows, labels, levels, strict=True))
        holders[key].add(person)
    return min(map(len, holders.values()))


@pytest.mark.parametrize("people", [True, False], ids=["people", "records"])
@pytest.mark.parametrize("seed", range(8))
def test_a_promise_holds_at_levels_exactly_if_it_does_by_counting(seed: int, people: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(30, 400)), rng.integers(1, 40, 3)
    rows = [rng.integers(0, size, n) for size in sizes]
    labels = [nested_levels(rng, int(size), 4) for size in sizes]
    person = rng.integers(0, n // 2, n) if people else None
    shown = Shown.of(rows, labels, person)
    coarser = shown.only(range(3), [1, 0, 1])
    whose = np.arange(n) if person is None else person
    answers = set()
    for levels in np.ndindex(4, 4, 4):
        for k in (2, 5):
            expected = fewest(rows, labels, levels, whose) >= k
            answers.add(expected)
            assert shown.keep(levels, [ld.KAnonymity(k)]) == expected
            if levels[0] and levels[2]:
                assert coarser.keep(levels, [ld.KAnonymity(k)]) == expected
    assert answers == {True, False}


def test_combinations_beyond_64_bits_are_told_apart_or_joined_but_never_split() -> None:
    """Ten columns of a thousand values: their numbers do not fit into one, and two of each look alike."""
    rows = [np.tile(np.random.default_rng(k).permutation(1000), 2) for k in range(10)]
    labels = [np.column_stack([np.arange(1000), np.zeros(1000, dtype=np.int64)])] * 10
    shown = Shown.of(rows, labels, None)
    assert shown.keep([0] * 10, [ld.KAnonymity(2)])
    assert not shown.keep([0] * 10, [ld.KAnonymity(3)])
