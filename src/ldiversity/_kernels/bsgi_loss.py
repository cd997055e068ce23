"""The loss of a class: every quasi-identifier is a coordinate, and a class is the box around its records.

Numbers are scaled so that the range of the domain equals their weight. A category is its position among the leaves of
its tree, from left to right. So every node is a run of positions, and the lowest common ancestor of a class is the
smallest run that holds its least and its greatest position: boxes work for both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, inlined, kernel

__all__ = ["Loss", "Query", "added_loss", "aim", "box_loss", "make_query", "pair_losses", "total_loss"]

_FAR = np.float32(3e38)
_ZERO = np.float32(0)


class Loss(NamedTuple):
    """How the loss of a box is computed. Coordinates are numbers first, then categories.

    Attributes
    ----------
    caps
        Shape (numbers,): the most that each number can lose, its weight.
    levels, base
        Shape (categories,): how many levels each tree has, and where its entries begin. The ancestor at level k of
        place p is entry ``base + p * levels + k``.
    first, last, cost
        Of each entry: the first and the last place under the node, and the loss of publishing it.
    """

    caps: NDArray[np.float32]
    levels: NDArray[np.int64]
    base: NDArray[np.int64]
    first: NDArray[np.float32]
    last: NDArray[np.float32]
    cost: NDArray[np.float32]


class Query(NamedTuple):
    """A box, prepared for computing what each record would add to its loss.

    Attributes
    ----------
    low, high
        Shape (coordinates,).
    room
        Shape (numbers,): how much more each number can lose.
    first, last, rise
        Shape (categories, levels): the nodes from that of the box up to the root, and what each would add.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    room: NDArray[np.float32]
    first: NDArray[np.float32]
    last: NDArray[np.float32]
    rise: NDArray[np.float32]


def make_query(loss: Loss) -> Query:
    """Make a query without a box."""
    n_numbers, n_categories = len(loss.caps), len(loss.levels)
    deepest = int(loss.levels.max(initial=1))
    low, high = np.zeros((2, n_numbers + n_categories), dtype=np.float32)
    first, last, rise = np.zeros((3, n_categories, deepest), dtype=np.float32)
    return Query(low, high, np.zeros(n_numbers, dtype=np.float32), first, last, rise)


@helper
def aim(query: Query, loss: Loss) -> None:
    """Prepare a query whose `low` and `high` were set."""
    levels, base, firsts, lasts, costs = loss.levels, loss.base, loss.first, loss.last, loss.cost
    low, high, room = query.low, query.high, query.room
    first, last, rise = query.first, query.last, query.rise
    n_numbers = room.shape[0]
    for d in range(n_numbers):
        room[d] = max(_ZERO, loss.caps[d] - (high[d] - low[d]))
    for c in range(levels.shape[0]):
        entry = base[c] + np.int64(low[n_numbers + c]) * levels[c]
        end = entry + levels[c]
        while lasts[entry] < high[n_numbers + c]:
            entry += 1
        here = costs[entry]
        k = 0
        while entry < end:
            first[c, k] = firsts[entry]
            last[c, k] = lasts[entry]
            rise[c, k] = costs[entry] - here
            entry += 1
            k += 1


@inlined
def added_loss(
    box_low: NDArray[np.float32],
    box_high: NDArray[np.float32],
    room: NDArray[np.float32],
    first: NDArray[np.float32],
    last: NDArray[np.float32],
    rise: NDArray[np.float32],
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    i: int,
) -> np.float32:
    """Return what a box would add to its loss if it took in the nearest point of box `i`; a record is a one-point box.

    The first six arguments are the fields of a `Query`: taken out once, they are faster to access.
    """
    added = _ZERO
    n_numbers = room.shape[0]
    for d in range(n_numbers):
        away = max(box_low[d] - high[i, d], low[i, d] - box_high[d])
        if away > _ZERO:
            added += min(away, room[d])
    for c in range(first.shape[0]):
        k = 0
        while high[i, n_numbers + c] < first[c, k] or low[i, n_numbers + c] > last[c, k]:
            k += 1
        added += rise[c, k]
    return added


@helper
def box_loss(loss: Loss, low: NDArray[np.float32], high: NDArray[np.float32]) -> np.float32:
    """Return the loss of a record whose class fills this box."""
    caps, levels, base, last, cost = loss.caps, loss.levels, loss.base, loss.last, loss.cost
    total = _ZERO
    n_numbers = caps.shape[0]
    for d in range(n_numbers):
        total += min(high[d] - low[d], caps[d])
    for c in range(levels.shape[0]):
        entry = base[c] + np.int64(low[n_numbers + c]) * levels[c]
        while last[entry] < high[n_numbers + c]:
            entry += 1
        total += cost[entry]
    return total


@helper
def pair_losses(loss: Loss, points: NDArray[np.float32], rows: NDArray[np.int32], pairs: int) -> NDArray[np.float64]:
    """Return the mean loss of two rows, shape (coordinates,), from `pairs` evenly spread pairs."""
    n_numbers = loss.caps.shape[0]
    size = rows.shape[0]
    losses = np.empty(points.shape[1], dtype=np.float64)
    losses[:] = 0.0
    for pair in range(pairs):
        i = rows[(pair * size) // pairs]
        j = rows[(pair * 7919 + size // 2) % size]
        for d in range(n_numbers):
            losses[d] += min(abs(points[i, d] - points[j, d]), loss.caps[d])
        for c in range(loss.levels.shape[0]):
            least = min(points[i, n_numbers + c], points[j, n_numbers + c])
            most = max(points[i, n_numbers + c], points[j, n_numbers + c])
            entry = loss.base[c] + np.int64(least) * loss.levels[c]
            while loss.last[entry] < most:
                entry += 1
            losses[n_numbers + c] += loss.cost[entry]
    for d in range(points.shape[1]):
        losses[d] /= pairs
    return losses


@kernel
def total_loss(loss: Loss, points: NDArray[np.float32], class_of: NDArray[np.int32], n_classes: int) -> float:
    """Return the total loss of all records; rows of class -1 are skipped."""
    size = np.empty(n_classes, dtype=np.int64)
    size[:] = 0
    low = np.empty((n_classes, points.shape[1]), dtype=np.float32)
    high = np.empty((n_classes, points.shape[1]), dtype=np.float32)
    low[:] = _FAR
    high[:] = -_FAR
    for i in range(points.shape[0]):
        g = class_of[i]
        if g < 0:
            continue
        size[g] += 1
        for d in range(points.shape[1]):
            low[g, d] = min(low[g, d], points[i, d])
            high[g, d] = max(high[g, d], points[i, d])
    total = 0.0
    for g in range(n_classes):
        if size[g] > 0:
            total += size[g] * box_loss(loss, low[g], high[g])
    return total
