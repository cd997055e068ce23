"""Counting combinations of cells exactly, also when there are as many of them as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import IntArray
from ldiversity.base.hashing import HashArray, cell_hashes, mixed
from ldiversity.base.spill import Buckets, Spill

__all__ = ["Combinations", "Sizes", "sizes_of"]

_MOST_ROWS: Final = 1 << 16
"""Combinations that are in memory at once; of a few columns, they take some 10 MB while they are counted."""

_WAITING_BYTES: Final = 1 << 23
_BITS: Final = 7
_WORD_BITS: Final = 64
_ROWS: Final = "n"
_NEARLY: Final = 0.9


class Sizes(NamedTuple):
    """How many combinations occur how often.

    Attributes
    ----------
    sizes
        The different numbers of rows that a combination has, ascending.
    numbers
        How many combinations have each.
    """

    sizes: IntArray
    numbers: IntArray

    @property
    def n_rows(self) -> int:
        """All rows."""
        return int(self.sizes @ self.numbers)

    @property
    def n_combinations(self) -> int:
        """All different combinations."""
        return int(self.numbers.sum())


class Combinations:
    """How often each combination of cells occurs.

    Combinations that do not fit in memory are dealt into encrypted files by a hash of their cells. Each combination is
    whole in one of them, and is compared by its cells, so that counts are exact. A missing cell is a cell; NaN is a
    missing one, and minus zero is zero.

    Parameters
    ----------
    folder
        Whose disk holds the files; the system's folder for temporary files when None.
    whole
        How many of the first columns decide what `parts` keep together; all of them when None.
    most
        Combinations that are in memory at once.

    Examples
    --------
    >>> seen = Combinations()
    >>> seen.add(pa.table({"age": [41, 50, 41]}))
    >>> seen.add(pa.table({"age": [50, 50, 33]}))
    >>> seen.sizes()
    Sizes(sizes=array([1, 2, 3]), numbers=array([1, 1, 1]))
    """

    def __init__(self, folder: Path | None = None, *, whole: int | None = None, most: int = _MOST_ROWS) -> None:
        self._folder, self._whole, self._most = folder, whole, most
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0
        self._spill: Spill | None = None
        self._buckets: Buckets | None = None
        self._all_differ = False

    def add(self, rows: pa.Table, counts: IntArray | None = None) -> None:
        """Count some more rows; `counts` says how often each occurs, once when it is None."""
        if not rows.num_rows:
            return
        names = [f"k{place}" for place in range(rows.num_columns)]
        own = pa.array(np.ones(rows.num_rows, dtype=np.int64) if counts is None else counts)
        counted = pa.table([*map(_comparable, rows.columns), own], names=[*names, _ROWS])
        # Where nearly all rows differ, nothing is gained by counting them twice.
        if self._buckets is None or not self._all_differ:
            counted = _counted(counted)
        if self._buckets is not None:
            self._deal(self._buckets, counted, 0)
            return
        self._waiting.append(counted)
        self._n_waiting += counted.num_rows
        if self._n_waiting > self._most:
            together = _counted(pa.concat_tables(self._waiting))
            self._all_differ = _NEARLY * self._n_waiting < together.num_rows
            self._waiting, self._n_waiting = [together], together.num_rows
            if 2 * self._n_waiting > self._most:
                self._begin_to_deal()

    def parts(self) -> Iterator[pa.Table]:
        """All combinations, each in one table: columns ``"k0"``, ``"k1"``, ..., and ``"n"``, how often it occurs."""
        if self._spill is None or self._buckets is None:
            if self._waiting:
                yield _counted(pa.concat_tables(self._waiting))
            return
        with self._spill:
            for bucket in range(len(self._buckets)):
                for part in self._gathered(self._buckets, bucket, _BITS):
                    yield _counted(part)

    def sizes(self) -> Sizes:
        """How many combinations occur how often."""
        return sizes_of(part.column(_ROWS).to_numpy() for part in self.parts())

    def _begin_to_deal(self) -> None:
        self._spill = Spill(self._folder, waiting_bytes=_WAITING_BYTES)
        self._buckets = self._spill.buckets(1 << _BITS)
        for counted in self._waiting:
            self._deal(self._buckets, counted, 0)
        self._waiting, self._n_waiting = [], 0

    def _deal(self, buckets: Buckets, rows: pa.Table, used_bits: int) -> None:
        for batch in rows.combine_chunks().to_batches():
            numbers = self._hashes(batch) << np.uint64(used_bits) >> np.uint64(_WORD_BITS - _BITS)
            buckets.deal(batch, numbers.astype(np.int64))

    def _gathered(self, buckets: Buckets, bucket: int, used_bits: int) -> Iterator[pa.Table]:
        """The rows of a bucket; if they are too many, in parts, by the next bits of their hashes."""
        if self._spill is None or not buckets.n_rows(bucket):
            return
        if buckets.n_rows(bucket) <= 2 * self._most or used_bits + _BITS > _WORD_BITS:
            yield pa.Table.from_batches(buckets.read(bucket))
            buckets.drop(bucket)
            return
        smaller = self._spill.buckets(1 << _BITS)
        for batch in buckets.read(bucket):
            self._deal(smaller, pa.Table.from_batches([batch]), used_bits)
        buckets.drop(bucket)
        for part in range(len(smaller)):
            yield from self._gathered(smaller, part, used_bits + _BITS)

    def _hashes(self, counted: pa.RecordBatch) -> HashArray:
        hashes = np.zeros(counted.num_rows, dtype=np.uint64)
        n_keys = counted.num_columns - 1
        for place in range(n_keys if self._whole is None else self._whole):
            hashes += mixed(cell_hashes(counted.column(place)), salt=place)
        return mixed(hashes)


def sizes_of(parts: Iterable[IntArray]) -> Sizes:
    """Add up numbers of rows, some combinations at a time.

    Examples
    --------
    >>> sizes_of([np.array([1, 3]), np.array([1])])
    Sizes(sizes=array([1, 3]), numbers=array([2, 1]))
    """
    sizes, numbers = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for part in parts:
        own, counts = np.unique(part, return_counts=True)
        sizes, place = np.unique(np.concatenate([sizes, own]), return_inverse=True)
        numbers = np.rint(np.bincount(place, np.concatenate([numbers, counts]))).astype(np.int64)
    return Sizes(sizes, numbers)


def _comparable(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells that look alike, alike: values in place of dictionaries, one zero, and no number is a missing one."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if not pa.types.is_floating(cells.type):
        return cells
    numbers = pc.add(cells, pa.scalar(0.0, cells.type))
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, cells.type), numbers)


def _counted(rows: pa.Table) -> pa.Table:
    names = rows.column_names[:-1]
    if not names:
        return pa.table({_ROWS: [pc.sum(rows.column(_ROWS)).as_py()]})
    found = rows.group_by(names, use_threads=False).aggregate([(_ROWS, "sum")])
    return found.select([*names, f"{_ROWS}_sum"]).rename_columns([*names, _ROWS])
