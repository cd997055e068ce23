"""The estimators that never report negative counts: maximum likelihood, and the nearest possible counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.base.numbers import counted
from ldiversity.estimation._base import CautiousEstimator, Solution
from ldiversity.estimation._likelihood import maximize
from ldiversity.estimation._projection import project

if TYPE_CHECKING:
    from ldiversity.estimation._cells import CellData

__all__ = ["Auto", "MaximumLikelihood", "MaximumPosterior", "Simplex"]

_MANY_RECORDS: Final = 10
"""With this many records per value, maximum likelihood needs no prior."""


class MaximumLikelihood(CautiousEstimator):
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


class MaximumPosterior(CautiousEstimator):
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


class Auto(CautiousEstimator):
    """``mle`` in cells with at least 10 F records, ``map`` below; ``simplex`` where sets were not published."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "mle for cells with at least 10 F records, map below; simplex for exploded rows."

    def _solve(self, cells: CellData) -> Solution:
        if not cells.has_sets:
            return Simplex().solve(cells)
        small = cells.records < _MANY_RECORDS * cells.n_values
        prior = cells.marginal() if small.any() else np.full(cells.n_values, 1.0 / cells.n_values)
        counts, early = maximize(cells, prior, np.where(small, float(cells.n_values), 0.0))
        return Solution(counts, tuple("map" if few else "mle" for few in small), _stopped_early(early))


def _stopped_early(n_cells: int) -> tuple[str, ...]:
    return (
        (f"The likelihood had not converged in {counted(n_cells, 'cell')} when the search ended.",) if n_cells else ()
    )
