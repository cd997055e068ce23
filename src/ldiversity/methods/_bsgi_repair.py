"""BSGI's last step: records that are left over join classes that lack their values."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.methods._bsgi_space import Keys, Space

__all__ = ["place_left_over"]

_WORK: Final = 1 << 28
"""Classes looked at in one step for all records together; each record looks at all when there are few records."""

_LEAST_TRIES: Final = 1 << 10
_DISPLACING: Final = 1 << 9


def place_left_over(
    space: Space, keys: Keys, class_of: CodeArray, n_classes: int, kept: BoolArray, l: int
) -> tuple[CodeArray, int]:
    """Place the kept rows that have no class.

    With one key all find one: fewer than `l` are left, of different values, and no value is in every class already.
    With several they first form classes of their own, then join others, then take the place of a record that can
    move on; those that even then find none stay without.
    """
    from ldiversity._kernels.bsgi_repair import displace, gather, incorporate, pair_up

    left = _left(class_of, kept)
    if not len(left):
        return class_of, n_classes
    several = keys.codes.shape[1] > 1
    room = n_classes + (len(left) // l if several else 0)
    classes = gather(space.points, class_of, room)
    for _ in range(2 if several else 1):
        if several:
            n_classes += pair_up(
                space.points, keys.codes, classes, class_of, left, l, n_classes, max(_LEAST_TRIES, 8 * l)
            )
            left = _left(class_of, kept)
        tries = max(_LEAST_TRIES, _WORK // max(1, len(left)))
        failed = incorporate(space.loss, space.points, keys.codes, classes, class_of, left, tries)
        if not failed or not several:
            break
        left = _left(class_of, kept)
        displace(space.loss, space.points, keys.codes, classes, class_of, left, _DISPLACING)
        left = _left(class_of, kept)
    return class_of, n_classes


def _left(class_of: CodeArray, kept: BoolArray) -> NDArray[np.int64]:
    return np.flatnonzero(kept & (class_of < 0))
