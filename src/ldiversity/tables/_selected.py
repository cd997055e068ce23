"""Some rows of a table, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import BoolArray
from ldiversity.tables._source import Source

__all__ = ["Missing", "SelectedRows", "with_values"]


class SelectedRows(Source):
    """The rows of a source that the mask `rows` selects, in their order. Nothing else of the source is visible.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> some = SelectedRows(open_source(pa.table({"a": [1, 2, 3]})), np.array([True, False, True]))
    >>> [batch["a"].to_pylist() for batch in some.batches()], some.n_rows
    ([[1, 3]], 2)
    """

    def __init__(self, source: Source, rows: BoolArray) -> None:
        super().__init__(
            source.name,
            source.columns,
            frame_kind=source.frame_kind,
            n_rows=int(np.count_nonzero(rows)),
            from_file=source.from_file,
            dtypes=source.dtypes,
        )
        self.published_as = source.published_as
        self._source = source
        self._rows = rows

    def category_order(self, column: str) -> pa.Array | None:
        """Return the categories of a column in order; some may not occur, and must not be published."""
        return self._source.category_order(column)

    def refuse_changes(self) -> None:
        """Raise `SchemaError` if the table was changed."""
        self._source.refuse_changes()

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        start = 0
        for batch in self._source.batches(columns, chunk_rows=chunk_rows, encoded=encoded):
            selected = self._rows[start : start + batch.num_rows]
            start += batch.num_rows
            yield batch if selected.all() else batch.filter(pa.array(selected))


class RowsWithValues(Source):
    """The rows of a source that have a value in all of some columns; NaN counts as missing. Nothing else is visible.

    `with_values` makes it, and knows how many rows there are.
    """

    def __init__(self, source: Source, needed: Sequence[str], n_rows: int) -> None:
        super().__init__(
            source.name,
            source.columns,
            frame_kind=source.frame_kind,
            n_rows=n_rows,
            from_file=source.from_file,
            dtypes=source.dtypes,
        )
        self.published_as = source.published_as
        self._source = self.shows = source
        self._needed = list(needed)
        self.needs_values = tuple(needed)

    def category_order(self, column: str) -> pa.Array | None:
        """Return the categories of a column in order; some may not occur, and must not be published."""
        return self._source.category_order(column)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        read = list(dict.fromkeys([*columns, *self._needed]))
        for batch in self._source.batches(read, chunk_rows=chunk_rows, encoded=encoded):
            known = np.logical_and.reduce([_have_value(batch.column(name)) for name in self._needed])
            kept = batch if known.all() else batch.filter(pa.array(known))
            yield kept.select(columns)


class Missing(NamedTuple):
    """How many rows a table has, how many miss each of some columns, and how many miss none of them."""

    n_rows: int
    of_column: dict[str, int]
    n_whole: int


def with_values(source: Source, columns: Sequence[str]) -> tuple[Source, Missing]:
    """The rows that have a value in all of these columns, in their order; read once to count them.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"a": [1.0, None, float("nan"), 2.0], "b": ["x", "y", "z", None]}))
    >>> rows, missing = with_values(table, ["a", "b"])
    >>> [batch.to_pydict() for batch in rows.batches()], missing
    ([{'a': [1.0], 'b': ['x']}], Missing(n_rows=4, of_column={'a': 2, 'b': 1}, n_whole=1))
    """
    n_rows, n_whole = 0, 0
    missing = dict.fromkeys(columns, 0)
    for batch in source.batches(columns):
        known = {name: _have_value(batch.column(name)) for name in columns}
        n_rows += batch.num_rows
        n_whole += int(np.count_nonzero(np.logical_and.reduce(list(known.values()))))
        for name, own in known.items():
            missing[name] += int(np.count_nonzero(~own))
    found = Missing(n_rows, missing, n_whole)
    return (source if n_whole == n_rows else RowsWithValues(source, columns, n_whole)), found


def _have_value(cells: pa.Array) -> BoolArray:
    return np.asarray(pc.invert(pc.is_null(cells, nan_is_null=True)))
