"""Regions of classes as columns of numbers, which take little room while rows wait to be written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ldiversity.release import Cells, Form

__all__ = ["cells_column", "cells_of_column", "cells_type"]


def cells_type(form: Form, dtype: str | None) -> pa.DataType:
    """The type of a column of regions.

    Parameters
    ----------
    form
        How they are published.
    dtype
        The type of the numbers of an interval.
    """
    if form.kind == "interval":
        end = pa.float64() if np.dtype(dtype).kind == "f" else pa.int64()
        return pa.struct([("low", end), ("high", end)])
    return pa.int32() if form.kind == "node" else pa.list_(pa.int32())


def cells_column(cells: Cells, kind: pa.DataType) -> pa.Array:
    """Cells as a column of this type.

    Examples
    --------
    >>> interval = pa.struct([("low", pa.int64()), ("high", pa.int64())])
    >>> cells_column(Cells(np.array([0, 2, 2]), np.array([30, 40])), interval).to_pylist()
    [{'low': 30, 'high': 40}, None]
    """
    if pa.types.is_struct(kind):
        unknown = cells.lengths == 0
        ends = np.zeros((len(cells), 2), dtype=cells.flat.dtype)
        ends[~unknown] = cells.flat.reshape(-1, 2)
        fields = [pa.array(np.ascontiguousarray(end)).cast(kind.field(0).type) for end in ends.T]
        return pa.StructArray.from_arrays(fields, names=["low", "high"], mask=pa.array(unknown))
    flat = pa.array(cells.flat.astype(np.int32))
    if not pa.types.is_list(kind):
        return flat
    return pa.ListArray.from_arrays(pa.array(cells.starts.astype(np.int32)), flat)


def cells_of_column(column: pa.Array) -> Cells:
    """The cells of a column that `cells_column` made, or of some of its rows."""
    if pa.types.is_struct(column.type):
        known = np.asarray(column.is_valid())
        ends = [np.asarray(column.field(end).filter(column.is_valid())) for end in ("low", "high")]
        starts = np.concatenate([[0], np.cumsum(2 * known)]).astype(np.int64)
        return Cells(starts, np.column_stack(ends).reshape(-1))
    if pa.types.is_list(column.type):
        lengths = np.asarray(column.value_lengths())
        return Cells(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.asarray(column.flatten()))
    return Cells(np.arange(len(column) + 1), np.asarray(column))
