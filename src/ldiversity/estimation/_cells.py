"""The published sets of the selected records, counted by cell. An estimator sees nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.products import multiply
from ldiversity.errors import InternalError, UnsupportedError
from ldiversity.estimation._admissible import admissible_members, admissible_sets, whole_records
from ldiversity.estimation._threads import map_threads, slices

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, SetArray
    from ldiversity.estimation._by import Coded
    from ldiversity.mechanisms import SetMechanism

__all__ = ["CellData", "CellIndex", "CountedSets", "count_cells", "index_cells", "product_sets"]

_DENSE: Final = 1 << 16
"""Up to this many combinations of labels, or four per record, are counted in a table; more are sorted."""


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Which cell each row belongs to, the labels of the cells as an Arrow table, and their codes in each column."""

    of_row: NDArray[np.int64]
    labels: pa.Table
    n_cells: int
    codes: tuple[NDArray[np.int64], ...] = ()


@dataclass(frozen=True, eq=False)
class CountedSets:
    """The different sets of each cell, members ascending, and how many records have each.

    Parameters
    ----------
    starts
        Shape (cells + 1,): cell c has the sets ``starts[c]:starts[c + 1]``.
    sets
        One array for each attribute.
    weights
        Shape (sets,): how many records have them.
    most_rows
        How many records may be listed one by one.
    """

    starts: NDArray[np.int64]
    sets: tuple[SetArray, ...]
    weights: NDArray[np.int64]
    most_rows: int

    def rows(self) -> tuple[SetArray, ...]:
        """The sets of all records, those of a cell together; refuses where they would fill the memory."""
        if self.weights.sum() > self.most_rows:
            raise UnsupportedError(
                "estimate",
                f"this estimator looks at the sets of single records, of which at most {self.most_rows} fit into the "
                "memory that was set",
            ).with_hint("Use 'auto', 'mle' or 'linear', which count equal sets, or set more memory.")
        return tuple(np.repeat(array, self.weights, axis=0) for array in self.sets)


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
        Shape (cells, F): how many sets of the cell contain each value, or combination of values.
    of_row
        Shape (n,): the cell of each published row.
    members
        One array of published sets for each attribute, in the order of the rows, each set ascending; None when
        single members were published, or when rows were only counted. `sets` has them in either case.
    marginal
        Gives the shares of the F values in the whole release, all of them positive.
    counted
        The different sets of each cell with their numbers, where rows were only counted.
    places
        For each column that makes cells, the code of each cell's label, shape (cells,).
    """

    mechanisms: tuple[SetMechanism, ...]
    records: NDArray[np.int64]
    counts: NDArray[np.int64]
    of_row: NDArray[np.int64]
    members: tuple[SetArray, ...] | None
    marginal: Callable[[], FloatArray]
    counted: CountedSets | None = None
    places: tuple[NDArray[np.int64], ...] = ()

    @property
    def has_sets(self) -> bool:
        """Whether whole sets were published."""
        return self.members is not None or self.counted is not None

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each cell in `sets`, shape (cells + 1,)."""
        return np.concatenate([[0], np.cumsum(self.records)])

    @cached_property
    def sets(self) -> tuple[SetArray, ...]:
        """The published sets, one for each record, with those of each cell together.

        `counted` takes less memory where there is one.
        """
        from ldiversity._kernels.cells import group_sets

        if self.counted is not None:
            return self.counted.rows()
        members = self.members
        if members is None:
            raise InternalError("CellData", "sets were asked for where none were published")
        if self.n_cells == 1:
            # Copied because the kernels would be compiled a second time for read-only arrays.
            return tuple(array.copy() for array in members)
        grouped = tuple(np.empty_like(array) for array in members)
        for array, target in zip(members, grouped, strict=True):
            group_sets(self.of_row, array, self.starts, target)
        return grouped

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
            last = np.moveaxis(result, axis, -1)
            product = multiply(last.reshape(-1, matrix.shape[1]), matrix.T)
            result = np.moveaxis(product.reshape(*last.shape[:-1], len(matrix)), -1, axis)
        return np.ascontiguousarray(result.reshape(len(counts), self.n_values))


def index_cells(columns: Sequence[Coded], n_rows: int) -> CellIndex:
    """Number the combinations of labels that occur, sorted by the first column, then the second and so on."""
    if not columns:
        return CellIndex(np.zeros(n_rows, dtype=np.int64), pa.table({}), 1)
    sizes = [len(column.labels) for column in columns]
    if prod(sizes) <= max(_DENSE, 4 * n_rows):
        of_row, codes = _number_dense(columns, sizes)
    else:
        of_row, codes = _number_sparse(columns, sizes)
    labels = {column.name: column.labels.take(pa.array(code)) for column, code in zip(columns, codes, strict=True)}
    return CellIndex(of_row, pa.table(labels), len(codes[0]), tuple(code.astype(np.int64) for code in codes))


def count_cells(
    mechanisms: Sequence[SetMechanism],
    members: Sequence[SetArray],
    cells: CellIndex,
    *,
    exploded: bool,
    marginal: Callable[[], FloatArray],
) -> CellData:
    """Count published sets by cell, or raise `ReleaseFormatError` when the mechanisms cannot have published them.

    Exploded members count as sets of one.
    """
    from ldiversity._kernels.cells import count_members

    sizes = [mechanism.n_values for mechanism in mechanisms]
    admit = admissible_members if exploded else admissible_sets
    published = tuple(admit(mechanism, array) for mechanism, array in zip(mechanisms, members, strict=True))
    combined, n_values = product_sets(published, sizes), prod(sizes)

    def count(rows: slice) -> NDArray[np.int64]:
        found = np.zeros((cells.n_cells, n_values), dtype=np.int64)
        count_members(cells.of_row[rows], combined[rows], found)
        return found

    # In threads only where the table of each thread is small compared with the rows.
    parts = slices(len(combined)) if cells.n_cells * n_values < len(combined) else [slice(None)]
    counts = np.sum(map_threads(count, parts), axis=0)
    rows = np.bincount(cells.of_row, minlength=cells.n_cells).astype(np.int64)
    records = whole_records(mechanisms[0], rows, counts) if exploded else rows
    sets = None if exploded else published
    return CellData(tuple(mechanisms), records, counts, cells.of_row, sets, marginal, places=cells.codes)


def product_sets(sets: Sequence[SetArray], sizes: Sequence[int]) -> SetArray:
    """Combine the sets of several attributes: one code for every combination of their members."""
    combined = sets[0]
    for array, size in zip(sets[1:], sizes[1:], strict=True):
        pairs = combined[:, :, None] * np.int32(size) + array[:, None, :]
        combined = np.ascontiguousarray(pairs.reshape(len(array), combined.shape[1] * array.shape[1]))
    return combined


def _number_dense(columns: Sequence[Coded], sizes: Sequence[int]) -> tuple[NDArray[np.int64], Sequence[NDArray[Any]]]:
    # Few combinations are possible: each has a place in a table.
    combined = columns[0].codes.astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        combined *= size
        combined += column.codes
    kept = np.flatnonzero(np.bincount(combined, minlength=prod(sizes)))
    if len(kept) < prod(sizes):
        number = np.zeros(prod(sizes), dtype=np.int64)
        number[kept] = np.arange(len(kept))
        combined = number[combined]
    return combined, np.unravel_index(kept, sizes)


def _number_sparse(columns: Sequence[Coded], sizes: Sequence[int]) -> tuple[NDArray[np.int64], Sequence[NDArray[Any]]]:
    # Renumbered after each column, so that the product of many sizes cannot overflow.
    combined = np.zeros(len(columns[0].codes), dtype=np.int64)
    some_row = np.zeros(1, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        _, some_row, combined = np.unique(combined * size + column.codes, return_index=True, return_inverse=True)
    return combined.astype(np.int64), [column.codes[some_row] for column in columns]
