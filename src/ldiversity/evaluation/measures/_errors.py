"""The error of an estimated distribution, defined once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["shares_of", "squared_errors"]


def shares_of(counts: FloatArray) -> FloatArray:
    """Divide the counts of each cell by their sum; a cell of zeros stays zero.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = counts.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
    return shares


def squared_errors(truth: FloatArray, estimate: FloatArray) -> FloatArray:
    """Give the error of each cell with a record: ``sum of (V/N - V^/N^)^2 / F``; shapes (cells, F).

    Examples
    --------
    >>> squared_errors(np.array([[2, 0], [0, 0]]), np.array([[1.0, 1.0], [3.0, 0.0]])).tolist()
    [0.25]
    """
    occurring = truth.sum(axis=1) > 0
    difference = shares_of(truth[occurring]) - shares_of(estimate[occurring])
    errors: FloatArray = np.mean(difference**2, axis=1)
    return errors
