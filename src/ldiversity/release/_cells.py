"""Generalized cells as numbers, so that they can be checked and compared; and as texts, for CSV.

A cell is a short run of numbers. An interval is its two ends, or nothing when it is missing. A node is the position of
its label among all labels of the hierarchy. A list of values is their positions among the public values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.base.memory import not_enough_memory
from ldiversity.errors import UnsupportedError
from ldiversity.release._damage import damaged
from ldiversity.release._forms import Form
from ldiversity.release._grid import grid_of

__all__ = [
    "Cells",
    "cells_of",
    "column_of",
    "from_texts",
    "join_cells",
    "low_ends_first",
    "node_labels",
    "numbers_in",
    "numbers_out",
    "to_texts",
]

_ENDS: Final = 2
_BETWEEN: Final = ".."


@dataclass(frozen=True, eq=False)
class Cells:
    """Cell i is ``flat[starts[i]:starts[i + 1]]``."""

    starts: NDArray[np.int64]
    flat: NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many numbers each cell has."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.integer[Any]]) -> Cells:
        """The cells of these rows."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.starts[:-1][rows], lengths)
        return Cells(starts, self.flat[inside])

    def same(self, other: Cells) -> bool:
        """Whether all cells are alike."""
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.flat, other.flat)


def join_cells(parts: Sequence[Cells]) -> Cells:
    """The cells of all parts, one after the other."""
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
    flat = np.concatenate([part.flat for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    return Cells(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), flat)


def node_labels(form: Form) -> tuple[str, ...]:
    """All labels of the hierarchy of a form, each once."""
    levels = () if form.hierarchy is None else form.hierarchy.labels
    return tuple(dict.fromkeys(label for labels in levels for label in labels))


def cells_of(name: str, column: pa.Array, form: Form, kind: pa.DataType, *, in_range: bool = True) -> Cells:
    """The cells of a generalized column that may come from a stranger; intervals must lie in the public range."""
    if form.kind == "interval":
        return _intervals(name, column, form if in_range else None, kind)
    if form.kind == "node":
        codes = _positions(name, column, node_labels(form))
        return Cells(np.arange(len(codes) + 1), codes)
    return _lists(name, column, form)


def column_of(cells: Cells, form: Form, kind: pa.DataType) -> pa.Array:
    """The column of these cells."""
    if form.kind == "interval":
        low = np.zeros(len(cells), dtype=cells.flat.dtype)
        high = np.zeros_like(low)
        missing = cells.lengths == 0
        low[~missing], high[~missing] = cells.flat[::_ENDS], cells.flat[1::_ENDS]
        ends = [numbers_out(end, missing, kind) for end in (low, high)]
        return pa.StructArray.from_arrays(ends, names=["low", "high"])
    labels = pa.array(node_labels(form) if form.kind == "node" else form.labels, pa.string())
    if form.kind != "node" and cells.starts[-1] > np.iinfo(np.int32).max:
        raise not_enough_memory("release")  # so many entries of lists are never needed at once within a budget
    texts = labels.take(pa.array(cells.flat))
    return texts if form.kind == "node" else pa.ListArray.from_arrays(cells.starts.astype(np.int32), texts)


def low_ends_first(regions: pa.Table) -> pa.Table:
    """Regions with the lower end of each interval first: some versions of Arrow sort the names of dicts.

    Examples
    --------
    >>> ends = pa.array([{"high": 9, "low": 1}], pa.struct({"high": pa.int64(), "low": pa.int64()}))
    >>> low_ends_first(pa.table({"age": ends}))["age"].type
    StructType(struct<low: int64, high: int64>)
    """
    for place, (name, kind) in enumerate(zip(regions.column_names, regions.schema.types, strict=True)):
        if pa.types.is_struct(kind) and [field.name for field in kind] == ["high", "low"]:
            column = regions[name].combine_chunks()
            ends = [pc.struct_field(column, end) for end in ("low", "high")]
            regions = regions.set_column(place, name, pa.StructArray.from_arrays(ends, names=["low", "high"]))
    return regions


def numbers_in(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Numbers, days and instants as plain numbers; zero where missing."""
    kind = column.type
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64())
    return np.asarray(pc.fill_null(column, 0) if column.null_count else column)


def numbers_out(numbers: NDArray[Any], missing: BoolArray | None, kind: pa.DataType) -> pa.Array:
    """Plain numbers as the numbers, days or instants that they stand for."""
    storage = pa.int32() if pa.types.is_date32(kind) else pa.int64() if pa.types.is_temporal(kind) else kind
    mask = missing if missing is not None and missing.any() else None
    return pa.array(numbers, mask=mask).cast(storage).cast(kind)


def to_texts(column: pa.Array, form: Form) -> pa.Array:
    """A generalized column as texts: ``low..high``, a label, or values with ``|`` between them."""
    if form.kind == "interval":
        try:
            low, high = (column.field(number).cast(pa.string()) for number in range(_ENDS))
        except pa.ArrowInvalid:
            zone = getattr(column.type.field("low").type, "tz", None)
            raise UnsupportedError("table", f"the time zone {zone!r} must be known to write its instants").with_hint(
                "It may be misspelled, or this machine has no time zones."
            ) from None
        return pc.binary_join_element_wise(low, high, _BETWEEN)
    if form.kind == "values":
        escaped = pc.replace_substring(pc.replace_substring(column.values, "\\", "\\\\"), "|", "\\|")
        return pc.binary_join(pa.ListArray.from_arrays(column.offsets, escaped), "|")
    return column


def from_texts(name: str, column: pa.Array, form: Form, kind: pa.DataType) -> pa.Array:
    """What `to_texts` wrote."""
    if form.kind == "interval":
        missing = np.asarray(column.is_null())
        parts = pc.split_pattern(pc.fill_null(column, _BETWEEN), _BETWEEN, max_splits=1)
        if len(parts) and pc.min(pc.list_value_length(parts)).as_py() != _ENDS:
            raise damaged(f"column {name!r} must hold intervals")
        ends = [_end(pc.list_element(parts, number), missing, kind) for number in range(_ENDS)]
        return pa.StructArray.from_arrays(ends, names=["low", "high"])
    if form.kind == "values":
        if column.null_count:
            raise damaged(f"column {name!r} must hold lists of its values")
        unique = column.dictionary_encode()
        lists = pa.array([_split(text) for text in unique.dictionary.to_pylist()], pa.list_(pa.string()))
        return lists.take(unique.indices)
    return column


def _end(texts: pa.Array, missing: BoolArray, kind: pa.DataType) -> pa.Array:
    return pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), texts).cast(kind)


def _split(text: str) -> list[str]:
    values, current, escaped = [], "", False
    for character in text:
        if escaped or character not in "\\|":
            current, escaped = current + character, False
        elif character == "\\":
            escaped = True
        else:
            values.append(current)
            current = ""
    return [*values, current]


def _intervals(name: str, column: pa.Array, form: Form | None, kind: pa.DataType) -> Cells:
    if not pa.types.is_struct(column.type) or [field.name for field in column.type] != ["low", "high"]:
        raise damaged(f"column {name!r} must hold intervals")
    low, high = (end.cast(kind) for end in column.flatten())
    missing = np.asarray(low.is_null())
    if not np.array_equal(missing, np.asarray(high.is_null())):
        raise damaged(f"column {name!r} must hold intervals with two ends")
    ends = [numbers_in(end)[~missing] for end in (low, high)]
    if not bool(np.all(ends[0] <= ends[1])):
        raise damaged(f"column {name!r} must hold intervals whose low end is not above the high one")
    if (
        form is not None
        and len(ends[0])
        and (form.low is None or form.high is None or ends[0].min() < form.low or ends[1].max() > form.high)
    ):
        raise damaged(f"column {name!r} must hold intervals within its public range")
    if form is not None and form.grid is not None and not grid_of(form.grid, kind).holds(*ends):
        raise damaged(f"column {name!r} must hold intervals whose ends lie on its grid")
    starts = np.concatenate([[0], np.cumsum(np.where(missing, 0, _ENDS))]).astype(np.int64)
    return Cells(starts, np.column_stack(ends).reshape(-1))


def _lists(name: str, column: pa.Array, form: Form) -> Cells:
    if not pa.types.is_list(column.type) or column.null_count:
        raise damaged(f"column {name!r} must hold lists of its values")
    lengths = np.asarray(pc.list_value_length(column), dtype=np.int64)
    codes = _positions(name, column.flatten(), form.labels)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rising = np.diff(codes) > 0
    if lengths.all():
        rising[starts[1:-1] - 1] = True
    if not lengths.all() or not rising.all():
        raise damaged(f"column {name!r} must hold lists of its values, each once and in their order")
    return Cells(starts, codes)


def _positions(name: str, column: pa.Array, labels: Sequence[str]) -> NDArray[np.int32]:
    """The position of each text among the labels."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = pc.index_in(coded.dictionary.cast(pa.string()), value_set=pa.array(labels, pa.string()))
    lookup = np.asarray(pc.fill_null(known, -1), dtype=np.int32)
    if coded.indices.null_count:
        raise damaged(f"column {name!r} must hold its public values")
    codes: NDArray[np.int32] = lookup[np.asarray(coded.indices)]
    if len(codes) and codes.min() < 0:
        raise damaged(f"column {name!r} must hold its public values")
    return codes
