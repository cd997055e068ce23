"""Some rows of a release at a time, for readers that never hold all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray, SetArray
from ldiversity.release._cells import Cells

__all__ = ["BLOCK_ROWS", "CodedBatch", "RowBatch"]

BLOCK_ROWS: Final = 1 << 18
"""How many rows a batch of a release in memory has."""


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Rows that follow each other.

    Attributes
    ----------
    n_rows
        How many there are.
    columns
        The columns asked for that are published as they were.
    codes
        For each attribute asked for, where rows show its values: sets of shape (n_rows, l), members in code order, or
        one code per row.
    classes
        For each attribute asked for, where records are grouped: the class of each row, from 0; -1 where a record shows
        no value of the attribute.
    """

    n_rows: int
    columns: pa.Table
    codes: Mapping[str, SetArray | CodeArray]
    classes: Mapping[str, ClassArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CodedBatch:
    """Grouped rows that have a class: the class of each, codes, generalized cells, and cells as they were."""

    classes: ClassArray
    codes: Mapping[str, CodeArray]
    cells: Mapping[str, Cells]
    own: pa.Table

    def take(self, rows: NDArray[np.int64]) -> CodedBatch:
        """Some of the rows."""
        return CodedBatch(
            self.classes[rows],
            {name: codes[rows] for name, codes in self.codes.items()},
            {name: cells.take(rows) for name, cells in self.cells.items()},
            self.own.take(pa.array(rows)) if self.own.num_columns else self.own,
        )
