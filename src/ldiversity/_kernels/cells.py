"""Loops over published sets, counted by cell, and the exact limits of a count."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["count_limits", "count_members", "group_rows", "pair_counts", "square_sums"]

Codes: TypeAlias = NDArray[np.int32]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@njit(nogil=True, cache=True)
def count_members(cells: Ints, sets: Codes, counts: Ints) -> None:
    """Add every member of every set to ``counts[cell, member]``."""
    for i in range(sets.shape[0]):
        cell = cells[i]
        for k in range(sets.shape[1]):
            counts[cell, sets[i, k]] += 1


@njit(nogil=True, cache=True)
def group_rows(cells: Ints, n_cells: int) -> tuple[Ints, Ints]:
    """Return the rows in cell order and where each cell starts, by a stable counting sort."""
    starts = np.zeros(n_cells + 1, np.int64)
    for i in range(cells.shape[0]):
        starts[cells[i] + 1] += 1
    for c in range(n_cells):
        starts[c + 1] += starts[c]
    position = starts[:-1].copy()
    order = np.empty(cells.shape[0], np.int64)
    for i in range(cells.shape[0]):
        cell = cells[i]
        order[position[cell]] = i
        position[cell] += 1
    return order, starts


@njit(nogil=True, cache=True)
def pair_counts(sets: Codes, starts: Ints, first: int, last: int, pairs: Floats) -> None:
    """Count in cells first..last-1 how many sets hold both j and k, shape (last - first, F, F).

    Only the upper triangle is counted; it is mirrored at the end.
    """
    n_values = pairs.shape[1]
    for c in range(first, last):
        table = pairs[c - first]
        for i in range(starts[c], starts[c + 1]):
            for k in range(sets.shape[1]):
                for m in range(k, sets.shape[1]):
                    table[min(sets[i, k], sets[i, m]), max(sets[i, k], sets[i, m])] += 1.0
        for j in range(n_values):
            for k in range(j + 1, n_values):
                table[k, j] = table[j, k]


@njit(nogil=True, cache=True)
def square_sums(columns: Floats, sets: Codes, starts: Ints, first: int, last: int, sums: Floats) -> None:
    """Sum the squares of ``sum of columns[m] over the members m`` over the sets of each cell."""
    n_values = columns.shape[1]
    vector = np.empty(n_values)
    for c in range(first, last):
        total = sums[c]
        for i in range(starts[c], starts[c + 1]):
            vector[:] = columns[sets[i, 0]]
            for k in range(1, sets.shape[1]):
                column = columns[sets[i, k]]
                for j in range(n_values):
                    vector[j] += column[j]
            for j in range(n_values):
                total[j] += vector[j] * vector[j]


@njit(nogil=True, cache=True)
def _upper_tail_exceeds(n: int, p: float, k: int, tail: float) -> bool:
    # Whether P(Bin(n, p) >= k) > tail, for 0 < p < 1 and tail < 1/2. The median is at least floor(n p).
    if k <= 0 or k <= math.floor(n * p):
        return True
    if k > n:
        return False
    log_term = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
    term = math.exp(log_term + k * math.log(p) + (n - k) * math.log1p(-p))
    odds = p / (1.0 - p)
    total = 0.0
    for j in range(k, n + 1):
        total += term
        if total > tail:
            return True
        term *= (n - j) / (j + 1.0) * odds
        if term < 1e-17 * total:
            break
    return False


@njit(nogil=True, cache=True)
def _start(records: int, published: int, p: float, z: float, half: float) -> int:
    # The normal limit with continuity and skewness corrections: a start that is rarely off by more than one.
    q = 1.0 - p
    shift = (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0 + half
    spread = z * math.sqrt(p * q) if half > 0 else -z * math.sqrt(p * q)
    inner = spread * spread + 4.0 * q * max(records - published + shift, 0.0)
    root = max((spread + math.sqrt(inner)) / (2.0 * q), 0.0)
    return min(max(round(records - root * root), 0), published)


@njit(nogil=True, cache=True)
def _low(records: int, published: int, p: float, tail: float, z: float) -> int:
    # The smallest true count v that makes `published` or more unsurprising: P(v + Bin(N - v, p) >= w) > tail.
    if p <= 0.0:
        return published
    if p >= 1.0:
        return 0
    v = _start(records, published, p, z, 0.5)
    while not _upper_tail_exceeds(records - v, p, published - v, tail):
        v += 1
    while v > 0 and _upper_tail_exceeds(records - v + 1, p, published - v + 1, tail):
        v -= 1
    return v


@njit(nogil=True, cache=True)
def _high(records: int, published: int, p: float, tail: float, z: float) -> int:
    # The largest true count v that makes `published` or fewer unsurprising: P(v + Bin(N - v, p) <= w) > tail.
    # A lower tail is the upper tail of the dummies that were not drawn: records - published of them.
    if p <= 0.0:
        return published
    if p >= 1.0:
        return published if published == records else 0
    v = _start(records, published, p, z, -0.5)
    missed = records - published
    while v > 0 and not _upper_tail_exceeds(records - v, 1.0 - p, missed, tail):
        v -= 1
    while v < published and _upper_tail_exceeds(records - v - 1, 1.0 - p, missed, tail):
        v += 1
    return v


@njit(nogil=True, cache=True)
def count_limits(
    counts: Ints,
    records: Ints,
    p_least: Floats,
    p_most: Floats,
    tail: float,
    z: float,
    first: int,
    last: int,
    low: Ints,
    high: Ints,
) -> None:
    """Limits of the true counts from published counts, for cells first..last-1.

    Value j comes into the set of a record with another true value with probability from ``p_least[j]`` to
    ``p_most[j]``. Each limit is exact when the two agree and conservative otherwise.
    """
    for c in range(first, last):
        for j in range(counts.shape[1]):
            low[c, j] = _low(records[c], counts[c, j], p_most[j], tail, z)
            high[c, j] = _high(records[c], counts[c, j], p_least[j], tail, z)
