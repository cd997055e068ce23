"""Types that Arrow does not record: categories and their order, and the kinds of columns that pandas has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.limits import MOST_CHARACTERS, MOST_VALUES
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damaged
from ldiversity.schema import Attribute, Schema
from ldiversity.tables import to_native

__all__ = ["ShownCategories", "check_categories", "keep_shown", "to_frame"]

_CATEGORIES: Final = ("category", "ordered")


class ShownCategories:
    """The categories that occur in the published rows, batch by batch. Others must not become public.

    Examples
    --------
    >>> from ldiversity.schema import Role
    >>> stage = Attribute("stage", Role.QUASI, "string", dtype="ordered", categories=("low", "mid", "high"))
    >>> shown = ShownCategories(Schema((stage,)))
    >>> list(shown.watch([pa.table({"stage": ["high", "low", "low"]})]))[0].num_rows
    3
    >>> shown.schema()["stage"].categories
    ('low', 'high')
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._seen: dict[str, set[str]] = {one.name: set() for one in schema.attributes if one.categories}
        self._there: set[str] = set()

    def watch(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Hand the tables on, and take note of their categories."""
        for table in tables:
            self.add(table)
            yield table

    def add(self, table: pa.Table) -> None:
        """Take note of some rows."""
        self._there.update(table.column_names)
        for name, seen in self._seen.items():
            if name in table.column_names:
                seen.update(pc.unique(table.column(name)).cast(pa.string()).drop_null().to_pylist())

    def add_seen(self, columns: Iterable[str], seen: Mapping[str, Iterable[str]]) -> None:
        """Take note of what others saw: the columns that were there, and their categories."""
        self._there.update(columns)
        for name, texts in seen.items():
            self._seen[name].update(texts)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were there."""
        return tuple(sorted(self._there))

    def seen(self) -> dict[str, tuple[str, ...]]:
        """The categories that were seen, of every column that has ordered ones."""
        return {name: tuple(sorted(texts)) for name, texts in self._seen.items()}

    def schema(self) -> Schema:
        """The schema with the categories that were seen; a column that was not published has none."""
        return Schema(tuple(self._kept(one) for one in self._schema.attributes))

    def _kept(self, attribute: Attribute) -> Attribute:
        if attribute.dtype is None:
            return attribute
        if attribute.name not in self._there and attribute.dtype in _CATEGORIES:
            return replace(attribute, dtype=None, categories=())
        seen = self._seen.get(attribute.name, set())
        kept = replace(attribute, categories=tuple(text for text in attribute.categories if text in seen))
        return kept if _can_be_told(kept) else replace(attribute, dtype="category", categories=())


def keep_shown(schema: Schema, table: pa.Table) -> Schema:
    """The schema with the categories that occur in a table."""
    shown = ShownCategories(schema)
    shown.add(table)
    return shown.schema()


def check_categories(attribute: Attribute) -> None:
    """Refuse categories from a stranger that are not values of their column."""
    if attribute.categories:
        _category_array(attribute)


def to_frame(table: pa.Table, schema: Schema, frame_kind: str, ends: Mapping[str, Sequence[str]] | None = None) -> Any:  # noqa: ANN401 - the kind of frame the caller works with
    """A published table as a frame whose columns have the types of the source.

    `ends` names the columns with the ends of each generalized column, which have its type, too.
    """
    known = {name: schema[column].dtype for column, names in (ends or {}).items() for name in names}
    dtypes = {name: str(dtype) for name, dtype in known.items() if dtype is not None}
    for attribute in schema.attributes:
        name = attribute.name
        if attribute.dtype is None or name not in table.column_names:
            continue
        if table.schema.field(name).type != parse_type(attribute.type):
            continue  # a generalized column, which holds regions
        dtypes[name] = attribute.dtype
        if attribute.dtype in _CATEGORIES and _is_encodable(table.column(name)):
            table = table.set_column(table.column_names.index(name), name, _encoded(table.column(name), attribute))
    return to_native(table, frame_kind, dtypes=dtypes)


def _encoded(column: pa.ChunkedArray, attribute: Attribute) -> pa.ChunkedArray:
    if attribute.dtype == "category":
        # Sorted, so that the categories do not show the order of the rows.
        values = pc.unique(column).drop_null()
        values = values.take(pc.sort_indices(values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values))
    else:
        values = _category_array(attribute)
    indices = pc.index_in(column, value_set=values)
    if indices.null_count != column.null_count:
        raise damaged(f"column {attribute.name!r} must hold its categories")
    parts = [
        pa.DictionaryArray.from_arrays(chunk, values, ordered=attribute.dtype == "ordered") for chunk in indices.chunks
    ]
    kind = pa.dictionary(pa.int32(), values.type, ordered=attribute.dtype == "ordered")
    return pa.chunked_array(parts, kind)


def _category_array(attribute: Attribute) -> pa.Array:
    try:
        values = pa.array(attribute.categories, pa.string()).cast(parse_type(attribute.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise damaged(f"column {attribute.name!r} must have categories of its type") from None
    if not _are_apart(values):
        raise damaged(f"column {attribute.name!r} must have categories, each once")
    return values


def _can_be_told(attribute: Attribute) -> bool:
    """Whether ``release.json`` can list the categories; the order of others is not worth refusing a table."""
    texts = attribute.categories
    fits = len(texts) <= MOST_VALUES and max(map(len, texts), default=0) <= MOST_CHARACTERS
    return fits and _are_apart(pa.array(texts, pa.string()).cast(parse_type(attribute.type)))


def _is_encodable(column: pa.ChunkedArray) -> bool:
    return not pa.types.is_floating(column.type) or _are_apart(pc.unique(column).drop_null())


def _are_apart(values: pa.Array) -> bool:
    """Whether every frame can tell these categories apart: each once, one zero, no NaN."""
    if not pa.types.is_floating(values.type):
        return len(pc.unique(values)) == len(values)
    numbers = np.asarray(values)
    return not np.isnan(numbers).any() and len(np.unique(numbers)) == len(numbers)
