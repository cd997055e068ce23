"""P(set | each member is true) of the sequential selections, and sums of it over enumerated sets."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel
from ldiversity._kernels.candidates import Tables, runs

__all__ = ["ring_likelihood", "simple_likelihood", "variance_sums"]

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]


@kernel
def simple_likelihood(sets: Ints, position: Ints, tables: Tables) -> Floats:
    """Return P(set | member) under simple selection for valid `sets`, by dynamic programming over their subsets."""
    n, l = sets.shape
    size = position.shape[0]
    full = (1 << l) - 1
    result = np.empty((n, l))
    lo = np.empty(size + 2, dtype=np.int32)
    hi = np.empty(size + 2, dtype=np.int32)
    scratch = np.empty((l + 2, tables[3].shape[1]), dtype=np.uint64)
    places = np.empty(l, dtype=np.int32)
    chosen = np.empty(l, dtype=np.int32)
    ranking = np.empty(l, dtype=np.int64)
    share = np.empty(full + 1)
    reach = np.empty(full + 1)
    for i in range(n):
        for a in range(l):
            places[a] = position[sets[i, a]]
        for a in range(l):
            at = a
            while at > 0 and places[ranking[at - 1]] > places[a]:
                ranking[at] = ranking[at - 1]
                at -= 1
            ranking[at] = a
        for subset in range(1, full):
            k = 0
            for a in range(l):
                if (subset >> a) & 1:
                    chosen[k] = places[ranking[a]]
                    k += 1
            n_runs = runs(tables, chosen, k, l - k, lo, hi, scratch)
            candidates = 0
            for r in range(n_runs):
                candidates += hi[r] - lo[r]
            share[subset] = 1.0 / candidates
        for v in range(l):
            own = 1 << v
            reach[own] = 1.0
            for subset in range(own + 1, full + 1):
                if subset & own:
                    total = 0.0
                    for u in range(l):
                        if u != v and (subset >> u) & 1:
                            total += reach[subset ^ (1 << u)] * share[subset ^ (1 << u)]
                    reach[subset] = total
                    # A subset below `own` cannot contain it, so every subset that is needed has been computed.
            result[i, ranking[v]] = reach[full]
    return result


@kernel
def ring_likelihood(sets: Ints, n_values: int, d: int) -> Floats:
    """Return P(set | member) under ring selection for valid `sets`, from the orders of drawing the others."""
    n, l = sets.shape
    result = np.zeros((n, l))
    sizes = np.empty(l, dtype=np.int64)
    index = np.empty((l, l), dtype=np.int64)
    choice = np.empty(l, dtype=np.int64)
    for i in range(n):
        for a in range(l):
            v = int(sets[i, a])
            above = max(n_values - v - d, 0)
            sizes[0] = above + max(v - d + 1, 0)
            probability = 1.0 / sizes[0]
            for t in range(1, l - 1):
                sizes[t] = sizes[t - 1] - (2 * d - 1)
                probability /= sizes[t]
            for b in range(l):
                u = int(sets[i, b])
                index[0, b] = u - v - d if u > v else above + u
            index[0, a] = -1
            result[i, a] = probability * _orders(index, sizes, choice, l, d)
    return result


@helper
def _orders(index: NDArray[np.int64], sizes: NDArray[np.int64], choice: NDArray[np.int64], l: int, d: int) -> int:
    """Count the orders in which the values with ``index[0] >= 0`` can be drawn from the shrinking ring."""
    found = 0
    depth = 0
    choice[0] = -1
    while depth >= 0:
        choice[depth] += 1
        if choice[depth] == l:
            depth -= 1
            continue
        at = index[depth, choice[depth]]
        if at < 0:
            continue
        if depth == l - 2:
            found += 1
            continue
        complete = True
        for b in range(l):
            index[depth + 1, b] = -1
            if b != choice[depth] and index[depth, b] >= 0:
                moved = (index[depth, b] - at - d) % sizes[depth]
                if moved > sizes[depth] - 2 * d:
                    complete = False
                    break
                index[depth + 1, b] = moved
        if complete:
            depth += 1
            choice[depth] = -1
    return found


@kernel
def variance_sums(sets: Ints, weights: Floats, columns: Floats, sums: Floats) -> None:
    """Add ``weights[i, k] * a**2`` to row ``sets[i, k]`` of `sums`; a is the sum of the set's rows of `columns`."""
    n, l = sets.shape
    size = columns.shape[1]
    squares = np.empty(size)
    for i in range(n):
        for j in range(size):
            squares[j] = columns[sets[i, 0], j]
        for k in range(1, l):
            for j in range(size):
                squares[j] += columns[sets[i, k], j]
        for j in range(size):
            squares[j] *= squares[j]
        for k in range(l):
            for j in range(size):
                sums[sets[i, k], j] += weights[i, k] * squares[j]
