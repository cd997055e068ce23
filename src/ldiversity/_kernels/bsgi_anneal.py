"""Swap records between classes, at first also where that loses more: annealing, which leaves few bad swaps standing.

Every move keeps every class valid, so that annealing may end at any moment. What is charged is what the release is
charged: see `Charge`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, kernel, merged
from ldiversity._kernels.bsgi_loss import Loss

__all__ = ["Charge", "Limits", "Seats", "anneal_classes", "find_near"]

_FAR = np.float32(3e38)
_ZERO = np.float32(0)
_TWO = np.float32(2)
_ONE = np.uint64(1)
_BITS = np.float32(64)
"""Values below this number have a bit of their own in a word."""

_MISSING = np.float32(1.5)
"""Numbers are at most 1 time their weight, and missing ones are 2 times it."""


class Charge(NamedTuple):
    """What a class is charged for its region, for each of its records.

    Attributes
    ----------
    loss
        Of numbers and trees; see `Loss`.
    shares
        Shape (categories,): of a category that is published as a list, the charge for each value in it if there are
        several; 0 for one with a tree.
    """

    loss: Loss
    shares: NDArray[np.float32]


class Limits(NamedTuple):
    """What makes a class valid: of each key, no interval holds more of its records than its limit.

    Attributes
    ----------
    reach
        Shape (keys, places): where numbers have a gap, the last place that is nearer to each place than the gap; -1 in
        the first entry of keys in which only equal codes are near.
    most
        Shape (classes, keys): the limit of each class.
    """

    reach: NDArray[np.int32]
    most: NDArray[np.int32]


class Seats(NamedTuple):
    """Records on the seats of classes; a swap lets two of them change seats.

    Attributes
    ----------
    starts
        Shape (classes + 1,): class g has the seats from ``starts[g]`` to before ``starts[g + 1]``.
    class_of
        Shape (n,): the class of each seat.
    points, keys
        Shape (n, ...): coordinates and keys of who sits there; keys are codes, or places on a line.
    who, seat
        Shape (n,): the record of each seat, and the seat of each record.
    cost
        Shape (classes,): what each class is charged for all of its records.
    """

    starts: NDArray[np.int64]
    class_of: NDArray[np.int32]
    points: NDArray[np.float32]
    keys: NDArray[np.int32]
    who: NDArray[np.int32]
    seat: NDArray[np.int32]
    cost: NDArray[np.float32]


@helper
def _distinct(points: NDArray[np.float32], start: Whole, end: Whole, skip: Whole, joins: Whole, d: int) -> int:
    """Count the different values of a class in a coordinate, with the record of seat `joins` on seat `skip`."""
    own = points[joins, d]
    seen = _ONE << np.uint64(np.int64(own) & 63)
    count = 1
    for j in range(start, end):
        value = points[j, d]
        if j == skip or value == own:
            continue
        bit = _ONE << np.uint64(np.int64(value) & 63)
        new = True
        if seen & bit:
            # Two values may share a bit.
            for i in range(start, j):
                if i != skip and points[i, d] == value:
                    new = False
                    break
        if new:
            count += 1
            seen |= bit
    return count


@helper
def _distinct_bits(points: NDArray[np.float32], start: Whole, end: Whole, skip: Whole, joins: Whole, d: int) -> Whole:
    """Count the same where values are below 64, so that each has its own bit; no branch depends on them."""
    bits = np.uint64(0)
    for j in range(start, end):
        bits |= _ONE << np.uint64(np.int64(points[joins if j == skip else j, d]))
    bits -= (bits >> _ONE) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@merged
def _charge_of(
    charge: Charge,
    few: NDArray[np.bool_],
    points: NDArray[np.float32],
    start: Whole,
    end: Whole,
    skip: Whole,
    joins: Whole,
    bound: np.float32,
) -> np.float32:
    """Return what a class is charged with the record of seat `joins` on its seat `skip`.

    Above `bound`, what it is charged for some of the coordinates. Which of them near records share cannot be foreseen,
    so there are few branches that depend on it: a wrong guess of the processor takes as long as a coordinate.
    """
    caps, levels, base = charge.loss.caps, charge.loss.levels, charge.loss.base
    last, cost, shares = charge.loss.last, charge.loss.cost, charge.shares
    n_numbers = caps.shape[0]
    size = np.float32(end - start)
    total = _ZERO
    for d in range(n_numbers + levels.shape[0]):
        if total > bound:
            return total
        c = d - n_numbers
        if c >= 0 and shares[c] > _ZERO:
            if few[c]:
                count = _distinct_bits(points, start, end, skip, joins, d)
            else:
                count = _distinct(points, start, end, skip, joins, d)
            total += size * shares[c] * np.float32(count) if count > 1 else _ZERO
            continue
        low = high = points[joins, d]
        for j in range(start, end):
            value = points[joins if j == skip else j, d]
            low = min(low, value)
            high = max(high, value)
        if c < 0:
            total += size * (caps[d] if high > _MISSING * caps[d] else high - low)
        else:
            entry = base[c] + np.int64(low) * levels[c]
            while last[entry] < high:
                entry += 1
            total += size * cost[entry]
    return total


@merged
def _fits(
    limits: Limits, keys: NDArray[np.int32], g: Whole, start: Whole, end: Whole, skip: Whole, joins: Whole
) -> bool:
    """Return whether a class is valid with the record of seat `joins` on its seat `skip`."""
    reach, most = limits.reach, limits.most
    for k in range(keys.shape[1]):
        own = keys[joins, k]
        if reach[k, 0] < 0:
            count = 1
            for j in range(start, end):
                if j != skip and keys[j, k] == own:
                    count += 1
            if count > most[g, k]:
                return False
            continue
        # The fullest interval that holds the new record begins at a record.
        for j in range(start, end):
            begin = own if j == skip else keys[j, k]
            if begin > own or reach[k, begin] < own:
                continue
            count = 1
            for i in range(start, end):
                if i != skip and begin <= keys[i, k] and keys[i, k] <= reach[k, begin]:
                    count += 1
            if count > most[g, k]:
                return False
    return True


@helper
def _next_word(word: np.uint64) -> np.uint64:
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    return word


@kernel
def anneal_classes(
    charge: Charge,
    limits: Limits,
    seats: Seats,
    near: NDArray[np.int32],
    temperatures: NDArray[np.float32],
    spreads: NDArray[np.float32],
    word: np.uint64,
) -> int:
    """Make one move a record at each temperature; return how many swaps were made.

    A move brings a record near record r into r's class, for one of that class. It is made if it loses less, or little
    more: at most the temperature times one of `spreads`, which are quantiles of the exponential distribution.

    Parameters
    ----------
    near
        Shape (n, candidates): records near each, the nearest first.
    word
        The seed, not 0.
    """
    starts, class_of, points, keys, who, seat, cost = seats
    most = limits.most
    n, n_near = near.shape
    simple = keys.shape[1] == 1 and limits.reach[0, 0] < 0
    n_numbers = charge.loss.caps.shape[0]
    few = np.empty(charge.shares.shape[0], dtype=np.bool_)  # whether each value has a bit of its own
    for c in range(few.shape[0]):
        few[c] = True
        for j in range(n):
            few[c] = few[c] and points[j, n_numbers + c] < _BITS
    for c in range(cost.shape[0]):
        simple = simple and most[c, 0] == 1
        cost[c] = _charge_of(charge, few, points, starts[c], starts[c + 1], starts[c], starts[c], _FAR)
    made = 0
    for t in range(temperatures.shape[0]):
        temperature = temperatures[t]
        for r in range(n):
            word = _next_word(word)
            # The nearer, the likelier: squares of uniform numbers.
            u = np.int64(word & np.uint64(0xFFFF))
            new = np.int64(near[r, (u * u * n_near) >> 32])
            if new < 0:
                continue
            q = np.int64(seat[new])
            g, h = np.int64(class_of[seat[r]]), np.int64(class_of[q])
            if g == h:
                continue
            start, end = starts[g], starts[g + 1]
            p = start + ((np.int64((word >> np.uint64(16)) & np.uint64(0xFFFF)) * (end - start)) >> 16)
            # Who shares a value with the new record must go. Where that is all that counts, the class is then valid.
            for k in range(keys.shape[1]):
                if most[g, k] == 1:
                    for j in range(start, end):
                        if keys[j, k] == keys[q, k]:
                            p = j
            if not simple and not _fits(limits, keys, g, start, end, p, q):
                continue
            if not _fits(limits, keys, h, starts[h], starts[h + 1], q, p):
                continue
            worst = temperature * spreads[np.int64(word >> np.uint64(32)) & (spreads.shape[0] - 1)]
            bound = worst + cost[g] + cost[h]
            differ = False  # equal records may always change places, and near ones often are equal
            for d in range(points.shape[1]):
                differ |= points[p, d] != points[q, d]
            if differ:
                here = _charge_of(charge, few, points, start, end, p, q, bound)
                if here > bound:
                    continue
                there = _charge_of(charge, few, points, starts[h], starts[h + 1], q, p, bound - here)
                if there > bound - here:
                    continue
                for d in range(points.shape[1]):
                    points[p, d], points[q, d] = points[q, d], points[p, d]
                cost[g] = here
                cost[h] = there
            for k in range(keys.shape[1]):
                keys[p, k], keys[q, k] = keys[q, k], keys[p, k]
            who[p], who[q] = who[q], who[p]
            seat[who[p]] = p
            seat[who[q]] = q
            made += 1
    return made


@kernel
def find_near(
    charge: Charge,
    points: NDArray[np.float32],
    orders: NDArray[np.int32],
    where: NDArray[np.int32],
    window: int,
    near: NDArray[np.int32],
    away: NDArray[np.float32],
) -> None:
    """Fill `near` with the nearest of the records that are at most `window` places away in one of several orders.

    Parameters
    ----------
    orders, where
        Shape (orders, n): the records in each order, and the place of each record in it.
    near, away
        Shape (n, candidates) and (candidates,); -1 where there are fewer.
    """
    caps, levels, base = charge.loss.caps, charge.loss.levels, charge.loss.base
    last, cost, shares = charge.loss.last, charge.loss.cost, charge.shares
    n_numbers = caps.shape[0]
    n, most = near.shape
    met = np.empty(n, dtype=np.int32)  # the last record for which each was looked at, in any order
    met[:] = -1
    for r in range(n):
        found = 0
        met[r] = r
        for o in range(orders.shape[0]):
            middle = where[o, r]
            for q in range(max(0, middle - window), min(n, middle + window + 1)):
                other = orders[o, q]
                if met[other] == r:
                    continue
                met[other] = r
                bound = away[most - 1] if found == most else _FAR
                total = _ZERO
                for d in range(n_numbers):
                    total += min(abs(points[r, d] - points[other, d]), caps[d])
                for c in range(levels.shape[0]):
                    one, two = points[r, n_numbers + c], points[other, n_numbers + c]
                    if shares[c] > _ZERO:
                        total += _ZERO if one == two else _TWO * shares[c]
                        continue
                    if one == two:
                        continue
                    entry = base[c] + np.int64(min(one, two)) * levels[c]
                    while last[entry] < max(one, two):
                        entry += 1
                    total += cost[entry]
                if total >= bound:
                    continue
                j = min(found, most - 1)
                while j > 0 and away[j - 1] > total:
                    away[j] = away[j - 1]
                    near[r, j] = near[r, j - 1]
                    j -= 1
                away[j] = total
                near[r, j] = other
                found = min(found + 1, most)
        for j in range(found, most):
            near[r, j] = -1
