"""Limits of a number that cannot be below zero, from an estimate that can (Feldman and Cousins 1998).

Limits on both sides of the estimate miss a number near zero where the estimate is below zero, and moved up to zero they
hold too often. So for each number there is a range of estimates that are taken for likely: as many as the confidence
says, and of these the ones whose likelihood is greatest beside that of the best number that is not below zero. The
limits hold all numbers that take the estimate for likely.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["limits_above_zero"]

_LEAST: Final = 1e-4
_CONFIDENCES: Final = (1e-9, 1 - 1e-12)
"""Beyond these, probabilities are compared that rounding alone tells apart."""

_NUMBERS: Final = 400
_STEPS: Final = 60


def limits_above_zero(found: FloatArray, reach: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Give the limits of numbers whose estimates are off by `reach` at most, with this confidence, if no bound is near.

    Examples
    --------
    >>> low, high = limits_above_zero(np.array([-2.0, 0.0, 10.0]), np.array([1.96, 1.96, 1.96]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.0, 8.04], [0.62, 1.96, 11.96])
    """
    confidence = min(max(confidence, _CONFIDENCES[0]), _CONFIDENCES[1])
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    deviation = np.asarray(reach / z, dtype=np.float64)
    endless = ~(deviation < np.inf)
    safe = np.where((deviation > 0.0) & ~endless, deviation, 1.0)
    place = found / safe
    numbers, first, last = _taken_for_likely(confidence)
    low = np.where(place < last[-1], np.interp(place, last, numbers, left=0.0), place - z) * safe
    high = np.where(place < first[-1], np.interp(place, first, numbers), place + z) * safe
    low, high = np.where(endless, 0.0, low), np.where(endless, np.inf, high)
    known = deviation <= 0.0
    return np.where(known, np.maximum(found, 0.0), low), np.where(known, np.maximum(found, 0.0), high)


@lru_cache(maxsize=16)
def _taken_for_likely(confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Numbers up to where zero makes no difference, and the first and the last estimate that is likely for each.

    Below zero, the best number is zero; so equal likelihood ratios of both ends leave one end to be searched for.
    """
    from scipy.special import ndtr

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    numbers = np.geomspace(_LEAST * z, z, _NUMBERS)
    least, most = numbers.copy(), numbers + 2 * z
    for _ in range(_STEPS):
        last = (least + most) / 2
        first = last - last**2 / (2 * numbers)
        enough = ndtr(last - numbers) - ndtr(first - numbers) >= confidence
        least, most = np.where(enough, least, last), np.where(enough, last, most)
    return numbers, most - most**2 / (2 * numbers), most
