"""Maximum likelihood drawn towards the distribution of the whole release."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import CautiousEstimator, Solution
from ldiversity.estimation._likelihood import maximize
from ldiversity.estimation._mle import stopped_early

if TYPE_CHECKING:
    from ldiversity.estimation._cells import CellData

__all__ = ["MaximumPosterior"]


class MaximumPosterior(CautiousEstimator):
    """Maximize the likelihood together with a prior: the whole release's distribution, worth F records.

    The estimate for cells with few records. It is drawn towards the distribution of the whole release, and the
    more so the smaller the cell is.
    """

    name: ClassVar[str] = "map"
    summary: ClassVar[str] = "Likelihood and the whole release's distribution as prior; for small cells."
    needs_sets: ClassVar[bool] = True

    def _solve(self, cells: CellData) -> Solution:
        strength = np.full(cells.n_cells, float(cells.n_values))
        counts, early = maximize(cells, cells.marginal(), strength)
        return Solution(counts, (self.name,) * cells.n_cells, stopped_early(early))
