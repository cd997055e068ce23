"""Edges near the quantiles of a column, rounded so that they show its shape but none of its cells."""

from __future__ import annotations

import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["quantile_edges", "round_step"]

_DIGITS: Final = 400  # enough for exact sums of any two floats that meet here
_STEPS_IN_A_GAP: Final = 4


def quantile_edges(numbers: NDArray[Any], counts: NDArray[np.int64], n_bins: int) -> tuple[float, ...]:
    """Return edges of at most `n_bins` bins with about equally many rows; no bin is empty.

    `counts` says how often each number occurs. Each edge has its own step: 1, 2 or 5 times a power of ten, at most a
    quarter of the distance to the nearest other quantile, and at least 1 for integers. Outer edges are rounded outward,
    inner ones to the nearest step, or down if a bin would be empty otherwise. A rounded edge may equal a cell, but only
    by chance.

    Examples
    --------
    >>> numbers = np.array([17.31, 20.44, 31.07, 48.93, 52.18, 96.55])
    >>> quantile_edges(numbers, np.ones(6, dtype=np.int64), 3)
    (16.0, 32.0, 50.0, 100.0)
    """
    distinct, where = np.unique(numbers, return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, where, counts)
    exact = _exact_quantiles(distinct, totals, n_bins)
    whole = bool(np.all(distinct == np.floor(distinct)))
    steps = _steps(exact, Decimal(1) if whole else Decimal(0))
    edges = _rounded(exact, steps, ROUND_HALF_EVEN)
    return edges if _all_filled(edges, distinct) else _rounded(exact, steps, ROUND_FLOOR)


def round_step(most: Decimal) -> Decimal:
    """Return the greatest of 1, 2 and 5 times a power of ten that is not above `most`.

    Examples
    --------
    >>> round_step(Decimal("0.37")), round_step(Decimal(1999))
    (Decimal('0.2'), Decimal('1E+3'))
    """
    power = Decimal(1).scaleb(most.adjusted())
    return max(factor * power for factor in (1, 2, 5) if factor * power <= most)


def _exact_quantiles(distinct: NDArray[Any], totals: NDArray[np.int64], n_bins: int) -> list[int | float]:
    """Return the least number, the quantiles and the greatest number, each once."""
    below = np.cumsum(totals) - totals  # rows below each distinct number
    wanted = np.arange(1, n_bins) * (int(totals.sum()) / n_bins)
    inner = np.clip(np.searchsorted(below, wanted), min(1, len(distinct) - 1), len(distinct) - 1)
    taken = np.unique(np.concatenate([[0], inner, [len(distinct) - 1]]))
    return [distinct[i].item() for i in taken]


def _steps(exact: list[int | float], least: Decimal) -> list[Decimal]:
    """Return the step for each number, from the distance to its nearer neighbor (a single number: to 0)."""
    with localcontext(prec=_DIGITS):
        decimals = [Decimal(str(number)) for number in exact]
        gaps = [high - low for low, high in pairwise(decimals)] or [abs(decimals[0]) or Decimal(1)]
        nearest = [min(pair) for pair in zip([gaps[0], *gaps], [*gaps, gaps[-1]], strict=True)][: len(exact)]
        return [max(least, round_step(gap / _STEPS_IN_A_GAP)) for gap in nearest]


def _rounded(exact: list[int | float], steps: list[Decimal], rounding: str) -> tuple[float, ...]:
    first = _on_grid(exact[0], steps[0], ROUND_FLOOR)
    last = _on_grid(exact[-1], steps[-1], ROUND_CEILING)
    if first == last:  # a single number that lies on its grid
        last = _on_grid(math.nextafter(exact[-1], math.inf), steps[-1], ROUND_CEILING)
    inner = zip(exact[1:-1], steps[1:-1], strict=True)
    middle = [_on_grid(number, step, rounding) for number, step in inner]
    # A float may not hold a wide integer exactly: the nearest one may lie on the wrong side.
    first = first if first <= exact[0] else math.nextafter(first, -math.inf)
    last = last if last >= exact[-1] else math.nextafter(last, math.inf)
    return tuple(sorted({first, *middle, last}))


def _on_grid(number: float, step: Decimal, rounding: str) -> float:
    with localcontext(prec=_DIGITS):
        edge = float((Decimal(str(number)) / step).to_integral_value(rounding) * step) + 0.0  # -0.0 becomes 0.0
    return min(max(edge, -sys.float_info.max), sys.float_info.max)


def _all_filled(edges: tuple[float, ...], distinct: NDArray[Any]) -> bool:
    starts = np.searchsorted(distinct, edges[:-1])
    return bool(np.all(np.diff(starts, append=len(distinct)) > 0))
