"""The rows of a grouped release, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from ldiversity._types import CodeArray
from ldiversity.models import ClassCounts

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
        """The generalized quasi-identifiers, one row a class."""

    def values(self, attribute: str) -> CodeArray:
        """The code of each row, where values stand in the rows."""

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class, where they stand in a table of their own."""


@dataclass(frozen=True, eq=False)
class MemoryClassRows:
    """Rows in memory.

    Parameters
    ----------
    sizes
        The number of classes of each class column.
    classes
        The class of each row, for each class column.
    plain
        The columns that are published as they were.
    region_table
        The generalized quasi-identifiers, one row a class.
    codes
        The code of each row (generalized).
    class_counts
        The values of each class (bucketized).
    """

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
        """The generalized quasi-identifiers, one row a class."""
        return self.region_table

    def values(self, attribute: str) -> CodeArray:
        """The code of each row."""
        return self.codes[attribute]

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class."""
        return self.class_counts[attribute]
