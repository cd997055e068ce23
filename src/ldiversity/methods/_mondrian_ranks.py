"""A coded table as ranks, the form in which it is cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldiversity.methods._coded import CategoryColumn, CodedTable, NumberColumn, QuasiColumn

__all__ = ["Ranks", "rank_table"]

NUMBER, TREE, LISTED = 0, 1, 2
_TABLE_PER_ROW = 8


@dataclass(frozen=True, eq=False)
class Ranks:
    """Rows of ranks and codes, and what the ranks of each column mean; see the kernels.

    Parameters
    ----------
    rows
        Shape (n, quasi-identifiers + sensitive columns + 1): ranks, codes, the number of the record.
    kinds
        Whether a quasi-identifier is a number, a category with a tree, or a category without.
    sizes
        The number of values of each; missing numbers aside.
    offsets
        Where the coordinates of a number, or the leaves of a tree, begin.
    coordinates
        The numbers of each rank, as shares of the domain's range.
    leaves
        Shape (..., 2): first and last leaf under the ancestor of each leaf at each level.
    levels
        The number of levels of each tree.
    """

    rows: NDArray[np.int32]
    kinds: NDArray[np.int64]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    coordinates: NDArray[np.float64]
    leaves: NDArray[np.int32]
    levels: NDArray[np.int64]

    @property
    def n_quasi(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.kinds)

    @cached_property
    def n_leaves(self) -> int:
        """The leaves of the largest tree, at least 1."""
        return max(1, int(self.sizes[self.kinds == TREE].max(initial=1)))


def rank_table(table: CodedTable) -> Ranks:
    """Replace values by ranks."""
    n, n_quasi = table.n_rows, len(table.quasi)
    rows = np.empty((n, n_quasi + len(table.sensitive) + 1), dtype=np.int32)
    kinds, sizes, offsets, levels = (np.zeros(n_quasi, dtype=np.int64) for _ in range(4))
    coordinates: list[NDArray[np.float64]] = [np.empty(0)]
    leaves: list[NDArray[np.int32]] = [np.empty((0, 2), dtype=np.int32)]
    for k, column in enumerate(table.quasi):
        kinds[k] = _kind(column)
        if isinstance(column, NumberColumn):
            rows[:, k], known = _rank_numbers(column)
            sizes[k], offsets[k] = len(known), sum(map(len, coordinates))
            coordinates.append(known)
        elif column.hierarchy is None:
            rows[:, k], sizes[k] = column.codes, len(column.labels)
        else:
            order, spans = _order_leaves(column.nodes)
            rows[:, k] = order[column.codes]
            sizes[k], levels[k], offsets[k] = len(order), column.nodes.shape[1], sum(map(len, leaves))
            leaves.append(spans)
    for s, sensitive in enumerate(table.sensitive):
        rows[:, n_quasi + s] = sensitive.codes
    rows[:, -1] = np.arange(n)
    return Ranks(rows, kinds, sizes, offsets, np.concatenate(coordinates), np.concatenate(leaves), levels)


def _kind(column: QuasiColumn) -> int:
    if isinstance(column, CategoryColumn):
        return LISTED if column.hierarchy is None else TREE
    return NUMBER


def _rank_numbers(column: NumberColumn) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rank of each value, missing ones last; and the place of each rank in the domain, from 0 to 1."""
    values = np.asarray(column.values)
    present = values if column.missing is None else values[~column.missing]
    known, found = _rank(present)
    span = column.high - column.low
    places = (known.astype(np.float64) - column.low) / (span if span > 0 else 1.0)
    if column.missing is None:
        return found, places
    ranks = np.full(len(values), len(known), dtype=np.int64)
    ranks[~column.missing] = found
    return ranks, places


def _rank(values: NDArray[np.number]) -> tuple[NDArray[np.number], NDArray[np.int64]]:
    """The distinct values and the rank of each; integers of a narrow range without sorting."""
    if len(values) and np.issubdtype(values.dtype, np.integer):
        low, high = int(values.min()), int(values.max())
        if high - low < _TABLE_PER_ROW * len(values):
            shifted = values.astype(np.int64) - low
            occurs = np.zeros(high - low + 1, dtype=bool)
            occurs[shifted] = True
            return np.flatnonzero(occurs) + low, (np.cumsum(occurs) - 1)[shifted]
    known, found = np.unique(values, return_inverse=True)
    return known, found.astype(np.int64)


def _order_leaves(nodes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rank of each leaf in the order of the tree, and the first and last leaf under each ancestor."""
    n_leaves, n_levels = nodes.shape
    order = np.lexsort(nodes.T)
    rank = np.empty(n_leaves, dtype=np.int32)
    rank[order] = np.arange(n_leaves)
    spans = np.empty((n_leaves, n_levels, 2), dtype=np.int32)
    for level in range(n_levels):
        ordered = nodes[order, level]
        begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        starts = np.flatnonzero(begins)
        run = np.cumsum(begins) - 1
        spans[:, level, 0] = starts[run]
        spans[:, level, 1] = np.append(starts[1:], n_leaves)[run] - 1
    return rank, spans.reshape(-1, 2)
