"""L-LMSU's first phase: merge sensitive values into levels whose frequencies vary least."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray

__all__ = ["merge_levels"]


def merge_levels(counts: NDArray[np.int64], l: int) -> CodeArray:
    """Merge the two least frequent levels again and again, and keep the levels whose frequencies varied least.

    As published, but for two readings: merging stops at `l` levels (the printed loop always ends at one, with which no
    class can be formed), and the best levels, their weights and their variance are all kept (the printed step 9 keeps
    only the levels).

    Parameters
    ----------
    counts
        Shape (F,): how often each value occurs. Values that do not occur stay levels of their own.
    l
        The least number of levels.

    Returns
    -------
    levels
        Shape (F,): the level of each value, from 0 without gaps.

    Examples
    --------
    The paper's Table 3: four countries that occur once become two levels, next to the two that occur twice.

    >>> merge_levels(np.array([1, 1, 1, 1, 2, 2]), 4).tolist()
    [0, 0, 1, 1, 2, 3]
    """
    number = count(len(counts))
    heap = [(int(n), code) for code, n in enumerate(counts) if n]
    heapq.heapify(heap)
    merged = []
    squares = sum(n * n for n, _ in heap)
    best, n_best = (len(heap) * squares, len(heap)), 0
    while len(heap) > l:
        (first, a), (second, b) = heapq.heappop(heap), heapq.heappop(heap)
        merged.append((a, b))
        heapq.heappush(heap, (first + second, next(number)))
        squares += 2 * first * second
        # With k levels of n records the variance is (k * squares - n * n) / (k * n)^2; compared in whole numbers.
        if _is_less((len(heap) * squares, len(heap)), best, int(counts.sum())):
            best, n_best = (len(heap) * squares, len(heap)), len(merged)
    parent = np.arange(len(counts) + n_best)
    for step, pair in enumerate(merged[:n_best]):
        parent[list(pair)] = len(counts) + step
    for node in range(len(parent) - 1, -1, -1):
        parent[node] = parent[parent[node]]
    return _numbered(parent[: len(counts)])


def _is_less(one: tuple[int, int], other: tuple[int, int], n: int) -> bool:
    """Whether a variance is less than another; each as (k * squares, k)."""
    return (one[0] - n * n) * other[1] ** 2 < (other[0] - n * n) * one[1] ** 2


def _numbered(names: NDArray[np.int64]) -> CodeArray:
    """Number names from 0 in order of appearance."""
    _, firsts, inverse = np.unique(names, return_index=True, return_inverse=True)
    rank = np.empty(len(firsts), dtype=np.int32)
    rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    return rank[inverse.ravel()]
