"""Spread classes over cells: the expected number of records of each value in a cell, and its limits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import kernel

__all__ = ["spread_units"]

Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]


@kernel
def spread_units(
    unit_class: Ints,
    unit_size: Ints,
    unit_cell: Ints,
    regions: Ints,
    region_starts: Ints,
    region_cells: Ints,
    region_weights: Floats,
    region_sure: NDArray[np.bool_],
    starts: Ints,
    codes: Codes,
    share: Floats,
    most: Ints,
    spare: Ints,
    first: int,
    last: int,
    records: Floats,
    counts: Floats,
    least: Floats,
    greatest: Floats,
) -> None:
    """Add the units from `first` to `last` to the cells in which they may lie.

    A unit is a number of records of one class. `regions` has one column per generalized column. Its entries are rows of
    ``region_starts``, which lists the cells (as offsets that add up over the columns) and the share of the region in
    each; ``region_sure`` says that the region lies in no other cell. Rows of ``starts`` are the classes: their values,
    the share of each, the most records that can have it, and how many records of the class can lack it.
    """
    n_columns = regions.shape[1]
    position = np.zeros(n_columns, dtype=np.int64)
    begin = np.zeros(n_columns, dtype=np.int64)
    end = np.zeros(n_columns, dtype=np.int64)
    for unit in range(first, last):
        k = unit_class[unit]
        size = unit_size[unit]
        empty, sure = False, True
        for column in range(n_columns):
            begin[column] = region_starts[regions[unit, column]]
            end[column] = region_starts[regions[unit, column] + 1]
            position[column] = begin[column]
            empty |= begin[column] == end[column]
            sure &= region_sure[regions[unit, column]]
        while not empty:
            cell = unit_cell[unit]
            weight = 1.0
            for column in range(n_columns):
                cell += region_cells[position[column]]
                weight *= region_weights[position[column]]
            expected = size * weight
            records[cell] += expected
            for entry in range(starts[k], starts[k + 1]):
                v = codes[entry]
                counts[cell, v] += expected * share[entry]
                greatest[cell, v] += min(size, most[entry])
                if sure:
                    least[cell, v] += max(0, size - spare[entry])
            # Go to the next combination of cells; the last column changes fastest.
            column = n_columns - 1
            while column >= 0:
                position[column] += 1
                if position[column] < end[column]:
                    break
                position[column] = begin[column]
                column -= 1
            if column < 0:
                break
