"""Partition draws: random words choose a partition of all values into blocks of l, and a value gets its block.

Values stand in a grid of `rows` rows and `columns` columns; no two values of a row may share a block. Positions
0, 1, 2, ... of a partition go through the rows in a random order, once for each column, and each row gives its values
in a random order too. Every l positions are a block. Since l is at most the number of rows, no block has two values of
a row. All orders are equally likely, so all blocks with one value in each of l rows are equally likely as well. With
one column, all sets of l values are.

The last ``F mod l`` positions are no block. A value that falls there gets its block from the next partition.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, inlined, kernel
from ldiversity._kernels.draws import below, draw_together, insert_ascending

__all__ = ["deal_blocks", "find_blocks"]

Codes: TypeAlias = NDArray[np.int32]
Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Drawn: TypeAlias = tuple[NDArray[np.int32], NDArray[np.bool_]]

_HALF = np.uint64(32)
_ONE = np.uint64(1)


@kernel
def deal_blocks(codes: Codes, words: Words, l: int, grid: Codes, place: Codes, bounds: Ints, ends: Ints) -> Drawn:
    """Fill the positions of a partition one after the other, until the block of the true value is full.

    ``grid[row, column]`` is a value, and ``place`` its inverse, as ``row * columns + column``. ``bounds`` are the
    bounds of all draws of one partition in their order: in the first column, each position draws a row and, if there
    are several columns, a value of it; later positions draw a value. ``ends[w]`` is the number of draws made when word
    w is used up.
    """
    rows, columns = grid.shape
    size = rows * columns
    whole = size - size % l
    sets = np.empty((codes.shape[0], l), dtype=np.int32)
    short = np.zeros(codes.shape[0], dtype=np.bool_)
    row_order = np.empty(rows, dtype=np.int64)
    left = np.empty(size, dtype=np.int64)
    placed = np.empty(size, dtype=np.int64)
    draws = np.empty(bounds.shape[0], dtype=np.int64)
    per_first = 1 + int(columns > 1)
    for i in range(codes.shape[0]):
        true = np.int64(place[codes[i]])
        used = 0
        block = -1
        while block < 0:
            for k in range(rows):
                row_order[k] = k
            for k in range(size):
                left[k] = k
            word = 0
            ready = 0
            position = 0
            until = whole
            while position < until:
                column = position // rows
                at = position - column * rows
                first = position * per_first if column == 0 else rows * (per_first - 1) + position
                last = first + (per_first if column == 0 else 1)
                while ready < min(last, bounds.shape[0]) and used >= 0:
                    used = draw_together(words[i], used, bounds, ready, ends[word], draws)
                    ready = ends[word]
                    word += 1
                if used < 0:
                    break
                if column == 0 and first < bounds.shape[0]:
                    chosen = at + draws[first]
                    row_order[at], row_order[chosen] = row_order[chosen], row_order[at]
                own = row_order[at] * columns + column
                if columns > 1 and last <= bounds.shape[0]:
                    chosen = own + draws[last - 1]
                    left[own], left[chosen] = left[chosen], left[own]
                placed[position] = left[own]
                if placed[position] == true:
                    block = position // l
                    until = (block + 1) * l
                position += 1
            if used < 0:
                break
        short[i] = used < 0
        for k in range(l):
            member = np.int64(0)
            if used >= 0:
                at = placed[block * l + k]
                member = np.int64(grid[at // columns, at % columns])
            insert_ascending(sets[i], k, member if used >= 0 else np.int64(0))
    return sets, short


@kernel
def find_blocks(codes: Codes, words: Words, l: int, grid: Codes, place: Codes, rounds: int) -> Codes:
    """Do the same for many values, without filling all positions: orders are evaluated where they are needed.

    An order of N things is a swap-or-not shuffle (Hoang, Morris, Rogaway 2012) of `rounds` rounds, whose keys and bits
    are SipHash-2-4 (Aumasson, Bernstein 2012) under the two words of the record. It can be followed both ways.
    """
    rows, columns = grid.shape
    size = rows * columns
    sets = np.empty((codes.shape[0], l), dtype=np.int32)
    of_rows = np.empty(rounds, dtype=np.int64)
    of_columns = np.empty(rounds, dtype=np.int64)
    for i in range(codes.shape[0]):
        true = np.int64(place[codes[i]])
        key0, key1 = words[i, 0], words[i, 1]
        row, member = true // columns, true % columns
        partition = -1
        first = size
        while first + l > size:
            partition += 1
            _draw_shifts(key0, key1, _label(partition, -1), rows, of_rows)
            at = _follow(key0, key1, _label(partition, -1), rows, row, of_rows, -1)
            _draw_shifts(key0, key1, _label(partition, row), columns, of_columns)
            column = _follow(key0, key1, _label(partition, row), columns, member, of_columns, -1)
            position = column * rows + at
            first = position - position % l
        for k in range(l):
            position = first + k
            other = _follow(key0, key1, _label(partition, -1), rows, position % rows, of_rows, 1)
            _draw_shifts(key0, key1, _label(partition, other), columns, of_columns)
            chosen = _follow(key0, key1, _label(partition, other), columns, position // rows, of_columns, 1)
            insert_ascending(sets[i], k, np.int64(grid[other, chosen]))
    return sets


@inlined
def _label(partition: Whole, row: Whole) -> np.uint64:
    """A number for the order of one row's values, or of all rows (-1), in one partition of a record."""
    return np.uint64(partition) << _HALF | np.uint64(row + 1)


@helper
def _draw_shifts(key0: np.uint64, key1: np.uint64, label: np.uint64, size: Whole, shifts: Ints) -> None:
    """Draw the number below `size` for each round of a shuffle."""
    stream = np.empty(1, dtype=np.uint64)
    for r in range(shifts.shape[0] if size > 1 else 0):
        drawn = -1
        attempt = 0
        while drawn < 0:
            stream[0] = _hash(key0, key1, label, np.uint64(r) << _HALF | np.uint64(attempt))
            drawn, _ = below(stream, 0, size)  # type: ignore[arg-type]  # an int to numba
            attempt += 1
        shifts[r] = drawn


@helper
def _follow(
    key0: np.uint64, key1: np.uint64, label: np.uint64, size: Whole, start: Whole, shifts: Ints, step: int
) -> Whole:
    """Follow one of `size` things through a shuffle, or back to where it came from if `step` is -1."""
    x = np.int64(start)
    for k in range(shifts.shape[0] if size > 1 else 0):
        r = k if step > 0 else shifts.shape[0] - 1 - k
        partner = shifts[r] - x
        if partner < 0:
            partner += size
        larger = max(x, partner)
        # The highest bit tells these messages from those of the shifts.
        bit = _hash(key0, key1, label, _ONE << np.uint64(63) | np.uint64(r) << _HALF | np.uint64(larger))
        if bit & _ONE:
            x = partner
    return x


@helper
def _hash(key0: np.uint64, key1: np.uint64, first: np.uint64, second: np.uint64) -> np.uint64:
    """SipHash-2-4 of the sixteen bytes of two words."""
    v0 = key0 ^ np.uint64(0x736F6D6570736575)
    v1 = key1 ^ np.uint64(0x646F72616E646F6D)
    v2 = key0 ^ np.uint64(0x6C7967656E657261)
    v3 = key1 ^ np.uint64(0x7465646279746573)
    for part in range(4):
        message = np.uint64(0)
        if part == 0:
            message = first
        elif part == 1:
            message = second
        elif part == 2:  # noqa: PLR2004 - the length in bytes
            message = np.uint64(16) << np.uint64(56)
        else:
            v2 ^= np.uint64(0xFF)
        v3 ^= message
        for _ in range(2 if part < 3 else 4):  # noqa: PLR2004 - the last part is the end
            v0 += v1
            v1 = _turn(v1, 13) ^ v0
            v0 = _turn(v0, 32)
            v2 += v3
            v3 = _turn(v3, 16) ^ v2
            v0 += v3
            v3 = _turn(v3, 21) ^ v0
            v2 += v1
            v1 = _turn(v1, 17) ^ v2
            v2 = _turn(v2, 32)
        v0 ^= message
    return v0 ^ v1 ^ v2 ^ v3


@inlined
def _turn(word: np.uint64, bits: int) -> np.uint64:
    return np.uint64(word << np.uint64(bits) | word >> np.uint64(64 - bits))
