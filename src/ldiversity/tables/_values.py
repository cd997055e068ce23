"""Convert the cells of a column to values of a domain: texts, integers, floats, booleans."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Scalar
from ldiversity.schema import Domain
from ldiversity.sentences import type_word
from ldiversity.tables._guard import guarded

__all__ = [
    "OUTSIDE",
    "Tally",
    "code_lookup",
    "distinct_cells",
    "domain_array",
    "python_rows",
    "time_texts",
    "to_values",
    "value_type",
]

OUTSIDE: Final = -2
"""The code of a cell that is not a value of the domain; -1 is a row to be dropped."""

_INT_DIGITS: Final = 18
_FLOAT_DIGITS: Final = 15
_MERGE_ROWS: Final = 200_000
_TIME: Final = r"^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d*[1-9])?(?:\.?0*)$"
_TIME_LETTERS: Final = len("2020-01-31T00:00:00")
"""Shorter texts are no times."""


def value_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type of a domain's values for a column of this type; None if such a column cannot be coded.

    Examples
    --------
    >>> value_type(pa.int8()), value_type(pa.date32()), value_type(pa.list_(pa.int8()))
    (DataType(int64), DataType(string), None)
    """
    if pa.types.is_dictionary(kind):
        return value_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return _decimal_type(kind)
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_boolean(kind):
        return pa.bool_()
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    times = pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    return pa.string() if texts or times or pa.types.is_null(kind) else None


def _decimal_type(kind: pa.DataType) -> pa.DataType:
    if kind.scale <= 0 and kind.precision - kind.scale <= _INT_DIGITS:
        return pa.int64()
    return pa.float64() if kind.precision <= _FLOAT_DIGITS else pa.string()


def to_values(cells: pa.Array, target: pa.DataType) -> pa.Array:
    """Convert cells to the type of a domain's values; NaN becomes missing, times become ISO texts.

    Examples
    --------
    >>> to_values(pa.array([0.5, float("nan")]), pa.float64()).to_pylist()
    [0.5, None]
    """
    if pa.types.is_timestamp(cells.type):
        return time_texts(pc.replace_substring(pc.cast(cells, target), " ", "T", max_replacements=1))
    values = pc.cast(cells, target)
    if pa.types.is_floating(target):
        values = pc.add(values, 0.0)  # -0.0 becomes 0.0
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, target), values)
    return values


def time_texts(texts: pa.Array) -> pa.Array:
    """Write the same time the same way, whatever file it came from; other texts stay unchanged.

    Examples
    --------
    >>> time_texts(pa.array(["2020-01-31 00:00:00.000", "2020-01-31 08:30:00.500", "flu"])).to_pylist()
    ['2020-01-31', '2020-01-31T08:30:00.5', 'flu']
    """
    if (pc.max(pc.binary_length(texts)).as_py() or 0) < _TIME_LETTERS:
        return texts
    iso = pc.replace_substring_regex(texts, _TIME, r"\1T\2\3")
    return pc.replace_substring_regex(iso, r"^(\d{4}-\d\d-\d\d)T00:00:00$", r"\1")


def python_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows of Python objects; times that Python cannot hold become ISO texts, whatever packages are installed.

    Examples
    --------
    >>> python_rows(pa.table({"at": pa.array([1], pa.timestamp("ns"))}))
    [{'at': '1970-01-01T00:00:00.000000001'}]
    """
    columns = [_python_values(column) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _python_values(cells: pa.ChunkedArray) -> list[Any]:
    try:
        if pa.types.is_timestamp(cells.type) and cells.type.unit == "ns":
            # Otherwise Arrow would return Timestamp if pandas is installed, and fail if it is not.
            cells = cells.cast(pa.timestamp("us", cells.type.tz))
        values: list[Any] = cells.to_pylist()
    except (OverflowError, ValueError):
        if not pa.types.is_temporal(cells.type):
            raise
        values = pc.replace_substring(cells.cast(pa.string()), " ", "T", max_replacements=1).to_pylist()
    return values


def domain_array(domain: Domain, target: pa.DataType | None = None) -> pa.Array:
    """Return the values of a domain as an Arrow array, in code order.

    Raises
    ------
    SchemaError
        When the values are of several types, or do not fit the one they have.

    Examples
    --------
    >>> domain_array(Domain((1, 2, None))).type
    DataType(int64)
    """
    kind = target if target is not None else _domain_type(domain.values)
    with guarded(
        "Domain",
        "values",
        "must all be of one type and fit it",
        got=f"others for {type_word(kind)}",
        hint="Use texts only, booleans only, or numbers of at most 64 bits only.",
    ):
        return pa.array(domain.values, kind)


def _domain_type(values: tuple[Scalar, ...]) -> pa.DataType:
    present = [value for value in values if value is not None]
    booleans = [isinstance(value, bool) for value in present]
    if present and all(booleans):
        return pa.bool_()
    if not present or any(booleans) or not all(isinstance(value, int | float) for value in present):
        return pa.string()
    return pa.int64() if all(isinstance(value, int) for value in present) else pa.float64()


def distinct_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[Any]]:
    """Return the distinct cells, and the position of each row among them: one past the last if its cell is missing."""
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    indices = coded.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), len(coded.dictionary))
    return coded.dictionary, indices.to_numpy()


def code_lookup(distinct: pa.Array, values: pa.Array, missing: int) -> CodeArray:
    """Return the code of each distinct cell, `OUTSIDE` for one that is not among `values`; at the end, `missing`."""
    cells = to_values(distinct, values.type)
    codes = pc.fill_null(pc.index_in(cells, value_set=values, skip_nulls=True), OUTSIDE).to_numpy()
    if cells.null_count:
        codes = np.where(np.asarray(cells.is_null()), missing, codes)
    return np.append(codes, np.int32(missing)).astype(np.int32, copy=False)


class Tally:
    """Counts of distinct cells, gathered chunk by chunk.

    Parameters
    ----------
    limit
        Stop counting beyond this many distinct cells. Then `full` is true, `n_at_stop` is the number of distinct
        cells so far, and `rows_at_stop` the number of rows with a value so far.

    Examples
    --------
    >>> tally = Tally(limit=10)
    >>> tally.add(pa.array(["flu", None, "cold", "flu"]))
    >>> tally.result()[0].to_pylist(), tally.result()[1].tolist(), tally.n_missing
    (['flu', 'cold'], [2, 1], 1)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.full = False
        self.n_at_stop = 0
        self.rows_at_stop = 0
        self.n_rows = 0
        self.n_missing = 0
        self._parts: list[tuple[pa.Array, NDArray[np.int64]]] = []
        self._n_waiting = 0

    def add(self, cells: pa.Array) -> None:
        """Count the cells of one more chunk."""
        self.n_rows += len(cells)
        self.n_missing += _count_missing(cells)
        if self.full or len(cells) == 0 or pa.types.is_null(cells.type):
            return
        self._parts.append(_count(cells))
        self._n_waiting += len(self._parts[-1][0])
        if self._n_waiting > max(_MERGE_ROWS, self.limit) or len(self._parts[-1][0]) > self.limit:
            self._merge()

    def skip(self, cells: pa.Array) -> None:
        """Count only which cells of a chunk are missing."""
        self.n_rows += len(cells)
        self.n_missing += int(cells.null_count)

    def result(self) -> tuple[pa.Array | None, NDArray[np.int64]]:
        """Return the distinct cells and how often each occurs; None if there are none, or too many."""
        self._merge()
        if self.full or not self._parts:
            return None, np.zeros(0, dtype=np.int64)
        return self._parts[0]

    def _merge(self) -> None:
        if len(self._parts) > 1:
            joined = pa.concat_arrays([values for values, _ in self._parts]).dictionary_encode()
            counts = np.zeros(len(joined.dictionary), dtype=np.int64)
            np.add.at(counts, joined.indices.to_numpy(), np.concatenate([c for _, c in self._parts]))
            self._parts = [(joined.dictionary, counts)]
        self._n_waiting = 0
        if self._parts and len(self._parts[0][0]) > self.limit:
            self.full = True
            self.n_at_stop, self.rows_at_stop = len(self._parts[0][0]), self.n_rows - self.n_missing
            self._parts = []


def _count(cells: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    indices = coded.indices.drop_null().to_numpy()
    counts = np.bincount(indices, minlength=len(coded.dictionary)).astype(np.int64)
    # A dictionary may list values that no row has, and a missing value.
    occurs = pc.and_(pa.array(counts > 0), pc.invert(pc.is_null(coded.dictionary, nan_is_null=True)))
    return coded.dictionary.filter(occurs), counts[np.asarray(occurs)]


def _count_missing(cells: pa.Array) -> int:
    if pa.types.is_dictionary(cells.type):
        unknown = np.asarray(pc.is_null(cells.dictionary, nan_is_null=True))
        listed = np.count_nonzero(unknown[cells.indices.drop_null().to_numpy()]) if unknown.any() else 0
        return int(cells.indices.null_count + listed)
    if pa.types.is_floating(cells.type):
        return int(pc.sum(pc.is_null(cells, nan_is_null=True)).as_py() or 0)
    return int(cells.null_count)
