"""The types in which columns are published, and how a column is read into compact arrays, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, NumberColumn
from ldiversity.publish._shapes import CategoryShape, comparable, read_numbers
from ldiversity.sentences import Parameter, say, type_word

__all__ = ["CategoryReader", "NumberReader", "PersonReader", "is_number", "published_type"]


def published_type(name: str, kind: pa.DataType) -> pa.DataType:
    """The type in which a column of this type is published; values stay the same.

    Categories become their values, and types that few tools read become text. Lists and structures are refused.

    Examples
    --------
    >>> published_type("sex", pa.dictionary(pa.int8(), pa.string()))
    DataType(string)
    """
    if pa.types.is_dictionary(kind):
        return published_type(name, kind.value_type)
    as_it_is = (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )
    if as_it_is:
        return kind
    if pa.types.is_null(kind) or pa.types.is_decimal(kind) or pa.types.is_time(kind) or pa.types.is_string_view(kind):
        return pa.string()
    raise SchemaError(
        "table", "must hold single values to be published", column=name, got=f"type {type_word(kind)}"
    ).with_hint("Drop the column, or turn it into text or numbers first.")


def is_number(kind: pa.DataType) -> bool:
    """Whether columns of this type are generalized to intervals.

    Examples
    --------
    >>> is_number(pa.date32()), is_number(pa.string())
    (True, False)
    """
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(numeric or pa.types.is_date(kind) or pa.types.is_timestamp(kind))


class NumberReader:
    """Numbers, days and instants, kept exactly in the smallest usual type."""

    def __init__(self, name: str, kind: pa.DataType, *, exact: bool) -> None:
        self.name = name
        self.kind = kind
        self.exact = exact
        self._parts: list[NDArray[Any]] = []
        self._missing: list[BoolArray] = []

    def add(self, cells: pa.Array) -> None:
        """Take the cells of one more batch, already of the published type."""
        numbers, missing = read_numbers(self.name, cells, exact=self.exact)
        self._parts.append(numbers)
        self._missing.append(missing)

    def finish(self, order: NDArray[np.integer[Any]]) -> NumberColumn:
        """The column with its rows in this order; the reader is empty afterwards."""
        values = np.concatenate(self._parts)
        self._parts.clear()
        values = values[order]
        missing = np.concatenate(self._missing)
        self._missing.clear()
        if not missing.any():
            low, high = (values.min().item(), values.max().item()) if len(values) else (0, 0)
            return NumberColumn(self.name, values, low=low, high=high)
        missing = missing[order]
        known = values[~missing]
        low, high = (known.min().item(), known.max().item()) if len(known) else (0, 0)
        return NumberColumn(self.name, values, low=low, high=high, missing=missing)


@dataclass(frozen=True, eq=False)
class CodedCategories:
    """A column of categories, and the value of each label in the column's own type; missing where no row has it."""

    column: CategoryColumn
    originals: pa.Array


class CategoryReader:
    """Texts, truth values, and columns with a hierarchy; `added_missing`: the hierarchy had no missing values."""

    def __init__(
        self, name: str, kind: pa.DataType, hierarchy: Hierarchy | None, *, automatic: bool, exact: bool
    ) -> None:
        self.name = name
        self.kind = kind
        self.exact = exact
        self.added_missing = False
        self._hierarchy = hierarchy
        self._automatic = automatic
        self._parts: list[pa.Array] = []

    def add(self, cells: pa.Array) -> None:
        """Take the cells of one more batch, already of the published type."""
        self._parts.append(comparable(cells).dictionary_encode())

    def finish(self, order: NDArray[np.integer[Any]]) -> CodedCategories:
        """The column with its rows in this order; the reader is empty afterwards."""
        whole = pa.chunked_array(self._parts, pa.dictionary(pa.int32(), self.kind)).unify_dictionaries()
        self._parts.clear()
        values = whole.chunk(0).dictionary if whole.num_chunks else pa.array([], self.kind)
        codes = np.asarray(pc.fill_null(pa.chunked_array([part.indices for part in whole.chunks], pa.int32()), -1))
        del whole
        counted = np.bincount(codes + 1, minlength=len(values) + 1)
        # A dictionary may list values that no row has.
        used = np.flatnonzero(counted[1:])
        shape = CategoryShape.of(
            self.name,
            values.take(pa.array(used)),
            self._hierarchy,
            missing=bool(counted[0]),
            automatic=self._automatic,
            exact=self.exact,
        )
        self.added_missing = shape.added_missing
        lookup = np.full(len(values) + 1, len(shape.labels) - 1, dtype=np.int32)
        lookup[-1] = shape.missing
        lookup[used] = shape.places
        return CodedCategories(shape.column(lookup[codes][order]), shape.originals)


class PersonReader:
    """Whose row it is: any column that identifies people."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: list[pa.Array] = []

    def add(self, cells: pa.Array) -> None:
        """Take the cells of one more batch."""
        known = cells.dictionary_decode() if isinstance(cells, pa.DictionaryArray) and _has_floats(cells) else cells
        missing = pc.sum(pc.is_null(known, nan_is_null=True)).as_py()
        if missing:
            raise SchemaError("person", "must not have missing values", column=self.name, got=missing).with_hint(
                say("Fill them in, or leave {} out.", Parameter("person"))
            )
        if pa.types.is_floating(known.type):
            known = pc.add(known, pa.scalar(0.0, known.type))  # there are two zeros, which are one person
        self._parts.append(known.dictionary_encode())

    def finish(self, order: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """A number for each person, with the rows in this order."""
        whole = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts.clear()
        indices = pa.chunked_array([part.indices for part in whole.chunks])
        people: NDArray[np.int64] = indices.to_numpy().astype(np.int64)[order]
        return people


def _has_floats(cells: pa.DictionaryArray) -> bool:
    return bool(pa.types.is_floating(cells.type.value_type))
