"""Samplers of uniform, simple and ring selection: codes and random words in, sorted sets out.

Every sampler draws for one record at a time and reads its words from left to right, so more words never change a set
for which fewer were enough. A record whose words run out is marked `short`, and its row is zero.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, inlined, kernel
from ldiversity._kernels.candidates import BLOCKS, LINE, Tables, block_runs, line_runs, runs
from ldiversity._kernels.draws import below, draw_together, insert_ascending

__all__ = ["sample_ring", "sample_simple", "sample_uniform"]

Ints: TypeAlias = NDArray[np.int32]
Words: TypeAlias = NDArray[np.uint64]
Drawn: TypeAlias = tuple[NDArray[np.int32], NDArray[np.bool_]]

_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@kernel
def sample_uniform(codes: Ints, words: Words, n_values: int, l: int, per_word: int) -> Drawn:
    """Add ``l - 1`` dummies, drawn without replacement from the other values.

    Dummy k is drawn from the ``n_values - k`` values that are not chosen yet (k = 1, 2, ...). `per_word` consecutive
    draws share one word, as `ldiversity._kernels.draws.draw_together` says. The product of their bounds must be below
    2**32.
    """
    n = codes.shape[0]
    sets = np.empty((n, l), dtype=np.int32)
    short = np.zeros(n, dtype=np.bool_)
    if l == 2:  # noqa: PLR2004 - the two most frequent cases are unrolled
        _add_one(codes, words, n_values, sets, short)
        return sets, short
    if l == 3 and per_word == 2:  # noqa: PLR2004
        _add_two(codes, words, n_values, sets, short)
        return sets, short
    bounds = np.empty(l, dtype=np.int64)
    for k in range(l):
        bounds[k] = n_values - k
    draws = np.empty(l, dtype=np.int64)
    for i in range(n):
        used = 0
        first = 1
        while first < l and used >= 0:
            last = min(first + per_word, l)
            used = draw_together(words[i], used, bounds, first, last, draws)
            first = last
        if used < 0:
            short[i] = True
            sets[i] = 0
            continue
        sets[i, 0] = codes[i]
        for k in range(1, l):
            # The draw counts only values that are not chosen: skip the chosen ones, which are ascending.
            value = draws[k]
            at = 0
            while at < k and sets[i, at] <= value:
                value += 1
                at += 1
            for j in range(k, at, -1):
                sets[i, j] = sets[i, j - 1]
            sets[i, at] = value
    return sets, short


@helper
def _add_one(codes: Ints, words: Words, n_values: int, sets: Ints, short: NDArray[np.bool_]) -> None:
    for i in range(codes.shape[0]):
        v = np.int32(codes[i])
        draw, _ = below(words[i], 0, n_values - 1)
        x = np.int32(draw) + np.int32(draw >= v)
        short[i] = draw < 0
        sets[i, 0] = min(v, x) if draw >= 0 else 0
        sets[i, 1] = max(v, x) if draw >= 0 else 0


@helper
def _add_two(codes: Ints, words: Words, n_values: int, sets: Ints, short: NDArray[np.bool_]) -> None:
    b1 = np.uint64(n_values - 1)
    b2 = np.uint64(n_values - 2)
    product = b1 * b2
    threshold = (np.uint64(0) - product) % product
    for i in range(codes.shape[0]):
        v = np.int32(codes[i])
        used = 0
        accepted = False
        x = np.int32(0)
        y = np.int32(0)
        while used < words.shape[1]:
            low = words[i, used]
            used += 1
            carry = ((low & _LOW_HALF) * b1) >> _HALF
            x = np.int32(((low >> _HALF) * b1 + carry) >> _HALF)
            low *= b1
            carry = ((low & _LOW_HALF) * b2) >> _HALF
            y = np.int32(((low >> _HALF) * b2 + carry) >> _HALF)
            low *= b2
            if low >= threshold:
                accepted = True
                break
        if not accepted:
            short[i] = True
            sets[i, 0] = sets[i, 1] = sets[i, 2] = 0
            continue
        x += np.int32(x >= v)
        small, large = min(v, x), max(v, x)
        y += np.int32(y >= small)
        y += np.int32(y >= large)
        sets[i, 0] = min(small, y)
        sets[i, 1] = max(small, min(large, y))
        sets[i, 2] = max(large, y)


def sample_simple(codes: Ints, words: Words, l: int, position: Ints, order: Ints, tables: Tables) -> Drawn:
    """Add dummies one by one, each uniform among the candidates from which the set can still be completed."""
    if tables[0] == LINE:
        return _sample_line(codes, words, l, tables[1], tables[2])
    if tables[0] == BLOCKS:
        return _sample_blocks(codes, words, l, position, order, tables[1], tables[2])
    return _sample_general(codes, words, l, tables)


@kernel
def _sample_line(codes: Ints, words: Words, l: int, after: Ints, before: Ints) -> Drawn:
    n = codes.shape[0]
    sets = np.empty((n, l), dtype=np.int32)
    short = np.zeros(n, dtype=np.bool_)
    lo = np.empty(after.shape[0] + 2, dtype=np.int32)
    hi = np.empty(after.shape[0] + 2, dtype=np.int32)
    chosen = np.empty(l, dtype=np.int32)
    for i in range(n):
        chosen[0] = codes[i]
        used = 0
        for k in range(1, l):
            n_runs = line_runs(chosen, k, l - k, after, before, lo, hi)
            used = _choose(words[i], used, chosen, k, lo, hi, n_runs)
            if used < 0:
                break
        for k in range(l):
            sets[i, k] = chosen[k] if used > 0 else 0
        short[i] = used < 0
    return sets, short


@kernel
def _sample_blocks(codes: Ints, words: Words, l: int, position: Ints, order: Ints, start: Ints, stop: Ints) -> Drawn:
    n = codes.shape[0]
    sets = np.empty((n, l), dtype=np.int32)
    short = np.zeros(n, dtype=np.bool_)
    lo = np.empty(order.shape[0] + 2, dtype=np.int32)
    hi = np.empty(order.shape[0] + 2, dtype=np.int32)
    chosen = np.empty(l, dtype=np.int32)
    for i in range(n):
        chosen[0] = position[codes[i]]
        used = 0
        for k in range(1, l):
            n_runs = block_runs(chosen, k, start, stop, lo, hi)
            used = _choose(words[i], used, chosen, k, lo, hi, n_runs)
            if used < 0:
                break
        for k in range(l):
            insert_ascending(sets[i], k, order[chosen[k]] if used > 0 else 0)
        short[i] = used < 0
    return sets, short


@kernel
def _sample_general(codes: Ints, words: Words, l: int, tables: Tables) -> Drawn:
    n = codes.shape[0]
    sets = np.empty((n, l), dtype=np.int32)
    short = np.zeros(n, dtype=np.bool_)
    lo = np.empty(tables[3].shape[0] + 2, dtype=np.int32)
    hi = np.empty(tables[3].shape[0] + 2, dtype=np.int32)
    chosen = np.empty(l, dtype=np.int32)
    scratch = np.empty((l + 2, tables[3].shape[1]), dtype=np.uint64)
    for i in range(n):
        chosen[0] = codes[i]
        used = 0
        for k in range(1, l):
            n_runs = runs(tables, chosen, k, l - k, lo, hi, scratch)
            used = _choose(words[i], used, chosen, k, lo, hi, n_runs)
            if used < 0:
                break
        for k in range(l):
            sets[i, k] = chosen[k] if used > 0 else 0
        short[i] = used < 0
    return sets, short


@inlined
def _choose(words: Words, used: int, chosen: Ints, k: int, lo: Ints, hi: Ints, n_runs: int) -> int:
    """Add a uniform member of the runs to the ascending ``chosen[:k]``; return the words used, -1 if they ran out."""
    total = 0
    for j in range(n_runs):
        total += hi[j] - lo[j]
    draw, used = below(words, used, total)
    if draw < 0:
        return -1
    j = 0
    while draw >= hi[j] - lo[j]:
        draw -= hi[j] - lo[j]
        j += 1
    insert_ascending(chosen, k, lo[j] + draw)
    return used


@kernel
def sample_ring(codes: Ints, words: Words, n_values: int, l: int, d: int) -> Drawn:
    """Draw dummies from a ring that closes up around every choice.

    The ring of value v is v+d, v+d+1, ..., F-1, 0, ..., v-d. After index k of a ring of m values is drawn, the next
    ring holds the indices k+d, ..., k+m-d (mod m). Rings are never stored: an index is traced back through the
    earlier draws.
    """
    n = codes.shape[0]
    sets = np.empty((n, l), dtype=np.int32)
    short = np.zeros(n, dtype=np.bool_)
    index = np.empty(l, dtype=np.int64)
    sizes = np.empty(l, dtype=np.int64)
    for i in range(n):
        v = int(codes[i])
        above = max(n_values - v - d, 0)
        m = above + max(v - d + 1, 0)
        used = 0
        sets[i, 0] = v
        for k in range(1, l):
            sizes[k] = m
            draw, used = below(words[i], used, m)
            if draw < 0:
                short[i] = True
                sets[i] = 0
                break
            index[k] = draw
            for back in range(k - 1, 0, -1):
                draw = (index[back] + d + draw) % sizes[back]
            insert_ascending(sets[i], k, v + d + draw if draw < above else draw - above)
            m -= 2 * d - 1
    return sets, short
