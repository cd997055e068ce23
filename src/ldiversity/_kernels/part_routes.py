"""Send rows down a tree of cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import kernel

__all__ = ["Branches", "route"]


class Branches(NamedTuple):
    """The inner nodes of a tree of cuts.

    Attributes
    ----------
    left, right
        The children: a node, or ``-1 - part``.
    coordinate
        What each node compares; -1 if nothing, so that all rows tie.
    threshold
        Rows below it go left.
    share
        The share of the rows equal to it that go left.
    starts
        Where the values with thresholds of their own begin; at last their number.
    values, thresholds, shares
        These values, and the same for each.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    coordinate: NDArray[np.int32]
    threshold: NDArray[np.float32]
    share: NDArray[np.float64]
    starts: NDArray[np.int32]
    values: NDArray[np.int32]
    thresholds: NDArray[np.float32]
    shares: NDArray[np.float64]


@kernel
def route(
    branches: Branches,
    points: NDArray[np.float32],
    values: NDArray[np.int32],
    words: NDArray[np.uint64],
    parts: NDArray[np.int32],
) -> None:
    """Fill `parts` with the part of each row. Ties are decided by bits made from the row's word and the depth."""
    left, right, coordinate = branches.left, branches.right, branches.coordinate
    threshold, share, starts = branches.threshold, branches.share, branches.starts
    own, thresholds, shares = branches.values, branches.thresholds, branches.shares
    for i in range(points.shape[0]):
        node = np.int64(0)
        word = words[i]
        while node >= 0:
            bound = threshold[node]
            part = share[node]
            for j in range(starts[node], starts[node + 1]):
                if own[j] == values[i]:
                    bound = thresholds[j]
                    part = shares[j]
                    break
            word += np.uint64(0x9E3779B97F4A7C15)
            place = points[i, coordinate[node]] if coordinate[node] >= 0 else bound
            goes_left = place < bound
            if place == bound:
                mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                mixed ^= mixed >> np.uint64(31)
                goes_left = np.float64(mixed >> np.uint64(11)) < part * 9007199254740992.0
            node = np.int64(left[node]) if goes_left else np.int64(right[node])
        parts[i] = -1 - int(node)
