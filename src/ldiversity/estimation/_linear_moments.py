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
from math import log, prod
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._cells import CellData, product_sets
from ldiversity.estimation._likelihood import SetLikelihood
from ldiversity.estimation._moments import CellMoments
from ldiversity.estimation._projection import project
from ldiversity.estimation._variance import covariance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray, SetArray
    from ldiversity.estimation._errors import Asked

__all__ = ["LinearMoments", "linear_moments"]

_PSEUDO: Final = 0.5


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
            least += _possible(self.cells, int(cell), own)
            records += np.where(own.any(axis=1), self.cells.records[cell], 0)
        few = np.flatnonzero((records < self.asked.min_records) & (records > 0))
        if few.size:
            least[few] = np.maximum(least[few], self._greatest(factors[few]))
        diagonal = np.arange(len(factors))
        found[diagonal, diagonal] = np.maximum(found[diagonal, diagonal], least)
        return found

    def _greatest(self, factors: FloatArray) -> FloatArray:
        """The variances whose normal intervals are those of Hoeffding."""
        tail = (1 - self.asked.confidence) / 2
        squares = np.zeros(len(factors))
        for cell in np.flatnonzero(factors.any(axis=(0, 2))):
            squares += self.cells.records[cell] * _ranges(self.cells, factors[:, cell]) ** 2
        z = NormalDist().inv_cdf(1 - tail)
        return squares * log(1 / tail) / (2 * z**2)


def linear_moments(cells: CellData, asked: Asked) -> LinearMoments:
    """The unbiased counts of these cells."""
    inverse = [mechanism.inverse for mechanism in cells.mechanisms]
    return LinearMoments(cells.linear, partial(covariance, cells, inverse), cells=cells, asked=asked)


def _added(cells: CellData, factors: FloatArray) -> FloatArray:
    # What each published member adds to the sums with these factors, shape (k, F).
    return cells.transform([mechanism.inverse.T for mechanism in cells.mechanisms], factors)


def _possible(cells: CellData, cell: int, factors: FloatArray) -> FloatArray:
    """The sums of squares of what records add by chance, shape (k,), for factors of shape (k, F)."""
    sets, weights = _published(cells, cell)
    likelihood = SetLikelihood.made(cells.mechanisms, sets, weights, np.array([0, len(weights)]))
    counts = project(cells.linear[[cell]], cells.records[[cell]].astype(np.float64))[0] + _PSEUDO
    chances = counts[likelihood.sets] * (likelihood.likelihood if len(likelihood.likelihood) else 1.0)
    chances *= (weights / chances.sum(axis=1))[:, None]
    members = product_sets(sets, cells.sizes)
    return np.array(
        [
            (chances * (added[members].sum(axis=1)[:, None] - factor[likelihood.sets]) ** 2).sum()
            for added, factor in zip(_added(cells, factors), factors, strict=True)
        ]
    )


def _published(cells: CellData, cell: int) -> tuple[tuple[SetArray, ...], NDArray[np.float64]]:
    counted = cells.counted
    if counted is not None:
        rows = slice(counted.starts[cell], counted.starts[cell + 1])
        return tuple(array[rows] for array in counted.sets), counted.weights[rows].astype(np.float64)
    rows = slice(cells.starts[cell], cells.starts[cell + 1])
    sets = tuple(array[rows] for array in cells.sets)
    return sets, np.ones(len(sets[0]))


def _ranges(cells: CellData, factors: FloatArray) -> FloatArray:
    """How far apart two sets may be in what they add to the sums, shape (k,): the greatest members, and the least."""
    added = np.sort(_added(cells, factors), axis=1)
    size = prod(mechanism.l for mechanism in cells.mechanisms)
    widths: FloatArray = added[:, -size:].sum(axis=1) - added[:, :size].sum(axis=1)
    return widths
