"""Forming the classes of one part: outlying records first, each with its nearest partners of other values."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ldiversity._kernels.bsgi_loss import Loss, Query, aim, make_query
from ldiversity._kernels.bsgi_tree import Rules, Tree, fold, nearest, remove

__all__ = ["fill_classes", "outlying"]

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_PATIENCE = 64


@njit(nogil=True, cache=True)
def outlying(
    loss: Loss, points: NDArray[np.float32], centers: NDArray[np.float32], rarity: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Shape (n,): how far each record is from the middle of the table.

    Parameters
    ----------
    centers
        Shape (numbers,): the median of each number.
    rarity
        Of each entry of the trees (see `Loss`) at level 0: what a category is charged for being rare.
    """
    n_numbers = loss.caps.shape[0]
    score = np.zeros(points.shape[0], dtype=np.float32)
    for i in range(points.shape[0]):
        for d in range(n_numbers):
            score[i] += min(abs(points[i, d] - centers[d]), loss.caps[d])
        for c in range(loss.levels.shape[0]):
            score[i] += rarity[loss.base[c] + np.int64(points[i, n_numbers + c]) * loss.levels[c]]
    return score


@njit(nogil=True, cache=True)
def _box_of_one(query: Query, tree: Tree, i: int) -> None:
    for d in range(tree.points.shape[1]):
        query.low[d] = tree.points[i, d]
        query.high[d] = tree.points[i, d]


@njit(nogil=True, cache=True)
def _widen(query: Query, tree: Tree, i: int) -> None:
    for d in range(tree.points.shape[1]):
        query.low[d] = min(query.low[d], tree.points[i, d])
        query.high[d] = max(query.high[d], tree.points[i, d])


@njit(nogil=True, cache=True)
def _allowed(rules: Rules, mark: int, classes_left: int, n_values: int) -> np.uint64:
    """The bits of the values of the first key that may join."""
    mask = np.uint64(0)
    for value in range(n_values):
        free = rules.counts[0, value]
        if free > 0 and rules.stamps[0, value] != mark and (not rules.must[0] or free >= classes_left):
            mask |= fold(value)
            if mask == _ALL:
                break
    return mask


@njit(nogil=True, cache=True)
def fill_classes(
    loss: Loss,
    tree: Tree,
    order: NDArray[np.int32],
    sizes: NDArray[np.int64],
    l: int,
    penalty: float,
    n_penalized: int,
    budget: int,
    class_of: NDArray[np.int32],
) -> int:
    """Form classes of `l` records that differ in every key; return how many.

    With one key, ``n = k * l`` records and no value more than k times, all k classes are formed: a value that as many
    records have as there are classes left must be in each of them, the others are free; so the same holds for what
    remains. With several keys a seed that finds no partners is left out.

    Parameters
    ----------
    order
        Shape (n,): original positions, the first seeds first.
    sizes
        Shape (keys,): how many values each key has.
    penalty, n_penalized
        What a value is charged for being scarce, in how many of the keys.
    class_of
        Shape (n,): filled by original position; -1 for records that are left out.
    """
    n, n_keys = tree.keys.shape
    most_values = 0
    for k in range(n_keys):
        most_values = max(most_values, sizes[k])
    counts = np.zeros((n_keys, most_values), dtype=np.int32)
    for i in range(n):
        for k in range(n_keys):
            counts[k, tree.keys[i, k]] += 1
    top = np.zeros(n_keys, dtype=np.int64)
    for k in range(n_keys):
        for value in range(sizes[k]):
            top[k] = max(top[k], counts[k, value])
    frequency = np.zeros((n_keys, max(1, top.max()) + 1), dtype=np.int32)
    for k in range(n_keys):
        for value in range(sizes[k]):
            frequency[k, counts[k, value]] += 1
    rules = Rules(np.full((n_keys, most_values), -1, dtype=np.int32), counts, np.zeros(n_keys, dtype=np.bool_))
    free = tree.end - tree.start
    query = make_query(loss)
    stack = np.empty(tree.left.shape[0] + 2, dtype=np.int32)
    bounds = np.empty(tree.left.shape[0] + 2, dtype=np.float32)
    members = np.empty(l, dtype=np.int32)
    needed = np.zeros(n_keys, dtype=np.int64)
    out = np.zeros(n, dtype=np.bool_)
    class_of[:] = -1
    scarce = np.float32(penalty)
    n_free = n
    n_classes = 0
    mark = 0
    failures = 0
    seed = 0
    while n_free >= l and failures < _PATIENCE:
        classes_left = n_free // l
        for k in range(n_keys):
            while top[k] > 0 and frequency[k, top[k]] == 0:
                top[k] -= 1
            needed[k] = 0
            for c in range(classes_left, top[k] + 1):
                needed[k] += frequency[k, c]
        while out[order[seed]]:
            seed += 1
        found = 0
        while found < l:
            strict = False
            for k in range(n_keys):
                rules.must[k] = needed[k] >= l - found
                strict |= rules.must[k]
            i = -1
            if found == 0:
                i = tree.where[order[seed]]
                _box_of_one(query, tree, i)
                if strict:
                    for k in range(n_keys):
                        if rules.must[k] and counts[k, tree.keys[i, k]] < classes_left:
                            i = -1
                            break
            if i < 0:
                aim(query, loss)
                for attempt in range(2):
                    allowed = _allowed(rules, mark, classes_left, sizes[0])
                    i = nearest(
                        tree,
                        free,
                        query,
                        rules,
                        mark,
                        classes_left,
                        allowed,
                        scarce,
                        n_penalized,
                        budget,
                        stack,
                        bounds,
                    )
                    if i >= 0 or not strict or attempt > 0:
                        break
                    rules.must[:] = False
            if i < 0:
                break
            if found == 0:
                _box_of_one(query, tree, i)
            else:
                _widen(query, tree, i)
            members[found] = tree.rows[i]
            found += 1
            for k in range(n_keys):
                value = tree.keys[i, k]
                rules.stamps[k, value] = mark
                if counts[k, value] >= classes_left:
                    needed[k] -= 1
        complete = found == l
        if not complete:
            members[0] = order[seed]
            found = 1
            failures += 1
        else:
            failures = 0
        for j in range(found):
            row = members[j]
            i = tree.where[row]
            out[row] = True
            if complete:
                class_of[row] = n_classes
            for k in range(n_keys):
                value = tree.keys[i, k]
                frequency[k, counts[k, value]] -= 1
                counts[k, value] -= 1
                frequency[k, counts[k, value]] += 1
            remove(tree, free, i)
            n_free -= 1
        n_classes += complete
        mark += 1
    return n_classes
