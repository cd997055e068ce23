"""Anatomy: repeatedly take one row from each of the l largest buckets, with a heap of buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = ["take_from_largest"]

_ROW_BITS = 31
_ROW_MASK = (1 << _ROW_BITS) - 1


@kernel
def take_from_largest(
    levels: NDArray[np.int32], kept: NDArray[np.int64], l: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Form classes of l rows from the l fullest buckets, as long as l buckets have rows.

    Rows leave a bucket in the given order. Of two buckets with equally many rows left, the one whose next row comes
    first goes first: the order of rows is random, so ties are broken at random.

    Parameters
    ----------
    levels
        Shape (n,): the bucket of each row.
    kept
        Shape (buckets,): how many rows of each bucket take part, from the first; the others are left out.

    Returns
    -------
    class_of
        Shape (n,): the class of each row, -1 for rows in none.
    left
        The rows that take part and are in no class, in no particular order.
    n_classes
        The number of classes.
    """
    n, n_levels = levels.shape[0], kept.shape[0]
    starts = np.zeros(n_levels + 1, dtype=np.int64)
    for level in range(n_levels):
        starts[level + 1] = starts[level] + kept[level]
    rows = np.empty(starts[n_levels], dtype=np.int32)
    taken = np.zeros(n_levels, dtype=np.int64)
    for row in range(n):
        level = levels[row]
        if taken[level] < kept[level]:
            rows[starts[level] + taken[level]] = row
            taken[level] += 1
    for level in range(n_levels):
        taken[level] = starts[level]

    # A key orders buckets by rows left, then by the earlier next row. That row also identifies the bucket.
    heap = np.empty(n_levels, dtype=np.int64)
    size = 0
    for level in range(n_levels):
        if kept[level] > 0:
            _push(heap, size, (kept[level] << _ROW_BITS) | (_ROW_MASK - rows[starts[level]]))
            size += 1
    class_of = np.full(n, -1, dtype=np.int32)
    n_classes = 0
    waiting = np.empty(l, dtype=np.int64)
    while size >= l:
        # The buckets of this class return to the heap only when it is complete: a class takes one row from each.
        n_waiting = 0
        for _ in range(l):
            key = heap[0]
            _pop(heap, size)
            size -= 1
            row = _ROW_MASK - (key & _ROW_MASK)
            level = levels[row]
            class_of[row] = n_classes
            taken[level] += 1
            if taken[level] < starts[level + 1]:
                remaining = starts[level + 1] - taken[level]
                waiting[n_waiting] = (remaining << _ROW_BITS) | (_ROW_MASK - rows[taken[level]])
                n_waiting += 1
        for i in range(n_waiting):
            _push(heap, size, waiting[i])
            size += 1
        n_classes += 1
    n_left = 0
    for level in range(n_levels):
        n_left += starts[level + 1] - taken[level]
    left = np.empty(n_left, dtype=np.int32)
    n_left = 0
    for level in range(n_levels):
        for place in range(taken[level], starts[level + 1]):
            left[n_left] = rows[place]
            n_left += 1
    return class_of, left, n_classes


@helper
def _push(heap: NDArray[np.int64], size: int, key: int) -> None:
    child = size
    while child > 0:
        parent = (child - 1) >> 1
        if heap[parent] >= key:
            break
        heap[child] = heap[parent]
        child = parent
    heap[child] = key


@helper
def _pop(heap: NDArray[np.int64], size: int) -> None:
    """Remove the greatest of the first `size` keys."""
    key = heap[size - 1]
    last = size - 1
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= last:
            break
        if child + 1 < last and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = key
