"""Rows as codes and rows as published.

Inside, a sensitive column holds codes: fixed lists of l codes (layout ``sets``) or one code per row (layout
``exploded``). Published, it holds values: a list column in Parquet, or one column per member in CSV.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, SetArray
from ldiversity.base.gather import gathered
from ldiversity.errors import ReleaseFormatError, SchemaError
from ldiversity.schema import Domain, Role, Schema
from ldiversity.tables import ShortTexts, decode_sets, domain_array, encode_values

__all__ = [
    "check_member_names",
    "code_column",
    "code_set_columns",
    "codes_of",
    "member_names",
    "parse_type",
    "publish_batch",
    "sets_of",
    "wrap_sets",
]

_SIMPLE_TYPES: Final[Mapping[str, pa.DataType]] = {
    str(kind): kind
    for kind in (
        *(pa.bool_(), pa.string(), pa.large_string(), pa.date32(), pa.date64()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float32(), pa.float64()),
    )
}
_OFTEN: Final = 16
_TIMESTAMP: Final = re.compile(r"timestamp\[(s|ms|us|ns)(?:, tz=([\w/+:\-]{1,64}))?\]")


def wrap_sets(sets: SetArray) -> pa.FixedSizeListArray:
    """Sets as an Arrow column of codes, without a copy."""
    n, l = sets.shape
    flat = pa.array(np.ascontiguousarray(sets, dtype=np.int32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, l) if n else pa.array([], type=pa.list_(pa.int32(), l))


def sets_of(column: pa.ChunkedArray | pa.Array, l: int) -> SetArray:
    """The sets of a column that `wrap_sets` made."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(pc.list_flatten(whole).to_numpy(zero_copy_only=False), dtype=np.int32).reshape(-1, l)


def codes_of(column: pa.ChunkedArray | pa.Array) -> CodeArray:
    """The codes of a column with one code per row."""
    return np.asarray(column.to_numpy(), dtype=np.int32)


def member_names(attribute: str, l: int) -> list[str]:
    """The columns of a set in CSV.

    Examples
    --------
    >>> member_names("disease", 2)
    ['disease_1', 'disease_2']
    """
    return [f"{attribute}_{number}" for number in range(1, l + 1)]


def publish_batch(coded: pa.Table, schema: Schema, *, layout: str, as_columns: bool, entries: bool = False) -> pa.Table:
    """Turn codes into values; with `as_columns`, a set becomes one column per member (CSV) instead of a list.

    With `entries`, texts become entries of dictionaries, but for CSV, which knows none.
    """
    names: list[str] = []
    columns: list[pa.Array | pa.ChunkedArray] = []
    for attribute in schema.attributes:
        column = coded.column(attribute.name)
        if attribute.role is not Role.SENSITIVE:
            names.append(attribute.name)
            columns.append(_as_written(column, decoded=as_columns or not entries))
            continue
        domain, kind = schema.domain(attribute.name), parse_type(attribute.type)
        if layout == "exploded":
            names.append(attribute.name)
            columns.append(_decode(codes_of(column), domain, kind))
            continue
        l = column.type.list_size
        sets = sets_of(column, l)
        if as_columns:
            names.extend(member_names(attribute.name, l))
            columns.extend(_decode(sets[:, member], domain, kind) for member in range(l))
        else:
            names.append(attribute.name)
            columns.append(decode_sets(sets, domain, kind))
    return pa.table(columns, names=names)


def _as_written(column: pa.ChunkedArray, *, decoded: bool) -> pa.ChunkedArray:
    """A column as it is written. That follows from the cells of its rows alone, however they came.

    Texts become a dictionary of what the rows show, in the order of these rows; nothing else may be written.
    """
    came_as = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if decoded or not pa.types.is_string(came_as):
        return column if column.type == came_as else column.cast(came_as)
    cells = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return pa.chunked_array([_as_shown(cells) if cells.type != came_as else cells.dictionary_encode()])


def _as_shown(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same cells, with a dictionary as if they had been texts: each one that they show, as they come."""
    n_known = len(cells.dictionary)
    places = np.asarray(pc.fill_null(cells.indices.cast(pa.int32()), n_known) if cells.null_count else cells.indices)
    shown = _as_they_come(places[: _OFTEN * n_known], n_known)
    if len(shown) < n_known:  # mostly the first rows show all of them, or all that any row shows
        n_shown = int(np.count_nonzero(np.bincount(places, minlength=n_known + 1)[:-1]))
        shown = shown if len(shown) == n_shown else _as_they_come(places, n_known)
    texts = cells.dictionary.take(pa.array(shown))
    if len(texts.unique()) < len(texts):  # a dictionary that lists a text twice
        return cells.cast(texts.type).dictionary_encode()
    number = np.zeros(n_known + 1, dtype=np.int32)
    number[shown] = np.arange(len(shown), dtype=np.int32)
    indices = pa.array(gathered(number, places), mask=places == n_known if cells.null_count else None)
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def _as_they_come(places: NDArray[np.integer[Any]], n_known: int) -> NDArray[np.int64]:
    """The different places below `n_known`, in the order in which they come first."""
    n_rows = len(places)
    first = np.full(n_known + 1, n_rows, dtype=np.int64)
    first[places[::-1]] = np.arange(n_rows - 1, -1, -1)  # of several, the last assignment stays
    shown = np.flatnonzero(first[:-1] < n_rows)
    return shown[np.argsort(first[shown])]


def code_set_columns(
    members: list[pa.ChunkedArray], domain: Domain, kind: pa.DataType, known: ShortTexts | None = None
) -> SetArray:
    """Sets from one column per member."""
    sets = np.empty((len(members[0]), len(members)), dtype=np.int32)
    for place, member in enumerate(members):
        sets[:, place] = code_column(member, domain, kind, known)
    return sets


def code_column(
    column: pa.ChunkedArray, domain: Domain, kind: pa.DataType, known: ShortTexts | None = None
) -> CodeArray:
    """Codes of a column of single values; raises `SchemaError` for a value outside the domain.

    `known` is as for `encode_values`.
    """
    entries = pa.types.is_dictionary(column.type) and column.type.value_type == kind
    return encode_values(column if entries else column.cast(kind), domain, known)


def parse_type(text: str) -> pa.DataType:
    """The Arrow type of that name; only types that this package publishes are known.

    Examples
    --------
    >>> parse_type("int64")
    DataType(int64)
    """
    if text in _SIMPLE_TYPES:
        return _SIMPLE_TYPES[text]
    timestamp = _TIMESTAMP.fullmatch(text)
    if timestamp:
        return pa.timestamp(timestamp[1], tz=timestamp[2])
    raise ReleaseFormatError("release", f"column type {text[:80]!r} is not known", hint="The release is damaged.")


def _decode(codes: CodeArray, domain: Domain, kind: pa.DataType) -> pa.Array:
    indices = pa.array(np.ascontiguousarray(codes))
    return domain_array(domain, kind).take(indices)


def check_member_names(schema: Schema, sizes: Mapping[str, int]) -> None:
    """Refuse member columns whose names are already taken."""
    taken = set(schema.names())
    for attribute, l in sizes.items():
        clash = taken.intersection(member_names(attribute, l))
        if clash:
            raise SchemaError(
                "table", f"has the name that a member of {attribute!r} needs in CSV", column=min(clash)
            ).with_hint("Rename the column, or publish as Parquet.")
