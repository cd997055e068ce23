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

__all__ = ["CLASS_CELL_LIMIT", "ClassCells", "Units", "count_class_cells", "make_units"]

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
    from ldiversity._kernels.spread import spread_units

    sizes = [spread.n_labels for spread in spreads.values()]
    n_cells = units.n_cells * prod(sizes)
    if n_cells * n_values > CLASS_CELL_LIMIT:
        raise too_many_cells(CLASS_CELL_LIMIT, n_cells * n_values)
    counts, least, greatest = (np.zeros((n_cells, n_values)) for _ in range(3))
    sums = ClassCells(np.zeros(n_cells), counts, least, greatest, generalized=bool(spreads))
    strides = [prod(sizes[position + 1 :]) for position in range(len(sizes))]
    regions = np.empty((len(units.sizes), len(spreads)), dtype=np.int64)
    starts, cells, weights, sure = _stack(units, list(spreads.values()), strides, regions)
    spread_units(
        units.class_of,
        units.sizes,
        units.cell_of * prod(sizes),
        regions,
        starts,
        cells,
        weights,
        sure,
        profiles.starts,
        profiles.codes,
        profiles.share,
        profiles.most,
        profiles.spare,
        0,
        len(units.sizes),
        sums.records,
        sums.counts,
        sums.least,
        sums.greatest,
    )
    return _sorted(sums, units, spreads, labels, by)


def _stack(
    units: Units, spreads: Sequence[Spread], strides: Sequence[int], regions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, BoolArray]:
    # Puts the regions of all columns into one table, and fills `regions` with their rows in it.
    starts, cells, weights = [np.zeros(1, dtype=np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    sure = [np.empty(0, np.bool_)]
    rows = entries = 0
    for column, (spread, stride) in enumerate(zip(spreads, strides, strict=True)):
        regions[:, column] = spread.region_of[units.class_of] + rows
        starts.append(spread.starts[1:] + entries)
        cells.append(spread.codes * stride)
        weights.append(spread.weights)
        sure.append(spread.sure)
        rows += len(spread.starts) - 1
        entries += len(spread.codes)
    return np.concatenate(starts), np.concatenate(cells), np.concatenate(weights), np.concatenate(sure)


def _sorted(
    sums: ClassCells, units: Units, spreads: Mapping[str, Spread], labels: Mapping[str, pa.Array], by: Sequence[str]
) -> tuple[ClassCells, CellIndex]:
    # Keeps only cells with records, in the order of the labels.
    kept = np.flatnonzero(sums.records > _NO_RECORDS)
    shape = (units.n_cells, *(spread.n_labels for spread in spreads.values()))
    exact, *spread_codes = np.unravel_index(kept, shape)
    codes = {name: np.asarray(units.cells[name])[exact] for name in labels}
    codes |= dict(zip(spreads, spread_codes, strict=True))
    known = {**labels, **{name: spread.labels for name, spread in spreads.items()}}
    if by:
        order = np.lexsort([codes[name] for name in reversed(by)])
        kept, codes = kept[order], {name: code[order] for name, code in codes.items()}
    table = pa.table({name: known[name].take(pa.array(codes[name])) for name in by})
    cells = replace(
        sums,
        records=sums.records[kept],
        counts=sums.counts[kept],
        least=sums.least[kept],
        greatest=sums.greatest[kept],
    )
    return cells, CellIndex(np.empty(0, np.int64), table, len(kept))
