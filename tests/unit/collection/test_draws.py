"""Draws of devices, compared with the compiled partitions, with all ranks counted, and with the mechanisms."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest

from ldiversity.collection.draw import ChainDraw, ListedDraw, PartitionDraw, WeightedDraw, choose_draw
from ldiversity.mechanisms import Partitions


@pytest.mark.parametrize(("n_values", "l", "columns"), [(6, 2, 1), (8, 3, 1), (12, 3, 3), (20, 4, 2), (100, 5, 1)])
def test_the_partitions_of_a_device_are_those_of_the_compiled_loop(n_values: int, l: int, columns: int) -> None:
    source = random.Random(1)
    grid = np.arange(n_values).reshape(-1, columns)
    words = [[source.getrandbits(64) for _ in range(200)] for _ in range(100)]
    codes = [source.randrange(n_values) for _ in words]
    compiled, short = Partitions(l, grid).sample(np.array(codes, dtype=np.int32), np.array(words, dtype=np.uint64))
    draw = PartitionDraw(l, grid.tolist())
    assert not short.any()
    assert [draw.sample(code, own) for code, own in zip(codes, words, strict=True)] == [tuple(s) for s in compiled]


def _small_draws() -> list[WeightedDraw]:
    """Draws whose whole weights are small, so that all ranks can be counted."""
    line = ChainDraw(3, range(6), [2, 3, 4, 5, 6, 6], [1.0] * 6)
    groups = ChainDraw(3, [0, 1, 1, 2, 2, 3, 0], [1, 2, 3, 4], [1.0] * 7)
    listed = ListedDraw([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4)], [1.0] * 5)
    return [line, groups, listed]


@pytest.mark.parametrize("place", range(3))
def test_counting_all_ranks_gives_exactly_the_weights(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [1, 2, 3, 1, 2, 1, 2]
    monkeypatch.setattr(
        "ldiversity.collection.draw._weighted.whole_weights", lambda given: weights[: len(given)], raising=True
    )
    draw = _small_draws()[place]
    for code in range(draw.n_values):
        counted = Counter(draw.set_at(code, rank) for rank in range(draw.total(code)))
        valid = [s for s in combinations(range(draw.n_values), draw.l) if code in s and draw.admits(s)]
        assert counted == {s: prod(weights[other] for other in s if other != code) for s in valid}


def test_a_draw_follows_from_the_pairs_that_may_share_a_set() -> None:
    def far(pairs: int, least: int) -> list[list[bool]]:
        return [[abs(i - j) >= least for j in range(pairs)] for i in range(pairs)]

    ring = [[i != j and (i - j) % 7 not in {1, 6} for j in range(7)] for i in range(7)]
    uneven = [[(i < 2) != (j < 2) for j in range(5)] for i in range(5)]
    found = [choose_draw(2, allowed, [1.0] * len(allowed)) for allowed in (far(5, 1), far(5, 2), uneven, ring)]
    assert [None if draw is None else draw.kind for draw in found] == ["partition", "chain", "chain", "listed"]
