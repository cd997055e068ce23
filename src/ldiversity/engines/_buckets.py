"""Putting rows in an order when they do not fit in memory.

Every row is dealt into a bucket on disk by the first bits of its key. Then each bucket is read, put in order in memory
and returned. With secure random words as keys, the order of all rows is exactly uniform (Rao 1961, Sandelius 1962): no
row's place depends on where it was before. A bucket that is still too large is dealt again, by the next bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import WordArray
from ldiversity.base.progress import tell
from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.base.spill import Buckets, Spill

__all__ = ["AtRandom", "ByKey", "Rule", "TogetherByKey", "put_in_order"]

_MOST_BITS: Final = 9
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
        order = pa.array(random_order(rows.num_rows, self._words))  # an order of all rows, so no place is beyond them
        return pc.take(rows.combine_chunks(), order, boundscheck=False)


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
    batches: Iterable[pa.RecordBatch],
    rule: Rule,
    *,
    n_rows: int,
    bucket_rows: int,
    scratch: Path | None,
    memory_bytes: int = 0,
) -> Iterator[pa.Table]:
    """The rows of all batches, bucket by bucket; every batch has been read when this returns.

    There are about `n_rows` rows, of which `bucket_rows` may be put in order at once. The buckets are in memory up to
    `memory_bytes`, or when `scratch` is None. What is more is encrypted, on the disk of that folder. They are removed
    after the last row.
    """
    n_bits = min(_MOST_BITS, max(0, (-(-n_rows // bucket_rows) - 1).bit_length()))
    if scratch is None or n_bits == 0:
        return _finished(list(batches), rule)
    spill = Spill(scratch, memory_bytes=memory_bytes)
    return _gather(_deal(batches, rule, spill, n_bits, 0), rule, spill, n_bits, bucket_rows)


def _finished(batches: list[pa.RecordBatch], rule: Rule) -> Iterator[pa.Table]:
    if batches:
        yield rule.finish(pa.Table.from_batches(batches))


def _gather(buckets: Buckets, rule: Rule, spill: Spill, used_bits: int, most: int) -> Iterator[pa.Table]:
    with spill:
        total, done = max(sum(map(buckets.n_rows, range(len(buckets)))), 1), 0
        for bucket in range(len(buckets)):
            done += buckets.n_rows(bucket)
            yield from _of_bucket(buckets, bucket, rule, spill, used_bits, most)
            tell(done / total)


def _of_bucket(
    buckets: Buckets, bucket: int, rule: Rule, spill: Spill, used_bits: int, most: int
) -> Iterator[pa.Table]:
    # Only above twice the limit, so that buckets that are a little too large by chance are not dealt again.
    size = buckets.n_rows(bucket)
    if size > 2 * most and used_bits < _WORD_BITS:
        n_bits = min(_MOST_BITS, (-(-size // most) - 1).bit_length(), _WORD_BITS - used_bits)
        parts = _deal(buckets.read(bucket), rule, spill, n_bits, used_bits)
        buckets.drop(bucket)
        for part in range(len(parts)):
            yield from _of_bucket(parts, part, rule, spill, used_bits + n_bits, most)
        return
    rows = list(buckets.read(bucket))
    buckets.drop(bucket)
    yield from _finished(rows, rule)


def _deal(batches: Iterable[pa.RecordBatch], rule: Rule, spill: Spill, n_bits: int, used_bits: int) -> Buckets:
    """Append every row to its bucket."""
    buckets = spill.buckets(1 << n_bits)
    shift = np.uint64(_WORD_BITS - n_bits)
    for batch in batches:
        buckets.deal(batch, (rule.words(batch, used_bits) >> shift).astype(np.int64))
    return buckets
