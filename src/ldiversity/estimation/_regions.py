"""The published regions of a generalized column, as numbers and positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import ReleaseFormatError
from ldiversity.schema import MISSING_LABEL

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray
    from ldiversity.release import Form

__all__ = ["Intervals", "Lists", "label_array", "number_array", "read_intervals", "read_lists"]


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of a column, one a class.

    Parameters
    ----------
    low, high
        Shape (classes,): integers (days and instants in their unit) or floats; zero where unknown.
    unknown
        Which classes say nothing: any number of the public range, or none.
    ends
        The lower and the upper ends as they are published.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    unknown: BoolArray
    ends: tuple[pa.Array, pa.Array]


@dataclass(frozen=True, eq=False)
class Lists:
    """The values that each distinct region of a category holds: row r is ``starts[r]:starts[r + 1]`` of `values`."""

    region_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.int64]


def read_intervals(name: str, column: pa.ChunkedArray) -> Intervals:
    """Read ``{low, high}``."""
    whole = _combined(column)
    if not pa.types.is_struct(whole.type):
        raise _damaged(name, "must be published as intervals")
    low, high = (pc.struct_field(whole, part) for part in ("low", "high"))
    (lows, known), (highs, known_high) = _numbers(low), _numbers(high)
    if not np.array_equal(known, known_high) or (lows > highs).any():
        raise _damaged(name, "must be intervals whose lower end is not above the upper one")
    return Intervals(lows, highs, ~known, (low, high))


def read_lists(name: str, form: Form, column: pa.ChunkedArray) -> Lists:
    """Read nodes as the values under them, or lists of values."""
    whole = _combined(column)
    return _read_nodes(name, form, whole) if form.kind == "node" else _read_values(name, form, whole)


def label_array(labels: tuple[str, ...], kind: pa.DataType) -> pa.Array:
    """The public values of a category as cells of the column were before; texts where they cannot be read so.

    Examples
    --------
    >>> label_array(("10", "(missing)"), pa.int64()).to_pylist()
    [10, None]
    """
    texts = pa.array([None if label == MISSING_LABEL else label for label in labels], pa.string())
    try:
        return texts.cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return texts


def number_array(numbers: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Numbers as cells of a column: days and instants from integers of their unit.

    Examples
    --------
    >>> number_array(np.array([1, 2]), pa.date32()).to_pylist()[0].isoformat()
    '1970-01-02'
    """
    array = pa.array(numbers)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    return array.cast(kind, safe=False)


def _read_nodes(name: str, form: Form, column: pa.Array) -> Lists:
    if form.hierarchy is None:
        raise _damaged(name, "must come with its hierarchy")
    number = {label: position for position, label in enumerate(form.labels)}
    leaves = np.array([number.get(leaf, -1) for leaf in form.hierarchy.leaves], dtype=np.int64)
    encoded = column.dictionary_encode()
    members = []
    for label in encoded.dictionary.to_pylist():
        levels = [level for level, known in enumerate(form.hierarchy.labels) if label in known]
        if not levels:
            raise _damaged(name, "must be nodes of its hierarchy")
        position = form.hierarchy.labels[levels[0]].index(label)
        under = leaves[form.hierarchy.nodes[:, levels[0]] == position]
        members.append(under[under >= 0])
    if column.null_count or not all(len(under) for under in members):
        raise _damaged(name, "must be nodes above public values")
    starts = np.concatenate([[0], np.cumsum([len(under) for under in members])]).astype(np.int64)
    return Lists(np.asarray(encoded.indices).astype(np.int64), starts, np.concatenate(members))


def _read_values(name: str, form: Form, column: pa.Array) -> Lists:
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise _damaged(name, "must be published as lists of values")
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
    flat = pc.list_flatten(column)
    values = flat.cast(flat.type.value_type) if pa.types.is_dictionary(flat.type) else flat
    found = pc.index_in(values, value_set=pa.array(form.labels, pa.string()).cast(values.type))
    if found.null_count or not lengths.all():
        raise _damaged(name, "must be lists of public values")
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Lists(np.arange(len(lengths)), starts, np.asarray(found).astype(np.int64))


def _numbers(array: pa.Array) -> tuple[NDArray[Any], BoolArray]:
    kind = array.type
    known: BoolArray = np.asarray(pc.invert(pc.is_null(array, nan_is_null=True)))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    whole = pa.types.is_integer(kind) and kind != pa.uint64()
    target = pa.int64() if whole or pa.types.is_temporal(kind) else pa.float64()
    numbers = pc.fill_null(array.cast(target, safe=False), 0).to_numpy(zero_copy_only=False)
    return np.where(known, numbers, 0), known


def _combined(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _damaged(name: str, rule: str) -> ReleaseFormatError:
    return ReleaseFormatError("estimate", f"the regions of {name!r} {rule}").with_hint(
        "The release is damaged; ask the publisher for a good copy."
    )
