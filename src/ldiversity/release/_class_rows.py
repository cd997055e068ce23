"""The rows of a grouped release, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray
from ldiversity.errors import InternalError
from ldiversity.models import ClassCounts
from ldiversity.release._batches import BLOCK_ROWS, CodedBatch, RowBatch

__all__ = ["ClassRows", "MemoryClassRows"]


class ClassRows(Protocol):
    """The rows of a grouped release, in memory or in a folder. Class c has the published number c + 1."""

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""

    def class_of(self, class_column: str) -> ClassArray:
        """The class of each row; -1 where a record shows no value of the attribute."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, in row order."""

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row per class."""

    def values(self, attribute: str) -> CodeArray:
        """The code of each row, where values are in the rows."""

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class, where they are in a table of their own."""

    def batches(
        self, names: Sequence[str], class_columns: Mapping[str, str], *, with_values: bool
    ) -> Iterator[RowBatch]:
        """Columns as they were, and classes of attributes (by their class column), some rows at a time."""

    def coded_batches(
        self, class_column: str, attributes: Sequence[str] = (), regions: Sequence[str] = (), own: Sequence[str] = ()
    ) -> Iterator[CodedBatch]:
        """Rows that have a class, some at a time: codes of attributes, generalized cells, and cells as they were."""

    def value_batches(self, attribute: str) -> Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]]:
        """Classes, codes and counts of the table of values, in the order of classes, some at a time."""


@dataclass(frozen=True, eq=False)
class MemoryClassRows:
    """Rows in memory: `sizes` and `classes` by class column, `codes` (generalized) or `class_counts` (bucketized)."""

    sizes: Mapping[str, int]
    classes: Mapping[str, ClassArray]
    plain: pa.Table
    region_table: pa.Table
    codes: Mapping[str, CodeArray]
    class_counts: Mapping[str, ClassCounts]

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""
        return self.sizes[class_column]

    def class_of(self, class_column: str) -> ClassArray:
        """The class of each row."""
        return self.classes[class_column]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were."""
        return self.plain.select(list(names))

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row per class."""
        return self.region_table

    def values(self, attribute: str) -> CodeArray:
        """The code of each row."""
        return self.codes[attribute]

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class."""
        return self.class_counts[attribute]

    def batches(
        self, names: Sequence[str], class_columns: Mapping[str, str], *, with_values: bool
    ) -> Iterator[RowBatch]:
        """Columns as they were, and classes of attributes, some rows at a time."""
        n_rows = len(next(iter(self.classes.values())))
        for start in range(0, n_rows, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, n_rows))
            yield RowBatch(
                n_rows=rows.stop - start,
                columns=self.plain.select(list(names)).slice(start, rows.stop - start),
                codes={name: self.codes[name][rows] for name in class_columns if with_values},
                classes={name: self.classes[column][rows] for name, column in class_columns.items()},
            )

    def coded_batches(
        self, class_column: str, attributes: Sequence[str] = (), regions: Sequence[str] = (), own: Sequence[str] = ()
    ) -> Iterator[CodedBatch]:
        """Rows that have a class, some at a time; who knows the forms of regions adds their cells."""
        if regions:
            raise InternalError("release", "regions in memory were asked for by row")
        classes, plain = self.classes[class_column], self.plain.select(list(own))
        for start in range(0, len(classes), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            codes = {name: self.codes[name][rows] for name in attributes}
            batch = CodedBatch(classes[rows], codes, {}, plain.slice(start, BLOCK_ROWS))
            yield batch if batch.classes.min() >= 0 else batch.take(np.flatnonzero(batch.classes >= 0))

    def value_batches(self, attribute: str) -> Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]]:
        """All values at once: they are in memory already."""
        counts = self.class_counts[attribute]
        yield np.repeat(np.arange(counts.n_classes), np.diff(counts.starts)), counts.codes, counts.counts
