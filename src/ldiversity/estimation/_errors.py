"""How far reported counts may be from the true ones, for estimators that have a formula for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ldiversity.estimation._intervals import intervals
from ldiversity.estimation._variance import covariance, standard_errors

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._cells import CellData

__all__ = ["Asked", "Errors", "matrix_errors"]


@dataclass(frozen=True)
class Asked:
    """What the user asked of the intervals: how often they hold, and how many records make noise normal."""

    confidence: float
    min_records: int


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of the reported counts.

    Parameters
    ----------
    std_error
        Shape (cells, F): standard errors; NaN where there is no formula for what was published.
    low, high
        Shape (cells, F): the limits of the true counts.
    covariance
        From the number of a cell to the covariance matrix of its counts, shape (F, F).
    caveats
        What the user should know about them.
    lent
        Shape (cells,): where the limits are those of ``linear``, though the counts are not; None for nowhere.
    """

    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    covariance: Callable[[int], FloatArray]
    caveats: tuple[str, ...] = ()
    lent: BoolArray | None = None


def matrix_errors(
    cells: CellData, counts: FloatArray, matrices: Sequence[FloatArray], asked: Asked, *caveats: str
) -> Errors:
    """Errors of published counts times `matrices`, with the unbiased intervals, widened to hold `counts`."""
    exact = [mechanism.inverse for mechanism in cells.mechanisms]
    unbiased = standard_errors(cells, exact)
    same = all(a is b for a, b in zip(exact, matrices, strict=True))
    low, high = intervals(cells, unbiased, counts, confidence=asked.confidence, min_records=asked.min_records)
    return Errors(
        unbiased if same else standard_errors(cells, matrices), low, high, partial(covariance, cells, matrices), caveats
    )
