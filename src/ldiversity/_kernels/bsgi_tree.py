"""A k-d tree over the records of a part that are not yet in a class, with the values that each node still has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, inlined, kernel
from ldiversity._kernels.bsgi_loss import Loss, Query, added_loss, box_loss

__all__ = ["Rules", "Tree", "build_tree", "fold", "nearest", "remove"]

_FAR = np.float32(3e38)
_ONE = np.uint64(1)


class Tree(NamedTuple):
    """Records in the order of the leaves; the children of node q are ``left[q]`` and ``left[q] + 1``.

    Attributes
    ----------
    points, keys, rows
        Shape (n, ...): coordinates, keys and original position of each record, by leaf. Within a leaf, the free
        records come first.
    where
        Shape (n,): where each original position is now.
    low, high
        Shape (nodes, coordinates): the box of each node when the tree was built.
    mask
        Shape (nodes,): `fold` of every value of the first key among the free records; 0 if there are none.
    left, parent
        Shape (nodes,): -1 at leaves, and at the root.
    start, end
        Shape (nodes,): the records of each node.
    leaf_of
        Shape (n,): the leaf of each record.
    """

    points: NDArray[np.float32]
    keys: NDArray[np.int32]
    rows: NDArray[np.int32]
    where: NDArray[np.int32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    mask: NDArray[np.uint64]
    left: NDArray[np.int32]
    parent: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    leaf_of: NDArray[np.int32]


class Rules(NamedTuple):
    """Which records may join the class that is being formed.

    Attributes
    ----------
    stamps
        Shape (keys, values): the last class that took each value.
    counts
        Shape (keys, values): how many free records have each value.
    must
        Shape (keys,): whether only values may join that every remaining class needs.
    """

    stamps: NDArray[np.int32]
    counts: NDArray[np.int32]
    must: NDArray[np.bool_]


@inlined
def fold(value: int) -> np.uint64:
    """Return the bit of a value in a mask. Values may share a bit, so a mask can only prove that a value is absent."""
    return _ONE << np.uint64(value & 63)


@helper
def _select(key: NDArray[np.float32], order: NDArray[np.int32], start: Whole, end: Whole, k: Whole) -> None:
    """Bring the k-th least key of ``order[start:end]`` to position k, with lesser ones before it (quickselect)."""
    while end - start > 1:
        first, pivot, last = key[order[start]], key[order[(start + end) // 2]], key[order[end - 1]]
        pivot = max(min(first, pivot), min(max(first, pivot), last))
        i = start
        j = end - 1
        while i <= j:
            while key[order[i]] < pivot:
                i += 1
            while key[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if k <= j:
            end = j + 1
        elif k >= i:
            start = i
        else:
            return


@helper
def _boundary(key: NDArray[np.float32], order: NDArray[np.int32], start: Whole, end: Whole) -> int:
    """Split ``order[start:end]`` where the key changes nearest to the middle; return where the right side begins."""
    middle = (start + end) // 2
    pivot = key[order[middle]]
    less = 0
    at_most = 0
    for i in range(start, end):
        if key[order[i]] < pivot:
            less += 1
        if key[order[i]] <= pivot:
            at_most += 1
    below = less > 0 and (at_most == end - start or middle - start - less < start + at_most - middle)
    i = int(start)
    j = end - 1
    while i <= j:
        if key[order[i]] < pivot or (not below and key[order[i]] == pivot):
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


def build_tree(loss: Loss, points: NDArray[np.float32], keys: NDArray[np.int32], leaf_size: int) -> Tree:
    """Build the tree; each node is cut along the coordinate in which its records lose most."""
    n, n_coordinates = points.shape
    most = 4 * (n // leaf_size + 4)
    box = np.empty((2, most, n_coordinates), dtype=np.float32)
    links = np.full((2, most), -1, dtype=np.int32)
    bounds = np.zeros((2, most), dtype=np.int32)
    places = np.empty((3, n), dtype=np.int32)
    mask = np.zeros(most, dtype=np.uint64)
    key = np.empty(n, dtype=np.float32)
    low, high, left, parent = box[0], box[1], links[0], links[1]
    start, end = bounds
    order, where, leaf_of = places
    size = _grow(loss, points, keys, leaf_size, key, low, high, left, parent, start, end, order, where, leaf_of, mask)
    return Tree(
        points[order],
        keys[order],
        order,
        where,
        low[:size],
        high[:size],
        mask[:size],
        left[:size],
        parent[:size],
        start[:size],
        end[:size],
        leaf_of,
    )


@kernel
def _grow(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    leaf_size: int,
    key: NDArray[np.float32],
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    left: NDArray[np.int32],
    parent: NDArray[np.int32],
    start: NDArray[np.int32],
    end: NDArray[np.int32],
    order: NDArray[np.int32],
    where: NDArray[np.int32],
    leaf_of: NDArray[np.int32],
    mask: NDArray[np.uint64],
) -> int:
    """Fill the arrays of a `Tree`, which have room for the greatest possible number of nodes; return their number."""
    n, n_coordinates = points.shape
    n_numbers = loss.caps.shape[0]
    most = left.shape[0]
    for i in range(n):
        order[i] = i
    one_low = np.empty(n_coordinates, dtype=np.float32)
    one_high = np.empty(n_coordinates, dtype=np.float32)
    end[0] = n
    n_nodes = 1
    q = 0
    while q < n_nodes:
        a, b = np.int64(start[q]), np.int64(end[q])
        for d in range(n_coordinates):
            low[q, d] = _FAR
            high[q, d] = -_FAR
        for i in range(a, b):
            for d in range(n_coordinates):
                value = points[order[i], d]
                low[q, d] = min(low[q, d], value)
                high[q, d] = max(high[q, d], value)
        if b - a > leaf_size and n_nodes + 2 <= most:
            widest = -1
            width = np.float32(0)
            for d in range(n_coordinates):
                for other in range(n_coordinates):
                    one_low[other] = low[q, other]
                    one_high[other] = low[q, other]
                one_high[d] = high[q, d]
                spread = box_loss(loss, one_low, one_high)
                if spread > width:
                    width = spread
                    widest = d
            middle: Whole = (a + b) // 2
            if widest >= 0:
                for i in range(a, b):
                    key[order[i]] = points[order[i], widest]
                _select(key, order, a, b, middle)
                if widest >= n_numbers:
                    middle = _boundary(key, order, a, b)
            left[q] = n_nodes
            parent[n_nodes] = q
            parent[n_nodes + 1] = q
            start[n_nodes] = a
            end[n_nodes] = middle
            start[n_nodes + 1] = middle
            end[n_nodes + 1] = b
            n_nodes += 2
        q += 1
    for i in range(n):
        where[order[i]] = i
    for q in range(n_nodes - 1, -1, -1):
        if left[q] < 0:
            for i in range(start[q], end[q]):
                leaf_of[i] = q
                mask[q] |= fold(keys[order[i], 0])
        else:
            mask[q] = mask[left[q]] | mask[left[q] + 1]
    return n_nodes


@helper
def remove(tree: Tree, free: NDArray[np.int32], i: Whole) -> None:
    """Remove the record at position `i`; `free` counts the free records of each leaf."""
    points, keys, rows, masks = tree.points, tree.keys, tree.rows, tree.mask
    q = tree.leaf_of[i]
    free[q] -= 1
    j = tree.start[q] + free[q]
    if i != j:
        for d in range(points.shape[1]):
            points[i, d], points[j, d] = points[j, d], points[i, d]
        for k in range(keys.shape[1]):
            keys[i, k], keys[j, k] = keys[j, k], keys[i, k]
        rows[i], rows[j] = rows[j], rows[i]
        tree.where[rows[i]] = i
        tree.where[rows[j]] = j
    # Update the masks upward, until one does not change.
    mask = np.uint64(0)
    for place in range(tree.start[q], j):
        mask |= fold(keys[place, 0])
    while mask != masks[q]:
        masks[q] = mask
        q = tree.parent[q]
        if q < 0:
            return
        mask = masks[tree.left[q]] | masks[tree.left[q] + 1]


@helper
def nearest(
    tree: Tree,
    free: NDArray[np.int32],
    query: Query,
    rules: Rules,
    mark: int,
    classes_left: int,
    allowed: np.uint64,
    penalty: np.float32,
    n_penalized: int,
    budget: int,
    stack: NDArray[np.int32],
    bounds: NDArray[np.float32],
) -> int:
    """Return the free record that adds least to the box, plus a penalty if its value is scarce; -1 if none may join.

    After the first candidate, at most `budget` more leaves are visited.
    """
    points, keys, low, high, left, masks = tree.points, tree.keys, tree.low, tree.high, tree.left, tree.mask
    box_low, box_high, room = query.low, query.high, query.room
    first, last, rise = query.first, query.last, query.rise
    starts = tree.start
    stamps, counts, must = rules.stamps, rules.counts, rules.must
    n_keys = keys.shape[1]
    share = np.float32(1.0 / classes_left)
    best = -1
    least = _FAR
    stack[0] = 0
    bounds[0] = np.float32(0)
    height = 1
    while height > 0:
        height -= 1
        if bounds[height] >= least:
            continue
        q = stack[height]
        while left[q] >= 0:
            one = left[q]
            two = one + 1
            one_bound = _FAR
            two_bound = _FAR
            if masks[one] & allowed:
                one_bound = added_loss(box_low, box_high, room, first, last, rise, low, high, one)
            if masks[two] & allowed:
                two_bound = added_loss(box_low, box_high, room, first, last, rise, low, high, two)
            if two_bound < one_bound:
                one, two = two, one
                one_bound, two_bound = two_bound, one_bound
            if two_bound < least:
                stack[height] = two
                bounds[height] = two_bound
                height += 1
            q = one
            if one_bound >= least:
                q = -1
                break
        if q < 0:
            continue
        if best >= 0:
            budget -= 1
            if budget < 0:
                break
        for i in range(starts[q], starts[q] + free[q]):
            admitted = True
            cost = np.float32(0)
            for k in range(n_keys):
                value = keys[i, k]
                if stamps[k, value] == mark or (must[k] and counts[k, value] < classes_left):
                    admitted = False
                    break
                if k < n_penalized:
                    cost += penalty * max(np.float32(0), np.float32(1) - counts[k, value] * share)
            if not admitted or cost >= least:
                continue
            cost += added_loss(box_low, box_high, room, first, last, rise, points, points, i)
            if cost < least:
                least = cost
                best = i
    return best
