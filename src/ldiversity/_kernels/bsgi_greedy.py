"""Form the classes of one part: outlying records first, each with its nearest partners of other values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, kernel
from ldiversity._kernels.bsgi_loss import Loss, Query, aim, make_query
from ldiversity._kernels.bsgi_tree import Rules, Tree, fold, nearest, remove

__all__ = ["fill_classes"]

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_PATIENCE = 64


@helper
def _box_of_one(query: Query, tree: Tree, i: Whole) -> None:
    for d in range(tree.points.shape[1]):
        query.low[d] = tree.points[i, d]
        query.high[d] = tree.points[i, d]


@helper
def _widen(query: Query, tree: Tree, i: Whole) -> None:
    for d in range(tree.points.shape[1]):
        query.low[d] = min(query.low[d], tree.points[i, d])
        query.high[d] = max(query.high[d], tree.points[i, d])


@helper
def _allowed(rules: Rules, mark: int, classes_left: int, n_values: int) -> np.uint64:
    """Return the bits of the values of the first key that may join."""
    mask = np.uint64(0)
    for value in range(n_values):
        free = rules.counts[0, value]
        if free > 0 and rules.stamps[0, value] != mark and (not rules.must[0] or free >= classes_left):
            mask |= fold(value)
            if mask == _ALL:
                break
    return mask


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

    With one key, ``n = k * l`` records and no value more than k times, all k classes are formed: a value that occurs as
    often as there are classes left must join each of them, and other values are free, so the condition still holds for
    what remains. With several keys, a seed that finds no partners is left out.

    Parameters
    ----------
    order
        Shape (n,): original positions, in the order in which they become seeds.
    sizes
        Shape (keys,): how many values each key has.
    penalty, n_penalized
        The charge for a scarce value, and in how many of the keys it applies.
    class_of
        Shape (n,): filled by original position; -1 for records that are left out.
    """
    n, n_keys = tree.keys.shape
    most_values = int(sizes.max())
    counts = np.empty((n_keys, most_values), dtype=np.int32)
    for k in range(n_keys):
        counts[k] = np.bincount(tree.keys[:, k], minlength=most_values)
    frequency = np.zeros((n_keys, max(1, int(counts.max())) + 1), dtype=np.int32)
    for k in range(n_keys):
        found = np.bincount(counts[k, : sizes[k]])
        frequency[k, : len(found)] = found
    rules = Rules(np.full((n_keys, most_values), -1, dtype=np.int32), counts, np.zeros(n_keys, dtype=np.bool_))
    free = tree.end - tree.start
    stack = np.empty(len(tree.left) + 2, dtype=np.int32)
    bounds = np.empty(len(tree.left) + 2, dtype=np.float32)
    out = np.zeros(n, dtype=np.bool_)
    class_of[:] = -1
    return int(
        _fill(
            loss,
            tree,
            free,
            make_query(loss),
            rules,
            int(sizes[0]),
            frequency,
            order,
            l,
            np.float32(penalty),
            n_penalized,
            budget,
            stack,
            bounds,
            out,
            class_of,
        )
    )


@kernel
def _fill(
    loss: Loss,
    tree: Tree,
    free: NDArray[np.int32],
    query: Query,
    rules: Rules,
    n_values: int,
    frequency: NDArray[np.int32],
    order: NDArray[np.int32],
    l: int,
    scarce: np.float32,
    n_penalized: int,
    budget: int,
    stack: NDArray[np.int32],
    bounds: NDArray[np.float32],
    out: NDArray[np.bool_],
    class_of: NDArray[np.int32],
) -> int:
    """Implement `fill_classes`; ``frequency[k, c]`` is the number of values of key k that occur c times."""
    n, n_keys = tree.keys.shape
    counts = rules.counts
    top = np.empty(n_keys, dtype=np.int64)
    needed = np.empty(n_keys, dtype=np.int64)
    top[:] = frequency.shape[1] - 1
    members = np.empty(l, dtype=np.int32)
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
            # Values that occur once per class left, or more often, must be in the next class.
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
            i: Whole = -1
            if found == 0:
                i = np.int64(tree.where[order[seed]])
                _box_of_one(query, tree, i)
                if strict:
                    for k in range(n_keys):
                        # The class has no room for a free value: the seed gives way to the nearest needed one.
                        if rules.must[k] and counts[k, tree.keys[i, k]] < classes_left:
                            i = -1
                            break
            if i < 0:
                aim(query, loss)
                for attempt in range(2):
                    allowed = _allowed(rules, mark, classes_left, n_values)
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
            i = np.int64(tree.where[row])
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
