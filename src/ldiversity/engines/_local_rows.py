"""Rows on this machine: computed when they are read, or kept."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldiversity.base.ahead import made_ahead
from ldiversity.base.held import LARGE_PIECE, give_back
from ldiversity.base.spill import Spill
from ldiversity.engines._rows import BatchFunction, Factory, NumberedBatch, Part, PartFactory, Rows
from ldiversity.engines._secrets import Secrets

__all__ = ["KeptRows", "MappedRows", "OrderedRows", "PartitionedRows", "as_batch"]


class MappedRows(Rows):
    """What a function returns for every batch, a few batches at a time; every thread makes a function of its own."""

    def __init__(
        self, factory: Factory, batches: Callable[[], Iterator[NumberedBatch]], *, secrets: Secrets, workers: int
    ) -> None:
        self._factory, self._batches, self._secrets, self._workers = factory, batches, secrets, workers

    @property
    def schema(self) -> pa.Schema:
        """The columns that the function returns."""
        return self._factory.schema

    def __iter__(self) -> Generator[pa.RecordBatch]:
        """Read and compute. A caller that does not read to the end must close it, which ends the threads."""
        batches = self._batches()
        if self._workers == 1:
            yield from map(self._factory(self._secrets), batches)
            return
        own = threading.local()

        def run(batch: NumberedBatch) -> pa.RecordBatch:
            if not hasattr(own, "function"):
                own.function = self._factory(self._secrets)
            function: BatchFunction = own.function
            return function(batch)

        with closing(made_ahead(run, batches, self._workers)) as made:
            yield from made


class PartitionedRows(Rows):
    """What a function returns for every part. The rows are dealt into parts each time that they are read."""

    def __init__(
        self,
        factory: PartFactory,
        rows: Rows,
        *,
        by: str,
        n_parts: int,
        secrets: Secrets,
        scratch: Path | None,
        workers: int,
    ) -> None:
        self._factory, self._rows, self._by, self._n_parts = factory, rows, by, n_parts
        self._secrets, self._scratch, self._workers = secrets, scratch, workers
        self._notes: list[bytes] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns that the function returns."""
        return self._factory.schema

    def notes(self) -> list[bytes]:
        """What the function noted about each part."""
        if self._notes is None:
            with closing(iter(self)) as rows:
                deque(rows, maxlen=0)
        return list(self._notes or ())

    def __iter__(self) -> Generator[pa.RecordBatch]:
        """Deal the rows, and work on one part after the other."""
        function, notes = self._factory(self._secrets), []
        with closing(self._parts()) as parts:
            for number, rows in parts:
                give_back(ahead=LARGE_PIECE)
                made, note = function(Part(number, rows, self._workers))
                notes.append(note)
                yield as_batch(made)
                give_back()  # what this part took is free for the next
        self._notes = notes

    def _parts(self) -> Generator[tuple[int, pa.Table]]:
        if self._scratch is None:
            yield from self._in_memory()
            return
        with Spill(self._scratch) as spill:
            buckets = spill.buckets(self._n_parts)
            with closing(_iterator(self._rows)) as rows:
                for batch in rows:
                    buckets.deal(batch, _numbers(batch, self._by))
            for number in range(self._n_parts):
                if buckets.n_rows(number):
                    yield number, pa.Table.from_batches(buckets.read(number), self._rows.schema)
                    buckets.drop(number)

    def _in_memory(self) -> Iterator[tuple[int, pa.Table]]:
        with closing(_iterator(self._rows)) as rows:
            whole = pa.Table.from_batches(rows, self._rows.schema)
        numbers = np.asarray(whole.column(self._by))
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(self._n_parts + 1))
        for number in range(self._n_parts):
            mine = order[ends[number] : ends[number + 1]]
            if len(mine):
                yield number, whole.take(pa.array(mine))


class KeptRows(Rows):
    """Rows that were computed: in memory, or in an encrypted file of a scratch folder."""

    def __init__(self, rows: Rows, scratch: Path | None) -> None:
        self._schema = rows.schema
        self._spill = None if scratch is None else Spill(scratch)
        self._batches: Iterable[pa.RecordBatch] = ()
        with closing(_iterator(rows)) as computed:
            if self._spill is None:
                self._batches = [batch for batch in computed if batch.num_rows]
            else:
                self._bucket = self._spill.__enter__().buckets(1)
                for batch in computed:
                    self._bucket.deal(batch, np.zeros(batch.num_rows, dtype=np.int32))
        self._notes = rows.notes()

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._schema

    def notes(self) -> list[bytes]:
        """What was noted about each part when the rows were computed."""
        return self._notes

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Read what was kept."""
        return iter(self._batches) if self._spill is None else self._bucket.read(0)


class OrderedRows(Rows):
    """Rows in an order, bucket by bucket; they can be read once."""

    def __init__(self, tables: Iterator[pa.Table], schema: pa.Schema | None) -> None:
        self._tables, self._schema = tables, schema

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        if self._schema is None:
            raise TypeError("only rows of an engine have a schema before they are read")
        return self._schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Read the buckets, which are removed on the way."""
        return map(as_batch, self._tables)


def as_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table as one batch."""
    batches = table.combine_chunks().to_batches()
    if len(batches) == 1:
        batch: pa.RecordBatch = batches[0]
        return batch
    return pa.RecordBatch.from_arrays([pa.array([], column.type) for column in table.schema], schema=table.schema)


def _numbers(batch: pa.RecordBatch, by: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.asarray(batch.column(by)).astype(np.int64)


def _iterator(rows: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
    """An iterator that can be closed."""
    yield from rows
