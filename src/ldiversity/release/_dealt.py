"""Rows of a grouped release by ranges of classes, in encrypted temporary files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import ClassArray
from ldiversity.base.spill import Spill
from ldiversity.release._batches import CodedBatch
from ldiversity.release._cells import Cells
from ldiversity.release._parquet import without_columns

__all__ = ["ClassRange", "deal_classes", "from_arrow", "to_arrow"]

_MOST_BUCKETS: Final = 256
_CLASS: Final = "class"


@dataclass(frozen=True, eq=False)
class ClassRange:
    """All rows of some classes, `n_classes` from the class `first` on; they can be read once."""

    first: int
    n_classes: int
    n_rows: int
    batches: Iterator[pa.RecordBatch]


def deal_classes(
    batches: Iterable[pa.RecordBatch], *, n_classes: int, n_rows: int, most: int, spill: Spill, first: int = 0
) -> Iterator[ClassRange]:
    """Rows by ranges of classes, ascending, with about `most` rows each; `to_arrow` made the batches.

    Numbers of classes are in a random order, so ranges are about equal. A range that is not is dealt again, by smaller
    ranges. A class alone is never split, however many rows it has. What is not needed any more is removed on the way.
    """
    n_ranges = min(_MOST_BUCKETS, -(-n_rows // most), n_classes)
    if n_ranges <= 1:
        yield ClassRange(first, n_classes, n_rows, iter(batches))
        return
    width = -(-n_classes // n_ranges)
    buckets = spill.buckets(-(-n_classes // width))
    for batch in batches:
        buckets.deal(batch, (_classes(batch).astype(np.int64) - first) // width)
    for number in range(len(buckets)):
        begin, held = first + number * width, buckets.n_rows(number)
        inside = min(width, first + n_classes - begin)
        # Only above twice the limit, so that ranges that are a little too large by chance are not dealt again.
        if held > 2 * most and inside > 1:
            yield from deal_classes(
                buckets.read(number), n_classes=inside, n_rows=held, most=most, spill=spill, first=begin
            )
        else:
            yield ClassRange(begin, inside, held, buckets.read(number))
        buckets.drop(number)


def to_arrow(batch: CodedBatch) -> pa.RecordBatch:
    """A batch as Arrow stores it; names have a letter before them, so that none is taken twice."""
    columns: dict[str, Any] = {_CLASS: pa.array(batch.classes)}
    columns |= {f"v{name}": pa.array(codes) for name, codes in batch.codes.items()}
    columns |= {f"c{name}": _cells_to_arrow(cells) for name, cells in batch.cells.items()}
    table = batch.own.combine_chunks()
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[f"o{name}"] = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    return pa.record_batch(columns)


def from_arrow(batch: pa.RecordBatch, first: int) -> CodedBatch:
    """What `to_arrow` stored; classes are numbered from `first` on."""
    names = {kind: [name for name in batch.schema.names if name[0] == kind and name != _CLASS] for kind in "vco"}
    own = {name[1:]: batch.column(name) for name in names["o"]}
    return CodedBatch(
        (_classes(batch) - first),
        {name[1:]: np.asarray(batch.column(name)) for name in names["v"]},
        {name[1:]: _cells_from_arrow(batch.column(name)) for name in names["c"]},
        pa.table(own) if own else without_columns(batch.num_rows),
    )


def _classes(batch: pa.RecordBatch) -> ClassArray:
    classes: ClassArray = np.asarray(batch.column(_CLASS))
    return classes


def _cells_to_arrow(cells: Cells) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(cells.starts), pa.array(cells.flat))


def _cells_from_arrow(column: pa.Array) -> Cells:
    starts = np.asarray(column.offsets)
    return Cells(starts - starts[0], np.asarray(column.flatten()))
