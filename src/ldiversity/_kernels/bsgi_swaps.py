"""Swap records between the classes of one part if both classes together lose less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, kernel
from ldiversity._kernels.bsgi_loss import Loss, Query, added_loss, aim, box_loss, make_query
from ldiversity._kernels.bsgi_tree import Tree

__all__ = ["swap_passes"]

_FAR = np.float32(3e38)
_LEAST_GAIN = np.float32(1e-6)


@helper
def _box_without(
    points: NDArray[np.float32],
    members: NDArray[np.int32],
    skip: Whole,
    low: NDArray[np.float32],
    high: NDArray[np.float32],
) -> None:
    for d in range(points.shape[1]):
        low[d] = _FAR
        high[d] = -_FAR
    for j in range(members.shape[0]):
        if j != skip:
            for d in range(points.shape[1]):
                low[d] = min(low[d], points[members[j], d])
                high[d] = max(high[d], points[members[j], d])


@helper
def _loss_with(
    loss: Loss,
    points: NDArray[np.float32],
    members: NDArray[np.int32],
    skip: Whole,
    joins: Whole,
    low: NDArray[np.float32],
    high: NDArray[np.float32],
) -> np.float32:
    """Return the loss of a class without member `skip` and with record `joins` (-1: none)."""
    _box_without(points, members, skip, low, high)
    if joins >= 0:
        for d in range(points.shape[1]):
            low[d] = min(low[d], points[joins, d])
            high[d] = max(high[d], points[joins, d])
    return box_loss(loss, low, high)


@helper
def _fits(keys: NDArray[np.int32], members: NDArray[np.int32], skip: Whole, joins: Whole) -> bool:
    for j in range(members.shape[0]):
        if j != skip:
            for k in range(keys.shape[1]):
                if keys[members[j], k] == keys[joins, k]:
                    return False
    return True


@helper
def _node_gains(tree: Tree, gain: NDArray[np.float32], node_gain: NDArray[np.float32]) -> None:
    for q in range(tree.left.shape[0] - 1, -1, -1):
        if tree.left[q] < 0:
            node_gain[q] = 0
            for i in range(tree.start[q], tree.end[q]):
                node_gain[q] = max(node_gain[q], gain[i])
        else:
            node_gain[q] = max(node_gain[tree.left[q]], node_gain[tree.left[q] + 1])


@helper
def _candidates(
    tree: Tree,
    query: Query,
    members: NDArray[np.int32],
    skip: int,
    group_of: NDArray[np.int32],
    gain: NDArray[np.float32],
    node_gain: NDArray[np.float32],
    bound: np.float32,
    budget: int,
    found: NDArray[np.int32],
    costs: NDArray[np.float32],
    stack: NDArray[np.int32],
    bounds: NDArray[np.float32],
) -> int:
    """Find the records of other classes with the least added loss minus what their own class gains without them."""
    points, keys, low, high, left = tree.points, tree.keys, tree.low, tree.high, tree.left
    starts, ends = tree.start, tree.end
    box_low, box_high, room = query.low, query.high, query.room
    first, last, rise = query.first, query.last, query.rise
    group = group_of[members[0]]
    n_found = 0
    stack[0] = 0
    bounds[0] = -_FAR
    height = 1
    while height > 0:
        height -= 1
        if bounds[height] >= bound:
            continue
        q = stack[height]
        while left[q] >= 0:
            one = left[q]
            two = one + 1
            one_bound = added_loss(box_low, box_high, room, first, last, rise, low, high, one) - node_gain[one]
            two_bound = added_loss(box_low, box_high, room, first, last, rise, low, high, two) - node_gain[two]
            if two_bound < one_bound:
                one, two = two, one
                one_bound, two_bound = two_bound, one_bound
            if two_bound < bound:
                stack[height] = two
                bounds[height] = two_bound
                height += 1
            q = one
            if one_bound >= bound:
                q = -1
                break
        if q < 0:
            continue
        budget -= 1
        if budget < 0:
            break
        for i in range(starts[q], ends[q]):
            if group_of[i] < 0 or group_of[i] == group:
                continue
            cost = added_loss(box_low, box_high, room, first, last, rise, points, points, i) - gain[i]
            if cost >= bound or not _fits(keys, members, skip, np.int64(i)):
                continue
            j = min(n_found, found.shape[0] - 1)
            while j > 0 and costs[j - 1] > cost:
                costs[j] = costs[j - 1]
                found[j] = found[j - 1]
                j -= 1
            costs[j] = cost
            found[j] = i
            n_found = min(n_found + 1, found.shape[0])
            if n_found == found.shape[0]:
                bound = min(bound, costs[n_found - 1])
    return n_found


def swap_passes(
    loss: Loss,
    tree: Tree,
    group_of: NDArray[np.int32],
    members: NDArray[np.int32],
    n_passes: int,
    n_candidates: int,
    budget: int,
) -> int:
    """Swap records while both classes together lose less and stay diverse; return how many swaps were made.

    Parameters
    ----------
    tree
        All records of the part, by leaf.
    group_of
        Shape (n,): the class of each position in the tree; -1 for none. Updated.
    members
        Shape (classes, l): the positions of each class. Updated.
    """
    n = len(tree.points)
    current = np.empty(len(members), dtype=np.float32)
    gain = np.zeros(n, dtype=np.float32)
    node_gain = np.zeros(len(tree.left), dtype=np.float32)
    slot = np.zeros(n, dtype=np.int32)
    found = np.empty(n_candidates, dtype=np.int32)
    costs = np.empty(n_candidates, dtype=np.float32)
    stack = np.empty(len(tree.left) + 2, dtype=np.int32)
    bounds = np.empty(len(tree.left) + 2, dtype=np.float32)
    query = make_query(loss)
    _begin(loss, tree.points, query, members, current, gain, slot)
    n_swaps = 0
    for _ in range(n_passes):
        # The classes with the greatest loss come first.
        order = np.argsort(-current, kind="stable")
        made = _swap(
            loss,
            tree,
            query,
            order,
            group_of,
            members,
            budget,
            current,
            gain,
            node_gain,
            slot,
            found,
            costs,
            stack,
            bounds,
        )
        n_swaps += int(made)
        if not made:
            break
    return n_swaps


@kernel
def _begin(
    loss: Loss,
    points: NDArray[np.float32],
    query: Query,
    members: NDArray[np.int32],
    current: NDArray[np.float32],
    gain: NDArray[np.float32],
    slot: NDArray[np.int32],
) -> None:
    """Compute the loss of each class, what it would gain without each of its members, and the slot of each member."""
    for g in range(members.shape[0]):
        current[g] = _loss_with(loss, points, members[g], -1, -1, query.low, query.high)
        for j in range(members.shape[1]):
            slot[members[g, j]] = j
            gain[members[g, j]] = current[g] - _loss_with(loss, points, members[g], j, -1, query.low, query.high)


@kernel
def _swap(
    loss: Loss,
    tree: Tree,
    query: Query,
    order: NDArray[np.int64],
    group_of: NDArray[np.int32],
    members: NDArray[np.int32],
    budget: int,
    current: NDArray[np.float32],
    gain: NDArray[np.float32],
    node_gain: NDArray[np.float32],
    slot: NDArray[np.int32],
    found: NDArray[np.int32],
    costs: NDArray[np.float32],
    stack: NDArray[np.int32],
    bounds: NDArray[np.float32],
) -> int:
    """Make one pass over the classes in the given order; return how many swaps were made."""
    points, keys = tree.points, tree.keys
    l = members.shape[1]
    low = np.empty(points.shape[1], dtype=np.float32)
    high = np.empty(points.shape[1], dtype=np.float32)
    _node_gains(tree, gain, node_gain)
    n_swaps = 0
    for g in order:
        for j in range(l):
            record = np.int64(members[g, j])
            own = gain[record]
            if own <= _LEAST_GAIN:
                continue
            _box_without(points, members[g], j, query.low, query.high)
            aim(query, loss)
            n_found = _candidates(
                tree, query, members[g], j, group_of, gain, node_gain, own, budget, found, costs, stack, bounds
            )
            best: Whole = -1
            change = -_LEAST_GAIN
            here = there = np.float32(0)
            for x in range(n_found):
                other = np.int64(found[x])
                h, place = group_of[other], np.int64(slot[other])
                if not _fits(keys, members[h], place, record):
                    continue
                one = _loss_with(loss, points, members[g], j, other, low, high)
                two = _loss_with(loss, points, members[h], place, record, low, high)
                if one - current[g] + two - current[h] < change:
                    change = one - current[g] + two - current[h]
                    best = other
                    here = one
                    there = two
            if best < 0:
                continue
            h = group_of[best]
            slot[record] = slot[best]
            slot[best] = j
            members[h, slot[record]] = record
            members[g, j] = best
            group_of[best] = g
            group_of[record] = h
            current[g] = here
            current[h] = there
            n_swaps += 1
            for x in range(l):
                gain[members[g, x]] = here - _loss_with(loss, points, members[g], x, -1, low, high)
                gain[members[h, x]] = there - _loss_with(loss, points, members[h], x, -1, low, high)
    return n_swaps
