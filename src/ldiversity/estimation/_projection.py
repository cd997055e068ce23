"""The nearest possible counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["project"]


def project(points: FloatArray, totals: FloatArray) -> FloatArray:
    """Project each row on the vectors of non-negative numbers with the row's total.

    Examples
    --------
    >>> project(np.array([[3.0, 2.0, -1.0]]), np.array([4.0]))
    array([[2.5, 1.5, 0. ]])
    """
    descending = -np.sort(-points, axis=1)
    excess = np.cumsum(descending, axis=1) - totals[:, None]
    kept = np.arange(1, points.shape[1] + 1)
    # The largest k for which the k-th largest number stays positive.
    last = np.maximum((descending > excess / kept).sum(axis=1) - 1, 0)
    shift = excess[np.arange(len(points)), last] / (last + 1)
    projected: FloatArray = np.maximum(points - shift[:, None], 0.0)
    return projected
