"""Grouped rows as they are published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import ClassArray, class_dtype
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

__all__ = [
    "coded_counts",
    "coded_rows",
    "own_columns",
    "publish_coded",
    "publish_coded_counts",
    "publish_counts",
    "publish_rows",
]

_CHUNK_ROWS: Final = 1 << 18


def publish_rows(description: ClassDescription, rows: ClassRows, *, as_texts: bool = False) -> Iterator[pa.Table]:
    """The rows as tables of bounded size: class columns first, then the columns of the schema in their order.

    With `as_texts`, generalized cells are texts, for CSV.
    """
    coded = coded_rows(description, rows, as_texts=as_texts)
    return (publish_coded(description, table, as_texts=as_texts) for table in coded)


def coded_rows(description: ClassDescription, rows: ClassRows, *, as_texts: bool = False) -> Iterator[pa.Table]:
    """The rows as `publish_coded` takes them: numbers of classes, codes in the sensitive columns, generalized cells."""
    class_columns = list(dict.fromkeys(description.class_columns.values()))
    classes = {column: rows.class_of(column) for column in class_columns}
    apart = description.layout == "bucketized"
    regions = {} if apart else _regions(description, rows, as_texts=as_texts)
    codes = {} if apart else {name: rows.values(name) for name in description.schema.names(Role.SENSITIVE)}
    plain = rows.columns(own_columns(description))
    n_rows = len(classes[class_columns[0]])
    for start in range(0, max(n_rows, 1), _CHUNK_ROWS):
        part = slice(start, min(start + _CHUNK_ROWS, n_rows))
        columns: dict[str, pa.Array | pa.ChunkedArray] = {
            name: _numbers(of[part], rows.n_classes(name)) for name, of in classes.items()
        }
        for attribute in description.schema.attributes:
            name = attribute.name
            if name in codes:
                columns[name] = pa.array(codes[name][part])
            elif name in regions:
                columns[name] = regions[name].take(pa.array(classes[class_columns[0]][part]))
            elif attribute.role is not Role.SENSITIVE:
                columns[name] = plain.column(name).slice(start, part.stop - start)
        yield pa.table(columns)


def publish_coded(description: ClassDescription, coded: pa.Table, *, as_texts: bool = False) -> pa.Table:
    """Rows as they are published, from rows with codes in the sensitive columns.

    Class columns have published numbers, from 1. With `as_texts`, generalized cells become texts where they are none.
    """
    class_columns = dict.fromkeys(description.class_columns.values())
    columns: dict[str, pa.Array | pa.ChunkedArray] = {name: coded.column(name) for name in class_columns}
    own = set(own_columns(description))
    for attribute in description.schema.attributes:
        name, kind = attribute.name, parse_type(attribute.type)
        if name in own:
            columns[name] = coded.column(name).cast(own_type(name, description.schema, description.forms))
        elif attribute.role is not Role.SENSITIVE:
            cells = coded.column(name)
            wanted = as_texts and not pa.types.is_string(cells.type)
            columns[name] = _texts(name, whole_array(cells), description.forms[name], kind) if wanted else cells
        elif description.layout == "generalized":
            columns[name] = domain_array(description.schema.domain(name), kind).take(coded.column(name))
    return pa.table(columns)


def publish_counts(description: ClassDescription, attribute: str, classes: ClassCounts) -> pa.Table:
    """The values of every class: its number, ``value``, and ``count``, how often it occurs."""
    return publish_coded_counts(description, attribute, coded_counts(description, attribute, classes))


def coded_counts(description: ClassDescription, attribute: str, classes: ClassCounts) -> pa.Table:
    """The values of every class as codes."""
    numbers = np.repeat(np.arange(1, classes.n_classes + 1), np.diff(classes.starts))
    return pa.table(
        {
            description.class_columns[attribute]: pa.array(numbers.astype(class_dtype(classes.n_classes))),
            "value": pa.array(classes.codes),
            "count": pa.array(classes.counts),
        }
    )


def publish_coded_counts(description: ClassDescription, attribute: str, coded: pa.Table) -> pa.Table:
    """The values of classes as they are published, from their codes."""
    class_column = description.class_columns[attribute]
    values = domain_array(description.schema.domain(attribute), parse_type(description.schema[attribute].type))
    columns = {class_column: coded[class_column], "value": values.take(coded["value"]), "count": coded["count"]}
    return pa.table(columns)


def own_columns(description: ClassDescription) -> list[str]:
    """The columns of which every record shows its own cell."""
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


def _numbers(class_of: ClassArray, n_classes: int) -> pa.Array:
    """Published numbers of classes; missing where a record has no class."""
    return pa.array((class_of.astype(np.int64) + 1).astype(class_dtype(n_classes)), mask=class_of < 0)
