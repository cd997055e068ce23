"""The rows of a grouped release, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.models import ClassCounts
from ldiversity.release._batches import BLOCK_ROWS, RowBatch

__all__ = ["ClassRows", "MemoryClassRows"]


class ClassRows(Protocol):
    """The rows of a grouped release, in memory or in a folder. Class c has the published number c + 1."""

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""

    def class_of(self, class_column: str) -> CodeArray:
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


@dataclass(frozen=True, eq=False)
class MemoryClassRows:
    """Rows in memory: `sizes` and `classes` by class column, `codes` (generalized) or `class_counts` (bucketized)."""

    sizes: Mapping[str, int]
    classes: Mapping[str, CodeArray]
    plain: pa.Table
    region_table: pa.Table
    codes: Mapping[str, CodeArray]
    class_counts: Mapping[str, ClassCounts]

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""
        return self.sizes[class_column]

    def class_of(self, class_column: str) -> CodeArray:
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
