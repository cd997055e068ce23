"""Loops that count published sets by cell, and the exact limits of a count."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = [
    "are_allowed",
    "are_ascending",
    "count_limits",
    "count_members",
    "group_sets",
    "offset_codes",
    "pair_counts",
    "square_sums",
]

Codes: TypeAlias = NDArray[np.int32]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_TINY = 1e-200
_TABLE = 1 << 14  # below this, logarithms of factorials are looked up


@kernel
def are_ascending(sets: Codes) -> bool:
    """Whether every member is greater than the one before it; without branches, which would be slower."""
    wrong = 0
    for i in range(sets.shape[0]):
        for k in range(1, sets.shape[1]):
            wrong |= sets[i, k] <= sets[i, k - 1]
    return wrong == 0


@kernel
def are_allowed(sets: NDArray[np.uint32], allowed: NDArray[np.bool_]) -> bool:
    """Whether ``allowed[j, k]`` holds for every two members of every set.

    Codes must be within the domain. They are unsigned, because checking for negative ones takes as long as the rest.
    """
    right = True
    for i in range(sets.shape[0]):
        for k in range(1, sets.shape[1]):
            for m in range(k):
                right &= allowed[sets[i, m], sets[i, k]]
    return right


@kernel
def count_members(cells: Ints, sets: Codes, counts: Ints) -> None:
    """Add every member of every set to ``counts[cell, member]``."""
    for i in range(sets.shape[0]):
        cell = cells[i]
        for k in range(sets.shape[1]):
            counts[cell, sets[i, k]] += 1


@kernel
def group_sets(cells: Ints, sets: Codes, starts: Ints, grouped: Codes) -> None:
    """Copy the sets so that those of each cell are together, in their old order: a counting sort.

    ``starts[c]`` is where cell c begins.
    """
    place = starts[:-1].copy()
    for i in range(sets.shape[0]):
        cell = cells[i]
        row = place[cell]
        place[cell] = row + 1
        for k in range(sets.shape[1]):
            grouped[row, k] = sets[i, k]


@kernel
def pair_counts(sets: Codes, starts: Ints, first: int, last: int, place: Ints, pairs: Floats) -> None:
    """Count, in cells first..last-1, the sets with both j and k, for j < k, in ``pairs[cell, place[j] + k]``.

    Members must be ascending in each row.
    """
    for c in range(first, last):
        table = pairs[c - first]
        for i in range(starts[c], starts[c + 1]):
            for k in range(sets.shape[1] - 1):
                at = place[sets[i, k]]
                for m in range(k + 1, sets.shape[1]):
                    table[at + sets[i, m]] += 1.0


@kernel
def square_sums(columns: Floats, sets: Codes, starts: Ints, first: int, last: int, sums: Floats) -> None:
    """Sum, over the sets of each cell, the square of the sum of ``columns[m]`` over the members m."""
    n_values = columns.shape[1]
    vector = np.empty(n_values)
    for c in range(first, last):
        total = sums[c]
        for i in range(starts[c], starts[c + 1]):
            for j in range(n_values):
                vector[j] = columns[sets[i, 0], j]
            for k in range(1, sets.shape[1]):
                column = columns[sets[i, k]]
                for j in range(n_values):
                    vector[j] += column[j]
            for j in range(n_values):
                total[j] += vector[j] * vector[j]


@kernel
def offset_codes(values: Ints, least: int, seen: NDArray[np.bool_], codes: Codes) -> None:
    """Code integers of a short range by their offset, and mark the offsets that occur."""
    for i in range(values.shape[0]):
        code = values[i] - least
        codes[i] = code
        seen[code] = True


@helper
def _log_factorial(n: int, table: Floats) -> float:
    return table[n] if n < table.shape[0] else math.lgamma(n + 1.0)


@helper
def _upper_tail(n: int, p: float, k: int, table: Floats) -> tuple[float, float]:
    # P(Bin(n, p) >= k) and P(Bin(n, p) = k) for 0 < p < 1 and 0 <= k <= n.
    choices = _log_factorial(n, table) - _log_factorial(k, table) - _log_factorial(n - k, table)
    point = math.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))
    if k < n * p and point < _TINY:
        return 1.0, 0.0
    odds = p / (1.0 - p)
    term = point
    total = 0.0
    for j in range(k, n + 1):
        total += term
        term *= (n - j) * odds / (j + 1.0)
        if term < 1e-14 * total:
            break
    return total, point


@helper
def _start(records: int, published: int, p: float, z: float, half: float) -> int:
    # The normal limit with continuity and skewness corrections is rarely off by more than one.
    q = 1.0 - p
    shift = (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0 + half
    spread = z * math.sqrt(p * q) if half > 0 else -z * math.sqrt(p * q)
    inner = spread * spread + 4.0 * q * max(records - published + shift, 0.0)
    root = max((spread + math.sqrt(inner)) / (2.0 * q), 0.0)
    return min(max(round(records - root * root), 0), published)


@helper
def _low(records: int, published: int, p: float, tail: float, z: float, table: Floats) -> int:
    # The smallest true count v that makes `published` or more unsurprising: P(v + Bin(N - v, p) >= w) > tail.
    # With n = N - v and k = w - v, one more record among the N - v is one more Bernoulli draw, which gives a
    # recursion: P(X[n+1] >= k+1) = P(X[n] >= k) - (1-p) P(X[n] = k).
    if p <= 0.0 or published == 0:
        return published
    if p >= 1.0:
        return 0
    v = _start(records, published, p, z, 0.5)
    n, k = records - v, published - v
    total, point = _upper_tail(n, p, k, table)
    while total <= tail and k > 0:
        point *= k / (n * p)
        total += (1.0 - p) * point
        n -= 1
        k -= 1
    while n < records and total - (1.0 - p) * point > tail:
        total -= (1.0 - p) * point
        n += 1
        k += 1
        point *= n * p / k
    return records - n


@helper
def _high(records: int, published: int, p: float, tail: float, z: float, table: Floats) -> int:
    # The largest true count v that makes `published` or fewer unsurprising: P(v + Bin(N - v, p) <= w) > tail.
    # That is the upper tail of the dummies not drawn, N - w of them: P(Y[n] >= m) with Y[n] = Bin(n, 1-p), where
    # P(Y[n+1] >= m) = P(Y[n] >= m) + (1-p) P(Y[n] = m-1).
    # A published count that is low by chance must not give an interval of width zero: it counts as at most one
    # standard deviation below the expectation for a value that no record has. The published count still bounds the
    # true count. If p is so small that 1 - p rounds to 1, the limit is the widest one.
    if 1.0 - p >= 1.0 or published == 0:
        return published
    if p >= 1.0:
        return published if published == records else 0
    seen = published
    published = max(published, math.ceil(records * p - math.sqrt(records * p * (1.0 - p))))
    if published == records:
        return seen
    v = _start(records, published, p, z, -0.5)
    n, m = records - v, records - published
    total, point = _upper_tail(n, 1.0 - p, m, table)
    # point is P(Y[n] = m); the recursion needs P(Y[n] = m-1) = point * m p / ((n-m+1)(1-p)).
    while total <= tail and n < records:
        total += point * m * p / (n - m + 1.0)
        n += 1
        point *= n * p / (n - m)
    while n > m:
        # One step back: P(Y[n-1] = m) = point (n-m) / (n p), which gives the tail at n-1.
        before = point * (n - m) / (n * p)
        less = total - before * m * p / (n - m)
        if less <= tail:
            break
        total = less
        point = before
        n -= 1
    return min(records - n, seen)


@kernel
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
    """Compute limits of the true counts from published counts, for cells first..last-1.

    Value j is in the set of a record with another true value with a probability from ``p_least[j]`` to ``p_most[j]``.
    Each limit is exact if the two agree, and conservative otherwise. No upper limit is based on a published count more
    than one standard deviation below the expectation for a value that no record has.
    """
    n_values = counts.shape[1]
    same = True
    for j in range(1, n_values):
        same &= p_least[j] == p_least[0] and p_most[j] == p_most[0]
    known = np.empty(4 * n_values, np.int64)
    most = 0
    for c in range(first, last):
        most = max(most, records[c])
    table = np.empty(min(most + 1, _TABLE))
    table[0] = 0.0
    for n in range(1, table.shape[0]):
        table[n] = table[n - 1] + math.log(n)
    for c in range(first, last):
        # Many values of a cell have the same published count, and thus the same limits.
        least = counts[c, 0]
        for j in range(1, n_values):
            least = min(least, counts[c, j])
        known[:] = -1
        for j in range(n_values):
            w = counts[c, j]
            other = known[w - least] if same and w - least < known.shape[0] else -1
            if other >= 0:
                low[c, j] = low[c, other]
                high[c, j] = high[c, other]
                continue
            low[c, j] = _low(records[c], w, p_most[j], tail, z, table)
            high[c, j] = _high(records[c], w, p_least[j], tail, z, table)
            if w - least < known.shape[0]:
                known[w - least] = j
