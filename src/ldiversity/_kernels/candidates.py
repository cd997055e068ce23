"""The candidates of the next dummy under simple selection, as runs of positions.

A *position* is a code, except for blocks, where codes are ordered by block. So for a line and for blocks, the next
candidates are a short list of runs ``lo[i] <= position < hi[i]``; for a graph without structure, the runs come from a
bitset. Only candidates from which the set can still be completed are listed, so a draw never gets stuck.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, inlined, kernel

__all__ = [
    "BLOCKS",
    "GENERAL",
    "LINE",
    "Tables",
    "block_runs",
    "completable",
    "count_bits",
    "first_masks",
    "line_runs",
    "pair_masks",
    "runs",
]

LINE, BLOCKS, GENERAL = 0, 1, 2

Ints: TypeAlias = NDArray[np.int32]
Bits: TypeAlias = NDArray[np.uint64]
Tables: TypeAlias = tuple[int, Ints, Ints, Bits, Bits, Bits]
"""The structure, and what it needs.

- line: the first position allowed after each position, and the last position allowed before it;
- blocks: where the block of each position starts and ends;
- general: the allowed pairs as bitsets, then the precomputed candidates for one and for two chosen values (or empty).
"""

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ANY_STEPS = 1 << 62


@helper
def runs(tables: Tables, chosen: Ints, k: int, remaining: int, lo: Ints, hi: Ints, scratch: Bits) -> int:
    """List the runs of positions that may join ``chosen[:k]`` (ascending) when `remaining` values are missing.

    `lo` and `hi` hold the runs and need room for F + 2; `scratch` holds bitsets, shape (remaining + 2, words).
    Returns how many runs there are.
    """
    if tables[0] == LINE:
        return line_runs(chosen, k, remaining, tables[1], tables[2], lo, hi)
    if tables[0] == BLOCKS:
        return block_runs(chosen, k, tables[1], tables[2], lo, hi)
    _general_mask(tables, chosen, k, remaining, scratch)
    return _runs_of_mask(scratch[0], tables[3].shape[0], lo, hi)


@inlined
def line_runs(chosen: Ints, k: int, remaining: int, after: Ints, before: Ints, lo: Ints, hi: Ints) -> int:
    """List the runs on a line; see `runs`."""
    # The chosen values cut the line into gaps. A gap holds as many more values as a greedy walk finds. Choosing a value
    # costs its gap one or two of these. So all candidates are fine if two may be lost. If only one may be lost, a
    # candidate must be the i-th of some fullest packing: between its leftmost and its rightmost position.
    size = after.shape[0]
    room = 0
    if remaining > 1:
        for gap in range(k + 1):
            at = int(after[chosen[gap - 1]]) if gap > 0 else 0
            end = int(before[chosen[gap]]) if gap < k else size - 1
            while at <= end and room <= remaining:
                room += 1
                at = int(after[at])
    n = 0
    for gap in range(k + 1):
        at = int(after[chosen[gap - 1]]) if gap > 0 else 0
        end = int(before[chosen[gap]]) if gap < k else size - 1
        if at > end:
            continue
        if remaining == 1 or room > remaining:
            lo[n] = at
            hi[n] = end + 1
            n += 1
        else:
            n = _tight_runs(at, end, after, before, lo, hi, n)
    return n


@helper
def _tight_runs(at: int, end: int, after: Ints, before: Ints, lo: Ints, hi: Ints, n: int) -> int:
    first = n
    while at <= end:
        lo[n] = at
        at = int(after[at])
        n += 1
    for i in range(n - 1, first - 1, -1):
        hi[i] = end + 1
        end = int(before[end])
    last = first
    for i in range(first + 1, n):
        if lo[i] <= hi[last]:
            hi[last] = hi[i]
        else:
            last += 1
            lo[last] = lo[i]
            hi[last] = hi[i]
    return last + 1


@inlined
def block_runs(chosen: Ints, k: int, start: Ints, stop: Ints, lo: Ints, hi: Ints) -> int:
    """List the runs outside the chosen blocks; see `runs`."""
    n = 0
    at = 0
    for i in range(k):
        if at < start[chosen[i]]:
            lo[n] = at
            hi[n] = start[chosen[i]]
            n += 1
        at = int(stop[chosen[i]])
    if at < start.shape[0]:
        lo[n] = at
        hi[n] = start.shape[0]
        n += 1
    return n


@helper
def _general_mask(tables: Tables, chosen: Ints, k: int, remaining: int, scratch: Bits) -> None:
    """Write the candidates to ``scratch[0]``."""
    bits, ones, pairs = tables[3], tables[4], tables[5]
    n_words = bits.shape[1]
    mask = scratch[0]
    if k == 1 and ones.shape[0] > 0:
        for w in range(n_words):
            mask[w] = ones[chosen[0], w]
        return
    if k == 2 and remaining > 1 and pairs.shape[0] > 0:  # noqa: PLR2004 - two chosen
        for w in range(n_words):
            mask[w] = pairs[chosen[0] * bits.shape[0] + chosen[1], w]
        return
    for w in range(n_words):
        mask[w] = bits[chosen[0], w]
        for i in range(1, k):
            mask[w] &= bits[chosen[i], w]
    if remaining > 1:
        _keep_completable(bits, mask, remaining - 1, scratch, _ANY_STEPS)


@helper
def _keep_completable(bits: Bits, mask: Bits, missing: int, scratch: Bits, most: int) -> int:
    """Drop candidates that `missing` others cannot follow; return the number of steps, more than `most` if given up."""
    steps = 0
    n_words = bits.shape[1]
    kept = scratch[scratch.shape[0] - 1]
    for w in range(n_words):
        kept[w] = mask[w]
    for w in range(n_words):
        word = mask[w]
        while word != _NONE:
            low = word & (~word + _ONE)
            word ^= low
            j = 64 * w + count_bits(low - _ONE)
            for x in range(n_words):
                scratch[1, x] = mask[x] & bits[j, x]
            taken = _find_clique(bits, scratch[1:], missing, most - steps)
            steps += abs(taken)
            if steps > most:
                return steps
            if taken < 0:
                kept[w] ^= low
    for w in range(n_words):
        mask[w] = kept[w]
    return steps


@helper
def _find_clique(bits: Bits, levels: Bits, size: int, most: int) -> int:
    """Search depth first for `size` pairwise allowed values in ``levels[0]``, which is overwritten.

    Returns the number of steps if they exist; its negative if they do not, or if it exceeds `most`.
    """
    n_words = bits.shape[1]
    depth = 0
    steps = 0
    while depth >= 0 and steps <= most:
        steps += 1
        held = 0
        at = -1
        for w in range(n_words):
            held += count_bits(levels[depth, w])
            if at < 0 and levels[depth, w] != _NONE:
                at = w
        if held < size - depth:
            depth -= 1
            continue
        if size - depth <= 1:
            return steps
        low = levels[depth, at] & (~levels[depth, at] + _ONE)
        levels[depth, at] ^= low
        j = 64 * at + count_bits(low - _ONE)
        for w in range(n_words):
            levels[depth + 1, w] = levels[depth, w] & bits[j, w]
        depth += 1
    return -steps


@helper
def _runs_of_mask(mask: Bits, size: int, lo: Ints, hi: Ints) -> int:
    n = 0
    inside = False
    for w in range(mask.shape[0]):
        carry = _ONE if inside else _NONE
        turns = mask[w] ^ ((mask[w] << _ONE) | carry)
        while turns != _NONE:
            low = turns & (~turns + _ONE)
            turns ^= low
            at = 64 * w + count_bits(low - _ONE)
            if inside:
                hi[n] = at
                n += 1
            else:
                lo[n] = at
            inside = not inside
    if inside:
        hi[n] = size
        n += 1
    return n


@helper
def count_bits(word: np.uint64) -> int:
    """Count the bits of a 64-bit word."""
    x = word
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56)))


@kernel
def completable(tables: Tables, l: int) -> NDArray[np.bool_]:
    """Whether each position alone can be completed to a set of `l` values."""
    size = max(tables[1].shape[0], tables[3].shape[0])
    result = np.empty(size, dtype=np.bool_)
    lo = np.empty(size + 2, dtype=np.int32)
    hi = np.empty(size + 2, dtype=np.int32)
    chosen = np.empty(l + 1, dtype=np.int32)
    scratch = np.empty((l + 2, tables[3].shape[1]), dtype=np.uint64)
    for v in range(size):
        if tables[0] == GENERAL:  # its first candidates are precomputed
            result[v] = False
            for w in range(tables[4].shape[1]):
                result[v] |= tables[4][v, w] != _NONE
            continue
        # Walk greedily: every listed candidate can be completed, so a dead end means that there was none at the start.
        chosen[0] = v
        k = 1
        while k < l and runs(tables, chosen, k, l - k, lo, hi, scratch) > 0:
            at = k
            while at > 0 and chosen[at - 1] > lo[0]:
                chosen[at] = chosen[at - 1]
                at -= 1
            chosen[at] = lo[0]
            k += 1
        result[v] = k == l
    return result


@kernel
def first_masks(bits: Bits, l: int, most: int) -> tuple[Bits, int]:
    """Return the candidates of each value's first dummy as bitsets, and the number of steps; void beyond `most`."""
    steps = 0
    result = bits.copy()
    scratch = np.empty((l + 2, bits.shape[1]), dtype=np.uint64)
    if l > 2:  # noqa: PLR2004 - a pair needs no look ahead
        for v in range(bits.shape[0]):
            steps += _keep_completable(bits, result[v], l - 2, scratch, most - steps)
            if steps > most:
                break
    return result, steps


@kernel
def pair_masks(bits: Bits, l: int, most: int) -> tuple[Bits, int]:
    """Return the candidates of the second dummy for each pair, row ``i * F + j`` for i < j; see `first_masks`."""
    steps = 0
    size = bits.shape[0]
    result = np.zeros((size * size, bits.shape[1]), dtype=np.uint64)
    scratch = np.empty((l + 2, bits.shape[1]), dtype=np.uint64)
    for i in range(size):
        for j in range(i + 1, size):
            if (bits[i, j >> 6] >> np.uint64(j & 63)) & _ONE:
                row = result[i * size + j]
                for w in range(bits.shape[1]):
                    row[w] = bits[i, w] & bits[j, w]
                steps += _keep_completable(bits, row, l - 3, scratch, most - steps)
                if steps > most:
                    return result, steps
    return result, steps
