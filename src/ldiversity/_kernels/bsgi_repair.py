"""Place the leftover records into classes that lack their values, with the least loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, kernel
from ldiversity._kernels.bsgi_loss import Loss, box_loss

__all__ = ["Classes", "displace", "gather", "incorporate", "pair_up"]

_FAR = np.float32(3e38)


class Classes(NamedTuple):
    """Classes as boxes and as linked lists of rows.

    Attributes
    ----------
    low, high
        Shape (classes, coordinates): the box of each class.
    size, head
        Shape (classes,): the number of records, and the first of them.
    following
        Shape (n,): the next record of the same class, -1 after the last.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    size: NDArray[np.int32]
    head: NDArray[np.int32]
    following: NDArray[np.int32]


def gather(points: NDArray[np.float32], class_of: NDArray[np.int32], n_classes: int) -> Classes:
    """Build the classes from `class_of`."""
    classes = Classes(
        np.full((n_classes, points.shape[1]), _FAR, dtype=np.float32),
        np.full((n_classes, points.shape[1]), -_FAR, dtype=np.float32),
        np.zeros(n_classes, dtype=np.int32),
        np.full(n_classes, -1, dtype=np.int32),
        np.full(len(points), -1, dtype=np.int32),
    )
    _gather(classes, points, class_of)
    return classes


@kernel
def _gather(classes: Classes, points: NDArray[np.float32], class_of: NDArray[np.int32]) -> None:
    for row in range(points.shape[0]):
        if class_of[row] >= 0:
            _join(classes, points, class_of, row, np.int64(class_of[row]))


@helper
def _join(classes: Classes, points: NDArray[np.float32], class_of: NDArray[np.int32], row: Whole, g: Whole) -> None:
    class_of[row] = g
    classes.size[g] += 1
    classes.following[row] = classes.head[g]
    classes.head[g] = row
    for d in range(points.shape[1]):
        classes.low[g, d] = min(classes.low[g, d], points[row, d])
        classes.high[g, d] = max(classes.high[g, d], points[row, d])


@helper
def _leave(classes: Classes, points: NDArray[np.float32], class_of: NDArray[np.int32], row: Whole) -> None:
    """Remove a row; its class gets the box of the others."""
    g = np.int64(class_of[row])
    class_of[row] = -1
    member = np.int64(classes.head[g])
    classes.head[g] = -1
    classes.size[g] = 0
    classes.low[g] = _FAR
    classes.high[g] = -_FAR
    while member >= 0:
        following = np.int64(classes.following[member])
        if member != row:
            _join(classes, points, class_of, member, g)
        member = following
    classes.following[row] = -1


@helper
def _fits(classes: Classes, keys: NDArray[np.int32], row: Whole, g: Whole, without: Whole) -> bool:
    """Whether a row differs in every key from all members of a class except `without`."""
    member = classes.head[g]
    while member >= 0:
        if member != without:
            for k in range(keys.shape[1]):
                if keys[member, k] == keys[row, k]:
                    return False
        member = classes.following[member]
    return True


@helper
def _place(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    classes: Classes,
    row: Whole,
    besides: Whole,
    first: Whole,
    n_tries: int,
) -> int:
    """Return the class among ``first, first + 1, ...`` that loses least if the row joins; -1 if the row fits none."""
    low = np.empty(points.shape[1], dtype=np.float32)
    high = np.empty(points.shape[1], dtype=np.float32)
    n_classes = classes.size.shape[0]
    best = -1
    least = np.inf
    for step in range(min(n_tries, n_classes)):
        g = (first + step) % n_classes
        if classes.size[g] == 0 or g == besides:
            continue
        for d in range(points.shape[1]):
            low[d] = min(classes.low[g, d], points[row, d])
            high[d] = max(classes.high[g, d], points[row, d])
        before = np.float64(box_loss(loss, classes.low[g], classes.high[g]))
        added = np.float64(box_loss(loss, low, high)) * (classes.size[g] + 1) - before * classes.size[g]
        if added < least and _fits(classes, keys, row, g, -1):
            least = added
            best = g
    return best


@kernel
def incorporate(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    classes: Classes,
    class_of: NDArray[np.int32],
    rows: NDArray[np.int64],
    n_tries: int,
) -> int:
    """Put each of `rows` into the class that loses least among those that it fits; return how many fit none.

    At most `n_tries` classes are tried per row.
    """
    failed = 0
    for number in range(rows.shape[0]):
        row = rows[number]
        g = _place(loss, points, keys, classes, row, -1, (number * 7919) % max(1, classes.size.shape[0]), n_tries)
        if g >= 0:
            _join(classes, points, class_of, row, g)
        else:
            failed += 1
    return failed


@kernel
def pair_up(
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    classes: Classes,
    class_of: NDArray[np.int32],
    rows: NDArray[np.int64],
    l: int,
    first_class: int,
    n_tries: int,
) -> int:
    """Form more classes of `l` rows that differ in every key; return how many.

    The classes are numbered from `first_class`, where `classes` has room. A row tries the `n_tries` rows after it.
    """
    n_new = 0
    members = np.empty(l, dtype=np.int64)
    for start in range(rows.shape[0]):
        if class_of[rows[start]] >= 0:
            continue
        found = 0
        for number in range(start, min(rows.shape[0], start + n_tries)):
            row = rows[number]
            if class_of[row] >= 0:
                continue
            fits = True
            for j in range(found):
                for k in range(keys.shape[1]):
                    fits &= keys[members[j], k] != keys[row, k]
            if fits:
                members[found] = row
                found += 1
                if found == l:
                    break
        if found == l and first_class + n_new < classes.size.shape[0]:
            for j in range(l):
                _join(classes, points, class_of, members[j], first_class + n_new)
            n_new += 1
    return n_new


@kernel
def displace(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    classes: Classes,
    class_of: NDArray[np.int32],
    rows: NDArray[np.int64],
    n_tries: int,
) -> int:
    """Let each of `rows` replace a member that fits another class; return how many found no such member."""
    failed = 0
    n_classes = classes.size.shape[0]
    for number in range(rows.shape[0]):
        row = rows[number]
        done = False
        for step in range(min(n_tries, n_classes)):
            g = (number * 7919 + step) % n_classes
            member = np.int64(classes.head[g])
            while member >= 0 and not done:
                following = np.int64(classes.following[member])
                if _fits(classes, keys, row, g, member):
                    h = _place(loss, points, keys, classes, member, g, (g + 1) % n_classes, n_tries)
                    if h >= 0:
                        _leave(classes, points, class_of, member)
                        _join(classes, points, class_of, member, h)
                        _join(classes, points, class_of, row, g)
                        done = True
                member = following
            if done:
                break
        failed += not done
    return failed
