"""Whether shares can be estimated from sets, compared with the rank of the matrix of all sets."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from ldiversity.collection.draw import MOST_SETS, ChainDraw, ListedDraw, PartitionDraw, choose_draw


def full_rank(allowed: list[list[bool]], l: int) -> bool:
    """Whether the matrix of sets and values has full rank, where every value has a set."""
    size = len(allowed)
    sets = [s for s in combinations(range(size), l) if all(allowed[i][j] for i, j in combinations(s, 2))]
    matrix = np.array([[code in s for code in range(size)] for s in sets], dtype=float)
    return bool(sets) and np.linalg.matrix_rank(matrix) == size


def covered(allowed: list[list[bool]], l: int) -> bool:
    size = len(allowed)
    sets = [s for s in combinations(range(size), l) if all(allowed[i][j] for i, j in combinations(s, 2))]
    return set().union(*map(set, sets)) == set(range(size)) if sets else False


def lines() -> list[tuple[list[list[bool]], int]]:
    """Every distance of uneven steps on a line of six to eight values, in which each value has a set."""
    source = random.Random(7)
    found = []
    for _ in range(300):
        size, l = source.randint(5, 8), source.randint(2, 3)
        places = [0.0, *sorted(source.uniform(0, 10) for _ in range(size - 1))]
        allowed = [[abs(a - b) >= 2 for b in places] for a in places]
        if covered(allowed, l):
            found.append((allowed, l))
    return found


def graphs() -> list[tuple[list[list[bool]], int]]:
    """Random pairs that may share a set."""
    source = random.Random(8)
    found = []
    for _ in range(300):
        size, l = source.randint(4, 8), source.randint(2, 3)
        share = source.choice([0.4, 0.6, 0.8])
        pairs = {pair: source.random() < share for pair in combinations(range(size), 2)}
        allowed = [[i != j and pairs[min(i, j), max(i, j)] for j in range(size)] for i in range(size)]
        if covered(allowed, l):
            found.append((allowed, l))
    return found


@pytest.mark.parametrize("cases", [lines, graphs])
def test_it_is_what_the_rank_of_all_sets_says(cases: object) -> None:
    seen = set()
    for allowed, l in cases():  # type: ignore[operator]
        draw = choose_draw(l, allowed, [1.0] * len(allowed))
        assert draw is not None
        expected = full_rank(allowed, l)
        if isinstance(draw, ChainDraw) and expected and not draw.is_recoverable:
            # Values that exclude each other are one in l: no weights are balanced then, whatever the rank.
            assert any(sum(not may for may in row[i:]) * l >= len(allowed) for i, row in enumerate(allowed))
            continue
        assert draw.is_recoverable == expected, (allowed, l)
        seen.add((draw.kind, expected))
    assert {True, False} == {expected for _, expected in seen}


@pytest.mark.parametrize(
    ("n_values", "l", "d"), [(n, l, d) for n in range(4, 13) for l in (2, 3) for d in (1, 2, 3) if l * d <= n]
)
def test_an_order_needs_one_value_more_than_l_times_d(n_values: int, l: int, d: int) -> None:
    allowed = [[abs(i - j) >= d for j in range(n_values)] for i in range(n_values)]
    draw = choose_draw(l, allowed, [1.0] * n_values)
    assert draw is not None
    assert draw.is_recoverable == (n_values > l * d)


def test_groups_need_to_be_more_than_the_members_of_a_set() -> None:
    assert not PartitionDraw(2, [[0, 1], [2, 3]]).is_recoverable
    assert PartitionDraw(2, [[0, 1], [2, 3], [4, 5]]).is_recoverable


def test_many_sets_are_refused_before_they_are_listed() -> None:
    ring = [[(i - j) % 400 not in {0, 1, 399} for j in range(400)] for i in range(400)]
    assert choose_draw(2, ring, [1.0] * 400) is None
    fewer = [[(i - j) % 200 not in {0, 1, 199} for j in range(200)] for i in range(200)]
    draw = choose_draw(2, fewer, [1.0] * 200)
    assert isinstance(draw, ListedDraw)
    assert draw.n_sets == 200 * 197 // 2 < MOST_SETS
