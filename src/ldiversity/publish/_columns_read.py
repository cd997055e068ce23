"""The types in which columns are published, and how a column is read into compact arrays, batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.base.limits import LARGEST_NUMBER, MOST_CHARACTERS, MOST_VALUES, are_measurable
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import MATCHED_BY_TEXT, Hierarchy, automatic_hierarchy, check_unambiguous
from ldiversity.methods import CategoryColumn, NumberColumn
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Parameter, Setting, say
from ldiversity.tables import time_texts

__all__ = [
    "CategoryReader",
    "NumberReader",
    "PersonReader",
    "is_number",
    "leaf_texts",
    "published_type",
    "with_missing_leaf",
]


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
    raise SchemaError("table", "must hold single values to be published", column=name, got=f"type {kind}").with_hint(
        "Drop the column, or turn it into text or numbers first."
    )


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
        if pa.types.is_date32(cells.type):
            cells = cells.cast(pa.int32())
        elif pa.types.is_temporal(cells.type):
            cells = cells.cast(pa.int64())
        missing = np.asarray(pc.is_null(cells, nan_is_null=True))
        numbers = np.asarray(pc.fill_null(cells, 0) if cells.null_count else cells)
        if numbers.dtype.kind == "f":
            numbers = np.where(missing, 0, numbers).astype(numbers.dtype) + 0.0  # -0.0 becomes 0.0
            if not np.isfinite(numbers).all():
                raise SchemaError(
                    "table", "must hold finite numbers to be generalized", column=self.name, got="infinite ones"
                ).with_hint("Replace them, or leave the cells empty.")
            if not self.exact and not are_measurable(numbers):
                raise SchemaError(
                    "table",
                    f"must hold numbers from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g} to be generalized",
                    column=self.name,
                    got="larger ones",
                ).with_hint("Give them in a larger unit, or leave the cells empty.")
        else:
            numbers = self._narrow(numbers)
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

    def _narrow(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """As 32-bit integers where they fit. Narrower ones would overflow when differences are taken."""
        low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        if low >= -(2**31) and high < 2**31:
            return numbers.astype(np.int32)
        if high >= 2**63:
            raise SchemaError(
                "table", "must hold numbers of at most 63 bits to be generalized", column=self.name
            ).with_hint(say("Declare {}, or drop the column.", Setting("types", (self.name, "text"))))
        return numbers.astype(np.int64)


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
        if pa.types.is_floating(cells.type):
            known = pc.add(cells, pa.scalar(0.0, cells.type))
            cells = pc.if_else(pc.is_nan(known), pa.scalar(None, cells.type), known)
        self._parts.append(cells.dictionary_encode())

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
        texts = _texts(values.take(pa.array(used)))
        missing = bool(counted[0])
        labels, hierarchy, places = self._label(texts, values.take(pa.array(used)), missing=missing)
        lookup = np.full(len(values) + 1, len(labels) - 1, dtype=np.int32)
        if missing:
            lookup[-1] = labels.index(MISSING_LABEL)
        lookup[used] = places
        coded = lookup[codes][order]
        originals = np.full(len(labels), -1, dtype=np.int64)
        originals[places] = used
        kept = values.take(pa.array(originals, mask=originals < 0))
        return CodedCategories(CategoryColumn(self.name, coded, labels, hierarchy), kept)

    def _label(
        self, texts: Sequence[str], values: pa.Array, *, missing: bool
    ) -> tuple[tuple[str, ...], Hierarchy | None, CodeArray]:
        """The labels in code order, the hierarchy with its rows in that order, and the code of each text."""
        if missing and MISSING_LABEL in texts:
            raise SchemaError(
                "table", f"must not have the text {MISSING_LABEL!r} beside missing values", column=self.name
            ).with_hint("Replace the text, or the missing values.")
        hierarchy = self._hierarchy
        if hierarchy is None and self._automatic:
            known = texts if pa.types.is_temporal(values.type) else values.to_pylist()
            listed = [*known, *([None] if missing else [])]
            hierarchy = _named(self.name, lambda: automatic_hierarchy(listed))
        if hierarchy is None:
            labels = tuple(sorted([*texts, MISSING_LABEL] if missing else texts))
            if not self.exact:
                self._check_listed(labels)
            place = {label: code for code, label in enumerate(labels)}
            return labels, None, np.array([place[text] for text in texts], dtype=np.int32)
        self.added_missing = missing and MISSING_LABEL not in hierarchy
        tree = with_missing_leaf(hierarchy) if self.added_missing else hierarchy
        _named(self.name, lambda: check_unambiguous(tree))
        if len(tree) > MOST_VALUES and not self.exact:
            raise self._too_many(len(tree))
        return tree.leaves, tree, self._places(tree, texts)

    def _places(self, tree: Hierarchy, texts: Sequence[str]) -> CodeArray:
        place = {leaf: code for code, leaf in enumerate(tree.leaves)}
        found = [place.get(text, -1) for text in _known_texts(texts, self.kind, place)]
        lacking = found.count(-1)
        if lacking:
            raise SchemaError(
                "hierarchies",
                f"every value of column {self.name!r} must be a leaf of its hierarchy",
                got=f"{lacking} that are not",
            ).with_hint(
                f"{MATCHED_BY_TEXT}; add a row for each. To see all values of the column, run: "
                f"ldiversity hierarchy TABLE --column {self.name}"
            )
        return np.array(found, dtype=np.int32)

    def _check_listed(self, labels: Sequence[str]) -> None:
        if len(labels) > MOST_VALUES:
            raise self._too_many(len(labels))
        n_long = sum(len(label) > MOST_CHARACTERS for label in labels)
        if n_long:
            raise SchemaError(
                "table",
                f"must hold texts of at most {MOST_CHARACTERS} characters to be generalized",
                column=self.name,
                got=f"{n_long} longer ones",
            ).with_hint("Shorten them, drop the column, or use a method that keeps quasi-identifiers as they are.")

    def _too_many(self, number: int) -> SchemaError:
        return SchemaError(
            "table", f"must have at most {MOST_VALUES} different values", column=self.name, got=number
        ).with_hint("Give coarser values, make it a number, or drop the column.")


class PersonReader:
    """Whose row it is: any column that identifies people."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: list[pa.Array] = []

    def add(self, cells: pa.Array) -> None:
        """Take the cells of one more batch."""
        if cells.null_count:
            raise SchemaError(
                "person", "must not have missing values", column=self.name, got=cells.null_count
            ).with_hint(say("Fill them in, or leave {} out.", Parameter("person")))
        self._parts.append(cells.dictionary_encode())

    def finish(self, order: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """A number for each person, with the rows in this order."""
        whole = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts.clear()
        indices = pa.chunked_array([part.indices for part in whole.chunks])
        people: NDArray[np.int64] = indices.to_numpy().astype(np.int64)[order]
        return people


def _texts(values: pa.Array) -> list[str]:
    """The text by which a hierarchy names each value."""
    if pa.types.is_temporal(values.type):
        texts: list[str] = time_texts(values.cast(pa.string())).to_pylist()
        return texts
    return [str(value) for value in values.to_pylist()]


def leaf_texts(values: pa.Array, leaves: Collection[str]) -> list[str]:
    """The text by which a hierarchy with these leaves names each value: 1.0 is 1 where only that is a leaf."""
    return _known_texts(_texts(values), values.type, leaves)


def _known_texts(texts: Sequence[str], kind: pa.DataType, leaves: Collection[str]) -> list[str]:
    if not pa.types.is_floating(kind):
        return list(texts)
    return [text if text in leaves else text.removesuffix(".0") for text in texts]


def with_missing_leaf(tree: Hierarchy) -> Hierarchy:
    """The hierarchy with a category of missing values under its root."""
    root = tree.rows[0][-1]
    rows = [*tree.rows, (*[MISSING_LABEL] * max(tree.depth - 1, 1), root)]
    return Hierarchy.from_rows(rows, origin=tree.origin)


def _named(column: str, act: Any) -> Any:  # noqa: ANN401 - whatever is asked for
    """Do something with a column, and name the column in any error."""
    try:
        return act()
    except SchemaError as error:
        error.about(column)
        raise
