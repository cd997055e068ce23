"""The three phases of TP, on counts: how many records of each value of each group move to the residue.

Group g consists of the entries ``starts[g]:starts[g + 1]``; an entry is a value and how many records of it are left.
A group is eligible if no value has more than 1/l of its records. Its pillars are its most frequent values. It is thin
if it has exactly l times as many records as a pillar, otherwise fat.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = ["three_phases"]

Ints: TypeAlias = NDArray[np.int64]

_EMPTY, _DONE = -1, -2


@kernel
def three_phases(starts: Ints, values: Ints, left: Ints, n_values: int, l: int) -> tuple[Ints, Ints]:
    """Move records to the residue until it is eligible, keeping every group eligible. Changes `left`.

    Returns
    -------
    Shape (3, 2): the size of the residue and its greatest count after each phase; shape (values,): its counts.
    """
    residue = np.zeros(n_values, dtype=np.int64)
    state = np.zeros(2, dtype=np.int64)  # the size of the residue, and its greatest count
    after = np.zeros((3, 2), dtype=np.int64)
    n_groups = starts.shape[0] - 1
    for g in range(n_groups):
        _make_eligible(starts[g], starts[g + 1], values, left, residue, state, l)
    after[0, 0], after[0, 1] = state[0], state[1]

    # A stopped group waits for one of its pillars, in the list for that value and its number of pillars.
    heads = np.full((n_values, l + 1), -1, dtype=np.int64)
    following = np.full(n_groups, -1, dtype=np.int64)
    most = state[1]
    for g in range(n_groups):
        stopped = _give(starts[g], starts[g + 1], values, left, residue, state, l, most)
        if stopped == _DONE:
            break
        if stopped >= 0:
            _wait(g, stopped, starts, left, l, heads, following)
    after[1, 0], after[1, 1] = state[0], state[1]

    waiting = True
    while state[0] < l * state[1] and waiting:
        most += 1
        waiting = False
        for n_pillars in range(1, l + 1):
            for value in range(n_values):
                while residue[value] < most and heads[value, n_pillars] >= 0 and state[0] < l * state[1]:
                    g = heads[value, n_pillars]
                    heads[value, n_pillars] = following[g]
                    waiting = True
                    stopped = _give(starts[g], starts[g + 1], values, left, residue, state, l, most)
                    if stopped >= 0:
                        _wait(g, stopped, starts, left, l, heads, following)
    after[2, 0], after[2, 1] = state[0], state[1]
    return after, residue


@helper
def _make_eligible(first: int, last: int, values: Ints, left: Ints, residue: Ints, state: Ints, l: int) -> None:
    """Move pillars until the group is eligible.

    The group does not become eligible before all its pillars have fallen below their present count. So the result is to
    cut all counts to the greatest number h with ``sum of min(count, h) >= l h``.
    """
    high = np.int64(0)
    for e in range(first, last):
        high = max(high, left[e])
    while high > 0:
        size = np.int64(0)
        for e in range(first, last):
            size += min(left[e], high)
        if size >= l * high:
            break
        # No h above size / l can work, because cutting further only lowers the size.
        high = min(high - 1, size // l)
    for e in range(first, last):
        if left[e] > high:
            _move(e, left[e] - high, values, left, residue, state)


@helper
def _give(first: int, last: int, values: Ints, left: Ints, residue: Ints, state: Ints, l: int, most: int) -> int:
    """Move records of one group while it stays eligible and no count of the residue exceeds `most`.

    Returns
    -------
    Why it stopped: the residue is eligible, the group is empty, or the pillar of which the residue has enough.
    """
    while True:
        if state[0] >= l * state[1]:
            return _DONE
        size, top = np.int64(0), np.int64(0)
        for e in range(first, last):
            size += left[e]
            top = max(top, left[e])
        if size == 0:
            return _EMPTY
        slack = size - l * top
        if slack > 0:
            rarest, next_rarest = -1, np.int64(most)
            for e in range(first, last):
                held = residue[values[e]]
                if left[e] == 0 or held >= most:
                    continue
                if rarest < 0 or held < residue[values[rarest]]:
                    if rarest >= 0:
                        next_rarest = residue[values[rarest]]
                    rarest = e
                elif held < next_rarest:
                    next_rarest = held
            if rarest >= 0:
                even = max(np.int64(1), next_rarest - residue[values[rarest]])
                needed = l * state[1] - state[0]
                _move(rarest, min(left[rarest], slack, needed, even), values, left, residue, state)
                continue
        for e in range(first, last):
            if left[e] == top and residue[values[e]] >= most:
                blocking: int = values[e]
                return blocking
        for e in range(first, last):
            if left[e] == top:
                _move(e, 1, values, left, residue, state)


@helper
def _move(e: int, n: int, values: Ints, left: Ints, residue: Ints, state: Ints) -> None:
    left[e] -= n
    residue[values[e]] += n
    state[0] += n
    state[1] = max(state[1], residue[values[e]])


@helper
def _wait(g: int, value: int, starts: Ints, left: Ints, l: int, heads: Ints, following: Ints) -> None:
    top, n_pillars = np.int64(0), 0
    for e in range(starts[g], starts[g + 1]):
        if left[e] > top:
            top, n_pillars = left[e], 1
        elif left[e] == top:
            n_pillars += 1
    n_pillars = min(n_pillars, l)
    following[g] = heads[value, n_pillars]
    heads[value, n_pillars] = g
