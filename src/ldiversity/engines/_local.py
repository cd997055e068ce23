"""The engine of one machine: threads over batches, buckets on disk for what does not fit in memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa

from ldiversity.base.checks import check_integer
from ldiversity.engines._base import BatchFunction, Engine, Factory, NumberedBatch, PartFunction, Secrets
from ldiversity.engines._buckets import AtRandom, ByKey, TogetherByKey, put_in_order
from ldiversity.release import THIS_MACHINE, DataFile, Format, staging_folder
from ldiversity.tables import COUNT, Source, count_values

__all__ = ["LocalEngine"]

_CHUNK_ROWS: Final = 1 << 18


class LocalEngine(Engine):
    """Work on this machine.

    Parameters
    ----------
    workers
        Threads that compute at the same time; as many as there are cores when None.
    chunk_rows
        How many rows are worked on at once; memory grows with it, not with the table.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> people = open_source(pa.table({"sex": ["f", "m", "f"]}))
    >>> [column.to_pylist() for column in LocalEngine().count(people, ["sex"])]
    [['f', 'm'], [2, 1]]
    """

    name: ClassVar[str] = "local"

    def __init__(self, *, workers: int | None = None, chunk_rows: int = _CHUNK_ROWS) -> None:
        self.workers = check_integer("LocalEngine", "workers", workers or os.cpu_count() or 1, minimum=1)
        self.chunk_rows = check_integer("LocalEngine", "chunk_rows", chunk_rows, minimum=1)

    def rows(self, source: Source, columns: Sequence[str]) -> Iterator[NumberedBatch]:
        """The rows of a table in their order, in batches of `chunk_rows`."""
        first = 0
        for batch in source.batches(columns, chunk_rows=self.chunk_rows):
            yield NumberedBatch(batch, 0, first)
            first += batch.num_rows

    def count(self, source: Source, by: Sequence[str], *, most: int | None = None) -> pa.Table | None:
        """How many rows have each combination of values; memory grows with the combinations."""
        names = list(by)
        if len(names) == 1:  # read without decoding where that is cheaper
            return count_values(source, names[0], most, chunk_rows=self.chunk_rows)
        total: pa.Table | None = None
        for batch in self.rows(source, names):
            counted = pa.table(batch.cells).group_by(names).aggregate([([], "count_all")])
            counted = counted.rename_columns([*names, COUNT])
            joined = counted if total is None else pa.concat_tables([total, counted])
            summed = joined.group_by(names).aggregate([(COUNT, "sum")])
            total = summed.rename_columns([*names, COUNT])
            if most is not None and total.num_rows > most:
                return None
        if total is not None:
            return total
        return pa.schema([*((name, source.columns[name]) for name in names), (COUNT, pa.int64())]).empty_table()

    def map(
        self, factory: Factory, source: Source, columns: Sequence[str], *, secrets: Secrets
    ) -> Generator[pa.RecordBatch]:
        """Apply a function to every batch, a few at a time; every thread makes one of its own."""
        batches = self.rows(source, columns)
        if self.workers == 1:
            yield from map(factory(secrets), batches)
            return
        own = threading.local()

        def run(batch: NumberedBatch) -> pa.RecordBatch:
            if not hasattr(own, "function"):
                own.function = factory(secrets)
            function: BatchFunction = own.function
            return function(batch)

        with ThreadPoolExecutor(self.workers) as pool:
            waiting: deque[Future[pa.RecordBatch]] = deque()
            try:
                for batch in batches:
                    waiting.append(pool.submit(run, batch))
                    if len(waiting) > self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def partition(
        self, function: PartFunction, batches: Iterable[pa.RecordBatch], *, by: str, n_rows: int, scratch: Path | None
    ) -> Iterator[pa.Table]:
        """Apply `function` to parts in which all rows of a key are together."""
        rule = TogetherByKey(by)
        return map(function, put_in_order(batches, rule, n_rows=n_rows, bucket_rows=self.chunk_rows, scratch=scratch))

    def order(
        self,
        batches: Iterable[pa.RecordBatch],
        *,
        n_rows: int,
        scratch: Path | None,
        secrets: Secrets | None = None,
        by: str | None = None,
    ) -> Iterator[pa.Table]:
        """All rows in a uniformly random order, or ascending by a column of 128-bit keys, which is taken off."""
        # Every call gets words of its own: an engine may be used again, by threads and by forked processes.
        rule = AtRandom((secrets or Secrets()).words()) if by is None else ByKey(by)
        return put_in_order(batches, rule, n_rows=n_rows, bucket_rows=self.chunk_rows, scratch=scratch)

    def write(self, file: Path, tables: Iterable[pa.Table], data_format: Format) -> int:
        """Write one file, each table made while the one before is written."""
        return THIS_MACHINE.write(file, tables, data_format)

    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Read one file."""
        return file.stored(names)

    def staging(self, target: Path, *, overwrite: bool) -> AbstractContextManager[Path]:
        """A private folder beside `target`."""
        return staging_folder(target, overwrite=overwrite)
