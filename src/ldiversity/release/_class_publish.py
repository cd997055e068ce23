"""Grouped rows as they are published."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ldiversity._types import CodeArray
from ldiversity.models import ClassCounts
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._coded import parse_type
from ldiversity.release._description import ClassDescription
from ldiversity.schema import Role
from ldiversity.tables import domain_array

__all__ = ["publish_counts", "publish_rows"]


def publish_rows(description: ClassDescription, rows: ClassRows, part: slice) -> pa.Table:
    """Some rows as a table: class columns first, then the columns of the schema in their order."""
    schema = description.schema
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for column in dict.fromkeys(description.class_columns.values()):
        columns[column] = _numbers(rows.class_of(column)[part])
    for attribute in schema.attributes:
        name = attribute.name
        if attribute.role is Role.SENSITIVE:
            if description.layout == "generalized":
                values = domain_array(schema.domain(name), parse_type(attribute.type))
                columns[name] = values.take(pa.array(rows.values(name)[part]))
        elif attribute.role is Role.QUASI and description.forms[name].kind != "exact":
            (column,) = set(description.class_columns.values())
            columns[name] = rows.regions()[name].take(pa.array(rows.class_of(column)[part]))
        else:
            whole = rows.columns([name])[name]
            columns[name] = whole.slice(part.start, part.stop - part.start).cast(parse_type(attribute.type))
    return pa.table(columns)


def publish_counts(description: ClassDescription, attribute: str, classes: ClassCounts) -> pa.Table:
    """The values of every class: its number, the value, and how often it occurs."""
    class_ids = np.repeat(np.arange(1, classes.n_classes + 1), np.diff(classes.starts))
    values = domain_array(classes.domain, parse_type(description.schema[attribute].type))
    return pa.table(
        {
            description.class_columns[attribute]: pa.array(class_ids.astype(np.int32)),
            attribute: values.take(pa.array(classes.codes)),
            "count": pa.array(classes.counts),
        }
    )


def _numbers(class_of: CodeArray) -> pa.Array:
    """Published numbers of classes; nothing where a record has none."""
    return pa.array(class_of + 1, mask=class_of < 0) if (class_of < 0).any() else pa.array(class_of + 1)
