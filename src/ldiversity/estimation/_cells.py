"""The published sets of the selected records, counted by cell: all that an estimator sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import ReleaseFormatError

if TYPE_CHECKING:
    from ldiversity._types import FloatArray, SetArray
    from ldiversity.estimation._by import Coded
    from ldiversity.mechanisms._base import SetMechanism

__all__ = ["CellData", "CellIndex", "count_cells", "index_cells", "product_sets"]

_DENSE: Final = 1 << 16
"""Up to so many combinations of labels are looked up in a table, beyond them only a few per record."""


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Which cell each row belongs to, and the labels of the cells as an Arrow table."""

    of_row: NDArray[np.int64]
    labels: pa.Table
    n_cells: int


@dataclass(frozen=True, eq=False)
class CellData:
    """Published sets counted by cell. F is the product of the domain sizes of the attributes asked for.

    Parameters
    ----------
    mechanisms
        One for each sensitive attribute asked for.
    records
        Shape (cells,): how many records each cell has.
    counts
        Shape (cells, F): in how many sets of the cell each value, or combination of values, is published.
    sets
        One array for each attribute, rows in cell order; None when only members without sets were published.
    starts
        Shape (cells + 1,): the first row of each cell in `sets`.
    marginal
        Gives the shares of the F values in the whole release, all of them positive.
    """

    mechanisms: tuple[SetMechanism, ...]
    records: NDArray[np.int64]
    counts: NDArray[np.int64]
    sets: tuple[SetArray, ...] | None
    starts: NDArray[np.int64]
    marginal: Callable[[], FloatArray]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each attribute's domain."""
        return tuple(mechanism.n_values for mechanism in self.mechanisms)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.records)

    @property
    def n_values(self) -> int:
        """F."""
        return prod(self.sizes)

    @cached_property
    def linear(self) -> FloatArray:
        """The unbiased estimate of the counts, shape (cells, F)."""
        return self.transform([mechanism.inverse for mechanism in self.mechanisms], self.counts)

    def transform(self, matrices: Sequence[FloatArray], counts: NDArray[Any]) -> FloatArray:
        """Apply one matrix along the axis of each attribute to counts of shape (cells, F)."""
        result = counts.astype(np.float64).reshape(len(counts), *self.sizes)
        for axis, matrix in enumerate(matrices, start=1):
            result = np.moveaxis(np.moveaxis(result, axis, -1) @ matrix.T, -1, axis)
        return np.ascontiguousarray(result.reshape(len(counts), self.n_values))


def index_cells(columns: Sequence[Coded], n_rows: int) -> CellIndex:
    """Number the combinations of labels that occur, sorted by the first column, then the second and so on."""
    if not columns:
        return CellIndex(np.zeros(n_rows, dtype=np.int64), pa.table({}), 1)
    sizes = [len(column.labels) for column in columns]
    combined = np.zeros(n_rows, dtype=np.int64)
    occurring: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        # Renumbered after each column, so that the product of many sizes cannot overflow.
        combined = combined * size + column.codes
        occurring, combined = _renumber(combined, occurring, size)
    codes = _split_codes(columns, combined, len(occurring))
    arrays = [column.labels.take(pa.array(code)) for column, code in zip(columns, codes, strict=True)]
    names = [column.name for column in columns]
    return CellIndex(combined, pa.table(arrays, names=names), len(occurring))


def count_cells(
    mechanisms: Sequence[SetMechanism],
    members: Sequence[SetArray],
    cells: CellIndex,
    *,
    exploded: bool,
    marginal: Callable[[], FloatArray],
) -> CellData:
    """Count published sets, or exploded members as sets of one, by cell."""
    from ldiversity._kernels.cells import count_members, group_rows

    sizes = [mechanism.n_values for mechanism in mechanisms]
    _check_codes(members, sizes)
    counts = np.zeros((cells.n_cells, prod(sizes)), dtype=np.int64)
    if exploded:
        count_members(cells.of_row, members[0], counts)
        rows = np.bincount(cells.of_row, minlength=cells.n_cells)
        records = (rows // mechanisms[0].l).astype(np.int64)
        return CellData(tuple(mechanisms), records, counts, None, np.zeros(1, dtype=np.int64), marginal)
    if cells.n_cells == 1:
        sets, starts = tuple(members), np.array([0, len(cells.of_row)], dtype=np.int64)
    else:
        order, starts = group_rows(cells.of_row, cells.n_cells)
        sets = tuple(array[order] for array in members)
    count_members(np.repeat(np.arange(cells.n_cells), np.diff(starts)), product_sets(sets, sizes), counts)
    return CellData(tuple(mechanisms), np.diff(starts), counts, sets, starts, marginal)


def product_sets(sets: Sequence[SetArray], sizes: Sequence[int]) -> SetArray:
    """Combine the sets of several attributes: every pair of members, as one code each."""
    combined = np.ascontiguousarray(sets[0], dtype=np.int32)
    for array, size in zip(sets[1:], sizes[1:], strict=True):
        pairs = combined[:, :, None] * np.int32(size) + array[:, None, :]
        combined = np.ascontiguousarray(pairs.reshape(len(array), combined.shape[1] * array.shape[1]))
    return combined


def _renumber(
    combined: NDArray[np.int64], occurring: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    n_possible = len(occurring) * size
    if n_possible > max(_DENSE, 4 * len(combined)):
        found, numbered = np.unique(combined, return_inverse=True)
        return found, numbered.astype(np.int64)
    found = np.flatnonzero(np.bincount(combined, minlength=n_possible))
    if len(found) == n_possible:
        return found, combined
    number = np.zeros(n_possible, dtype=np.int64)
    number[found] = np.arange(len(found))
    return found, number[combined]


def _split_codes(columns: Sequence[Coded], combined: NDArray[np.int64], n_cells: int) -> list[NDArray[np.int32]]:
    # Any row of a cell tells the cell's labels.
    some_row = np.zeros(n_cells, dtype=np.int64)
    some_row[combined] = np.arange(len(combined))
    return [column.codes[some_row] for column in columns]


def _check_codes(members: Sequence[SetArray], sizes: Sequence[int]) -> None:
    # The compiled loops do not look where they write.
    for array, size in zip(members, sizes, strict=True):
        if array.size and (array.min() < 0 or array.max() >= size):
            raise ReleaseFormatError("estimate: the release has sets with members outside of the domain.")
