"""The estimators that never report negative counts: maximum likelihood, and the nearest possible counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.base.numbers import counted
from ldiversity.estimation._base import CautiousEstimator, Estimator, Solution
from ldiversity.estimation._likelihood import maximize
from ldiversity.estimation._likelihood_errors import MANY_RECORDS, likelihood_errors
from ldiversity.estimation._projection import project

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.estimation._errors import Asked, Errors

__all__ = ["Auto", "LikelihoodEstimator", "MaximumLikelihood", "MaximumPosterior", "Simplex"]


class LikelihoodEstimator(Estimator):
    """An estimator that uses whole sets, and states the errors that the likelihood of the sets gives."""

    def errors(self, cells: CellData, counts: FloatArray, asked: Asked) -> Errors:
        """Give the errors by the likelihood in large cells, and those of ``linear`` in small ones, and say so."""
        return likelihood_errors(cells, counts, asked)


class MaximumLikelihood(LikelihoodEstimator):
    """Maximize the likelihood of the published sets by accelerated expectation maximization.

    It uses which members were published together, not only how often each one was. With many records it is usually
    far closer to the truth than ``linear``.
    """

    name: ClassVar[str] = "mle"
    summary: ClassVar[str] = "Maximum likelihood of the published sets; best with many records per cell."
    meaning: ClassVar[str] = "The counts that make what was published most likely."
    needs_sets: ClassVar[bool] = True

    def _solve(self, cells: CellData) -> Solution:
        flat = np.full(cells.n_values, 1.0 / cells.n_values)
        counts, early = maximize(cells, flat, np.zeros(cells.n_cells))
        return Solution(counts, (self.name,) * cells.n_cells, _stopped_early(early))


class MaximumPosterior(LikelihoodEstimator):
    """Maximize the likelihood together with a prior: the distribution of the whole release, worth F records.

    This is for cells with few records. The smaller the cell, the more the prior counts.
    """

    name: ClassVar[str] = "map"
    summary: ClassVar[str] = "Likelihood and the whole release's distribution as prior; for small cells."
    meaning: ClassVar[str] = "The likeliest counts for few records, drawn towards the counts of all records."
    needs_sets: ClassVar[bool] = True

    def _solve(self, cells: CellData) -> Solution:
        strength = np.full(cells.n_cells, float(cells.n_values))
        counts, early = maximize(cells, cells.marginal(), strength)
        return Solution(counts, (self.name,) * cells.n_cells, _stopped_early(early))


class Simplex(CautiousEstimator):
    """Move the unbiased counts to the nearest ones that are not negative and sum to the records.

    It needs counts alone, so it also works on exploded rows.
    """

    name: ClassVar[str] = "simplex"
    summary: ClassVar[str] = "The nearest counts to linear that are not negative and sum to the records."

    def _solve(self, cells: CellData) -> Solution:
        counts = project(cells.linear, cells.records.astype(np.float64))
        return Solution(counts, (self.name,) * cells.n_cells)


class Auto(LikelihoodEstimator):
    """``mle`` in cells with at least 10 F records, ``map`` below; ``simplex`` where sets were not published."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "mle for cells with at least 10 F records, map below; simplex for exploded rows."

    def _solve(self, cells: CellData) -> Solution:
        if not cells.has_sets:
            return Simplex().solve(cells)
        small = cells.records < MANY_RECORDS * cells.n_values
        prior = cells.marginal() if small.any() else np.full(cells.n_values, 1.0 / cells.n_values)
        counts, early = maximize(cells, prior, np.where(small, float(cells.n_values), 0.0))
        return Solution(counts, tuple("map" if few else "mle" for few in small), _stopped_early(early))


def _stopped_early(n_cells: int) -> tuple[str, ...]:
    return (
        (f"The likelihood had not converged in {counted(n_cells, 'cell')} when the search ended.",) if n_cells else ()
    )
