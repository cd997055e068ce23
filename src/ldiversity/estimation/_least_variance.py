"""The least variance that a weighted estimate is given: that of the shares nearest to it.

The variance of a design is that of the records which happen to be in the sample. Where nearly all have one value, those
that decide are few or none, and it comes out too small, or zero. As without weights, it is then the one that the
mechanism, and drawing records with replacement, give to a possible share near the estimate: nearer to the middle by
two records with the value and two records without it, so that no share is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._carried import ENOUGH
from ldiversity.estimation._projection import project

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData

__all__ = ["floor_of", "greatest_variances", "kish", "least_variances"]

_NONE: Final = 1e-9

_MOVED: Final = 2.0
"""Records with a value, and as many without it, by which a share is moved toward the middle.

With two of each, 95 % intervals of shares hold that have no other correction (Agresti and Coull 1998). With half a
record they held in .90 to .93 of the cases where nearly all records have one value.
"""


def kish(squares: FloatArray, records: FloatArray) -> FloatArray:
    """How many records of equal weight tell as much as those of each cell, given the sums of weights and their squares.

    Examples
    --------
    >>> kish(np.array([8.0]), np.array([4.0]))
    array([2.])
    """
    return np.asarray(records**2 / np.maximum(squares, 1e-300))


def least_variances(cells: CellData, counts: FloatArray, records: FloatArray, squares: FloatArray) -> FloatArray:
    """The variance of weighted counts, shape (cells, F), at the possible shares nearest to `counts` / `records`.

    Zero where enough records have the value, and enough others do not. The weights and their number are taken as fixed.
    `squares` are the sums of squared weights of each cell.
    """
    total = np.maximum(records, 1e-300)[:, None]
    # Possible shares of all values together are nearer to each other: noise of rare values would make a share of nearly
    # 1 smaller. So each share is its own, and they only say which of the other values its rest has.
    shares, together = np.clip(counts / total, 0.0, 1.0), project(counts, records) / total
    size = kish(squares, records)[:, None]
    own, others = _moments(cells)
    rest = 1 - together
    of_rest = np.where(
        rest > _NONE, (_second_moments(cells, together) - together * own) / np.maximum(rest, _NONE), others
    )
    second = (size * (shares * own + (1 - shares) * of_rest) + _MOVED * (own + others)) / (size + 2 * _MOVED)
    mean = (size * shares + _MOVED) / (size + 2 * _MOVED)
    few = size * np.minimum(shares, 1 - shares) < ENOUGH
    return np.asarray(np.where(few, squares[:, None] * np.maximum(second - mean**2, 0.0), 0.0))


def greatest_variances(cells: CellData, squares: FloatArray) -> FloatArray:
    """The greatest variance that weighted counts may have whatever the true shares are, shape (cells, F)."""
    most = np.ones(1)
    for mechanism in cells.mechanisms:
        factors = np.maximum(mechanism.variance_factors, 0.0) + np.eye(mechanism.n_values)
        most = np.multiply.outer(most, factors.max(axis=1)).ravel()
    return np.multiply.outer(squares, most)


def floor_of(least: FloatArray, factors: FloatArray) -> FloatArray:
    """The least variance of sums of counts times `factors`, shape (k, cells, F), given that of single counts.

    A share is about one value: its factors are alike in all others, and what the values of a record say adds up to 1.
    Other sums, such as means, have NaN: see `_least_of_sums`.
    """
    found = np.full(len(factors), np.nan)
    for place, own in enumerate(factors):
        used = np.flatnonzero(own.any(axis=1))
        rows = own[used]
        middle = np.median(rows, axis=1, keepdims=True) if rows.shape[1] > 2 else rows[:, -1:]  # noqa: PLR2004 - a pair
        apart = rows - middle
        single = np.abs(apart) > 1e-9 * np.abs(rows).max(initial=0.0)
        if (single.sum(axis=1) <= 1).all():
            found[place] = (np.square(apart) * np.where(single, least[used], 0.0)).sum()
    return found


def _second_moments(cells: CellData, shares: FloatArray) -> FloatArray:
    """The mean square of what a record says about each value, where values have these shares."""
    moments = [np.maximum(m.variance_factors, 0.0) + np.eye(m.n_values) for m in cells.mechanisms]
    return np.asarray(cells.transform(moments, shares))


def _moments(cells: CellData) -> tuple[FloatArray, FloatArray]:
    """The mean square of what a record says about each value: one that has the value, and one that has another."""
    n = cells.n_values
    diagonal = np.ones(1)
    for mechanism in cells.mechanisms:
        diagonal = np.multiply.outer(diagonal, 1 + np.maximum(np.diag(mechanism.variance_factors), 0.0)).ravel()
    even = _second_moments(cells, np.full((1, n), 1.0 / n))[0] * n
    return diagonal, (even - diagonal) / max(n - 1, 1)
