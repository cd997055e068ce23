"""Whether few records carry a sum, and the variance that it then has at least when records are drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray

__all__ = ["ENOUGH", "carried", "carried_by_few", "middle_variance"]

ENOUGH: Final = 30
"""So many records with a value, and as many without it, show a variance themselves."""


def carried_by_few(size: float, shares: FloatArray, factors: FloatArray) -> BoolArray:
    """Which sums, with factors of shape (k, F), few of `size` records carry, if values have these shares."""
    return np.asarray(factors.any(axis=1) & (size * carried(shares, factors) < ENOUGH))


def carried(shares: FloatArray, factors: FloatArray) -> FloatArray:
    """Which share of the records carries sums with these factors, shape (k, F): the inverse of their kurtosis.

    It is about the smaller one of a share and its rest.

    Examples
    --------
    >>> carried(np.array([0.01, 0.99]), np.array([[1.0, 0.0]])).round(3)
    array([0.01])
    >>> carried(np.array([0.0, 1.0]), np.array([[1.0, 0.0]]))
    array([0.])
    """
    apart = np.square(factors - (factors @ shares)[:, None])
    second, fourth = apart @ shares, np.square(apart) @ shares
    return np.divide(second**2, fourth, out=np.zeros_like(second), where=fourth > 0)


def middle_variance(size: float, shares: FloatArray, factors: FloatArray) -> FloatArray:
    """The variance of factors, shape (k, F), between `size` records with these shares, and one record more.

    One half of it has the greatest factor, and the other one the least.

    Examples
    --------
    Of 9 records and one more, half a record has the value:

    >>> middle_variance(9.0, np.array([0.0, 1.0]), np.array([[1.0, 0.0]])).round(4)
    array([0.0475])
    """
    moved = np.broadcast_to(size * shares, factors.shape).copy()
    for end in (factors.max(axis=1), factors.min(axis=1)):
        there = factors == end[:, None]
        moved += there / (2 * there.sum(axis=1, keepdims=True))
    moved /= size + 1
    mean = (moved * factors).sum(axis=1, keepdims=True)
    return np.asarray((moved * np.square(factors - mean)).sum(axis=1))
