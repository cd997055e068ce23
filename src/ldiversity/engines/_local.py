"""The engine of one machine: threads over batches, buckets on disk for what does not fit in memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.checks import check_integer
from ldiversity.base.randomness import FreshWords
from ldiversity.engines._base import BatchFunction
from ldiversity.engines._shuffle import shuffle_batches, shuffle_table

__all__ = ["LocalEngine"]

_CHUNK_ROWS: Final = 1 << 18


class LocalEngine:
    """Work on this machine.

    Parameters
    ----------
    workers
        Threads that compute at the same time; as many as there are cores when None.
    chunk_rows
        How many rows are worked on at once; memory grows with it, not with the table.
    words
        Repeatable words for the shuffle, in tests; secure and fresh for every shuffle when None.
    """

    name = "local"

    def __init__(
        self, *, workers: int | None = None, chunk_rows: int = _CHUNK_ROWS, words: FreshWords | None = None
    ) -> None:
        self.workers = check_integer("LocalEngine", "workers", workers or os.cpu_count() or 1, minimum=1)
        self.chunk_rows = check_integer("LocalEngine", "chunk_rows", chunk_rows, minimum=1)
        self._words = words

    def map_batches(self, function: BatchFunction, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Apply `function` to every batch, a few at a time; the batches come back in their order."""
        if self.workers == 1:
            yield from map(function, batches)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            waiting: deque[Future[pa.RecordBatch]] = deque()
            try:
                for batch in batches:
                    waiting.append(pool.submit(function, batch))
                    if len(waiting) > self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def shuffle(self, batches: Iterable[pa.RecordBatch], *, n_rows: int, scratch: Path | None) -> Iterator[pa.Table]:
        """All rows in a uniformly random order."""
        # Words of its own for every shuffle: an engine may be used again, by threads, and by forked processes.
        words = self._words or FreshWords()
        if scratch is None:
            yield shuffle_table(pa.Table.from_batches(batches), words)
            return
        yield from shuffle_batches(batches, n_rows=n_rows, bucket_rows=self.chunk_rows, words=words, scratch=scratch)
