"""What an estimator is: from sets counted by cell to the counts of the true values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._base import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity._types import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.mechanisms._base import SetMechanism

__all__ = ["Estimator", "MatrixEstimator", "Solution"]

_SAME: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Solution:
    """The reported counts, shape (cells, F), which estimator gave each cell's, and what the user should know."""

    counts: FloatArray
    estimators: tuple[str, ...]
    caveats: tuple[str, ...] = ()


class Estimator(ABC):
    """From sets counted by cell to the counts of the true values. Stateless."""

    name: ClassVar[str]
    """How users ask for it."""

    summary: ClassVar[str]
    """What it does, in one sentence."""

    needs_sets: ClassVar[bool] = False
    """Whether published counts are not enough."""

    def supports(self, mechanism: SetMechanism) -> bool:
        """Whether this mechanism's sets can be analyzed: its inclusion matrix must have an inverse."""
        return mechanism.l < mechanism.n_values and mechanism.condition < SINGULAR_CONDITION

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """The matrix by which published counts are multiplied, for standard errors; the unbiased one by default."""
        return mechanism.inverse

    def solve(self, cells: CellData) -> Solution:
        """Check that the cells can be solved, and solve them."""
        for mechanism in cells.mechanisms:
            if not self.supports(mechanism):
                raise UnsupportedError(
                    f"estimate: {self.name} needs an invertible matrix, but the one of this release's "
                    f"{mechanism.kind!r} mechanism is singular."
                )
        if self.needs_sets and not cells.has_sets:
            raise UnsupportedError(
                f"estimate: {self.name} needs published sets, but this release has single members.",
                hint="Use the estimator 'simplex' or 'linear', which need counts alone.",
            )
        return self._solve(cells)

    @abstractmethod
    def _solve(self, cells: CellData) -> Solution:
        """Solve cells that are known to be supported."""


class MatrixEstimator(Estimator):
    """An estimator that multiplies the published counts by a matrix."""

    biased: ClassVar[str] = ""
    """Why the estimates are biased where the matrix is not the inverse of the inclusion matrix."""

    @abstractmethod
    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """The matrix by which published counts are multiplied."""

    def _solve(self, cells: CellData) -> Solution:
        matrices = [self.matrix(mechanism) for mechanism in cells.mechanisms]
        inverses = [mechanism.inverse for mechanism in cells.mechanisms]
        same = all(np.allclose(a, b, rtol=0, atol=_SAME) for a, b in zip(matrices, inverses, strict=True))
        counts = cells.linear if same else cells.transform(matrices, cells.counts)
        return Solution(counts, (self.name,) * cells.n_cells, () if same else self._cautions(cells))

    def _cautions(self, cells: CellData) -> tuple[str, ...]:
        if not cells.has_sets and self.name == "paper":
            lacking = "Standard errors are those of linear: single members do not give those of paper."
            return (self.biased, lacking)
        return (self.biased,)
