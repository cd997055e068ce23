"""The covariance of sums of estimated counts: of the noise that hides values, and of drawing records from a population.

All figures that are derived from an estimate are ratios of such sums, a share of a group as well as a mean. The error
of a ratio A / B is that of the sum A - (A / B) B, divided by B (the delta method).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ldiversity.estimation._carried import middle_variance
from ldiversity.estimation._intervals import HALF_A_RECORD
from ldiversity.estimation._least_variance import floor_of

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._errors import Asked, Errors

__all__ = ["CellMoments", "LikeliestMoments", "Moments", "likeliest_moments"]


class Moments(ABC):
    """The counts that figures are derived from, shape (cells, F), and the covariance of sums of them."""

    counts: FloatArray
    fixed: bool
    """Whether the noise is all that these errors are about, so that those of a sample come on top."""

    @abstractmethod
    def noise(self, factors: FloatArray) -> FloatArray:
        """The covariance, shape (k, k), of the sums of counts times `factors`, shape (k, cells, F)."""

    @abstractmethod
    def sampling(self, factors: FloatArray) -> FloatArray:
        """What drawing the records from a large population adds; the records of each cell are taken as fixed."""

    def reach(self, cell: int, errors: FloatArray, confidence: float) -> FloatArray:  # noqa: ARG002 - others differ by cell
        """How far the intervals of sums of counts of one cell reach on both sides, given the errors of these sums."""
        return np.asarray(NormalDist().inv_cdf((1 + confidence) / 2) * errors + HALF_A_RECORD)

    def covariance(self, factors: FloatArray, *, population: bool) -> FloatArray:
        """The covariance of sums about the table, or about the population that it was drawn from."""
        found = self.noise(factors)
        return found + self.sampling(factors) if population and self.fixed else found


@dataclass(frozen=True, eq=False)
class CellMoments(Moments):
    """Counts of cells whose noise is independent of that of other cells.

    Parameters
    ----------
    counts
        Shape (cells, F).
    of_cell
        From the number of a cell to the covariance matrix of its counts.
    """

    counts: FloatArray
    of_cell: Callable[[int], FloatArray]
    fixed: bool = True

    def noise(self, factors: FloatArray) -> FloatArray:
        """Sum over the cells that take part."""
        found = np.zeros((len(factors), len(factors)))
        for cell in _used(factors):
            own = factors[:, cell]
            found += own @ self.of_cell(int(cell)) @ own.T
        return found

    def sampling(self, factors: FloatArray) -> FloatArray:
        """The covariance of counts in samples, with the estimated shares in place of the true ones."""
        return sampled(self.counts, factors)


@dataclass(frozen=True, eq=False, kw_only=True)
class LikeliestMoments(CellMoments):
    """The likeliest counts of cells. Errors of the share of one value reach as far as the limits of its count.

    Where a rare value happens to be shown too rarely, its count and its error are too small together. The limits of
    counts know that, and reach farther up (`_likelihood_errors`).

    Parameters
    ----------
    least
        The variance of each count whose normal interval holds its limits, shape (cells, F).
    """

    least: FloatArray

    def noise(self, factors: FloatArray) -> FloatArray:
        """Sum over the cells that take part; no share of one value has less than its least variance."""
        found = super().noise(factors)
        least = np.nan_to_num(floor_of(self.least, factors))
        np.fill_diagonal(found, np.maximum(np.diag(found), least))
        return found


def likeliest_moments(counts: FloatArray, errors: Errors, asked: Asked) -> LikeliestMoments:
    """The likeliest counts of cells, with the limits that their errors have."""
    reach = np.maximum(errors.high - counts, counts - errors.low)
    least = np.square(reach / NormalDist().inv_cdf((1 + asked.confidence) / 2))
    return LikeliestMoments(counts, errors.covariance, least=least)


def sampled(counts: FloatArray, factors: FloatArray) -> FloatArray:
    """The covariance of sums of multinomial counts, each cell with as many records as it has.

    A variance is at least the one that it would have if all records of a cell had the commonest value, half a record
    more the greatest factor, and half a record the least (`_carried`): no share of a population is certain because all
    records of a sample have a value.
    """
    found, least = np.zeros((len(factors), len(factors))), np.zeros(len(factors))
    for cell in _used(factors):
        own, total = factors[:, cell], float(counts[cell].sum())
        sums = own @ counts[cell]
        found += (own * counts[cell]) @ own.T - np.outer(sums, sums) / total
        commonest = np.zeros(counts.shape[1])
        commonest[counts[cell].argmax()] = 1.0
        least += max(total, 0.0) * middle_variance(max(total, 0.0), commonest, own)
    np.fill_diagonal(found, np.maximum(np.diag(found), least))
    return found


def _used(factors: FloatArray) -> NDArray[np.intp]:
    return np.flatnonzero(factors.any(axis=(0, 2)))
