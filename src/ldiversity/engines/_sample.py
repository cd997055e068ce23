"""Drawing some rows of a table uniformly: those whose keyed words are the least."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import WordArray
from ldiversity.base.randomness import KeyedWords
from ldiversity.engines._rows import NumberedBatch
from ldiversity.engines._secrets import Secrets

__all__ = ["Sampled"]


class Sampled:
    """Gathers the `n_rows` rows with the least words under the key of the job; batches may come in any order.

    Words belong to rows, so the sample does not depend on how the table is cut, or on work that is done again.

    Examples
    --------
    >>> sampled = Sampled(Secrets(insecure_seed=1), 2)
    >>> sampled.add(NumberedBatch(pa.record_batch({"age": [30, 41, 50]})))
    >>> sampled.result(pa.schema([("age", pa.int64())])).num_rows
    2
    """

    def __init__(self, secrets: Secrets, n_rows: int) -> None:
        self._words = KeyedWords(secrets.job, b"", "sample")
        self._n_rows = n_rows
        self._held: list[tuple[WordArray, pa.Table]] = []
        self._limit = np.uint64(2**64 - 1)

    def add(self, rows: NumberedBatch) -> None:
        """Look at some rows."""
        words = self.words(rows)
        small = np.flatnonzero(words <= self._limit)
        self._held.append((words[small], pa.Table.from_batches([rows.cells.take(pa.array(small))])))
        if sum(len(own) for own, _ in self._held) > 2 * self._n_rows:
            self._held = [self._least()]
            self._limit = self._held[0][0][-1]

    def words(self, rows: NumberedBatch) -> WordArray:
        """The word of each row."""
        return np.ascontiguousarray(self._words.for_records(rows.identities, 1)[:, 0])

    def result(self, schema: pa.Schema) -> pa.Table:
        """The rows in the order of their words, which is random."""
        return self._least()[1] if self._held else schema.empty_table()

    def _least(self) -> tuple[WordArray, pa.Table]:
        words = np.concatenate([own for own, _ in self._held])
        order = np.argsort(words, kind="stable")[: self._n_rows]
        return words[order], pa.concat_tables([table for _, table in self._held]).take(pa.array(order)).combine_chunks()
