"""Samplers of balanced selection: tables of integer probabilities, and the loops that draw from them.

All tables are alias tables with 2**b columns (Walker's method). The upper b of a word's 63 leading bits choose a
column; the other bits choose between the column's own outcome and its alias. Shares are integers that sum to 2**63,
and the columns are filled with integers. So an outcome is drawn with exactly its share of 2**63, and an outcome of
weight zero never is.

A table row is ``(threshold, own << 32 | alias)``; an outcome is a number below 2**32.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, inlined, kernel

__all__ = ["COUNT_AT", "fill_tables", "sample_chain", "sample_listed", "sample_triples"]

Codes: TypeAlias = NDArray[np.int32]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Tables: TypeAlias = tuple[Words, Ints, Ints]
"""The rows of all tables, where each state's table begins, and its number of bits."""

COUNT_AT = 20
"""The first outcome of a walk is ``members on the left << COUNT_AT | neighbor``."""

_BITS = 63
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_COUNT_AT = np.uint64(COUNT_AT)
_MEMBER = np.uint64((1 << COUNT_AT) - 1)


# --- filling ---------------------------------------------------------------------------------------


@helper
def _shares(weights: Floats, size: int, shares: Words) -> None:
    """Round the first `size` weights to integers that sum to 2**63; the largest one takes the remainder."""
    total = 0.0
    largest = 0
    for i in range(size):
        total += weights[i]
        if weights[i] > weights[largest]:
            largest = i
    left = np.uint64(1) << np.uint64(_BITS)
    scale = 9223372036854775808.0 / total
    for i in range(size):
        if i != largest:
            shares[i] = min(np.uint64(weights[i] * scale), left)
            left -= shares[i]
    shares[largest] = left


@helper
def _fill(weights: Floats, outcomes: Words, size: int, bits: int, table: Words, scratch: Words, stack: Ints) -> None:
    """Fill ``2**bits`` rows of `table` so that outcome i is drawn in proportion to weight i."""
    # Columns with less than the capacity are stacked from below, those with more from above. Each small one is topped
    # up by a large one, its alias.
    columns = 1 << bits
    capacity = _ONE << np.uint64(_BITS - bits)
    _shares(weights, size, scratch)
    small = 0
    large = columns
    for i in range(columns):
        if i >= size:
            scratch[i] = np.uint64(0)
        own = outcomes[min(i, size - 1)]
        table[i, 0] = capacity
        table[i, 1] = own << _HALF | own
        if scratch[i] < capacity:
            stack[small] = i
            small += 1
        elif scratch[i] > capacity:
            large -= 1
            stack[large] = i
    while small > 0 and large < columns:
        low = stack[small - 1]
        high = stack[large]
        small -= 1
        table[low, 0] = scratch[low]
        table[low, 1] = (table[low, 1] >> _HALF) << _HALF | outcomes[high]
        scratch[high] -= capacity - scratch[low]
        if scratch[high] <= capacity:
            large += 1
            if scratch[high] < capacity:
                stack[small] = high
                small += 1


@kernel
def fill_tables(weights: Floats, outcomes: Words, starts: Ints, bits: Ints, offsets: Ints, table: Words) -> None:
    """Fill one table for each state s from ``weights[starts[s]:starts[s + 1]]`` and the same part of `outcomes`.

    A state whose weights are all zero is never reached; its rows are not changed.
    """
    most_bits = 0
    for s in range(bits.shape[0]):
        most_bits = max(most_bits, bits[s])
    most = 1 << most_bits
    scratch = np.empty(most, dtype=np.uint64)
    stack = np.empty(most, dtype=np.int64)
    for s in range(bits.shape[0]):
        first, last = starts[s], starts[s + 1]
        reached = False
        for i in range(first, last):
            reached = reached or weights[i] > 0.0
        if reached:
            rows = table[offsets[s] : offsets[s] + (1 << bits[s])]
            _fill(weights[first:last], outcomes[first:last], last - first, bits[s], rows, scratch, stack)


# --- drawing ---------------------------------------------------------------------------------------


@inlined
def _draw(word: np.uint64, state: int, table: Words, offsets: Ints, bits: Ints) -> np.uint64:
    shift = np.uint64(_BITS - bits[state])
    lead = word >> _ONE
    row = offsets[state] + np.int64(lead >> shift)
    own = (lead & ((_ONE << shift) - _ONE)) < table[row, 0]
    # No branch: its outcome is random, and a misprediction costs more than all the rest.
    return np.uint64((table[row, 1] >> (_HALF * np.uint64(own))) & _LOW_HALF)


@kernel
def sample_listed(codes: Codes, words: Words, sets: Codes, table: Words, offsets: Ints, bits: Ints) -> Codes:
    """Choose one row of `sets` for each record, with the table of its code and its first word."""
    l = sets.shape[1]
    drawn = np.empty((codes.shape[0], l), dtype=np.int32)
    for i in range(codes.shape[0]):
        chosen = _draw(words[i, 0], codes[i], table, offsets, bits)
        for k in range(l):
            drawn[i, k] = sets[chosen, k]
    return drawn


@kernel
def sample_chain(
    codes: Codes,
    words: Words,
    l: int,
    node_of: Codes,
    first: Tables,
    left: Tables,
    right: Tables,
    states: Codes,
) -> Codes:
    """Walk from the true value to the left and to the right.

    The first word chooses how many members are on the left and one neighbor of the true value; every further word
    chooses the next member outward. ``states[0]`` and ``states[1]`` give the left and right tables at which each node's
    walk begins; the tables for k missing members are ``k * width`` further.
    """
    drawn = np.empty((codes.shape[0], l), dtype=np.int32)
    width = left[1].shape[0] // max(l - 1, 1)
    wide = right[1].shape[0] // max(l - 1, 1)
    for i in range(codes.shape[0]):
        value = codes[i]
        node = node_of[value]
        outcome = _draw(words[i, 0], node, first[0], first[1], first[2])
        member = np.int32(outcome & _MEMBER)
        on_left = np.int64(outcome >> _COUNT_AT)
        drawn[i, on_left] = value
        used = 1
        at = node
        if on_left > 0:
            drawn[i, on_left - 1] = member
            at = node_of[member]
            for k in range(on_left - 1, 0, -1):
                state = k * width + states[0, at]
                member = np.int32(_draw(words[i, used], state, left[0], left[1], left[2]))
                drawn[i, k - 1] = member
                used += 1
                at = node_of[member]
            at = node
            to_go = int(l - 1 - on_left)
        else:
            drawn[i, 1] = member
            at = node_of[member]
            to_go = l - 2
        while to_go > 0:
            state = to_go * wide + states[1, at]
            member = np.int32(_draw(words[i, used], state, right[0], right[1], right[2]))
            drawn[i, l - to_go] = member
            used += 1
            at = node_of[member]
            to_go -= 1
        _sort(drawn[i])
    return drawn


@kernel
def sample_triples(codes: Codes, words: Words, node_of: Codes, first: Tables, outward: Tables, begins: Ints) -> Codes:
    """Do the same as `sample_chain` for l = 3, the most frequent case, without branches.

    Both directions share one table; ``begins[0]`` and ``begins[1]`` give the state at which each node's walk to the
    left and to the right begins.
    """
    drawn = np.empty((codes.shape[0], 3), dtype=np.int32)
    rows, offsets, bits = outward
    for i in range(codes.shape[0]):
        value = codes[i]
        node = node_of[value]
        outcome = _draw(words[i, 0], node, first[0], first[1], first[2])
        x = np.int32(outcome & _MEMBER)
        on_left = np.int64(outcome >> _COUNT_AT)
        at = node if on_left == 1 else node_of[x]
        y = np.int32(_draw(words[i, 1], begins[np.int64(on_left < 2), at], rows, offsets, bits))  # noqa: PLR2004
        small, large = min(value, x), max(value, x)
        drawn[i, 0] = min(small, y)
        drawn[i, 1] = max(small, min(large, y))
        drawn[i, 2] = max(large, y)
    return drawn


@inlined
def _sort(row: Codes) -> None:
    for i in range(1, row.shape[0]):
        value = row[i]
        j = i
        while j > 0 and row[j - 1] > value:
            row[j] = row[j - 1]
            j -= 1
        row[j] = value
