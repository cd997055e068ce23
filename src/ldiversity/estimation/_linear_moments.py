"""Sums of the unbiased counts, with variances that are at least what the mechanism gives.

The unbiased estimate of a variance is noisy itself (see `_variance`). In groups where nearly all records have one
value, it comes out near zero or below, and intervals would have no width. So a variance is at least the mean square of
what each record adds by chance, over the values that its set leaves open. That is never below zero, and where nearly
all records have one value, it is nearly certain which value that is.

In groups with few records sums are far from normal, and neither estimate says how far they may be off. There
Hoeffding's inequality (1963) takes their place: what a record adds lies between limits, whatever its value is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ldiversity.estimation._cells import CellData
from ldiversity.estimation._moments import CellMoments
from ldiversity.estimation._possible import Published, ranges
from ldiversity.estimation._projection import project
from ldiversity.estimation._variance import covariance

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._errors import Asked

__all__ = ["LinearMoments", "hoeffding", "linear_moments"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearMoments(CellMoments):
    """The unbiased counts of cells.

    Parameters
    ----------
    cells
        What was published.
    asked
        How often intervals should hold, and how many records make noise normal.
    """

    cells: CellData
    asked: Asked

    def noise(self, factors: FloatArray) -> FloatArray:
        """Sum over the cells that take part; no variance is below what the mechanism gives."""
        found = super().noise(factors)
        least, records = np.zeros(len(factors)), np.zeros(len(factors))
        for cell in np.flatnonzero(factors.any(axis=(0, 2))):
            own = factors[:, cell]
            least += self._possible(int(cell), own)
            records += np.where(own.any(axis=1), self.cells.records[cell], 0)
        few = np.flatnonzero((records < self.asked.min_records) & (records > 0))
        if few.size:
            least[few] = np.maximum(least[few], self._greatest(factors[few]))
        diagonal = np.arange(len(factors))
        found[diagonal, diagonal] = np.maximum(found[diagonal, diagonal], least)
        return found

    def _possible(self, cell: int, factors: FloatArray) -> FloatArray:
        counts = project(self.cells.linear[[cell]], self.cells.records[[cell]].astype(np.float64))[0]
        return Published.of(self.cells, cell).by_chance(self.cells, counts, factors)

    def _greatest(self, factors: FloatArray) -> FloatArray:
        """The variances whose normal intervals are those of Hoeffding."""
        return hoeffding(self.cells, self.cells.records.astype(np.float64), factors, self.asked.confidence)


def hoeffding(cells: CellData, squares: FloatArray, factors: FloatArray, confidence: float) -> FloatArray:
    """The variances whose normal intervals are those of Hoeffding, shape (k,), for factors of shape (k, cells, F).

    `squares` are the sums of squared weights of each cell; its records where they have no weights.
    """
    tail = (1 - confidence) / 2
    found = np.zeros(len(factors))
    for cell in np.flatnonzero(factors.any(axis=(0, 2))):
        found += squares[cell] * ranges(cells, factors[:, cell]) ** 2
    z = NormalDist().inv_cdf(1 - tail)
    return found * log(1 / tail) / (2 * z**2)


def linear_moments(cells: CellData, asked: Asked) -> LinearMoments:
    """The unbiased counts of these cells."""
    inverse = [mechanism.inverse for mechanism in cells.mechanisms]
    return LinearMoments(cells.linear, partial(covariance, cells, inverse), cells=cells, asked=asked)
