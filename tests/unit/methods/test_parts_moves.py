"""Rows that change parts: every part is eligible afterwards, no row is lost, and few rows move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.errors import InternalError
from ldiversity.methods import (
    Candidates,
    ExactMoves,
    Moves,
    PartTree,
    eligible,
    eligible_cell_moves,
    eligible_moves,
    join_parts,
    leave_out,
)
from ldiversity.methods._anatomy_classes import keep_eligible

Ints = NDArray[np.int64]


def tables(n_parts: int, n_values: int, most: int) -> Iterator[Ints]:
    for cells in product(range(most + 1), repeat=n_parts * n_values):
        yield np.array(cells, dtype=np.int64).reshape(n_parts, n_values)


def divisions(total: int, n_parts: int) -> list[tuple[int, ...]]:
    if n_parts == 1:
        return [(total,)]
    return [(own, *rest) for own in range(total + 1) for rest in divisions(total - own, n_parts - 1)]


def least_moves(counts: Ints, l: int) -> int:
    """The fewest rows that must move, by looking at every way to divide the rows among the parts."""
    ways = product(*(divisions(int(total), len(counts)) for total in counts.sum(axis=0)))
    arrangements = np.array(list(ways)).transpose(0, 2, 1)
    holds = eligible(arrangements.reshape(-1, counts.shape[1]), l).reshape(len(arrangements), -1).all(axis=1)
    return int(np.maximum(counts - arrangements[holds], 0).sum(axis=(1, 2)).min())


def unsound(counts: Ints, l: int) -> list[int]:
    """The slow, obvious check."""
    return [p for p, own in enumerate(counts.tolist()) if any(n > sum(own) // l for n in own if n)]


@pytest.mark.parametrize(("n_parts", "n_values", "most", "l"), [(2, 2, 4, 2), (2, 3, 2, 2), (2, 3, 3, 3), (3, 2, 3, 2)])
def test_all_small_tables_become_eligible_and_few_rows_move(n_parts: int, n_values: int, most: int, l: int) -> None:
    tree = PartTree.balanced(n_parts)
    moved = least = 0

    for counts in tables(n_parts, n_values, most):
        if not eligible(counts.sum(axis=0), l):
            continue
        moves = eligible_moves(counts, l, tree)
        after = moves.after(counts)
        assert unsound(after, l) == []
        assert after.min() >= 0
        assert after.sum(axis=0).tolist() == counts.sum(axis=0).tolist()
        fewest = least_moves(counts, l)
        assert fewest <= moves.n_rows <= fewest + 2
        moved, least = moved + moves.n_rows, least + fewest

    assert moved <= 1.1 * least


def test_large_tables_become_eligible_and_few_rows_move() -> None:
    rng = np.random.default_rng(2)
    counts = rng.poisson(400, (300, 12)).astype(np.int64)
    counts[:, 0] = counts[:, 1:].sum(axis=1) // 3  # exactly 1/4 of each part, but for what follows
    counts[::10, 0] += 30
    counts[5::10, 0] -= 40

    moves = eligible_moves(counts, 4, PartTree.balanced(300))

    assert unsound(moves.after(counts), 4) == []
    # 30 parts have 30 rows too many, of which each that goes allows for a third of another one.
    assert 30 * 30 <= moves.n_rows <= 30 * 45


@pytest.mark.parametrize("l", [2, 3, 7])
def test_values_with_exactly_one_in_l_need_no_part_to_be_joined(l: int) -> None:
    rng = np.random.default_rng(l)
    counts = np.zeros((40, l), dtype=np.int64)
    np.add.at(counts, (rng.integers(0, 40, 500 * l), np.repeat(np.arange(l), 500)), 1)

    after = eligible_moves(counts, l, PartTree.balanced(40)).after(counts)

    assert (after == after[:, :1]).all()


def test_rows_go_to_the_nearest_part_with_room() -> None:
    counts = np.array([[6, 2, 2, 2], [0, 9, 9, 9], [0, 9, 9, 9], [0, 9, 9, 9]])

    moves = eligible_moves(counts, 3, PartTree.balanced(4))

    assert (moves.value.tolist(), moves.target.tolist(), moves.number.tolist()) == ([0], [1], [3])


def test_a_table_that_cannot_be_eligible_is_refused() -> None:
    with pytest.raises(InternalError, match="more than 1/2 of all rows"):
        eligible_moves(np.array([[3, 1], [3, 1]]), 2, PartTree.balanced(2))


def test_joining_stops_where_parts_hold_and_takes_no_others() -> None:
    counts = np.array([[5, 1], [1, 5], [2, 2], [2, 2], [9, 0], [0, 9], [3, 3], [3, 3]])

    home = join_parts(PartTree.balanced(8), lambda first, last: bool(eligible(counts[first:last].sum(axis=0), 2)))

    assert home.tolist() == [0, 0, 2, 3, 4, 4, 6, 7]


@pytest.mark.parametrize("seed", range(20))
def test_no_more_parts_are_joined_than_all_below_the_next_node_that_holds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_parts = int(rng.integers(2, 40))
    counts, tree = rng.poisson(rng.choice([3, 30], (n_parts, 3)), (n_parts, 3)), PartTree.balanced(n_parts)

    def holds(first: int, last: int) -> bool:
        return bool(eligible(counts[first:last].sum(axis=0), 2))

    home, plain = join_parts(tree, holds), joined_below_nodes(tree, holds)

    assert (np.diff(home) >= 0).all()
    for first in np.unique(home).tolist():
        last = first + np.count_nonzero(home == first)
        assert home[first] == first
        assert holds(first, last) or last - first == n_parts
        assert len(np.unique(plain[first:last])) == 1


def joined_below_nodes(tree: PartTree, holds: Callable[[int, int], bool]) -> np.ndarray:
    """The plain rule: where a part does not hold, all below the next node above it become one."""
    home = np.arange(tree.n_parts)
    for first, last in [(p, p + 1) for p in range(tree.n_parts)] + sorted(map(tuple, tree.spans.tolist()), key=_width):
        groups = np.unique(home[first:last]).tolist()
        ends = [first + int(np.flatnonzero(home[first:last] == own)[-1]) + 1 for own in groups]
        if not all(holds(own, end) for own, end in zip(groups, ends, strict=True)):
            home[first:last] = first
    return home


def _width(span: tuple[int, int]) -> int:
    return span[1] - span[0]


@pytest.mark.parametrize("seed", range(20))
def test_exactly_as_many_rows_move_in_whatever_batches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_parts, n_values, l = 4000, 6, 5, 3
    parts = rng.integers(0, n_parts, n).astype(np.int32)
    values = np.where(rng.random(n) < 0.3, parts % n_values, rng.integers(0, n_values, n)).astype(np.int32)
    words = rng.integers(0, 2**64, n, dtype=np.uint64)
    counts = count(parts, values, (n_parts, n_values))
    moves = eligible_moves(counts, l, PartTree.balanced(n_parts))

    chosen = Candidates.of(moves, counts).choose(parts, values, words)
    exact = ExactMoves.settle(moves, counts, parts[chosen], values[chosen], words[chosen])
    assert exact is not None
    after = exact.apply(parts, values, words)

    assert moves.n_rows > 0
    assert count(after, values, (n_parts, n_values)).tolist() == moves.after(counts).tolist()
    assert int(np.count_nonzero(after != parts)) == moves.n_rows
    batches = [exact.apply(parts[i : i + 77], values[i : i + 77], words[i : i + 77]) for i in range(0, n, 77)]
    assert np.concatenate(batches).tolist() == after.tolist()
    for source, value in set(zip(moves.source.tolist(), moves.value.tolist(), strict=True)):
        own = (parts == source) & (values == value)
        assert words[own & (after != source)].max() < words[own & (after == source)].min(initial=2**64 - 1)


def test_too_few_candidates_are_noticed() -> None:
    moves, counts = Moves.of({(0, 0, 1): 2}), np.array([[9], [0]])
    one = np.zeros(1, dtype=np.int32)

    assert ExactMoves.settle(moves, counts, one, one, np.array([5], dtype=np.uint64)) is None


def test_equal_words_at_the_border_are_refused() -> None:
    moves, counts = Moves.of({(0, 0, 1): 1}), np.array([[9], [0]])
    two = np.zeros(2, dtype=np.int32)

    with pytest.raises(InternalError, match="same 64-bit word"):
        ExactMoves.settle(moves, counts, two, two, np.array([5, 5], dtype=np.uint64))


@pytest.mark.parametrize("seed", range(20))
def test_as_many_rows_of_each_value_are_left_out_as_of_a_table_in_one_piece(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.minimum(rng.geometric(0.35, 500) - 1, 6).astype(np.int32).reshape(-1, 1)
    counts = np.bincount(values[:, 0], minlength=7).astype(np.int64)

    after = leave_out(counts, 4).after(counts[None])[0]

    kept = keep_eligible(values, [7], np.arange(500, dtype=np.int32), 4)
    assert after.tolist() == np.bincount(values[kept, 0], minlength=7).tolist()
    assert eligible(after, 4)


def test_several_keys_are_all_eligible_after_rows_are_left_out() -> None:
    rng = np.random.default_rng(1)
    cells = np.array(list(product(range(5), range(4), (-1, 0, 1))), dtype=np.int32)
    counts = rng.integers(0, 40, len(cells)) * np.where(cells[:, 0] == 0, 6, 1)

    kept = leave_out(counts, 3, cells).after(counts[None])[0]

    for codes in cells.T:
        known = codes >= 0
        assert np.bincount(codes[known], weights=kept[known]).max() * 3 <= kept.sum()
    assert 0 < kept.sum() < counts.sum()


@pytest.mark.parametrize("seed", range(20))
def test_parts_with_several_columns_become_eligible_in_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.array(list(product(range(6), range(5))), dtype=np.int32)
    parts = rng.integers(0, 9, 3000).astype(np.int32)
    first = np.where(rng.random(3000) < 0.15, parts % 6, rng.choice(6, 3000, p=(0.3, 0.2, 0.2, 0.1, 0.1, 0.1)))
    second = rng.choice(5, 3000, p=(0.3, 0.25, 0.2, 0.15, 0.1))
    counts = count(parts, (first * 5 + second).astype(np.int32), (9, 30))

    moves = eligible_cell_moves(counts, 3, PartTree.balanced(9), cells)

    after = moves.after(counts).reshape(9, 6, 5)
    assert eligible(after.sum(axis=2), 3).all()
    assert eligible(after.sum(axis=1), 3).all()
    assert after.min() >= 0
    assert after.sum(axis=0).ravel().tolist() == counts.sum(axis=0).tolist()
    # Every excess row goes once: of l * most - n too many, each that goes settles l - 1, or one more where it rounds.
    excess = [
        int(np.maximum(3 * own.sum(axis=axis) - own.sum(), 0).sum())
        for own in counts.reshape(9, 6, 5)
        for axis in (0, 1)
    ]
    assert moves.n_rows <= sum(excess)


def test_several_columns_of_which_one_is_eligible_move_nothing() -> None:
    cells = np.array(list(product(range(3), range(3))), dtype=np.int32)

    assert eligible_cell_moves(np.full((4, 9), 5), 3, PartTree.balanced(4), cells).n_rows == 0


def count(parts: NDArray[np.int32], values: NDArray[np.int32], shape: tuple[int, int]) -> Ints:
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (parts, values), 1)
    return counts
