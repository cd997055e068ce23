"""The classes of a grouped release, spread over cells: all that an estimator of grouped releases sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._by import Coded
from ldiversity.estimation._cells import CellIndex, index_cells
from ldiversity.estimation._runs import WIDER
from ldiversity.sentences import say

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
        Shape (cells, F): between which the true counts are for certain.
    generalized
        Whether quasi-identifiers are regions.
    exchange
        What undoes the mixing of values; None when nothing can.
    reason
        Why nothing can.
    """

    records: FloatArray
    counts: FloatArray
    least: FloatArray
    greatest: FloatArray
    generalized: bool
    exchange: Exchange | None
    reason: str


@dataclass(frozen=True, eq=False)
class Units:
    """Records of one class that no exact column tells apart: their class, how many they are, their exact cell."""

    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    cell_of: NDArray[np.int64]
    cells: pa.Table
    n_cells: int


def make_units(class_of: NDArray[np.int32], columns: Sequence[Coded], n_classes: int) -> Units:
    """Gather the selected rows by class and by the cell that their exact columns make.

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


@dataclass(frozen=True, eq=False)
class _Sums:
    records: FloatArray
    counts: FloatArray
    least: FloatArray
    greatest: FloatArray


def count_class_cells(
    units: Units,
    profiles: Profiles,
    spreads: Mapping[str, Spread],
    labels: Mapping[str, pa.Array],
    by: Sequence[str],
    n_values: int,
) -> tuple[_Sums, CellIndex]:
    """Add every unit to the cells that it may lie in; cells are sorted by their labels, column by column.

    Parameters
    ----------
    units
        The selected records.
    profiles
        The values of the classes.
    spreads
        How each generalized column that was asked for falls into labels.
    labels
        The labels of the exact columns that make cells.
    by
        The columns that make cells, in their order.
    n_values
        F.
    """
    from ldiversity._kernels.spread import spread_units

    sizes = [spread.n_labels for spread in spreads.values()]
    n_cells = units.n_cells * prod(sizes)
    if n_cells * n_values > CLASS_CELL_LIMIT:
        raise UnsupportedError(
            "estimate", f"cells times values may be at most {CLASS_CELL_LIMIT}", got=n_cells * n_values
        ).with_hint(say("Use fewer columns, or {} for wider cells.", WIDER))
    sums = _Sums(np.zeros(n_cells), *(np.zeros((n_cells, n_values)) for _ in range(3)))
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
    # The regions of all columns as rows of one table, to which `regions` points.
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
    sums: _Sums, units: Units, spreads: Mapping[str, Spread], labels: Mapping[str, pa.Array], by: Sequence[str]
) -> tuple[_Sums, CellIndex]:
    # Only cells with records, in the order of the labels.
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
    parts = (sums.records, sums.counts, sums.least, sums.greatest)
    return _Sums(*(part[kept] for part in parts)), CellIndex(np.empty(0, np.int64), table, len(kept))
