"""The least variance of weighted sums, such as means, sums of several values and the steps of a quantile.

It is the rule of single counts (`_least_variance`) for any factors. Where few records carry a sum, those in the sample
show too little of its variance. Then it is at least what the sets leave open, as without weights (`_possible`), and
what drawing records adds: at shares with half a record more of the values with the greatest factor, and half a record
of those with the least.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ldiversity.estimation._carried import carried_by_few, middle_variance
from ldiversity.estimation._least_variance import kish
from ldiversity.estimation._possible import Published
from ldiversity.estimation._projection import project

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData

__all__ = ["LeastOfSums"]


@dataclass(frozen=True, eq=False)
class LeastOfSums:
    """Weighted counts of cells, shape (cells, F); sums of weights and of their squares; and the weight of each row."""

    cells: CellData
    counts: FloatArray
    records: FloatArray
    squares: FloatArray
    weights: FloatArray

    def of(self, factors: FloatArray) -> FloatArray:
        """The least variance of each sum of counts times `factors`, shape (k, cells, F).

        Cells in which enough records carry a sum add nothing to its least variance.
        """
        found = np.zeros(len(factors))
        for cell in map(int, np.flatnonzero(factors.any(axis=(0, 2)))):
            size = float(kish(self.squares[cell], self.records[cell]))
            shares = project(self.counts[[cell]], self.records[[cell]])[0] / max(self.records[cell], 1e-300)
            few = carried_by_few(size, shares, factors[:, cell])
            if few.any():
                own = factors[few, cell]
                drawn = self.squares[cell] * middle_variance(size, shares, own)
                found[few] += drawn + self._published(cell).by_chance(self.cells, size * shares, own)
        return found

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        ends = np.cumsum(np.bincount(self.cells.of_row, minlength=self.cells.n_cells))
        return np.argsort(self.cells.of_row, kind="stable"), np.concatenate([[0], ends])

    def _published(self, cell: int) -> Published:
        """The different sets of a cell, each with the sum of the squared weights of its records."""
        order, starts = self._order
        rows = order[starts[cell] : starts[cell + 1]]
        parts = [array[rows] for array in self.cells.members or ()]
        together, place = np.unique(np.concatenate(parts, axis=1), axis=0, return_inverse=True)
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        squares = np.bincount(place.ravel(), weights=self.weights[rows] ** 2).astype(np.float64)
        return Published(tuple(np.split(together, ends, axis=1)), squares)
