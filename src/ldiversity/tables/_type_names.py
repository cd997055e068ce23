"""The words with which users declare the type of a column."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from ldiversity.errors import ParameterError
from ldiversity.tables._source import check_names, plain_type, unknown_column

__all__ = ["TYPE_NAMES", "TYPE_WORDS", "column_types", "declared_types"]

TYPE_WORDS: Final = ("text", "integer", "number", "boolean", "date")
"""The words that are offered; Arrow's names for the same types are understood too."""

TYPE_NAMES: Final[Mapping[str, pa.DataType]] = MappingProxyType(
    {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        # Arrow's names for the same types
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "date32": pa.date32(),
    }
)


def column_types(
    owner: str, schema: pa.Schema, types: Mapping[str, str] | None, *, from_file: bool = True
) -> dict[str, pa.DataType]:
    """Return the type of each column: the declared one, or the stored one without dictionaries and views."""
    names = check_names(owner, schema.names, from_file=from_file)
    columns = {name: plain_type(kind) for name, kind in zip(names, schema.types, strict=True)}
    return columns | declared_types(owner, types, columns, from_file=from_file)


def declared_types(
    owner: str, types: Mapping[str, str] | None, columns: Mapping[str, pa.DataType], *, from_file: bool = True
) -> dict[str, pa.DataType]:
    """Return the Arrow types that a user declared, by column.

    Examples
    --------
    >>> declared_types("patients.csv", {"zip": "text"}, {"zip": pa.int64()})
    {'zip': DataType(string)}
    """
    declared: dict[str, pa.DataType] = {}
    for column, word in (types or {}).items():
        if column not in columns:
            raise unknown_column(owner, column, columns, from_file=from_file)
        if word not in TYPE_NAMES:
            raise ParameterError(
                "open_source", f"types[{column!r}] must be one of {', '.join(TYPE_WORDS)}", got=repr(word)
            )
        declared[column] = TYPE_NAMES[word]
    return declared
