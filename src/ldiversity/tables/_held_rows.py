"""Rows of a text file as they were parsed, so that later passes need not parse them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.tables._rechunk import rechunk

__all__ = ["HELD_ROWS", "HeldRows"]

HELD_ROWS: Final = 262_144
"""Rows of a batch, as most readers ask for them."""


class HeldRows:
    """Rows in memory, unless they take too much; then nothing is held.

    Cells are texts, dictionaries of texts, or values of the type that all cells before them allowed.

    Parameters
    ----------
    most_bytes
        How much memory they may take.

    Examples
    --------
    >>> held = HeldRows(1000)
    >>> held.add(pa.record_batch({"age": [41, 50], "zip": pa.array(["01", "02"])}))
    True
    >>> held.settle({"age": pa.float64(), "zip": pa.string()})
    True
    >>> [batch.to_pylist() for batch in held.read(["age"])]
    [[{'age': 41.0}, {'age': 50.0}]]
    """

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._batches: list[pa.RecordBatch] = []
        self._waiting: list[pa.RecordBatch] = []
        self._types: Mapping[str, pa.DataType] = {}

    def add(self, batch: pa.RecordBatch) -> bool:
        """Hold more rows; False when they take too much memory, and nothing is held any more."""
        self._left -= batch.nbytes
        if self._left < 0:
            self._batches, self._waiting = [], []
            return False
        if self._waiting and self._waiting[0].schema != batch.schema:
            self._join(whole=True)
        self._waiting.append(batch)
        if sum(one.num_rows for one in self._waiting) >= HELD_ROWS:
            self._join()
        return True

    def settle(self, types: Mapping[str, pa.DataType]) -> bool:
        """Say of which types all cells are; whether they can be read from what is held."""
        if self._waiting:
            self._join(whole=True)
        self._types = types
        fits = all(
            _can_become(cells, types[name])
            for batch in self._batches
            for name, cells in zip(batch.schema.names, batch.columns, strict=True)
        )
        if not fits:
            self._batches = []
        return fits

    def read(self, columns: Sequence[str], most_rows: int = HELD_ROWS) -> Iterator[pa.RecordBatch]:
        """The rows, at most so many at once, with cells of their types; texts may be entries of dictionaries."""
        for batch in self._batches:
            for start in range(0, batch.num_rows, most_rows):
                some = batch.slice(start, most_rows)
                arrays = [_converted(some.column(name), self._types[name]) for name in columns]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _join(self, *, whole: bool = False) -> None:
        """Put rows that wait into batches of the usual size; with `whole`, also those that are left."""
        joined, self._waiting = list(rechunk(iter(self._waiting), HELD_ROWS)), []
        if not whole and joined[-1].num_rows < HELD_ROWS:
            self._waiting = [joined.pop()]
        self._batches += joined


def _can_become(cells: pa.Array, target: pa.DataType) -> bool:
    """Whether nothing is lost: texts are as they were, and whole numbers among others are small enough.

    A whole number 0 may have been written as -0, which is another number where there are fractions.
    """
    held = cells.type
    if held == pa.string() or pa.types.is_dictionary(held) or held == target:
        return True
    return held == pa.int64() and target == pa.float64() and not pc.any(pc.equal(cells, 0)).as_py()


def _converted(cells: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(cells.type):
        return cells if target == pa.string() else cells.dictionary.cast(target).take(cells.indices)
    return cells if cells.type == target else cells.cast(target)
