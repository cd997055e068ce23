"""Products of matrices that are too small for the threads of BLAS."""

from __future__ import annotations

from typing import Final

import numpy as np

from ldiversity.base.arrays import FloatArray

__all__ = ["multiply"]

_ALONE: Final = 1 << 18
"""Up to this many multiplications BLAS stays in the calling thread; for more, OpenBLAS wakes its own threads."""
_TOGETHER: Final = 1 << 30
"""From this many multiplications on, threads of BLAS are worth it."""
_INNER: Final = 64


def multiply(left: FloatArray, right: FloatArray) -> FloatArray:
    """Multiply two matrices without waking the threads of BLAS, which would keep spinning beside ours.

    Examples
    --------
    >>> multiply(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    n, inner = left.shape
    width = right.shape[1]
    if not _ALONE < n * inner * width < _TOGETHER:
        return np.asarray(left @ right, dtype=np.float64)
    rows = min(max(_ALONE // (_INNER * width), 1), _INNER, n)
    step = max(_ALONE // (rows * width), 1)
    product = np.zeros((n, width))
    for row in range(0, n, rows):
        for at in range(0, inner, step):
            product[row : row + rows] += left[row : row + rows, at : at + step] @ right[at : at + step]
    return product
