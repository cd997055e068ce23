"""The distinct values of a column, for hierarchies that are made from them or must contain them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ldiversity.errors import SchemaError
from ldiversity.hierarchies import MAX_LEAVES
from ldiversity.tables._source import Source
from ldiversity.tables._values import Tally, to_values, value_type

__all__ = ["ColumnValues", "column_values"]


class ColumnValues(NamedTuple):
    """Distinct values, None for a missing one, and how often each occurs."""

    values: list[Any]
    counts: list[int]


def column_values(source: Source, column: str) -> ColumnValues:
    """Read the distinct values of a column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ldiversity.tables import open_source
    >>> column_values(open_source(pa.table({"age": [41, None, 41]})), "age")
    ColumnValues(values=[41, None], counts=[2, 1])
    """
    tally = Tally(MAX_LEAVES)
    kind = value_type(source.columns[column]) if column in source.columns else None
    for batch in source.batches([column]):
        tally.add(batch.column(0) if kind is None else to_values(batch.column(0), kind))
    if tally.full or kind is None:
        raise SchemaError(
            source.name, f"must have at most {MAX_LEAVES:,} distinct numbers, texts or dates", column=column
        ).with_hint("Numbers and dates are generalized to intervals without a hierarchy.")
    values, counts = tally.result()
    missing = [tally.n_missing] if tally.n_missing else []
    present = [] if values is None else values.to_pylist()
    return ColumnValues([*present, *(None for _ in missing)], [*counts.tolist(), *missing])
