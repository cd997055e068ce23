"""Grouped rows as they are published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.errors import ReleaseFormatError
from ldiversity.models import ClassCounts
from ldiversity.release._cells import cells_of, from_texts, to_texts
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damage
from ldiversity.release._description import ClassDescription
from ldiversity.release._forms import Form
from ldiversity.release._own_cells import own_type
from ldiversity.release._regions import whole_array
from ldiversity.release._sinks import not_given_back
from ldiversity.schema import Role
from ldiversity.tables import domain_array

__all__ = ["publish_counts", "publish_rows"]

_CHUNK_ROWS: Final = 1 << 18


def publish_rows(description: ClassDescription, rows: ClassRows, *, as_texts: bool = False) -> Iterator[pa.Table]:
    """The rows as tables of bounded size: class columns first, then the columns of the schema in their order.

    With `as_texts`, generalized cells are texts, for CSV.
    """
    class_columns = list(dict.fromkeys(description.class_columns.values()))
    classes = {column: rows.class_of(column) for column in class_columns}
    apart = description.layout == "bucketized"
    regions = {} if apart else _regions(description, rows, as_texts=as_texts)
    codes = {} if apart else {name: rows.values(name) for name in description.schema.names(Role.SENSITIVE)}
    plain = rows.columns(_plain_columns(description))
    n_rows = len(classes[class_columns[0]])
    for start in range(0, max(n_rows, 1), _CHUNK_ROWS):
        part = slice(start, min(start + _CHUNK_ROWS, n_rows))
        columns: dict[str, pa.Array | pa.ChunkedArray] = {name: _numbers(of[part]) for name, of in classes.items()}
        for attribute in description.schema.attributes:
            name, kind = attribute.name, parse_type(attribute.type)
            if name in codes:
                values = domain_array(description.schema.domain(name), kind)
                columns[name] = values.take(pa.array(codes[name][part]))
            elif name in regions:
                columns[name] = regions[name].take(pa.array(classes[class_columns[0]][part]))
            elif attribute.role is not Role.SENSITIVE:
                kept = own_type(name, description.schema, description.forms)
                columns[name] = plain.column(name).slice(start, part.stop - start).cast(kept)
        yield pa.table(columns)


def publish_counts(description: ClassDescription, attribute: str, classes: ClassCounts) -> pa.Table:
    """The values of every class: its number, ``value``, and ``count``, how often it occurs."""
    class_ids = np.repeat(np.arange(1, classes.n_classes + 1), np.diff(classes.starts))
    values = domain_array(classes.domain, parse_type(description.schema[attribute].type))
    return pa.table(
        {
            description.class_columns[attribute]: pa.array(class_ids.astype(np.int32)),
            "value": values.take(pa.array(classes.codes)),
            "count": pa.array(classes.counts),
        }
    )


def _plain_columns(description: ClassDescription) -> list[str]:
    apart = description.layout == "bucketized"
    own = [name for name, form in description.forms.items() if apart or form.kind == "exact"]
    named = {*own, *description.schema.names(Role.PLAIN)}
    return [name for name in description.schema.names() if name in named]


def _regions(description: ClassDescription, rows: ClassRows, *, as_texts: bool) -> dict[str, pa.Array]:
    columns = {}
    for name, column in zip((table := rows.regions()).column_names, table.columns, strict=True):
        whole = whole_array(column)
        kind = parse_type(description.schema[name].type)
        columns[name] = _texts(name, whole, description.forms[name], kind) if as_texts else whole
    return columns


def _texts(name: str, regions: pa.Array, form: Form, kind: pa.DataType) -> pa.Array:
    """Regions as texts, after checking that they can be read back as the same regions."""
    try:
        with damage(name):
            texts = to_texts(regions, form)
            read = cells_of(name, from_texts(name, texts, form, kind), form, kind)
            if read.same(cells_of(name, regions, form, kind)):
                return texts
    except ReleaseFormatError:
        pass  # a text that cannot be read back is a fault, too
    raise not_given_back(name, "csv")


def _numbers(class_of: CodeArray) -> pa.Array:
    """Published numbers of classes; missing where a record has no class."""
    return pa.array(class_of + np.int32(1), mask=class_of < 0)
