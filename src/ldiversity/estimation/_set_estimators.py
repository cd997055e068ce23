"""The estimators that never report negative counts: maximum likelihood, and the nearest possible counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.base.numbers import counted
from ldiversity.errors import UnsupportedError
from ldiversity.estimation._base import CautiousEstimator, Estimator, Solution
from ldiversity.estimation._borrowing import borrow
from ldiversity.estimation._likelihood import maximize
from ldiversity.estimation._likelihood_errors import MANY_RECORDS, likelihood_errors
from ldiversity.estimation._projection import project
from ldiversity.estimation._returned import noted
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.estimation._errors import Asked, Errors

__all__ = ["Auto", "Hierarchical", "LikelihoodEstimator", "MaximumLikelihood", "MaximumPosterior", "Simplex"]

VALUE_LIMIT: Final = 300
"""The most values, or combinations of values, for `Hierarchical`: cells need determinants of matrices of this size."""

FEWEST_CELLS: Final = 3
"""Fewer cells do not tell how alike cells are."""

MANY_CELLS: Final = 20
"""From this many small cells on, ``auto`` lets them borrow from each other."""

_MOST_NUMBERS: Final = 200_000
_MOST_WORK: Final = 500_000_000
"""Up to so many cells times values, and cells times their cube, ``auto`` does so: it takes some seconds."""

_DRAWN: Final = (
    "hierarchical draws the counts of cells to each other, as far as the release says that cells are alike: the counts "
    "of each cell are biased by design. Take linear for sums over cells and to compare cells."
)


class LikelihoodEstimator(Estimator):
    """An estimator that uses whole sets, and states the errors that the likelihood of the sets gives."""

    pulled: ClassVar[bool] = True
    """Whether a prior pulls its counts in cells with many records."""

    def errors(self, cells: CellData, counts: FloatArray, asked: Asked) -> Errors:
        """Give the errors by the likelihood in large cells, and those of ``linear`` in small ones, and say so."""
        return likelihood_errors(cells, counts, asked, pulled=self.pulled)


class MaximumLikelihood(LikelihoodEstimator):
    """Maximize the likelihood of the published sets by accelerated expectation maximization.

    It uses which members were published together, not only how often each one was. With many records it is usually
    far closer to the truth than ``linear``.
    """

    name: ClassVar[str] = "mle"
    summary: ClassVar[str] = "Maximum likelihood of the published sets; best with many records per cell."
    meaning: ClassVar[str] = "The counts that make what was published most likely."
    needs_sets: ClassVar[bool] = True
    pulled: ClassVar[bool] = False

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


class Hierarchical(LikelihoodEstimator):
    """Maximize the likelihood together with a prior that cells give each other, as much as the release says.

    This is for many cells with few records each. Cells that are alike are drawn together; cells that are not, or that
    have many records, hardly move. Where several columns make the cells, the prior of a cell follows from its labels,
    too. With fewer than three cells there is nothing to borrow, and counts are those of ``map``.
    """

    name: ClassVar[str] = "hierarchical"
    summary: ClassVar[str] = "Likelihood and a prior that is learned from all cells; for many small cells."
    meaning: ClassVar[str] = "The likeliest counts of small groups, drawn towards those of similar groups."
    needs_sets: ClassVar[bool] = True

    def _solve(self, cells: CellData) -> Solution:
        if cells.n_values > VALUE_LIMIT:
            raise UnsupportedError(
                "estimate",
                f"{self.name} takes at most {VALUE_LIMIT} values or combinations of them, but there are "
                f"{cells.n_values}",
            ).with_hint(say("Use {}.", Setting("estimator", "map")))
        if cells.n_cells < FEWEST_CELLS:
            alone = MaximumPosterior().solve(cells)
            few = f"With fewer than {FEWEST_CELLS} cells there is nothing to borrow: the counts are those of map."
            return Solution(alone.counts, alone.estimators, (few, *alone.caveats))
        counts, early = borrow(cells)
        return Solution(counts, (self.name,) * cells.n_cells, (_DRAWN, *_stopped_early(early)))


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
    """``mle`` in cells with at least 10 F records; below ``hierarchical`` where such cells are many, else ``map``.

    Where sets were not published it is ``simplex``.
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = (
        "mle for cells with at least 10 F records; below hierarchical for 20 cells or more, else map; simplex for "
        "exploded rows."
    )
    pulled: ClassVar[bool] = False

    def _solve(self, cells: CellData) -> Solution:
        if not cells.has_sets:
            return Simplex().solve(cells)
        small = cells.records < MANY_RECORDS * cells.n_values
        if _are_many(cells, int(np.count_nonzero(small))):
            borrowed = Hierarchical().solve(cells)
            counts = borrowed.counts.copy()
            large, early = np.flatnonzero(~small), 0
            if large.size:
                flat = np.full(cells.n_values, 1.0 / cells.n_values)
                counts[large], early = maximize(cells, flat, np.zeros(len(large)), large)
            few, caveats = Hierarchical.name, (*borrowed.caveats, *_stopped_early(early))
        else:
            prior = cells.marginal() if small.any() else np.full(cells.n_values, 1.0 / cells.n_values)
            counts, early = maximize(cells, prior, np.where(small, float(cells.n_values), 0.0))
            few, caveats = "map", _stopped_early(early)
        noted((few, "mle"))  # their work is done here, all cells at once
        return Solution(counts, tuple(few if one else "mle" for one in small), caveats)


def _are_many(cells: CellData, n_small: int) -> bool:
    numbers = cells.n_cells * cells.n_values
    affordable = numbers <= _MOST_NUMBERS and numbers * cells.n_values**2 <= _MOST_WORK
    return n_small >= MANY_CELLS and cells.n_values <= VALUE_LIMIT and affordable


def _stopped_early(n_cells: int) -> tuple[str, ...]:
    return (
        (f"The likelihood had not converged in {counted(n_cells, 'cell')} when the search ended.",) if n_cells else ()
    )
