"""The estimator that fits a cell's size."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.estimation._base import CautiousEstimator, Solution
from ldiversity.estimation._likelihood import maximize
from ldiversity.estimation._mle import stopped_early
from ldiversity.estimation._simplex import Simplex

if TYPE_CHECKING:
    from ldiversity.estimation._cells import CellData

__all__ = ["MANY_RECORDS", "Auto"]

MANY_RECORDS: Final = 10
"""From so many records a value on, maximum likelihood needs no prior."""


class Auto(CautiousEstimator):
    """``mle`` in cells with at least 10 F records, ``map`` below; ``simplex`` where sets were not published."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "mle for cells with at least 10 F records, map below; simplex for exploded rows."

    def _solve(self, cells: CellData) -> Solution:
        if not cells.has_sets:
            return Simplex().solve(cells)
        small = cells.records < MANY_RECORDS * cells.n_values
        prior = cells.marginal() if small.any() else np.full(cells.n_values, 1.0 / cells.n_values)
        counts, early = maximize(cells, prior, np.where(small, float(cells.n_values), 0.0))
        return Solution(counts, tuple("map" if few else "mle" for few in small), stopped_early(early))
