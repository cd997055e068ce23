"""The sets of given words are pinned: a keyed republication must draw what it drew before.

The expected sets are what version 2 of each kind draws; they are no truth of their own. When one of these tests fails,
either the change was not meant to touch drawing, or the kind needs another `version`. Version 1 drew the same sets from
given words, but had other words under a key, and no partitions.
"""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.distances import MatrixDistance, OrderedDistance
from ldiversity.mechanisms import (
    MECHANISMS,
    BalancedSelection,
    EpsilonSelection,
    MinMaxSelection,
    RingSelection,
    SetMechanism,
    SimpleSelection,
    UniformSelection,
    mechanism_from_dict,
)
from ldiversity.schema import Domain

NINE = tuple(range(9))
STEPS = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
CYCLE = MatrixDistance(NINE, np.minimum(STEPS, 9 - STEPS).astype(float))
PAIRS = MatrixDistance(NINE, np.where(STEPS == 0, 0, 1 + np.not_equal.outer(np.arange(9) // 2, np.arange(9) // 2)))
FOUR_PAIRS = MatrixDistance(tuple(range(8)), PAIRS.matrix(Domain(NINE))[:8, :8])
WORDS = np.random.PCG64(1).random_raw(4 * 8).reshape(4, 8)

PINNED = {
    "uniform": [[0, 2, 8], [0, 1, 3], [1, 2, 6]],
    "large": [[0, 94354, 94697], [5781, 25000, 53268], [7356, 50000, 71128]],
    "pairs": [[0, 6], [3, 7], [4, 6]],
    "epsilon": [[0, 1, 2, 3], [0, 2, 5, 7], [1, 3, 5, 8]],
    "response": [[0], [5], [8]],
    "minmax": [[0, 6], [3, 6], [1, 8]],
}
NEW = {"epsilon", "minmax"}


# Its probabilities are given, and not found by a program, which may differ between versions of scipy.
MINMAX = MinMaxSelection(Domain(NINE), PAIRS, l=2, d=2, chances=np.full((32, 2), 1 / 7))


def ordered(size: int) -> Domain:
    return Domain(tuple(range(size)), ordered=True)


@pytest.mark.parametrize(
    ("mechanism", "codes", "sets"),
    [
        pytest.param(UniformSelection(9, 4), [0, 3, 6], [[0, 1, 5, 6], [2, 3, 5, 7], [0, 1, 5, 6]], id="uniform"),
        pytest.param(
            UniformSelection(100_000, 3),
            [0, 25000, 50000],
            [[0, 51182, 95046], [2755, 25000, 54959], [13404, 40311, 50000]],
            id="uniform, one word a draw",
        ),
        pytest.param(
            BalancedSelection.fit(ordered(9), OrderedDistance(), 3, 2),
            [0, 3, 6],
            [[0, 3, 8], [1, 3, 8], [0, 4, 6]],
            id="balanced, from a list",
        ),
        pytest.param(
            BalancedSelection.fit(ordered(60), OrderedDistance(), 3, 2),
            [0, 15, 30],
            [[0, 28, 44], [0, 13, 15], [30, 42, 53]],
            id="balanced, walks to three",
        ),
        pytest.param(
            BalancedSelection.fit(ordered(60), OrderedDistance(), 4, 5),
            [0, 15, 30],
            [[0, 27, 32, 56], [0, 15, 39, 47], [30, 42, 53, 59]],
            id="balanced, walks to four",
        ),
        pytest.param(
            BalancedSelection.fit(Domain(NINE), CYCLE, 3, 2),
            [0, 3, 6],
            [[0, 4, 7], [3, 5, 7], [0, 4, 6]],
            id="balanced, a graph",
        ),
        pytest.param(
            SimpleSelection.fit(ordered(9), OrderedDistance(), 3, 2),
            [0, 3, 6],
            [[0, 5, 8], [0, 3, 6], [0, 3, 6]],
            id="simple, a line",
        ),
        pytest.param(
            SimpleSelection.fit(Domain(NINE), PAIRS, 3, 2),
            [0, 3, 6],
            [[0, 5, 8], [0, 3, 5], [0, 4, 6]],
            id="simple, blocks",
        ),
        pytest.param(
            SimpleSelection.fit(Domain(NINE), CYCLE, 3, 2),
            [0, 3, 6],
            [[0, 5, 7], [0, 3, 6], [0, 3, 6]],
            id="simple, a graph",
        ),
        pytest.param(
            RingSelection.fit(ordered(9), OrderedDistance(), 3, 2),
            [0, 3, 6],
            [[0, 3, 5], [1, 3, 8], [2, 6, 8]],
            id="ring",
        ),
        pytest.param(MINMAX, [0, 3, 8], PINNED["minmax"], id="minmax"),
        pytest.param(
            EpsilonSelection(UniformSelection(9, 4), 0.5), [0, 3, 6], PINNED["epsilon"], id="epsilon, uniform sets"
        ),
        pytest.param(EpsilonSelection.fit(Domain(NINE), 2, l=1), [0, 3, 6], PINNED["response"], id="epsilon, l = 1"),
    ],
)
def test_given_words_draw_the_same_sets_as_ever(
    mechanism: SetMechanism, codes: list[int], sets: list[list[int]]
) -> None:
    drawn, short = mechanism.sample(np.array(codes, dtype=np.int32), WORDS[: len(codes)])

    assert drawn.tolist() == sets
    assert not short.any()


@pytest.mark.parametrize(
    ("mechanism", "codes", "sets"),
    [
        pytest.param(UniformSelection(9, 3), [0, 3, 6], PINNED["uniform"], id="uniform"),
        pytest.param(UniformSelection(100_000, 3), [0, 25000, 50000], PINNED["large"], id="uniform, many values"),
        pytest.param(
            BalancedSelection.fit(Domain(tuple(range(8))), FOUR_PAIRS, 2, 2), [0, 3, 6], PINNED["pairs"], id="balanced"
        ),
        pytest.param(
            SimpleSelection.fit(Domain(tuple(range(8))), FOUR_PAIRS, 2, 2), [0, 3, 6], PINNED["pairs"], id="simple"
        ),
    ],
)
def test_given_words_choose_the_same_partitions_as_ever(
    mechanism: SetMechanism, codes: list[int], sets: list[list[int]]
) -> None:
    assert mechanism.partitions is not None
    drawn, short = mechanism.partitions.sample(np.array(codes, dtype=np.int32), WORDS[: len(codes)])

    assert drawn.tolist() == sets
    assert not short.any()


@pytest.mark.parametrize("kind", MECHANISMS)
def test_pinned_sets_are_those_of_the_newest_version(kind: str) -> None:
    assert MECHANISMS[kind].version == (1 if kind in NEW else 2)


@pytest.mark.parametrize("version", [1, 2])
def test_a_stored_mechanism_keeps_the_version_with_which_it_was_drawn(version: int) -> None:
    domain = Domain(tuple(range(6)))
    described = {**UniformSelection(6, 2).to_dict(), "version": version}

    read = mechanism_from_dict(described, domain)

    assert read.to_dict() == described
    assert (read.partitions is None) == (version == 1)
    np.testing.assert_array_equal(read.inclusion, UniformSelection(6, 2).inclusion)
