"""Summarize the columns of a table, for `describe`. Only for the data holder: it shows true counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.schema import Role
from ldiversity.sentences import type_word
from ldiversity.tables._roles import suggest_role
from ldiversity.tables._source import DEFAULT_CHUNK_ROWS, Source
from ldiversity.tables._values import Tally, value_type

__all__ = ["ColumnSummary", "summarize_columns"]

_MOST_DISTINCT: Final = 10_000
_FEW_DISTINCT: Final = 50
_MOST_SHOWN: Final = 10


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table.

    Parameters
    ----------
    name, type
        The column, and its Arrow type as text.
    n_rows, n_missing
        All rows, and those without a value.
    n_distinct
        Distinct values without the missing one; the limit if `capped`; None if they cannot be counted.
    capped
        Whether there are more distinct values than were counted.
    role, reason
        A suggested role (None if nothing suggests one) and why.
    by_name
        Whether its name suggests the role.
    frequencies
        The most frequent values with their counts, for columns with few distinct values; else empty.
    largest_share
        Rows with the most frequent value over rows with any value, for columns that may be sensitive:
        ``1 / largest_share`` bounds the l that grouping methods can reach.
    """

    name: str
    type: str
    n_rows: int
    n_missing: int
    n_distinct: int | None
    capped: bool
    role: Role | None
    reason: str
    frequencies: tuple[tuple[str, int], ...] = ()
    largest_share: float | None = None
    by_name: bool = False

    @property
    def distinct(self) -> str:
        """The number of distinct values in words."""
        if self.n_distinct is None:
            return "not counted"
        return f"more than {self.n_distinct}" if self.capped else str(self.n_distinct)


def summarize_columns(source: Source, *, chunk_rows: int = DEFAULT_CHUNK_ROWS) -> list[ColumnSummary]:
    """Summarize every column in one streamed pass.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> [summary] = summarize_columns(open_source(pa.table({"disease": ["flu", "cold", "flu"]})))
    >>> summary.role, summary.frequencies
    (<Role.SENSITIVE: 'sensitive'>, (('flu', 2), ('cold', 1)))
    """
    codable = {name for name, kind in source.columns.items() if value_type(kind) is not None}
    tallies = {name: Tally(_MOST_DISTINCT) for name in source.columns}
    for batch in source.batches(chunk_rows=chunk_rows, encoded=codable):
        for name, tally in tallies.items():
            count = tally.add if name in codable else tally.skip
            count(batch.column(name))
    return [
        _summarize(name, kind, tallies[name]) if name in codable else _nested(name, kind, tallies[name])
        for name, kind in source.columns.items()
    ]


def _summarize(name: str, kind: pa.DataType, tally: Tally) -> ColumnSummary:
    cells, counts = tally.result()
    n_distinct = _MOST_DISTINCT if tally.full else len(counts)
    n_filled = tally.n_rows - tally.n_missing
    suggestion = (
        suggest_role(name, kind, tally.n_at_stop, tally.rows_at_stop)
        if tally.full
        else suggest_role(name, kind, n_distinct, n_filled)
    )
    few = cells is not None and n_distinct <= _FEW_DISTINCT
    sensitive = suggestion.role is Role.SENSITIVE and len(counts) > 0
    return ColumnSummary(
        name=name,
        type=str(kind),
        n_rows=tally.n_rows,
        n_missing=tally.n_missing,
        n_distinct=n_distinct,
        capped=tally.full,
        role=suggestion.role,
        reason=suggestion.reason,
        frequencies=_largest(cells, counts) if few else (),
        largest_share=int(counts.max()) / n_filled if sensitive else None,
        by_name=suggestion.by_name,
    )


def _largest(cells: pa.Array, counts: NDArray[np.int64]) -> tuple[tuple[str, int], ...]:
    if pa.types.is_temporal(cells.type):  # Python supports fewer days than Arrow
        try:
            cells = pc.cast(cells, pa.string())
        except pa.ArrowInvalid:  # a time zone that this machine does not know
            return ()
    labels = [str(value) for value in cells.to_pylist()]
    ranked = sorted(zip(labels, counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return tuple(ranked[:_MOST_SHOWN])


def _nested(name: str, kind: pa.DataType, tally: Tally) -> ColumnSummary:
    return ColumnSummary(
        name=name,
        type=str(kind),
        n_rows=tally.n_rows,
        n_missing=tally.n_missing,
        n_distinct=None,
        capped=False,
        role=None,
        reason=f"values of type {type_word(kind)} can only be dropped",
    )
