"""Rubin's rules: one answer from the same analysis of several completed tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldiversity.base.answers import Answer, Unbounded, fit_screen
from ldiversity.base.checks import check_number
from ldiversity.base.numbers import counted, level, number, percent
from ldiversity.errors import ParameterError
from ldiversity.sentences import Parameter, say

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import FloatArray

__all__ = ["Combined", "CombinedFigure", "combine"]


@dataclass(frozen=True)
class CombinedFigure:
    """One figure: its estimate, errors and interval, and how much of what is known about it was hidden.

    `df` are the degrees of freedom of its t distribution; it is infinite where completed tables do not differ.
    """

    estimate: float
    std_error: float
    df: Unbounded
    low: float
    high: float
    pvalue: float
    missing: float


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Answer, schema="combined", version=1):
    """What several completed tables say together.

    Attributes
    ----------
    tables
        How many completed tables there were.
    confidence
        How often intervals should hold the figure.
    figures
        One for each estimate, in their order.
    """

    tables: int
    confidence: float
    figures: tuple[CombinedFigure, ...]

    @property
    def estimate(self) -> FloatArray:
        """The estimates."""
        return np.array([one.estimate for one in self.figures])

    @property
    def std_error(self) -> FloatArray:
        """The standard errors."""
        return np.array([one.std_error for one in self.figures])

    @property
    def low(self) -> FloatArray:
        """The lower ends of the intervals."""
        return np.array([one.low for one in self.figures])

    @property
    def high(self) -> FloatArray:
        """The upper ends of the intervals."""
        return np.array([one.high for one in self.figures])

    def __str__(self) -> str:
        rows = [
            f"{number(one.estimate)} ({number(one.std_error)}), {number(one.low)} to {number(one.high)}, "
            f"{percent(one.missing)} hidden"
            for one in self.figures[:30]
        ]
        return fit_screen([f"{counted(self.tables, 'completed table')}, intervals {level(self.confidence)}", *rows])

    def __repr__(self) -> str:
        return f"Combined({counted(len(self.figures), 'figure')}, {counted(self.tables, 'table')})"


def combine(estimates: ArrayLike, variances: ArrayLike, *, confidence: float = 0.95, shares: bool = False) -> Combined:
    """Combine the results of the same analysis of several completed tables, by Rubin's rules.

    Where a person may have several records, whose sets were drawn together, the true errors may be greater, and then
    intervals hold less often than stated; `impute` warns of it.

    Parameters
    ----------
    estimates
        One row per completed table: a number, or several.
    variances
        The squared standard errors of the same numbers, as the analysis of one table gives them.
    confidence
        How often an interval should hold the figure.
    shares
        Whether all figures are shares of records, between 0 and 1. Rubin's intervals reach as far up as down. Where a
        share is small, sets that happen to show it too rarely also make completed tables too much alike, and such
        intervals end below it too often. With `shares`, they reach as far as on the scale of the arcsine of the square
        root, too, on which the error of a share is about the same whatever it is.

    Examples
    --------
    >>> found = combine([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    >>> found.estimate.tolist(), round(float(found.std_error[0]), 3), round(found.figures[0].df, 2)
    ([2.0], 1.354, 3.78)

    The interval of a small share reaches farther up than down:

    >>> found = combine([0.01, 0.02, 0.03], [1e-4, 1e-4, 1e-4], shares=True)
    >>> round(float(found.low[0]), 3), round(float(found.high[0]), 3)
    (0.0, 0.074)
    """
    from scipy.special import stdtr, stdtrit

    if not 0 < check_number("combine", "confidence", confidence) < 1:
        raise ParameterError("combine", "confidence", "must be between 0 and 1", got=repr(confidence))
    every, within = _table("estimates", estimates), _table("variances", variances)
    if every.shape != within.shape:
        raise ParameterError("combine", "variances", "must have the shape of estimates", got=within.shape)
    if len(every) < 2:  # noqa: PLR2004 - else nothing differs
        raise ParameterError("combine", "estimates", "must come from at least two completed tables", got=len(every))
    if not (np.isfinite(every).all() and np.isfinite(within).all() and (within >= 0).all()):
        raise ParameterError("combine", "variances", "must be finite and not negative, and estimates finite")
    if shares and not ((every >= 0) & (every <= 1)).all():
        raise ParameterError("combine", "estimates", "must be between 0 and 1 where they are shares").with_hint(
            say("Leave {} out for other figures, such as differences.", Parameter("shares"))
        )
    m, mean, inside = len(every), every.mean(axis=0), within.mean(axis=0)
    between = (1 + 1 / m) * every.var(axis=0, ddof=1)
    total = inside + between
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(between > 0, (m - 1) * (total / between) ** 2, np.inf)
        share = np.where(between > 0, (between / inside + 2 / (df + 3)) / (between / inside + 1), 0.0)
        share = np.where((inside == 0) & (between > 0), 1.0, share)
        t = np.where(total > 0, mean / np.sqrt(total), np.where(mean == 0, 0.0, np.inf))
    known = np.minimum(df, 1e12)  # beyond, t is normal
    reach = stdtrit(known, (1 + confidence) / 2) * np.sqrt(total)
    p = 2 * stdtr(known, -np.abs(t))
    low, high = _ends_of_shares(mean, reach) if shares else (mean - reach, mean + reach)
    columns = (mean, np.sqrt(total), df, low, high, p, share)
    figures = tuple(CombinedFigure(*map(float, row)) for row in np.column_stack(columns))
    return Combined(m, float(confidence), figures)


def _ends_of_shares(shares: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The farthest ends of the intervals of shares: as they are, and as arcsines of their square roots."""
    inner = np.clip(shares, 0.0, 1.0)  # a mean may be rounded beyond
    angle, slope = np.arcsin(np.sqrt(inner)), 2 * np.sqrt(inner * (1 - inner))
    turn = np.divide(reach, slope, out=np.zeros_like(reach), where=slope > 0)
    low, high = np.sin(np.maximum(angle - turn, 0.0)) ** 2, np.sin(np.minimum(angle + turn, np.pi / 2)) ** 2
    return np.maximum(np.minimum(low, shares - reach), 0.0), np.minimum(np.maximum(high, shares + reach), 1.0)


def _table(name: str, given: ArrayLike) -> FloatArray:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("combine", name, "must hold numbers, with as many for each completed table") from None
    if numbers.ndim not in {1, 2} or not numbers.size:
        raise ParameterError("combine", name, "must have one row per completed table", got=f"shape {numbers.shape}")
    return numbers.reshape(len(numbers), -1)
