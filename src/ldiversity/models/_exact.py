"""Exact decisions: a parameter is the decimal number that its user wrote, a count is an integer."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray

__all__ = ["as_written", "at_most", "is_positive", "less_than", "to_decimal", "widened"]

_MOST: Final = (1 << 63) - 1
_BORDER: Final = 1e-9
"""Relative difference below which a comparison of floats is done again without rounding."""
_DIGITS: Final = 40
_MOST_DIGITS: Final = 2560


def as_written(number: float) -> Fraction:
    """Give a number as people wrote it, not as the nearest binary fraction.

    Examples
    --------
    >>> as_written(0.1)
    Fraction(1, 10)
    """
    return Fraction(str(float(number))) if isinstance(number, float) else Fraction(number)


def at_most(part: NDArray[Any], limit: Fraction, whole: NDArray[Any]) -> BoolArray:
    """Decide ``part <= limit * whole`` element by element, without rounding; all numbers at least 0.

    Examples
    --------
    >>> at_most(np.array([3, 4]), as_written(0.3), np.array([10, 10])).tolist()
    [True, False]
    """
    return _decide(part, limit, whole, np.less_equal)


def less_than(part: NDArray[Any], limit: Fraction, whole: NDArray[Any]) -> BoolArray:
    """Decide ``part < limit * whole`` element by element, without rounding; all numbers at least 0.

    Examples
    --------
    >>> less_than(np.array([3, 4]), as_written(0.4), np.array([10, 10])).tolist()
    [True, False]
    """
    return _decide(part, limit, whole, np.less)


def widened(counts: NDArray[np.int64], greatest: int) -> NDArray[Any]:
    """Give the counts as Python's integers when numbers up to `greatest` do not fit 64 bits.

    Examples
    --------
    >>> widened(np.array([3]), 10**20) * 10**20
    array([300000000000000000000], dtype=object)
    """
    return counts.astype(object) if greatest > _MOST else counts


def is_positive(term: Callable[[], Decimal]) -> bool:
    """Decide the sign of an irrational number by computing it with more and more digits.

    Parameters
    ----------
    term
        Computes the number in the current decimal context; it must not be 0. One that is 0 to 2,560 digits counts
        as not positive, so that a rule which cannot be decided is not claimed.

    Examples
    --------
    >>> is_positive(lambda: Decimal(2).ln() - Decimal("0.693147"))
    True
    """
    digits = _DIGITS
    while digits <= _MOST_DIGITS:
        with localcontext() as context:
            context.prec = digits
            value = term()
            # Twenty digits are kept for the errors of the terms, which are few and not that large.
            if abs(value) > Decimal(10) ** (20 - digits):
                return value > 0
        digits *= 4
    return False


def to_decimal(number: Fraction) -> Decimal:
    """Give a fraction in the current decimal context.

    Examples
    --------
    >>> to_decimal(Fraction(1, 4))
    Decimal('0.25')
    """
    return Decimal(number.numerator) / Decimal(number.denominator)


def _decide(part: NDArray[Any], limit: Fraction, whole: NDArray[Any], compare: Callable[..., Any]) -> BoolArray:
    """Compare in 64-bit integers; where these are too small, in floats, and at the border in Python's integers."""
    part, whole = np.broadcast_arrays(part, whole)
    up, down = limit.numerator, limit.denominator
    if max(int(part.max(initial=0)) * down, int(whole.max(initial=0)) * up, up, down) <= _MOST:
        decided: BoolArray = np.asarray(compare(part * down, whole * up), dtype=np.bool_)
        return decided
    left = part.astype(np.float64)
    right = whole.astype(np.float64) * float(limit)
    decided = np.asarray(compare(left, right), dtype=np.bool_)
    border = np.abs(left - right) <= _BORDER * np.maximum(left, right)
    decided[border] = compare(part[border].astype(object) * down, whole[border].astype(object) * up).astype(np.bool_)
    return decided
