"""One part from its rows to its classes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ldiversity._kernels.bsgi_greedy import fill_classes, outlying
from ldiversity._kernels.bsgi_loss import Loss
from ldiversity._kernels.bsgi_parts import sort_words, words_of
from ldiversity._kernels.bsgi_swaps import swap_passes
from ldiversity._kernels.bsgi_tree import build_tree

__all__ = ["group_part"]

_LEAF = 24
_BUDGET = 256
_SWAP_BUDGET = 64
_CANDIDATES = 8
_SCARCE = 0.07


@njit(nogil=True, cache=True)
def group_part(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    n_values: NDArray[np.int64],
    n_penalized: int,
    centers: NDArray[np.float32],
    rarity: NDArray[np.float32],
    l: int,
    n_swaps: int,
    class_of: NDArray[np.int32],
) -> int:
    """Form the classes of a part, numbered from 0 in `class_of`, -1 for records without; return how many.

    Parameters
    ----------
    points, keys
        Of the records of the part.
    n_values
        Shape (keys,): how many values each key has.
    n_penalized
        How many of the keys are sensitive columns.
    centers, rarity
        As for `outlying`.
    """
    n = points.shape[0]
    tree = build_tree(loss, points, keys, _LEAF)
    order = sort_words(words_of(-outlying(loss, points, centers, rarity)))
    n_classes = fill_classes(loss, tree, order, n_values, l, _SCARCE, n_penalized, _BUDGET, class_of)
    if n_swaps > 0 and n_classes > 1:
        members = np.empty((n_classes, l), dtype=np.int32)
        filled = np.zeros(n_classes, dtype=np.int32)
        group_of = class_of[tree.rows]
        for i in range(n):
            g = group_of[i]
            if g >= 0:
                members[g, filled[g]] = i
                filled[g] += 1
        swap_passes(loss, tree, group_of, members, n_swaps, _CANDIDATES, _SWAP_BUDGET)
        for i in range(n):
            class_of[tree.rows[i]] = group_of[i]
    return n_classes
