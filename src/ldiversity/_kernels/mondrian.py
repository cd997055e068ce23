"""Cut many nodes of a table at once: measure them, choose the cuts, count the sides, and cut.

A table is a matrix of 32-bit integers with one row per record: ranks of the quasi-identifiers, codes of the sensitive
columns, and the number of the record. A node is a range of rows. A rank is the position of a value in its column:
numbers are in ascending order, with missing ones last; categories are in the order of the leaves of their tree, so
that all leaves under one ancestor are neighbors.

A tree is given by the first and the last leaf under the ancestor of each leaf at each level; a column of numbers, by
the coordinate of each rank. Column k's entries start at ``offsets[k]``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, inlined, kernel

__all__ = ["CHILDREN", "HALVES", "LISTED", "NONE", "NUMBER", "THRESHOLD", "TREE", "count", "cut", "measure", "plan"]

Ints: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]

NUMBER, TREE, LISTED = 0, 1, 2
"""Kinds of columns."""

NONE, THRESHOLD, HALVES, CHILDREN = 0, 1, 2, 3
"""Kinds of cuts: none; up to a rank; up to a rank that is itself divided; into the children of a node."""


@kernel
def measure(
    rows: Rows,
    starts: Ints,
    ends: Ints,
    kinds: Ints,
    sizes: Ints,
    offsets: Ints,
    coordinates: Floats,
    leaves: Rows,
    levels: Ints,
    low: Ints,
    high: Ints,
    spans: Floats,
) -> None:
    """Find the least and greatest rank of every node in every column, and the share of the domain that it spans."""
    n_columns = kinds.shape[0]
    widest = 1
    for k in range(n_columns):
        if kinds[k] == LISTED:
            widest = max(widest, sizes[k])
    stamps = np.full(widest, -1, dtype=np.int64)
    stamp = 0
    for i in range(starts.shape[0]):
        for k in range(n_columns):
            low[i, k] = rows[starts[i], k]
            high[i, k] = low[i, k]
        for r in range(starts[i], ends[i]):
            for k in range(n_columns):
                rank = rows[r, k]
                low[i, k] = min(low[i, k], rank)
                high[i, k] = max(high[i, k], rank)
        for k in range(n_columns):
            a, b = low[i, k], high[i, k]
            if a == b:
                spans[i, k] = 0.0
            elif kinds[k] == NUMBER:
                # Missing numbers have the last rank. A node with both numbers and missing ones publishes no interval.
                beyond = b == sizes[k]
                spans[i, k] = 1.0 if beyond else coordinates[offsets[k] + b] - coordinates[offsets[k] + a]
            elif kinds[k] == TREE:
                level = _common_level(leaves, offsets[k], levels[k], a, b)
                under = offsets[k] + a * levels[k] + level
                spans[i, k] = (leaves[under, 1] - leaves[under, 0] + 1) / sizes[k]
            else:
                seen = 0
                for r in range(starts[i], ends[i]):
                    if stamps[rows[r, k]] != stamp:
                        stamps[rows[r, k]] = stamp
                        seen += 1
                stamp += 1
                spans[i, k] = seen / sizes[k]


@kernel
def plan(
    rows: Rows,
    starts: Ints,
    ends: Ints,
    columns: Ints,
    low: Ints,
    high: Ints,
    attempt: int,
    share: float,
    strict: bool,  # noqa: FBT001 - numba takes arguments by position
    kinds: Ints,
    sizes: Ints,
    offsets: Ints,
    leaves: Rows,
    levels: Ints,
    n_ranks: int,
    cuts: Ints,
) -> None:
    """Choose the cut of each node: its kind, rank or level, records taken of that rank, and number of sides.

    Attempt 0 separates missing numbers from others, or a node of the tree into its children. Attempt 1 puts about
    `share` of the records on the first side; exactly that share if equal values may be divided. Attempt 2 is the next
    cut on the other side of that record; if equal values may be divided, the cut that keeps them together.
    """
    widest, largest = 1, 1
    for i in range(starts.shape[0]):
        span, size = high[i] - low[i] + 1, ends[i] - starts[i]
        if span <= 4 * size:
            widest = max(widest, span)
        else:
            largest = max(largest, size)
    histogram = np.zeros(widest, dtype=np.int64)
    copied = np.empty(largest, dtype=np.int32)
    stamps = np.full(n_ranks if attempt == 0 else 1, -1, dtype=np.int64)
    for i in range(starts.shape[0]):
        k, a, b = columns[i], low[i], high[i]
        start, end = starts[i], ends[i]
        cuts[i, 0] = NONE
        level = -1
        if kinds[k] == TREE:
            level = _common_level(leaves, offsets[k], levels[k], a, b) - 1
        if attempt == 0:
            if kinds[k] == TREE:
                cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3] = CHILDREN, level, 0, 0
                for r in range(start, end):
                    child = leaves[offsets[k] + rows[r, k] * levels[k] + level, 0]
                    if stamps[child] != i:
                        stamps[child] = i
                        cuts[i, 3] += 1
            elif kinds[k] == NUMBER and b == sizes[k]:
                cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3] = THRESHOLD, b - 1, 0, 2
            continue
        size = end - start
        wanted = min(max(np.int64(np.ceil(share * size)), 1), size - 1)
        if b - a + 1 <= 4 * size:
            middle = _rank_by_counting(rows, start, end, k, wanted, a, b, histogram)
        else:
            middle = _rank_by_parting(rows, start, end, k, wanted, copied)
        if not strict and attempt == 1:
            below = 0
            for r in range(start, end):
                if rows[r, k] < middle:
                    below += 1
            cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3] = HALVES, middle, wanted - below, 2
            continue
        first, final = middle, middle
        if kinds[k] == TREE:
            under = offsets[k] + middle * levels[k] + level
            first, final = leaves[under, 0], leaves[under, 1]
        below, inside, before = 0, 0, np.int64(-1)
        for r in range(start, end):
            rank = rows[r, k]
            if rank < first:
                below += 1
                before = max(before, np.int64(rank))
            elif rank <= final:
                inside += 1
        upper = size - below - inside
        # The cut may be above or below the rank of the wanted record; the more even cut comes first.
        closed_above = upper > 0 and (below == 0 or below + inside - wanted <= wanted - below)
        if attempt == 2 and strict:  # noqa: PLR2004 - the number of the attempt
            if below == 0 or upper == 0:
                continue
            closed_above = not closed_above
        cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3] = THRESHOLD, final if closed_above else before, 0, 2


@kernel
def count(
    rows: Rows,
    starts: Ints,
    ends: Ints,
    columns: Ints,
    cuts: Ints,
    firsts: Ints,
    sensitive: int,
    offsets: Ints,
    leaves: Rows,
    levels: Ints,
    n_ranks: int,
    counts: Ints,
) -> None:
    """Count the sensitive values on each side of each cut; the sides of cut i start at ``firsts[i]``."""
    sides = np.full(n_ranks, -1, dtype=np.int64)
    for i in range(starts.shape[0]):
        # Numbers, not a row of `cuts`: counting the references to a row takes ten times as long as the rest.
        k, kind, mark, most, taken, found = columns[i], cuts[i, 0], cuts[i, 1], cuts[i, 2], 0, 0
        first = firsts[i]
        for r in range(starts[i], ends[i]):
            side, taken, found = _side(rows[r, k], k, kind, mark, most, taken, found, offsets, leaves, levels, sides)
            counts[first + side, rows[r, sensitive]] += 1
        if kind == CHILDREN:
            _forget(rows, starts[i], ends[i], k, cuts[i, 1], offsets, leaves, levels, sides)


@kernel
def cut(
    rows: Rows,
    starts: Ints,
    ends: Ints,
    columns: Ints,
    cuts: Ints,
    firsts: Ints,
    places: Ints,
    offsets: Ints,
    leaves: Rows,
    levels: Ints,
    n_ranks: int,
    parted: Rows,
    bounds: Ints,
) -> None:
    """Write each node to its place in `parted`, side by side, rows in order; `bounds` gets the ends of the sides."""
    sides = np.full(n_ranks, -1, dtype=np.int64)
    widest = 2
    for i in range(starts.shape[0]):
        widest = max(widest, cuts[i, 3])
    filled = np.zeros(widest, dtype=np.int64)
    width = rows.shape[1]
    for i in range(starts.shape[0]):
        k, kind, mark, most, parts = columns[i], cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3]
        for side in range(parts):
            filled[side] = 0
        found = 0
        for writing in range(2):  # the first round counts; two separate loops would take longer to compile
            taken = 0
            for r in range(starts[i], ends[i]):
                side, taken, found = _side(
                    rows[r, k], k, kind, mark, most, taken, found, offsets, leaves, levels, sides
                )
                if writing:
                    row = filled[side]
                    for column in range(width):
                        parted[row, column] = rows[r, column]
                filled[side] += 1
            if not writing:
                place = places[i]
                for side in range(parts):
                    place += filled[side]
                    bounds[firsts[i] + side] = place
                    filled[side] = place - filled[side]
        if kind == CHILDREN:
            _forget(rows, starts[i], ends[i], k, cuts[i, 1], offsets, leaves, levels, sides)


@inlined
def _side(
    rank: int,
    k: int,
    kind: int,
    mark: int,
    most: int,
    taken: int,
    found: int,
    offsets: Ints,
    leaves: Rows,
    levels: Ints,
    sides: Ints,
) -> tuple[int, int, int]:
    """Return the side of a record; children are numbered in the order in which they first occur."""
    if kind == THRESHOLD:
        return (0 if rank <= mark else 1), taken, found
    if kind == HALVES:
        if rank == mark:
            return (0 if taken < most else 1), taken + 1, found
        return (0 if rank < mark else 1), taken, found
    child = leaves[offsets[k] + rank * levels[k] + mark, 0]
    if sides[child] < 0:
        sides[child] = found
        found += 1
    return sides[child], taken, found


@helper
def _forget(
    rows: Rows,
    start: int,
    end: int,
    k: int,
    level: int,
    offsets: Ints,
    leaves: Rows,
    levels: Ints,
    sides: Ints,
) -> None:
    for r in range(start, end):
        sides[leaves[offsets[k] + rows[r, k] * levels[k] + level, 0]] = -1


@helper
def _common_level(leaves: Rows, offset: int, n_levels: int, a: int, b: int) -> int:
    """Return the lowest level at which leaves `a` and `b` have the same ancestor."""
    level = 0
    while level < n_levels - 1 and leaves[offset + a * n_levels + level, 1] < b:
        level += 1
    return level


@helper
def _rank_by_counting(rows: Rows, start: int, end: int, k: int, wanted: int, a: int, b: int, histogram: Ints) -> int:
    """Return the rank of the `wanted`-th record in order, by counting ranks from `a` to `b`."""
    histogram[: b - a + 1] = 0
    for r in range(start, end):
        histogram[rows[r, k] - a] += 1
    passed, rank = histogram[0], 0
    while passed < wanted:
        rank += 1
        passed += histogram[rank]
    return a + rank


@helper
def _rank_by_parting(rows: Rows, start: int, end: int, k: int, wanted: int, copied: Rows) -> int:
    """Return the rank of the `wanted`-th record in order, by quickselect on a copy (Hoare)."""
    size = end - start
    for r in range(size):
        copied[r] = rows[start + r, k]
    left, right = 0, size - 1
    while left < right:
        pivot = copied[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while copied[i] < pivot:
                i += 1
            while copied[j] > pivot:
                j -= 1
            if i <= j:
                copied[i], copied[j] = copied[j], copied[i]
                i += 1
                j -= 1
        if wanted - 1 <= j:
            right = j
        elif wanted - 1 >= i:
            left = i
        else:
            break
    found: int = copied[wanted - 1]
    return found
