"""Numbers for combinations of values, in an order that depends on the values and never on the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["Numbered", "number_codes", "number_rows", "plain_cells", "ranked_codes", "value_ranks"]

_MOST: Final = (1 << 62) - 1
_MOST_APART: Final = 1 << 31
"""Whole numbers that are not farther apart need no ranks: what they exceed the least by has the same order."""

Numbered = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Shape (n,): the number of each row, from 0 without gaps; shape (m,): one row of each number."""


def plain_cells(cells: pa.Array) -> pa.Array:
    """Make cells equal exactly when they mean the same: NaN becomes missing, and -0.0 becomes 0.0.

    Examples
    --------
    >>> plain_cells(pa.array([0.0, -0.0, float("nan")])).to_pylist()
    [0.0, 0.0, None]
    """
    if not pa.types.is_floating(cells.type):
        return cells
    wide = cells.cast(pa.float64())
    return pc.if_else(pc.is_nan(wide), pa.scalar(None, pa.float64()), pc.add(wide, 0.0))


def ranked_codes(column: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    """Give the rank of each cell among the different cells of a column, from 1 (0 if missing), and their number.

    Examples
    --------
    >>> codes, n_codes = ranked_codes(pa.array(["b", None, "a", "b"]))
    >>> codes.tolist(), n_codes
    ([2, 0, 1, 2], 3)
    """
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64), 1
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode()
    ranks = np.append(value_ranks(coded.dictionary), 0)
    places = pc.fill_null(coded.indices.cast(pa.int64()), len(coded.dictionary)).to_numpy()
    return ranks[places], len(ranks)


def value_ranks(values: pa.Array) -> NDArray[np.int64]:
    """Give the rank of each of some different values, from 1.

    Examples
    --------
    >>> value_ranks(pa.array(["b", "c", "a"])).tolist()
    [2, 3, 1]
    """
    ranks = np.empty(len(values), dtype=np.int64)
    sortable = values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values
    ranks[np.asarray(pc.sort_indices(sortable))] = np.arange(1, len(ranks) + 1)
    return ranks


def number_rows(table: pa.Table, names: Sequence[str]) -> Numbered:
    """Number the different combinations of some columns, in the order of their values.

    Examples
    --------
    >>> ids, first = number_rows(pa.table({"a": ["y", "x", "y"], "b": [1, 1, 1]}), ["a", "b"])
    >>> ids.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    return number_codes((_ordered_codes(table.column(name)) for name in names), table.num_rows)


def _ordered_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    """Codes in the order of the cells, with a bound above all of them; some codes may stand for no cell."""
    if pa.types.is_integer(column.type) and column.type != pa.uint64() and column.null_count < len(column):
        least, greatest = (int(end.as_py()) for end in pc.min_max(column).values())
        if greatest - least < _MOST_APART:
            cells = column.fill_null(least) if column.null_count else column
            codes = cells.to_numpy().astype(np.int64) - least + 1
            if column.null_count:
                codes[column.is_null().to_numpy()] = 0
            return codes, greatest - least + 2
    return ranked_codes(column)


def number_codes(columns: Iterable[tuple[NDArray[np.integer[Any]], int]], n_rows: int) -> Numbered:
    """Number the different combinations of codes; each column comes with a bound above all its codes.

    Examples
    --------
    >>> number_codes([(np.array([0, 1, 0]), 2), (np.array([5, 5, 5]), 6)], 3)[0].tolist()
    [0, 1, 0]
    """
    keys, span = np.zeros(n_rows, dtype=np.int64), 1
    for codes, n_codes in columns:
        if span * n_codes > _MOST:  # renumber, so that keys never overflow
            _, keys = np.unique(keys, return_inverse=True)
            span = int(keys.max(initial=-1)) + 1
        keys, span = keys * n_codes + codes, span * n_codes
    if (keys[1:] >= keys[:-1]).all():  # as tallies give them
        starts = np.ones(n_rows, dtype=np.bool_)
        starts[1:] = keys[1:] != keys[:-1]
        return np.cumsum(starts) - 1, np.flatnonzero(starts)
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.ones(n_rows, dtype=np.bool_)
    starts[1:] = keys[1:] != keys[:-1]
    ids = np.empty(n_rows, dtype=np.int64)
    ids[order] = np.cumsum(starts) - 1
    return ids, np.minimum.reduceat(order, np.flatnonzero(starts))  # the first row of each, however ties were sorted
