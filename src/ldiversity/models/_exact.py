"""Exact decisions: a parameter is the decimal number that its user wrote, a count is an integer."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity._types import BoolArray

__all__ = ["as_written", "at_most", "is_positive", "less_than", "to_decimal"]

_MOST: Final = (1 << 63) - 1
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


def at_most(part: NDArray[np.int64], limit: Fraction, whole: NDArray[np.int64]) -> BoolArray:
    """Decide ``part / whole <= limit`` element by element, without rounding.

    Examples
    --------
    >>> at_most(np.array([3, 4]), as_written(0.3), np.array([10, 10])).tolist()
    [True, False]
    """
    left, right = _cross(part, limit, whole)
    decided: BoolArray = np.asarray(left <= right, dtype=np.bool_)
    return decided


def less_than(part: NDArray[np.int64], limit: Fraction, whole: NDArray[np.int64]) -> BoolArray:
    """Decide ``part < limit * whole`` element by element, without rounding.

    Examples
    --------
    >>> less_than(np.array([3, 4]), as_written(0.4), np.array([10, 10])).tolist()
    [True, False]
    """
    left, right = _cross(part, limit, whole)
    decided: BoolArray = np.asarray(left < right, dtype=np.bool_)
    return decided


def is_positive(term: Callable[[], Decimal]) -> bool:
    """Decide the sign of an irrational number by computing it with more and more digits.

    Parameters
    ----------
    term
        Computes the number in the current decimal context; it must not be 0. One that is 0 to 2,560 digits counts
        as positive.

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
            # Ten digits are kept for the errors of the terms, which are few and not large.
            if abs(value) > Decimal(10) ** (10 - digits):
                return value > 0
        digits *= 4
    return True


def to_decimal(number: Fraction) -> Decimal:
    """Give a fraction in the current decimal context.

    Examples
    --------
    >>> to_decimal(Fraction(1, 4))
    Decimal('0.25')
    """
    return Decimal(number.numerator) / Decimal(number.denominator)


def _cross(
    part: NDArray[np.int64], limit: Fraction, whole: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both sides times the denominators, in Python's integers where 64 bits are too few."""
    up, down = limit.numerator, limit.denominator
    greatest = max(abs(int(part.max(initial=0))) * down, int(whole.max(initial=0)) * up)
    if greatest > _MOST or max(up, down) > _MOST:
        return part.astype(object) * down, whole.astype(object) * up
    return part * down, whole * up
