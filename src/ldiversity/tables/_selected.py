"""Some rows of a table, as a table of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import BoolArray
from ldiversity.tables._source import Source

__all__ = ["SelectedRows", "have_value"]


class SelectedRows(Source):
    """The rows of a source that a mask names, in their order. What is read off it is read off those rows alone.

    Parameters
    ----------
    source
        The whole table.
    rows
        Shape (rows of the source,): which of them are there.

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
        )
        self._source = source
        self._rows = rows

    def category_order(self, column: str) -> pa.Array | None:
        """The categories of a column in their order; whoever publishes them publishes only those that occur."""
        return self._source.category_order(column)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        start = 0
        for batch in self._source.batches(columns, chunk_rows=chunk_rows, encoded=encoded):
            some = self._rows[start : start + batch.num_rows]
            start += batch.num_rows
            yield batch if some.all() else batch.filter(pa.array(some))


def have_value(source: Source, columns: Sequence[str]) -> dict[str, BoolArray]:
    """Say of each column, shape (rows,), which rows have a value; NaN is none.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> have_value(open_source(pa.table({"a": [1.0, None, float("nan")]})), ["a"])["a"].tolist()
    [True, False, False]
    """
    parts: dict[str, list[BoolArray]] = {name: [np.zeros(0, dtype=np.bool_)] for name in columns}
    for batch in source.batches(columns):
        for name in columns:
            parts[name].append(np.asarray(pc.invert(pc.is_null(batch.column(name), nan_is_null=True))))
    return {name: np.concatenate(part) for name, part in parts.items()}
