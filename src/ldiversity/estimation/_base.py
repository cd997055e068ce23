"""What an estimator is: it turns sets, counted by cell, into the counts of the true values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._errors import Asked, Errors, matrix_errors
from ldiversity.estimation._returned import checked_names, checked_numbers, named_inside
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.mechanisms import SetMechanism

__all__ = ["CautiousEstimator", "Estimator", "MatrixEstimator", "Solution"]

_SAME: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Solution:
    """The reported counts, shape (cells, F), the estimator of each cell, and what the user should know."""

    counts: FloatArray
    estimators: tuple[str, ...]
    caveats: tuple[str, ...] = ()


class Estimator(ABC):
    """Turns sets, counted by cell, into the counts of the true values. Stateless."""

    name: ClassVar[str]
    """How users ask for it."""

    summary: ClassVar[str]
    """What it does, in one sentence."""

    meaning: ClassVar[str] = ""
    """The same for people who know no statistics; glossaries of reports show it."""

    needs_sets: ClassVar[bool] = False
    """Whether it needs whole sets; else published counts are enough."""

    def supports(self, mechanism: SetMechanism) -> bool:
        """Whether this mechanism's sets can be analyzed: its inclusion matrix must have an inverse."""
        return mechanism.l < mechanism.n_values and mechanism.condition < SINGULAR_CONDITION

    def errors(self, cells: CellData, counts: FloatArray, asked: Asked) -> Errors | None:  # noqa: ARG002 - see below
        """Give the errors of the counts that it reported, by its own formula; None when it has none.

        Then standard errors and intervals stay empty. Those of another estimator do not replace them: they would say
        nothing about this one.
        """
        return None

    def solve(self, cells: CellData) -> Solution:
        """Check that the cells can be solved, and solve them."""
        for mechanism in cells.mechanisms:
            if not self.supports(mechanism):
                raise UnsupportedError(
                    "estimate",
                    f"{self.name} needs an invertible matrix, but that of the {mechanism.kind!r} mechanism is singular",
                )
        if self.needs_sets and not cells.has_sets:
            raise UnsupportedError(
                "estimate", f"{self.name} needs published sets, but this release has single members"
            ).with_hint("Use the estimator 'simplex' or 'linear', which need only counts.")
        solution, inside = named_inside(lambda: self._solve(cells))
        checked_numbers(self.name, {"counts": solution.counts}, (cells.n_cells, cells.n_values))
        checked_names(self.name, solution.estimators, inside, cells.n_cells)
        return solution

    @abstractmethod
    def _solve(self, cells: CellData) -> Solution:
        """Solve cells whose mechanisms it supports.

        `Solution.estimators` names this one for each cell, or one whose `solve` it called.
        """


class CautiousEstimator(Estimator):
    """An estimator that reports the errors of ``linear``.

    Such an estimator uses more of what was published than ``linear`` does. It is mostly closer to the truth, so these
    standard errors are too large for it rather than too small. Intervals are widened to hold the reported count.
    """

    def errors(self, cells: CellData, counts: FloatArray, asked: Asked) -> Errors:
        """Give the errors of ``linear``, and say so."""
        exact = [mechanism.inverse for mechanism in cells.mechanisms]
        borrowed = "Standard errors and intervals are those of linear, widened to hold the reported count."
        return matrix_errors(cells, counts, exact, asked, borrowed)


class MatrixEstimator(Estimator):
    """An estimator that multiplies the published counts by a matrix, which gives its standard errors too."""

    biased: ClassVar[str] = ""
    """Why the estimates are biased where the matrix is not the inverse of the inclusion matrix."""

    @abstractmethod
    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """The matrix by which published counts are multiplied."""

    def errors(self, cells: CellData, counts: FloatArray, asked: Asked) -> Errors:
        """Give the standard errors of the matrix, and the intervals of ``linear``, widened to hold the counts."""
        matrices = [self.matrix(mechanism) for mechanism in cells.mechanisms]
        if self._is_exact(cells):
            return matrix_errors(cells, counts, matrices, asked)
        widened = "Intervals are those of linear, widened to hold the reported count."
        found = matrix_errors(cells, counts, matrices, asked, widened)
        if np.isfinite(found.std_error).all():
            return found
        lacking = f"Standard errors of {self.name} are empty, because single members do not give them."
        return replace(found, caveats=(lacking, *found.caveats))

    def _solve(self, cells: CellData) -> Solution:
        names = (self.name,) * cells.n_cells
        if self._is_exact(cells):
            return Solution(cells.linear, names)
        matrices = [self.matrix(mechanism) for mechanism in cells.mechanisms]
        why = self.biased or f"The matrix of {self.name} is not the inverse one: its estimates may be biased."
        return Solution(cells.transform(matrices, cells.counts), names, (why,))

    def _is_exact(self, cells: CellData) -> bool:
        return all(np.allclose(self.matrix(one), one.inverse, rtol=0, atol=_SAME) for one in cells.mechanisms)
