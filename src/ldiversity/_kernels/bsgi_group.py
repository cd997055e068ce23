"""Group the rows of one part into classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels.bsgi_greedy import fill_classes
from ldiversity._kernels.bsgi_loss import Loss
from ldiversity._kernels.bsgi_tree import build_tree

__all__ = ["group_part"]

_LEAF = 24
_BUDGET = 256
_SCARCE = 0.07


def group_part(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    n_values: NDArray[np.int64],
    n_penalized: int,
    centers: NDArray[np.float32],
    rarity: NDArray[np.float32],
    l: int,
    class_of: NDArray[np.int32],
) -> int:
    """Form the classes of a part, numbered from 0 in `class_of`, -1 for records without a class; return how many.

    This function is not compiled. The kernels that it calls are, each only when it is needed. `n_values` is the number
    of values of each key, and the first `n_penalized` keys are sensitive columns. For `centers` and `rarity`, see
    `outlying`.
    """
    tree = build_tree(loss, points, keys, _LEAF)
    order = np.argsort(-outlying(loss, points, centers, rarity), kind="stable").astype(np.int32)
    return fill_classes(loss, tree, order, n_values, l, _SCARCE, n_penalized, _BUDGET, class_of)


def outlying(
    loss: Loss, points: NDArray[np.float32], centers: NDArray[np.float32], rarity: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return how far each record is from the middle of the table, shape (n,).

    Parameters
    ----------
    centers
        Shape (numbers,): the median of each number.
    rarity
        For each entry of the trees (see `Loss`) at level 0, the charge for a rare category.
    """
    score = np.zeros(len(points), dtype=np.float32)
    n_numbers = len(loss.caps)
    for d in range(n_numbers):
        score += np.minimum(np.abs(points[:, d] - centers[d]), loss.caps[d])
    for c in range(len(loss.levels)):
        score += rarity[loss.base[c] + points[:, n_numbers + c].astype(np.int64) * loss.levels[c]]
    return score
