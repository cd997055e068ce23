"""Parts that hardly miss what they need are put together with one that has room, so that none becomes too large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ldiversity.methods import PartTree, join_parts, pair_parts

N_PARTS, ROWS, L = 64, 1000, 4


def counts_of(seed: int, tight: int) -> np.ndarray:
    """Shape (parts, 8): in neighboring parts the first value has a little more or less than its largest share, 1/4."""
    rng = np.random.default_rng(seed)
    shares = np.full((N_PARTS, 8), 0.125)
    shares[:tight, 0] = 0.2499
    shares[:tight, 1:] = 0.7501 / 7
    return np.stack([rng.multinomial(ROWS, own) for own in shares])


def holds(counts: np.ndarray, parts: Sequence[int]) -> bool:
    together = counts[list(parts)].sum(axis=0)
    return bool(together.max() * L <= together.sum())


@pytest.mark.parametrize("seed", range(5))
def test_tight_neighbors_become_one_large_part_side_by_side_but_not_in_pairs(seed: int) -> None:
    counts = counts_of(seed, tight=32)
    beside = join_parts(PartTree.balanced(N_PARTS), lambda first, last: holds(counts, range(first, last)))

    home = pair_parts(counts.sum(axis=1), lambda parts: holds(counts, parts), most=2 * ROWS)

    assert np.bincount(beside).max() > 2  # what pairs are for
    assert home is not None
    assert np.bincount(home).max() == 2
    for part in np.unique(home):
        members = np.flatnonzero(home == part).tolist()
        assert holds(counts, members)
        assert len(members) == 1 or not all(holds(counts, [one]) for one in members)  # no pair without need


def test_where_no_part_has_room_there_are_no_pairs() -> None:
    counts = np.tile([[30, 10, 10, 10]], (6, 1))

    assert pair_parts(counts.sum(axis=1), lambda parts: holds(counts, parts), most=120) is None


def test_parts_without_rows_stay_alone() -> None:
    counts = np.array([[0, 0, 0, 0], [10, 0, 0, 0], [5, 15, 15, 15], [0, 0, 0, 0]])

    home = pair_parts(counts.sum(axis=1), lambda parts: holds(counts, parts), most=60)

    assert home is not None
    assert home.tolist() == [0, 1, 1, 3]
