"""Form classes of rows that differ in several columns at once, from the cells of a grid of their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = ["fill_from_cells"]

_FRESH = 0.95
_WASTE = 200
_SEARCH = 500
_SLICE = 1 << 24
"""Nodes visited in one call of the kernel: a few tenths of a second, after which a run can be stopped."""

# Places in the state between two calls: live cells, leaves, rows when planted, rows left, classes, attempts, waste.
_REMAINING, _CLASSES = 3, 4


def fill_from_cells(
    levels: NDArray[np.int64],
    n_levels: int,
    near: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    person: NDArray[np.int64],
    l: int,
    power: float,
    tell: Callable[[float], None],
) -> tuple[NDArray[np.int32], int]:
    """Form classes of rows that differ in every column, each from the best cells that are compatible.

    The worth of a cell is its number of rows times ``(1 - share) ** power`` for each of its levels: with a large power,
    rows that would exclude many others are used last; with power 0, the fullest cell is the best. A cell that cannot
    begin a class is set aside, and the next is tried. In the end, leftover rows join classes from which they differ.

    Parameters
    ----------
    levels
        Shape (cells, columns): the levels of each cell, numbered across columns.
    n_levels
        The number of levels of all columns together.
    near
        Shape (n_levels, 2): the first and the last level that no other row of a class may have, where one has this
        level; empty where only equal levels exclude each other.
    starts
        Shape (cells + 1,): where the rows of each cell begin in `rows`.
    rows
        Shape (n,): rows by cell, in their random order; changed in place.
    person
        Shape (n,): the person of each row; empty if each row is another person.
    l
        Rows in a class.
    power
        How much it counts that a cell leaves room for others.
    tell
        Called now and then with the share of the rows that are placed.

    Returns
    -------
    class_of
        Shape (n,): the class of each row, -1 for rows in none.
    n_classes
        The number of classes.
    """
    n, n_cells = len(rows), len(levels)
    sizes = np.diff(starts)
    cell_of = np.empty(n, dtype=np.int64)
    cell_of[rows] = np.repeat(np.arange(n_cells), sizes)
    totals = np.bincount(levels.ravel(), weights=np.repeat(sizes, levels.shape[1]), minlength=n_levels)
    most_leaves = 1 << max(n_cells - 1, 0).bit_length()
    class_of, following = np.full((2, n), -1, dtype=np.int32)
    used, in_classes = np.zeros((2, n_levels), dtype=np.int64)
    state = np.array([-1, 0, n, n, 0, 0, 0], dtype=np.int64)
    room = (
        cell_of,
        totals.astype(np.int64),
        starts[:-1].copy(),
        used,
        in_classes,
        np.zeros(n_cells, dtype=np.bool_),
        np.arange(n_cells, dtype=np.int64),
        np.empty(n_cells, dtype=np.int64),
        np.empty(n_cells, dtype=np.float64),
        np.empty(2 * most_leaves, dtype=np.float64),
        np.empty(2 * n_cells + 128, dtype=np.int64),
        np.empty(n // l + 1, dtype=np.int32),
        following,
        class_of,
    )
    while not _fill(levels, near, starts, rows, person, l, power, state, *room):
        tell(1 - state[_REMAINING] / n)
    return class_of, int(state[_CLASSES])


@kernel
def _fill(
    levels: NDArray[np.int64],
    near: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    person: NDArray[np.int64],
    l: int,
    power: float,
    state: NDArray[np.int64],
    cell_of: NDArray[np.int64],
    totals: NDArray[np.int64],
    taken: NDArray[np.int64],
    used: NDArray[np.int64],
    in_classes: NDArray[np.int64],
    aside: NDArray[np.bool_],
    live: NDArray[np.int64],
    leaf_of: NDArray[np.int64],
    worth: NDArray[np.float64],
    tree: NDArray[np.float64],
    stack: NDArray[np.int64],
    heads: NDArray[np.int32],
    following: NDArray[np.int32],
    class_of: NDArray[np.int32],
) -> bool:
    """Do a part of `fill_from_cells`, in the arrays that it made; return whether nothing is left to do."""
    n, n_columns = rows.shape[0], levels.shape[1]
    n_live, n_leaves, planted, remaining = state[0], state[1], state[2], state[_REMAINING]
    n_classes, attempt, wasted = state[_CLASSES], state[5], state[6]
    if n_live < 0:
        n_live, n_leaves = _plant(live, live.shape[0], levels, starts, taken, totals, n, power, worth, leaf_of, tree)
    chosen = np.empty(l, dtype=np.int64)
    places = np.empty(l, dtype=np.int64)
    spent, ended = 0, False
    while not ended and remaining >= l and wasted <= _WASTE * (n + 10_000):
        if spent > _SLICE:
            state[0], state[1], state[2], state[_REMAINING] = n_live, n_leaves, planted, remaining
            state[_CLASSES], state[5], state[6] = n_classes, attempt, wasted
            return False
        attempt += 1
        visits, n_chosen = 0, 0
        while n_chosen < l:
            # Find the best live cell that fits; skip branches that are worth no more than the best leaf so far.
            best, best_place, best_worth, top = -1, -1, 0.0, 1
            stack[0] = 1
            while top > 0:
                top -= 1
                node = stack[top]
                visits += 1
                if tree[node] <= best_worth:
                    continue
                if node < n_leaves:
                    left_first = tree[2 * node] < tree[2 * node + 1]
                    stack[top] = 2 * node if left_first else 2 * node + 1
                    stack[top + 1] = 2 * node + 1 if left_first else 2 * node
                    top += 2
                    continue
                cell = live[node - n_leaves]
                fits = n_chosen > 0 or not aside[cell]
                for column in range(n_columns):
                    fits = fits and used[levels[cell, column]] != attempt
                if not fits:
                    continue
                place = taken[cell]
                if person.shape[0] > 0:
                    while place < starts[cell + 1] and _is_among(person, rows, rows[place], places, n_chosen):
                        place += 1
                        visits += 1
                if place < starts[cell + 1]:
                    best, best_place, best_worth = cell, place, tree[node]
            if best < 0:
                break
            chosen[n_chosen], places[n_chosen] = best, best_place
            n_chosen += 1
            for column in range(n_columns):
                level = levels[best, column]
                used[level] = attempt
                if near.shape[0] > 0:
                    for other in range(near[level, 0], near[level, 1] + 1):
                        used[other] = attempt
        spent += visits
        if n_chosen < l:
            wasted += visits
            if n_chosen == 0:
                ended = True
            else:
                aside[chosen[0]] = True
            continue
        heads[n_classes] = -1
        for i in range(l):
            cell = chosen[i]
            row = rows[places[i]]
            rows[places[i]] = rows[taken[cell]]
            rows[taken[cell]] = row
            taken[cell] += 1
            class_of[row] = n_classes
            following[row] = heads[n_classes]
            heads[n_classes] = row
            for column in range(n_columns):
                totals[levels[cell, column]] -= 1
            _update(tree, n_leaves + leaf_of[cell], (starts[cell + 1] - taken[cell]) * worth[cell])
        n_classes += 1
        remaining -= l
        if remaining < _FRESH * planted and remaining >= l:
            n_live, n_leaves = _plant(
                live, n_live, levels, starts, taken, totals, remaining, power, worth, leaf_of, tree
            )
            planted = remaining
    _join(class_of, n_classes, levels, near, starts, taken, rows, person, cell_of, in_classes, heads, following)
    state[_CLASSES] = n_classes
    return True


@helper
def _plant(
    live: NDArray[np.int64],
    n_before: int,
    levels: NDArray[np.int64],
    starts: NDArray[np.int64],
    taken: NDArray[np.int64],
    totals: NDArray[np.int64],
    remaining: int,
    power: float,
    worth: NDArray[np.float64],
    leaf_of: NDArray[np.int64],
    tree: NDArray[np.float64],
) -> tuple[int, int]:
    """Keep those of the first `n_before` cells that still have rows, and build a tree of maxima over their worths.

    Returns the number of cells, and the position in the tree at which their worths begin.
    """
    n_live = 0
    for place in range(n_before):
        cell = live[place]
        if taken[cell] < starts[cell + 1]:
            live[n_live] = cell
            n_live += 1
    n_leaves = 1
    while n_leaves < n_live:
        n_leaves *= 2
    tree[: 2 * n_leaves] = 0.0
    for leaf in range(n_live):
        cell = live[leaf]
        leaf_of[cell] = leaf
        room = 1.0
        if power > 0:
            for column in range(levels.shape[1]):
                room *= 1 - totals[levels[cell, column]] / remaining
            room = room**power
        worth[cell] = room
        tree[n_leaves + leaf] = (starts[cell + 1] - taken[cell]) * room
    for node in range(n_leaves - 1, 0, -1):
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
    return n_live, n_leaves


@helper
def _update(tree: NDArray[np.float64], node: int, value: float) -> None:
    tree[node] = value
    node //= 2
    while node > 0:
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
        node //= 2


@helper
def _is_among(
    person: NDArray[np.int64], rows: NDArray[np.int32], row: int, places: NDArray[np.int64], n_chosen: int
) -> bool:
    for i in range(n_chosen):
        if person[rows[places[i]]] == person[row]:
            return True
    return False


@helper
def _join(
    class_of: NDArray[np.int32],
    n_classes: int,
    levels: NDArray[np.int64],
    near: NDArray[np.int64],
    starts: NDArray[np.int64],
    taken: NDArray[np.int64],
    rows: NDArray[np.int32],
    person: NDArray[np.int64],
    cell_of: NDArray[np.int64],
    in_classes: NDArray[np.int64],
    heads: NDArray[np.int32],
    following: NDArray[np.int32],
) -> None:
    """Put leftover rows into classes from which they differ; cycles through the classes, so that none grows long."""
    n_cells, n_columns = levels.shape
    for cell in range(n_cells):
        for column in range(n_columns):
            in_classes[levels[cell, column]] += taken[cell] - starts[cell]
    budget = _SEARCH * (rows.shape[0] + 10_000)
    at = 0
    for cell in range(n_cells):
        for _ in range(n_classes):
            if taken[cell] == starts[cell + 1] or budget < 0:
                break
            full = False
            for column in range(n_columns):
                full = full or in_classes[levels[cell, column]] == n_classes
            if full:
                break
            place = taken[cell]
            member = heads[at]
            fits = True
            while member >= 0 and fits:
                budget -= 1
                for column in range(n_columns):
                    level, other = levels[cell, column], levels[cell_of[member], column]
                    fits = fits and other != level
                    if near.shape[0] > 0:
                        fits = fits and (other < near[level, 0] or other > near[level, 1])
                fits = fits and (person.shape[0] == 0 or person[member] != person[rows[place]])
                member = following[member]
            if fits:
                row = rows[place]
                taken[cell] += 1
                class_of[row] = at
                following[row] = heads[at]
                heads[at] = row
                for column in range(n_columns):
                    in_classes[levels[cell, column]] += 1
            at = (at + 1) % n_classes
