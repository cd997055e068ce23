"""What a column looks like over all rows, so that any of its rows can be read alone and give the same codes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

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
from ldiversity.sentences import Setting, say
from ldiversity.tables import time_texts

__all__ = [
    "CategoryShape",
    "NumberShape",
    "comparable",
    "leaf_texts",
    "read_numbers",
    "too_many_values",
    "with_missing_leaf",
]

_Made = TypeVar("_Made")


def read_numbers(name: str, cells: pa.Array, *, exact: bool) -> tuple[NDArray[Any], BoolArray]:
    """Cells of the published type as numbers, days or instants of the smallest usual type; which ones are missing.

    Refused is what cannot be generalized. Zero stands where a value is missing. With `exact`, numbers are published as
    they are, so that they may be of any size.

    Examples
    --------
    >>> [found.tolist() for found in read_numbers("age", pa.array([30, None]), exact=False)]
    [[30, 0], [False, True]]
    """
    if pa.types.is_date32(cells.type):
        cells = cells.cast(pa.int32())
    elif pa.types.is_temporal(cells.type):
        cells = cells.cast(pa.int64())
    missing = np.asarray(pc.is_null(cells, nan_is_null=True))
    numbers = np.asarray(pc.fill_null(cells, 0) if cells.null_count else cells)
    if numbers.dtype.kind != "f":
        return _narrow(name, numbers), missing
    numbers = np.where(missing, 0, numbers).astype(numbers.dtype) + 0.0  # -0.0 becomes 0.0
    if not np.isfinite(numbers).all():
        raise SchemaError(
            "table", "must hold finite numbers to be generalized", column=name, got="infinite ones"
        ).with_hint("Replace them, or leave the cells empty.")
    if not exact and not are_measurable(numbers):
        raise SchemaError(
            "table",
            f"must hold numbers from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g} to be generalized",
            column=name,
            got="larger ones",
        ).with_hint("Give them in a larger unit, or leave the cells empty.")
    return numbers, missing


def _narrow(name: str, numbers: NDArray[Any]) -> NDArray[Any]:
    """As 32-bit integers where they fit. Narrower ones would overflow when differences are taken."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if low >= -(2**31) and high < 2**31:
        return numbers.astype(np.int32)
    if high >= 2**63:
        raise SchemaError("table", "must hold numbers of at most 63 bits to be generalized", column=name).with_hint(
            say("Declare {}, or drop the column.", Setting("types", (name, "text")))
        )
    return numbers.astype(np.int64)


@dataclass(frozen=True, eq=False)
class NumberShape:
    """A column of numbers over all rows.

    Parameters
    ----------
    name
        The column.
    dtype
        The type of its numbers that holds all of them.
    low, high
        The least and the greatest number; zero when there is none.
    missing
        Whether any row has no number.

    Examples
    --------
    >>> NumberShape("age", "int32", 18, 90, missing=False).column(np.array([30]), np.array([False])).scaled.round(2)
    array([0.17], dtype=float32)
    """

    name: str
    dtype: str
    low: float
    high: float
    missing: bool

    def column(self, numbers: NDArray[Any], missing: BoolArray) -> NumberColumn:
        """Some rows of the column."""
        values = np.asarray(numbers).astype(self.dtype, copy=False)
        return NumberColumn(self.name, values, self.low, self.high, missing if self.missing else None)


def comparable(cells: pa.Array) -> pa.Array:
    """Cells that are alike, alike: one zero, and no number is a missing one."""
    if not pa.types.is_floating(cells.type):
        return cells
    known = pc.add(cells, pa.scalar(0.0, cells.type))
    return pc.if_else(pc.is_nan(known), pa.scalar(None, cells.type), known)


@dataclass(frozen=True, eq=False)
class CategoryShape:
    """A column of categories over all rows.

    Parameters
    ----------
    name
        The column.
    labels
        The texts of the values, in the order of their codes.
    hierarchy
        Its rows stand in the order of `labels`; None when there is none.
    values, places
        The distinct values that occur, in the column's own type, and the code of each.
    missing
        The code of a missing value; -1 when there is none.
    added_missing
        Whether the hierarchy has missing values only because a row of the table has one.

    Examples
    --------
    >>> sex = CategoryShape.of("sex", pa.array(["m", "f"]), None, missing=True)
    >>> sex.labels, sex.codes(pa.array(["f", None, "m"])).tolist()
    (('(missing)', 'f', 'm'), [1, 0, 2])
    """

    name: str
    labels: tuple[str, ...]
    hierarchy: Hierarchy | None
    values: pa.Array
    places: CodeArray
    missing: int
    added_missing: bool

    @classmethod
    def of(
        cls,
        name: str,
        values: pa.Array,
        hierarchy: Hierarchy | None,
        *,
        missing: bool,
        automatic: bool = False,
        exact: bool = False,
    ) -> CategoryShape:
        """The shape of a column in which these distinct values occur, and missing ones where `missing`."""
        texts = _texts(values)
        if missing and MISSING_LABEL in texts:
            raise SchemaError(
                "table", f"must not have the text {MISSING_LABEL!r} beside missing values", column=name
            ).with_hint("Replace the text, or the missing values.")
        if hierarchy is None and automatic:
            known = texts if pa.types.is_temporal(values.type) else values.to_pylist()
            listed = [*known, *([None] if missing else [])]
            hierarchy = _named(name, lambda: automatic_hierarchy(listed))
        added = False
        if hierarchy is None:
            labels = tuple(sorted([*texts, MISSING_LABEL] if missing else texts))
            if not exact:
                _check_listed(name, labels)
            place = {label: code for code, label in enumerate(labels)}
            places = np.array([place[text] for text in texts], dtype=np.int32)
        else:
            added = missing and MISSING_LABEL not in hierarchy
            tree = with_missing_leaf(hierarchy) if added else hierarchy
            _named(name, lambda: check_unambiguous(tree))
            if len(tree) > MOST_VALUES and not exact:
                raise too_many_values(name, len(tree))
            hierarchy, labels, places = tree, tree.leaves, _leaf_codes(name, tree, texts, values.type)
        unknown = labels.index(MISSING_LABEL) if missing else -1
        return cls(name, labels, hierarchy, values, places, unknown, added)

    @property
    def originals(self) -> pa.Array:
        """The value of each label in the column's own type; missing where no row has it."""
        which = np.full(len(self.labels), -1, dtype=np.int64)
        which[self.places] = np.arange(len(self.places))
        return self.values.take(pa.array(which, mask=which < 0))

    def codes(self, cells: pa.Array) -> CodeArray:
        """The code of each cell. Refused is a value that did not occur when the shape was made."""
        coded = comparable(cells).dictionary_encode()
        found = np.asarray(pc.fill_null(pc.index_in(coded.dictionary, value_set=self.values), -1))
        if (found < 0).any() or (coded.null_count and self.missing < 0):
            raise SchemaError("table", "must not change while it is read", column=self.name).with_hint(
                "Work on a copy that nobody changes."
            )
        lookup = np.append(self.places[found], np.int32(self.missing)).astype(np.int32)
        codes: CodeArray = lookup[np.asarray(pc.fill_null(coded.indices, -1))]
        return codes

    def column(self, codes: CodeArray) -> CategoryColumn:
        """Some rows of the column."""
        return CategoryColumn(self.name, codes, self.labels, self.hierarchy)


def _leaf_codes(name: str, tree: Hierarchy, texts: Sequence[str], kind: pa.DataType) -> CodeArray:
    place = {leaf: code for code, leaf in enumerate(tree.leaves)}
    found = [place.get(text, -1) for text in _known_texts(texts, kind, place)]
    lacking = found.count(-1)
    if lacking:
        raise SchemaError(
            "hierarchies",
            f"every value of column {name!r} must be a leaf of its hierarchy",
            got=f"{lacking} that are not",
        ).with_hint(
            f"{MATCHED_BY_TEXT}; add a row for each. To see all values of the column, run: "
            f"ldiversity hierarchy TABLE --column {shlex.quote(name)}"
        )
    return np.array(found, dtype=np.int32)


def _check_listed(name: str, labels: Sequence[str]) -> None:
    if len(labels) > MOST_VALUES:
        raise too_many_values(name, len(labels))
    n_long = sum(len(label) > MOST_CHARACTERS for label in labels)
    if n_long:
        raise SchemaError(
            "table",
            f"must hold texts of at most {MOST_CHARACTERS} characters to be generalized",
            column=name,
            got=f"{n_long} longer ones",
        ).with_hint("Shorten them, drop the column, or use a method that keeps quasi-identifiers as they are.")


def too_many_values(name: str, number: object) -> SchemaError:
    """The refusal of a column with too many different values."""
    return SchemaError("table", f"must have at most {MOST_VALUES} different values", column=name, got=number).with_hint(
        "Give coarser values, make it a number, or drop the column."
    )


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


def _named(column: str, act: Callable[[], _Made]) -> _Made:
    """Do something with a column, and name the column in any error."""
    try:
        return act()
    except SchemaError as error:
        error.about(column)
        raise
