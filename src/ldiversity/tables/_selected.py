"""Some rows of a table, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import BoolArray
from ldiversity.tables._source import Source

__all__ = ["SelectedRows", "have_value"]


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

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        start = 0
        for batch in self._source.batches(columns, chunk_rows=chunk_rows, encoded=encoded):
            selected = self._rows[start : start + batch.num_rows]
            start += batch.num_rows
            yield batch if selected.all() else batch.filter(pa.array(selected))


def have_value(source: Source, columns: Sequence[str]) -> dict[str, BoolArray]:
    """Return, for each column, which rows have a value; NaN counts as missing.

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
