"""The engine of one machine: threads over batches, buckets on disk for what does not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import pyarrow as pa

from ldiversity.base.ahead import prefetch
from ldiversity.base.budget import Budget
from ldiversity.base.checks import check_integer
from ldiversity.base.held import give_back
from ldiversity.engines._base import Engine
from ldiversity.engines._buckets import AtRandom, ByKey, put_in_order
from ldiversity.engines._local_rows import KeptRows, MappedRows, OrderedRows, PartitionedRows
from ldiversity.engines._rows import Factory, NumberedBatch, PartFactory, Rows
from ldiversity.engines._sample import Sampled
from ldiversity.engines._secrets import Secrets
from ldiversity.release import DataFile, PartWriter, Written, staging_folder
from ldiversity.tables import COUNT, GivenReadOptions, Source, count_values, open_source

__all__ = ["LocalEngine"]

_CHUNK_ROWS: Final = 1 << 18
_FIRST_ROWS: Final = 2_000
_USUAL_BYTES: Final = 100
"""Bytes of a row of a table of some ten columns."""

_HELD_CELLS: Final = 1 << 27
"""Bytes that may be held of a text file, so that it is parsed once."""

_HELD_ROWS: Final = 1 << 28
"""Bytes that may be held of rows that are put in order."""

_ORDERED_ROWS: Final = 400_000
"""Rows that are put in order at once, where memory is not limited: fewer and larger pieces take less time."""


class LocalEngine(Engine):
    """Work on this machine.

    Parameters
    ----------
    workers
        Threads that compute at the same time; as many as there are cores when None.
    chunk_rows
        How many rows are worked on at once; memory grows with it, not with the table. When None, 2**18, or as many as
        `memory` allows.
    memory
        How much memory the process may take, such as ``"500MB"``, if it works on one table; no limit when None. When
        both are None, up to 128 MiB of the cells of a CSV file stay in memory, so that it is parsed once, and 256 MiB
        of the rows that are put in order.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> people = open_source(pa.table({"sex": ["f", "m", "f"]}))
    >>> [column.to_pylist() for column in LocalEngine().count(people, ["sex"])]
    [['f', 'm'], [2, 1]]
    """

    name: ClassVar[str] = "local"

    def __init__(
        self,
        *,
        workers: int | None = None,
        chunk_rows: int | None = None,
        memory: str | int | Budget | None = None,
    ) -> None:
        self.memory = memory if memory is None or isinstance(memory, Budget) else Budget(memory)
        cores = os.cpu_count() or 1
        most = cores if self.memory is None else min(cores, self.memory.most_workers)
        self.workers = check_integer("LocalEngine", "workers", workers or most, minimum=1)
        self.holds = chunk_rows is None and self.memory is None
        if chunk_rows is None:
            chunk_rows = _CHUNK_ROWS if self.memory is None else self.memory.chunk_rows(_USUAL_BYTES, self.workers)
        self.chunk_rows = check_integer("LocalEngine", "chunk_rows", chunk_rows, minimum=1)
        self._fitting: WeakKeyDictionary[Source, int] = WeakKeyDictionary()

    def open(self, data: Any, *, types: Mapping[str, str] | None = None, read: GivenReadOptions = None) -> Source:  # noqa: ANN401 - any frame
        """Open a file or a frame; some of what is parsed from texts stays in memory, unless memory is limited."""
        return open_source(data, types=types, read=read, hold=_HELD_CELLS if self.holds else 0)

    def rows(self, source: Source, columns: Sequence[str], *, encoded: Collection[str] = ()) -> Iterator[NumberedBatch]:
        """The rows of a table in their order, in batches of `chunk_rows`, or fewer where memory is limited."""
        first = 0
        for batch in source.batches(columns, chunk_rows=self._rows_at_once(source), encoded=encoded):
            yield NumberedBatch(batch, 0, first)
            give_back()
            first += batch.num_rows

    def _rows_at_once(self, source: Source) -> int:
        """Fewer rows of a table in which they are long, where memory is limited."""
        if self.memory is None:
            return self.chunk_rows
        if source not in self._fitting:
            first = next(source.batches(chunk_rows=_FIRST_ROWS), None)
            width = first.nbytes / first.num_rows if first is not None and first.num_rows else _USUAL_BYTES
            self._fitting[source] = min(self.chunk_rows, self.memory.chunk_rows(width, self.workers))
        return self._fitting[source]

    def count(
        self, source: Source | Rows, by: Sequence[str], *, times: str | None = None, most: int | None = None
    ) -> pa.Table | None:
        """How many rows have each combination of values; memory grows with the combinations."""
        names = list(by)
        columns = names if times is None else [*names, times]
        if isinstance(source, Rows):
            types, batches = source.schema, (batch.select(columns) for batch in source)
        elif len(columns) == 1:  # read without decoding where that is cheaper
            return count_values(source, names[0], most, chunk_rows=self.chunk_rows)
        else:
            types = pa.schema([(name, source.columns[name]) for name in columns])
            batches = (rows.cells for rows in self.rows(source, columns))
        total: pa.Table | None = None
        waiting: list[pa.Table] = []
        for batch in batches:
            how = ([], "count_all") if times is None else (times, "sum")
            counted = pa.Table.from_batches([batch]).group_by(names).aggregate([how])
            waiting.append(counted.rename_columns([*names, COUNT]))
            # Added up only when there is as much to add, so that the time does not grow with the square of the rows.
            if sum(one.num_rows for one in waiting) >= (0 if total is None else total.num_rows):
                total, waiting = _added_up([*waiting, *([] if total is None else [total])], names), []
                if most is not None and total.num_rows > most:
                    return None
        if total is not None and waiting:
            total = _added_up([*waiting, total], names)
            if most is not None and total.num_rows > most:
                return None
        if total is not None:
            return total
        return pa.schema([*(types.field(name) for name in names), (COUNT, pa.int64())]).empty_table()

    def sample(self, source: Source, columns: Sequence[str], n_rows: int, *, secrets: Secrets) -> pa.Table:
        """The rows with the least words under the key of the job, in the order of their words."""
        sampled = Sampled(secrets, n_rows)
        for batch in self.rows(source, columns):
            sampled.add(batch)
        return sampled.result(pa.schema([(name, source.columns[name]) for name in columns]))

    def map(self, factory: Factory, source: Source | Rows, columns: Sequence[str], *, secrets: Secrets) -> Rows:
        """Apply a function to every batch, a few at a time."""

        def batches() -> Iterator[NumberedBatch]:
            if isinstance(source, Rows):
                return (NumberedBatch(batch.select(list(columns))) for batch in source)
            return self.rows(source, columns, encoded=getattr(factory, "encoded", ()))

        return MappedRows(factory, batches, secrets=secrets, workers=self.workers)

    def partition(
        self, factory: PartFactory, rows: Rows, *, by: str, n_parts: int, secrets: Secrets, scratch: Path | None
    ) -> Rows:
        """Deal the rows into buckets, and apply a function to one after the other."""
        return PartitionedRows(
            factory, rows, by=by, n_parts=n_parts, secrets=secrets, scratch=scratch, workers=self.workers
        )

    def keep(self, rows: Rows, *, scratch: Path | None) -> Rows:
        """Compute the rows, and keep them in memory or encrypted on disk."""
        return KeptRows(rows, scratch)

    def order(
        self,
        rows: Iterable[pa.RecordBatch],
        *,
        n_rows: int,
        scratch: Path | None,
        secrets: Secrets | None = None,
        by: str | None = None,
    ) -> Rows:
        """All rows in a uniformly random order, or ascending by a column of 128-bit keys, which is taken off."""
        # Every call gets words of its own: an engine may be used again, by threads and by forked processes.
        rule = AtRandom((secrets or Secrets()).words()) if by is None else ByKey(by)
        schema = rows.schema if isinstance(rows, Rows) else None
        if schema is not None and by is not None:
            schema = schema.remove(schema.get_field_index(by))
        most, batches = self._bucket_rows(rows)
        held = _HELD_ROWS if self.holds else 0
        with closing(prefetch(batches)) if self.holds and self.workers > 1 else nullcontext(batches) as made:
            tables = put_in_order(made, rule, n_rows=n_rows, bucket_rows=most, scratch=scratch, memory_bytes=held)
        return OrderedRows(tables, schema)

    def _bucket_rows(self, rows: Iterable[pa.RecordBatch]) -> tuple[int, Iterable[pa.RecordBatch]]:
        """How many rows are put in order at once, and all rows."""
        if self.memory is None:
            return _ORDERED_ROWS if self.holds else self.chunk_rows, rows
        following = iter(rows)
        first = next((batch for batch in following if batch.num_rows), None)
        if first is None:
            return self.chunk_rows, ()
        return self.memory.bucket_rows(first.nbytes / first.num_rows), chain([first], following)

    def write(self, folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
        """Write one file, each batch made while the one before is written."""
        return [
            writer(
                folder, writer.file_name(), (pa.Table.from_batches([batch]) for batch in rows), reader=self.read_back
            )
        ]

    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Read one file; several groups of its rows at once, unless memory is limited."""
        return file.stored(names, workers=self.workers if self.holds else 1)

    def staging(self, target: Path, *, overwrite: bool) -> AbstractContextManager[Path]:
        """A private folder beside `target`."""
        return staging_folder(target, overwrite=overwrite)


def _added_up(counted: list[pa.Table], names: list[str]) -> pa.Table:
    summed = pa.concat_tables(counted).group_by(names).aggregate([(COUNT, "sum")])
    return summed.rename_columns([*names, COUNT])
