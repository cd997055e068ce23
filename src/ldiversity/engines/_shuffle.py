"""Shuffling a table that does not fit in memory.

Every row is dealt into a uniformly random bucket on disk; then each bucket is read, shuffled in memory and handed
on. The order of all rows is exactly uniform (Rao 1961, Sandelius 1962): no row's place depends on where it stood.
A bucket that is still too large is dealt again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.randomness import FreshWords, random_order

__all__ = ["shuffle_batches", "shuffle_table"]

_MOST_BUCKET_BITS: Final = 7


def shuffle_table(table: pa.Table, words: FreshWords) -> pa.Table:
    """The rows of a table in memory, in a uniformly random order."""
    return table.combine_chunks().take(pa.array(random_order(table.num_rows, words)))


def shuffle_batches(
    batches: Iterable[pa.RecordBatch], *, n_rows: int, bucket_rows: int, words: FreshWords, scratch: Path
) -> Iterator[pa.Table]:
    """The rows of all batches in a uniformly random order, bucket by bucket.

    Parameters
    ----------
    batches
        Any number of batches of one schema.
    n_rows
        About how many rows there are.
    bucket_rows
        How many rows may be in memory at once.
    words
        Secure random words.
    scratch
        A private folder for the buckets; what is put there is removed again.
    """
    n_bits = min(_MOST_BUCKET_BITS, max(0, (-(-n_rows // bucket_rows) - 1).bit_length()))
    if n_bits == 0:
        yield from _shuffle_whole(batches, words)
        return
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        buckets = [Path(folder) / f"{number}.arrow" for number in range(1 << n_bits)]
        rows = _deal(batches, buckets, n_bits, words)
        for bucket, bucket_size in zip(buckets, rows, strict=True):
            if bucket_size == 0:
                continue
            # Dealt again only when more than twice the limit, so that chance alone never deals twice.
            target = bucket_rows if bucket_size > 2 * bucket_rows else bucket_size
            yield from shuffle_batches(
                _read(bucket), n_rows=bucket_size, bucket_rows=target, words=words, scratch=scratch
            )
            bucket.unlink()


def _shuffle_whole(batches: Iterable[pa.RecordBatch], words: FreshWords) -> Iterator[pa.Table]:
    collected = list(batches)
    if collected:
        yield shuffle_table(pa.Table.from_batches(collected), words)


def _deal(batches: Iterable[pa.RecordBatch], buckets: list[Path], n_bits: int, words: FreshWords) -> list[int]:
    """Append every row to a random bucket; return how many rows each bucket got."""
    from ldiversity._kernels.shuffle import deal

    sinks: list[pa.RecordBatchFileWriter] = []
    rows = np.zeros(len(buckets), dtype=np.int64)
    try:
        for batch in batches:
            if not sinks:
                sinks = [pa.ipc.new_stream(str(bucket), batch.schema) for bucket in buckets]
            order, ends = deal(words.draw(batch.num_rows), n_bits)
            dealt = batch.take(pa.array(order))
            starts = np.concatenate([[0], ends[:-1]])
            for sink, start, end in zip(sinks, starts.tolist(), ends.tolist(), strict=True):
                if end > start:
                    sink.write_batch(dealt.slice(start, end - start))
            rows += ends - starts
    finally:
        for sink in sinks:
            sink.close()
    return [int(count) for count in rows]


def _read(bucket: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(bucket)) as stream, pa.ipc.open_stream(stream) as reader:
        yield from reader
