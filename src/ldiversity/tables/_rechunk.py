"""Batches of any size as batches of one size."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

__all__ = ["rechunk"]


def rechunk(batches: Iterator[pa.RecordBatch], chunk_rows: int) -> Iterator[pa.RecordBatch]:
    """Cut and join batches so that each except the last has exactly `chunk_rows` rows.

    Examples
    --------
    >>> parts = [pa.record_batch({"a": [1, 2, 3]}), pa.record_batch({"a": [4]})]
    >>> [batch.num_rows for batch in rechunk(iter(parts), 2)]
    [2, 2]
    """
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        start = 0
        while batch.num_rows - start >= chunk_rows - n_waiting:
            taken = batch.slice(start, chunk_rows - n_waiting)
            start += taken.num_rows
            yield _join([*waiting, taken])
            waiting, n_waiting = [], 0
        if start < batch.num_rows:
            waiting.append(batch.slice(start))
            n_waiting += batch.num_rows - start
    if waiting:
        yield _join(waiting)


def _join(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    # The dictionaries of the batches may differ; a table unifies them.
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return table.to_batches()[0]
