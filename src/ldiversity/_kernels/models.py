"""Count how many values of each class are far from each other."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = ["count_apart", "search_apart"]

Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_M1 = np.uint64(0x5555555555555555)
_M2 = np.uint64(0x3333333333333333)
_M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_M8 = np.uint64(0x0101010101010101)


@kernel
def count_apart(counts: Ints, order: Ints, near: Words, enough: int) -> Ints:
    """Count the values of each class that a pass in the given order keeps: those near no value kept before.

    Parameters
    ----------
    counts
        Shape (classes, F).
    order
        Shape (F,): a perfect elimination order of the values.
    near
        Shape (F, words): bit i of row k says that the i-th and the k-th value of the order are near each other.
    enough
        Stop a class when this many are kept.
    """
    n_classes, n_values = counts.shape
    n_words = near.shape[1]
    found = np.zeros(n_classes, dtype=np.int64)
    blocked = np.zeros(n_words, dtype=np.uint64)
    for row in range(n_classes):
        blocked[:] = _ZERO
        kept = 0
        for place in range(n_values):
            if counts[row, order[place]] > 0:
                word, bit = place >> 6, np.uint64(place & 63)
                if (blocked[word] >> bit) & _ONE == _ZERO:
                    kept += 1
                    if kept >= enough:
                        break
                    for k in range(word, n_words):
                        blocked[k] |= near[place, k]
        found[row] = kept
    return found


@helper
def _popcount(word: np.uint64) -> int:
    word = word - ((word >> _ONE) & _M1)
    word = (word & _M2) + ((word >> np.uint64(2)) & _M2)
    word = (word + (word >> np.uint64(4))) & _M4
    return np.int64((word * _M8) >> np.uint64(56))  # type: ignore[return-value]


@helper
def _lowest(word: np.uint64) -> int:
    return _popcount((word & (~word + _ONE)) - _ONE)


@helper
def _cover(live: Words, near: Words, rest: Words, clique: Words) -> int:
    """Return how many cliques of near values cover `live`: an upper bound on values far from each other."""
    n_words = len(live)
    for k in range(n_words):
        rest[k] = live[k]
    n_cliques = 0
    for word in range(n_words):
        while rest[word] != _ZERO:
            vertex = 64 * word + _lowest(rest[word])
            rest[word] &= ~(_ONE << np.uint64(vertex & 63))
            n_cliques += 1
            for k in range(n_words):
                clique[k] = near[vertex, k] & rest[k]
            for k in range(word, n_words):
                while clique[k] != _ZERO:
                    member = 64 * k + _lowest(clique[k])
                    rest[k] &= ~(_ONE << np.uint64(member & 63))
                    for j in range(n_words):
                        clique[j] &= near[member, j]
                    clique[k] &= ~(_ONE << np.uint64(member & 63))
    return n_cliques


@kernel
def search_apart(present: Words, near: Words, enough: int, most_steps: int) -> Ints:
    """Find the greatest number of values, for each set of values, that are all far from each other.

    Branch and bound: a value near at most one other is taken; otherwise the value near the most others is tried both
    ways.

    Parameters
    ----------
    present
        Shape (sets, words): the values of each set as bits.
    near
        Shape (F, words): which other values each is near.
    enough
        Stop a set when this many are found.
    most_steps
        The most steps for a set.

    Returns
    -------
    Shape (sets,): the greatest number, or at least `enough`; -1 if the steps were not enough.
    """
    n_sets, n_words = present.shape
    n_values = near.shape[0]
    found = np.zeros(n_sets, dtype=np.int64)
    stack = np.zeros((n_values + 2, n_words), dtype=np.uint64)
    taken = np.zeros(n_values + 2, dtype=np.int64)
    live = np.zeros(n_words, dtype=np.uint64)
    rest = np.zeros(n_words, dtype=np.uint64)
    clique = np.zeros(n_words, dtype=np.uint64)
    for one in range(n_sets):
        for k in range(n_words):
            stack[0, k] = present[one, k]
        taken[0] = 0
        depth, best, steps = 1, 0, 0
        while depth > 0 and best < enough and steps <= most_steps:
            depth -= 1
            steps += 1
            for k in range(n_words):
                live[k] = stack[depth, k]
            kept = taken[depth]
            while True:
                most_degree, least_degree, widest, narrowest = -1, n_values + 1, -1, -1
                for word in range(n_words):
                    bits = live[word]
                    while bits != _ZERO:
                        vertex = 64 * word + _lowest(bits)
                        bits &= bits - _ONE
                        degree = 0
                        for k in range(n_words):
                            degree += _popcount(near[vertex, k] & live[k])
                        if degree > most_degree:
                            most_degree, widest = degree, vertex
                        if degree < least_degree:
                            least_degree, narrowest = degree, vertex
                if widest < 0 or least_degree > 1:
                    break
                kept += 1
                live[narrowest >> 6] &= ~(_ONE << np.uint64(narrowest & 63))
                for k in range(n_words):
                    live[k] &= ~near[narrowest, k]
            best = max(best, kept)
            if widest < 0 or kept + _cover(live, near, rest, clique) <= best:
                continue
            live[widest >> 6] &= ~(_ONE << np.uint64(widest & 63))
            taken[depth] = kept
            for k in range(n_words):
                stack[depth, k] = live[k]
                stack[depth + 1, k] = live[k] & ~near[widest, k]
            taken[depth + 1] = kept + 1
            depth += 2
        found[one] = -1 if depth > 0 and best < enough and steps > most_steps else best
    return found
