"""The classes of a grouped release, spread over cells. An estimator of grouped releases sees nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.estimation._by import Coded
from ldiversity.estimation._cells import CellIndex, index_cells
from ldiversity.estimation._runs import too_many_cells

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._exchange import Exchange
    from ldiversity.estimation._profiles import Profiles
    from ldiversity.estimation._runs import Spread

__all__ = ["CLASS_CELL_LIMIT", "ClassCells", "ClassSums", "Units", "count_class_cells", "make_units"]

CLASS_CELL_LIMIT: Final = 10_000_000
"""The most numbers, cells times values, that one estimate from classes may have."""

_NO_RECORDS: Final = 1e-9


@dataclass(frozen=True, eq=False)
class ClassCells:
    """What classes say about cells. F is the product of the domain sizes of the attributes asked for.

    Parameters
    ----------
    records
        Shape (cells,): how many records each cell has, or is expected to have where classes were spread.
    counts
        Shape (cells, F): the shares of each value in its class, summed over the records of the cell.
    least, greatest
        Shape (cells, F): the true counts lie between these for certain.
    generalized
        Whether quasi-identifiers are regions.
    exchange
        Undoes the mixing of values; None when that is impossible.
    reason
        Why it is impossible.
    """

    records: FloatArray
    counts: FloatArray
    least: FloatArray
    greatest: FloatArray
    generalized: bool = False
    exchange: Exchange | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Units:
    """Records of one class with the same exact columns: their class, their number, their exact cell."""

    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    cell_of: NDArray[np.int64]
    cells: pa.Table
    n_cells: int


def make_units(class_of: NDArray[np.int32], columns: Sequence[Coded], n_classes: int) -> Units:
    """Count the selected rows by class and by the cell that their exact columns make.

    Examples
    --------
    >>> sex = Coded("sex", np.array([0, 1, 1], dtype=np.int32), pa.array(["F", "M"]))
    >>> units = make_units(np.array([0, 0, 0], dtype=np.int32), [sex], 1)
    >>> units.sizes.tolist(), units.cell_of.tolist()
    ([1, 2], [0, 1])
    """
    numbered = [Coded(part.name, part.codes, pa.array(np.arange(len(part.labels)))) for part in columns]
    index = index_cells(numbered, len(class_of))
    if index.n_cells == 1:
        sizes = np.bincount(class_of, minlength=n_classes).astype(np.int64)
        found = np.flatnonzero(sizes)
        return Units(found, sizes[found], np.zeros(len(found), dtype=np.int64), index.labels, 1)
    keys, sizes = np.unique(class_of.astype(np.int64) * index.n_cells + index.of_row, return_counts=True)
    return Units(keys // index.n_cells, sizes.astype(np.int64), keys % index.n_cells, index.labels, index.n_cells)


def count_class_cells(
    units: Units,
    profiles: Profiles,
    spreads: Mapping[str, Spread],
    labels: Mapping[str, pa.Array],
    by: Sequence[str],
    n_values: int,
) -> tuple[ClassCells, CellIndex]:
    """Add every unit to the cells that it may lie in; cells are sorted by their labels, column by column.

    `spreads` has every generalized column of the question, `labels` the labels of the exact columns that make cells,
    and `by` both, in the order of the question. `n_values` is F.
    """
    sums = ClassSums(spreads, n_values, CLASS_CELL_LIMIT)
    sums.reach(units.n_cells)
    regions = {name: spread.region_of[units.class_of] for name, spread in spreads.items()}
    sums.add(units.class_of, units.sizes, units.cell_of, regions, profiles)
    return sums.result(units.cells, labels, by)


class ClassSums:
    """Sums over the units of classes, which may come some classes at a time; memory grows with the cells.

    Parameters
    ----------
    spreads
        How the regions of every generalized column of the question fall into labels.
    n_values
        F.
    limit
        The most numbers, cells times values.
    """

    def __init__(self, spreads: Mapping[str, Spread], n_values: int, limit: int) -> None:
        self._spreads, self._n_values, self._limit = spreads, n_values, limit
        sizes = [spread.n_labels for spread in spreads.values()]
        self._labels = prod(sizes)
        strides = [prod(sizes[position + 1 :]) for position in range(len(sizes))]
        self._offsets, self._regions = _stack(list(spreads.values()), strides)
        self._n_exact = 0
        self._sums = self._zeros(0)

    def reach(self, n_exact: int) -> None:
        """Make room for so many cells of the exact columns."""
        if n_exact * self._labels * self._n_values > self._limit:
            raise too_many_cells(self._limit, n_exact * self._labels * self._n_values)
        self._n_exact = n_exact
        old, n_cells = self._sums, n_exact * self._labels
        if n_cells <= len(old.records):
            return
        most = max(n_cells, min(2 * len(old.records), self._limit // self._n_values))
        grown = self._zeros(most)
        for name in ("records", "counts", "least", "greatest"):
            getattr(grown, name)[: len(old.records)] = getattr(old, name)
        self._sums = grown

    def _zeros(self, n_cells: int) -> ClassCells:
        counts, least, greatest = (np.zeros((n_cells, self._n_values)) for _ in range(3))
        return ClassCells(np.zeros(n_cells), counts, least, greatest, generalized=bool(self._spreads))

    def add(
        self,
        class_of: NDArray[np.int64],
        sizes: NDArray[np.int64],
        cell_of: NDArray[np.int64],
        regions: Mapping[str, NDArray[np.int64]],
        profiles: Profiles,
    ) -> None:
        """Add units: their classes as rows of `profiles`, how many records they are, their exact cells and regions."""
        from ldiversity._kernels.spread import spread_units

        rows = np.empty((len(sizes), len(self._spreads)), dtype=np.int64)
        for column, (name, offset) in enumerate(zip(self._spreads, self._offsets, strict=True)):
            rows[:, column] = regions[name] + offset
        sums = self._sums
        spread_units(
            class_of,
            sizes,
            cell_of * self._labels,
            rows,
            *self._regions,
            profiles.starts,
            profiles.codes,
            profiles.share,
            profiles.most,
            profiles.spare,
            0,
            len(sizes),
            sums.records,
            sums.counts,
            sums.least,
            sums.greatest,
        )

    def result(
        self, exact: pa.Table, labels: Mapping[str, pa.Array], by: Sequence[str]
    ) -> tuple[ClassCells, CellIndex]:
        """The cells with records, in the order of their labels; `exact` has the codes of each exact cell."""
        n_cells = self._n_exact * self._labels
        used = replace(
            self._sums,
            **{name: getattr(self._sums, name)[:n_cells] for name in ("records", "counts", "least", "greatest")},
        )
        return _sorted(used, self._n_exact, exact, self._spreads, labels, by)


def _stack(
    spreads: Sequence[Spread], strides: Sequence[int]
) -> tuple[list[int], tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, BoolArray]]:
    # Puts the regions of all columns into one table; gives where those of each column begin in it, too.
    starts, cells, weights = [np.zeros(1, dtype=np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    sure = [np.empty(0, np.bool_)]
    offsets = []
    rows = entries = 0
    for spread, stride in zip(spreads, strides, strict=True):
        offsets.append(rows)
        starts.append(spread.starts[1:] + entries)
        cells.append(spread.codes * stride)
        weights.append(spread.weights)
        sure.append(spread.sure)
        rows += len(spread.starts) - 1
        entries += len(spread.codes)
    return offsets, (np.concatenate(starts), np.concatenate(cells), np.concatenate(weights), np.concatenate(sure))


def _sorted(
    sums: ClassCells,
    n_exact: int,
    cells: pa.Table,
    spreads: Mapping[str, Spread],
    labels: Mapping[str, pa.Array],
    by: Sequence[str],
) -> tuple[ClassCells, CellIndex]:
    # Keeps only cells with records, in the order of the labels.
    kept = np.flatnonzero(sums.records > _NO_RECORDS)
    shape = (n_exact, *(spread.n_labels for spread in spreads.values()))
    exact, *spread_codes = np.unravel_index(kept, shape)
    codes = {name: np.asarray(cells[name])[exact] for name in labels}
    codes |= dict(zip(spreads, spread_codes, strict=True))
    known = {**labels, **{name: spread.labels for name, spread in spreads.items()}}
    if by:
        order = np.lexsort([codes[name] for name in reversed(by)])
        kept, codes = kept[order], {name: code[order] for name, code in codes.items()}
    table = pa.table({name: known[name].take(pa.array(codes[name])) for name in by})
    found = replace(
        sums,
        records=sums.records[kept],
        counts=sums.counts[kept],
        least=sums.least[kept],
        greatest=sums.greatest[kept],
    )
    return found, CellIndex(np.empty(0, np.int64), table, len(kept))
