"""Putting rows in an order when they do not fit in memory.

Every row is dealt into a bucket on disk by the first bits of its key. Then each bucket is read, put in order in memory
and returned. With secure random words as keys, the order of all rows is exactly uniform (Rao 1961, Sandelius 1962): no
row's place depends on where it was before. A bucket that is still too large is dealt again, by the next bits.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import WordArray
from ldiversity.base.progress import tell
from ldiversity.base.randomness import FreshWords, random_order

__all__ = ["AtRandom", "ByKey", "Rule", "TogetherByKey", "put_in_order"]

_MOST_BITS: Final = 7
_WORD_BITS: Final = 64


class Rule(ABC):
    """Which bucket a row belongs to, and what becomes of a bucket."""

    @abstractmethod
    def words(self, batch: pa.RecordBatch, used_bits: int) -> WordArray:
        """A word for each row. Its first bits choose the bucket; `used_bits` of the key were used before."""

    @abstractmethod
    def finish(self, rows: pa.Table) -> pa.Table:
        """The rows of one bucket in their order."""


class AtRandom(Rule):
    """A uniformly random order."""

    def __init__(self, words: FreshWords) -> None:
        self._words = words

    def words(self, batch: pa.RecordBatch, used_bits: int) -> WordArray:  # noqa: ARG002 - fresh ones each time
        """Fresh words."""
        return self._words.draw(batch.num_rows)

    def finish(self, rows: pa.Table) -> pa.Table:
        """The rows in a uniformly random order."""
        return rows.combine_chunks().take(pa.array(random_order(rows.num_rows, self._words)))


class TogetherByKey(Rule):
    """Rows with the same key in the same bucket; buckets ascend."""

    def __init__(self, column: str) -> None:
        self.column = column

    def words(self, batch: pa.RecordBatch, used_bits: int) -> WordArray:
        """The first 64 bits of the keys, without those already used; rows that agree on all 64 stay together."""
        keys = batch.column(self.column)
        content = np.frombuffer(keys.buffers()[1], dtype=">u8").reshape(-1, 2)
        first = content[keys.offset : keys.offset + len(keys), 0].astype(np.uint64)
        return first << np.uint64(used_bits)

    def finish(self, rows: pa.Table) -> pa.Table:
        """The rows as they came."""
        return rows


class ByKey(TogetherByKey):
    """Ascending by a column of 128-bit keys, which is taken off."""

    def finish(self, rows: pa.Table) -> pa.Table:
        """The rows of a bucket, sorted."""
        order = pc.sort_indices(rows.column(self.column))
        return rows.drop_columns([self.column]).take(order)


def put_in_order(
    batches: Iterable[pa.RecordBatch], rule: Rule, *, n_rows: int, bucket_rows: int, scratch: Path | None
) -> Iterator[pa.Table]:
    """The rows of all batches, bucket by bucket; every batch has been read when this returns.

    There are about `n_rows` rows, of which `bucket_rows` may be in memory at once. The buckets are in the private
    folder `scratch`, or in memory when it is None. They are removed after the last row; if the caller stops before, the
    owner of the folder removes them.
    """
    n_bits = min(_MOST_BITS, max(0, (-(-n_rows // bucket_rows) - 1).bit_length()))
    if scratch is None or n_bits == 0:
        return _finished(list(batches), rule)
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        buckets = _deal(batches, rule, folder, n_bits, 0)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return _gather(folder, buckets, rule, n_bits, bucket_rows)


def _finished(batches: list[pa.RecordBatch], rule: Rule) -> Iterator[pa.Table]:
    if batches:
        yield rule.finish(pa.Table.from_batches(batches))


def _gather(folder: Path, buckets: list[tuple[Path, int]], rule: Rule, used_bits: int, most: int) -> Iterator[pa.Table]:
    try:
        total, done = max(sum(size for _, size in buckets), 1), 0
        for bucket, size in buckets:
            yield from _of_bucket(bucket, size, rule, used_bits, most)
            bucket.unlink()
            done += size
            tell(done / total)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _of_bucket(bucket: Path, size: int, rule: Rule, used_bits: int, most: int) -> Iterator[pa.Table]:
    # Only above twice the limit, so that buckets that are a little too large by chance are not dealt again.
    if size > 2 * most and used_bits < _WORD_BITS:
        n_bits = min(_MOST_BITS, (-(-size // most) - 1).bit_length(), _WORD_BITS - used_bits)
        with tempfile.TemporaryDirectory(dir=bucket.parent) as folder, closing(_read(bucket)) as rows:
            for part, part_size in _deal(rows, rule, Path(folder), n_bits, used_bits):
                yield from _of_bucket(part, part_size, rule, used_bits + n_bits, most)
        return
    with closing(_read(bucket)) as rows:
        yield from _finished(list(rows), rule)


def _deal(
    batches: Iterable[pa.RecordBatch], rule: Rule, folder: Path, n_bits: int, used_bits: int
) -> list[tuple[Path, int]]:
    """Append every row to its bucket; return the buckets that have rows, and how many."""
    from ldiversity._kernels.shuffle import deal

    buckets = [folder / f"{number}.arrow" for number in range(1 << n_bits)]
    sinks: list[pa.RecordBatchStreamWriter] = []
    rows = np.zeros(len(buckets), dtype=np.int64)
    try:
        for batch in batches:
            if not sinks:
                sinks = [pa.ipc.new_stream(str(bucket), batch.schema) for bucket in buckets]
            order, ends = deal(rule.words(batch, used_bits), n_bits)
            dealt = batch.take(pa.array(order))
            starts = np.concatenate([[0], ends[:-1]])
            for sink, start, end in zip(sinks, starts.tolist(), ends.tolist(), strict=True):
                if end > start:
                    sink.write_batch(dealt.slice(start, end - start))
            rows += ends - starts
    finally:
        for sink in sinks:
            sink.close()
    return [(bucket, size) for bucket, size in zip(buckets, rows.tolist(), strict=True) if size]


def _read(bucket: Path) -> Generator[pa.RecordBatch]:
    with pa.memory_map(str(bucket)) as stream, pa.ipc.open_stream(stream) as reader:
        yield from reader
