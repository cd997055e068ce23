"""The types in which columns are published."""

from __future__ import annotations

import pyarrow as pa

from ldiversity.errors import SchemaError

__all__ = ["published_type"]


def published_type(name: str, kind: pa.DataType) -> pa.DataType:
    """The type in which a column of this type is published; values stay what they were.

    Categories become their values, types that few tools read become text, and what is no single value is refused.

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
