"""Loops over the rows of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import kernel

__all__ = ["common_levels", "order_by_class"]


@kernel
def order_by_class(class_of: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the rows by class, in row order, and where each class starts; rows of class -1 are left out."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for c in class_of:
        if c >= 0:
            starts[c + 1] += 1
    for c in range(n_classes):
        starts[c + 1] += starts[c]
    order = np.empty(starts[n_classes], dtype=np.int32)
    place = starts[:-1].copy()
    for row in range(len(class_of)):
        c = class_of[row]
        if c >= 0:
            order[place[c]] = row
            place[c] += 1
    return order, starts


@kernel
def common_levels(
    codes: NDArray[np.int32], order: NDArray[np.int32], starts: NDArray[np.int64], nodes: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return, for each class, the lowest level at which all its values have the same ancestor."""
    n_classes = len(starts) - 1
    levels = np.zeros(n_classes, dtype=np.int32)
    for c in range(n_classes):
        first = codes[order[starts[c]]]
        level = 0
        for place in range(starts[c] + 1, starts[c + 1]):
            code = codes[order[place]]
            while nodes[code, level] != nodes[first, level]:
                level += 1
        levels[c] = level
    return levels
