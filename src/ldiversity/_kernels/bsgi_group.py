"""One part from its rows to its classes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ldiversity._kernels.bsgi_greedy import fill_classes, outlying
from ldiversity._kernels.bsgi_loss import Loss
from ldiversity._kernels.bsgi_swaps import swap_passes
from ldiversity._kernels.bsgi_tree import build_tree

__all__ = ["group_part"]

_LEAF = 24
_BUDGET = 256
_SWAP_BUDGET = 64
_CANDIDATES = 8
_SCARCE = 0.05


@njit(nogil=True, cache=True)
def group_part(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    n_values: NDArray[np.int64],
    n_penalized: int,
    centers: NDArray[np.float32],
    rarity: NDArray[np.float32],
    rows: NDArray[np.int32],
    l: int,
    n_swaps: int,
    first_class: int,
    class_of: NDArray[np.int32],
) -> int:
    """Form the classes of `rows`, numbered from `first_class` in `class_of`; return how many.

    Parameters
    ----------
    points, keys, class_of
        Of the whole table.
    n_values
        Shape (keys,): how many values each key has.
    n_penalized
        How many of the keys are sensitive columns.
    centers, rarity
        As for `outlying`.
    """
    n = rows.shape[0]
    n_keys = keys.shape[1]
    own_points = np.empty((n, points.shape[1]), dtype=np.float32)
    own_keys = np.empty((n, n_keys), dtype=np.int32)
    for i in range(n):
        own_points[i] = points[rows[i]]
        own_keys[i] = keys[rows[i]]
    sizes = n_values.copy()
    for k in range(n_keys):
        if n_values[k] > n:
            # Codes of this part alone, so that tables over values stay small.
            known = np.unique(own_keys[:, k])
            own_keys[:, k] = np.searchsorted(known, own_keys[:, k])
            sizes[k] = known.shape[0]
    tree = build_tree(loss, own_points, own_keys, _LEAF)
    order = np.argsort(-outlying(loss, own_points, centers, rarity), kind="mergesort")
    own_class = np.empty(n, dtype=np.int32)
    n_classes = fill_classes(loss, tree, order, sizes, l, _SCARCE, n_penalized, _BUDGET, own_class)
    if n_swaps > 0 and n_classes > 1:
        members = np.empty((n_classes, l), dtype=np.int32)
        filled = np.zeros(n_classes, dtype=np.int32)
        group_of = own_class[tree.rows]
        for i in range(n):
            g = group_of[i]
            if g >= 0:
                members[g, filled[g]] = i
                filled[g] += 1
        swap_passes(loss, tree, group_of, members, n_swaps, _CANDIDATES, _SWAP_BUDGET)
        for i in range(n):
            own_class[tree.rows[i]] = group_of[i]
    for i in range(n):
        class_of[rows[i]] = first_class + own_class[i] if own_class[i] >= 0 else -1
    return n_classes
