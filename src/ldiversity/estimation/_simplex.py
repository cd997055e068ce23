"""The possible counts nearest to the unbiased ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import CautiousEstimator, Solution
from ldiversity.estimation._projection import project

if TYPE_CHECKING:
    from ldiversity.estimation._cells import CellData

__all__ = ["Simplex"]


class Simplex(CautiousEstimator):
    """Move the unbiased counts to the nearest ones that are not negative and sum to the records.

    Needs counts alone, so it also works on exploded rows.
    """

    name: ClassVar[str] = "simplex"
    summary: ClassVar[str] = "The nearest counts to linear that are not negative and sum to the records."

    def _solve(self, cells: CellData) -> Solution:
        counts = project(cells.linear, cells.records.astype(np.float64))
        return Solution(counts, (self.name,) * cells.n_cells)
