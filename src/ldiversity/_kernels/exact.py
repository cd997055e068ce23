"""The inclusion matrix of simple selection, exactly or by simulation.

Whether value j can follow a partial set S depends on S and j, not on the order in which S was chosen. So the
probability g_v(S) of passing through S from the true value v and of choosing a given one of its successors is

    reach_v(S) = sum over u in S other than v of g_v(S without u),    g_v(S) = reach_v(S) / (number of successors of S),

and Q[v, j] is the sum of g_v(S) over all S that contain v and have j as a successor. The sets of up to l - 2 values
are stored in tables, indexed by their rank among all combinations; those of l - 1 values are visited once.

Sums of differences leave rounding errors where the result should be 0 or 1. So the sets of l values are also counted,
in integers: if no set holds v and j, Q[v, j] is exactly 0; if all sets with v hold j, it is exactly 1.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel
from ldiversity._kernels.candidates import Tables, count_bits, runs
from ldiversity._kernels.draws import below

__all__ = ["exact_inclusion", "simulated_inclusion"]

Ints: TypeAlias = NDArray[np.int32]
Bits: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

_ONE = np.uint64(1)
_NONE = np.uint64(0)


@kernel
def exact_inclusion(bits: Bits, l: int, choose: Counts, offset: Counts) -> Floats:
    """Return Q of simple selection for allowed pairs `bits` and ``l >= 2``; visits every set of up to l - 1 values.

    Parameters
    ----------
    bits
        Shape (F, words): the values that may share a set with each value, as bitsets.
    choose
        Binomial coefficients ``choose[n, k]`` for n <= F and k <= l.
    offset
        Where the table of the sets of k values starts, at ``k - 1`` for k = 1, ..., l - 2; then the size of all tables.
    """
    size = bits.shape[0]
    successors = np.zeros(offset[l - 2], dtype=np.int32)
    for k in range(l - 2, 0, -1):
        _count_successors(bits, l, k, choose, offset, successors)
    flow = np.zeros((offset[l - 2], max(l - 2, 1)))
    steps = np.zeros((size, size + 1))
    counts = np.zeros((size, size + 1), dtype=np.int64)
    for k in range(1, l):
        _spread(bits, l, k, choose, offset, successors, flow, steps, counts)
    inclusion = np.empty((size, size))
    for v in range(size):
        n_sets = 0
        count = 0
        for j in range(size):
            count += counts[v, j]
            n_sets += count
        n_sets //= l - 1  # each set was counted once for every other member
        level = 0.0
        count = 0
        for j in range(size):
            level += steps[v, j]
            count += counts[v, j]
            if j != v and count == 0:
                inclusion[v, j] = 0.0
            elif j == v or count == n_sets:
                inclusion[v, j] = 1.0
            else:
                inclusion[v, j] = level
    return inclusion


@helper
def _advance(bits: Bits, members: Ints, masks: Bits, k: int, depth: int) -> int:
    """Move to the next set of `k` allowed values in lexicographic order; return 0 if there is none.

    ``masks[i]`` holds the values allowed with ``members[:i]``. `depth` is k after a visited set, 1 at the start.
    """
    size = bits.shape[0]
    while depth > 0:
        nxt = _next_bit(masks[depth - 1], members[depth - 1] + 1, size)
        if nxt < 0:
            depth -= 1
            continue
        members[depth - 1] = nxt
        for w in range(bits.shape[1]):
            masks[depth, w] = masks[depth - 1, w] & bits[nxt, w]
        if depth == k:
            return k
        members[depth] = nxt
        depth += 1
    return 0


@helper
def _next_bit(mask: Bits, start: int, size: int) -> int:
    if start >= size:
        return -1
    w = start >> 6
    word = mask[w] & ~((_ONE << np.uint64(start & 63)) - _ONE)
    while word == _NONE:
        w += 1
        if w == mask.shape[0]:
            return -1
        word = mask[w]
    return 64 * w + count_bits((word & (~word + _ONE)) - _ONE)


@helper
def _walk(bits: Bits, k: int) -> tuple[Ints, Bits]:
    """Prepare a walk over the sets of `k` values."""
    masks = np.zeros((k + 1, bits.shape[1]), dtype=np.uint64)
    for j in range(bits.shape[0]):
        masks[0, j >> 6] |= _ONE << np.uint64(j & 63)
    members = np.full(k + 1, -1, dtype=np.int32)
    return members, masks


@helper
def _rank(members: Ints, k: int, extra: int, choose: Counts) -> int:
    """Return the rank of ``members[:k]`` together with `extra`, or of ``members[:k]`` alone if `extra` is negative."""
    rank = 0
    at = 1
    for i in range(k):
        if 0 <= extra < members[i]:
            rank += choose[extra, at]
            at += 1
            extra = -1
        rank += choose[members[i], at]
        at += 1
    if extra >= 0:
        rank += choose[extra, at]
    return rank


@helper
def _count_successors(bits: Bits, l: int, k: int, choose: Counts, offset: Counts, successors: Ints) -> None:
    n_words = bits.shape[1]
    members, masks = _walk(bits, k)
    depth = _advance(bits, members, masks, k, 1)
    while depth > 0:
        n = 0
        for w in range(n_words):
            word = masks[k, w]
            while word != _NONE:
                low = word & (~word + _ONE)
                word ^= low
                j = 64 * w + count_bits(low - _ONE)
                if k == l - 2:
                    for x in range(n_words):
                        if masks[k, x] & bits[j, x]:
                            n += 1
                            break
                elif successors[offset[k] + _rank(members, k, j, choose)] > 0:
                    n += 1
        successors[offset[k - 1] + _rank(members, k, -1, choose)] = n
        depth = _advance(bits, members, masks, k, k)


@helper
def _spread(
    bits: Bits,
    l: int,
    k: int,
    choose: Counts,
    offset: Counts,
    successors: Ints,
    flow: Floats,
    steps: Floats,
    counts: Counts,
) -> None:
    """Add what the sets of `k` values contribute to Q, as differences along each row; likewise the counts of sets."""
    n_words = bits.shape[1]
    members, masks = _walk(bits, k)
    ranks = np.zeros(k, dtype=np.int64)
    weight = np.zeros(k)
    follow = np.zeros(n_words, dtype=np.uint64)
    depth = _advance(bits, members, masks, k, 1)
    while depth > 0:
        n = _followers(bits, l, k, choose, offset, successors, members, masks[k], follow)
        if n > 0:
            _weigh(members, k, choose, offset, flow, ranks, weight)
            for i in range(k):
                weight[i] /= n
            if k < l - 1:
                rank = offset[k - 1] + _rank(members, k, -1, choose)
                for i in range(k):
                    flow[rank, i] = weight[i]
            _add_steps(members, k, weight, follow, steps, counts, 1 if k == l - 1 else 0)
        depth = _advance(bits, members, masks, k, k)


@helper
def _followers(
    bits: Bits,
    l: int,
    k: int,
    choose: Counts,
    offset: Counts,
    successors: Ints,
    members: Ints,
    mask: Bits,
    follow: Bits,
) -> int:
    """Write the successors of a set to `follow`, and count them."""
    n_words = bits.shape[1]
    n = 0
    for w in range(n_words):
        follow[w] = mask[w]
        n += count_bits(mask[w])
    if k == l - 1 or n == 0:
        return n
    n = int(successors[offset[k - 1] + _rank(members, k, -1, choose)])
    for w in range(n_words):
        word = mask[w]
        while word != _NONE:
            low = word & (~word + _ONE)
            word ^= low
            j = 64 * w + count_bits(low - _ONE)
            alive = False
            if k == l - 2:
                for x in range(n_words):
                    if mask[x] & bits[j, x]:
                        alive = True
                        break
            elif successors[offset[k] + _rank(members, k, j, choose)] > 0:
                alive = True
            if not alive:
                follow[w] ^= low
    return n


@helper
def _weigh(members: Ints, k: int, choose: Counts, offset: Counts, flow: Floats, ranks: Counts, weight: Floats) -> None:
    """Compute reach_v of the set for each of its members v."""
    if k == 1:
        weight[0] = 1.0
        return
    below_them = 0
    above_them = 0
    for i in range(1, k):
        above_them += choose[members[i], i]
    for i in range(k):  # the rank of the set without member i
        ranks[i] = offset[k - 2] + below_them + above_them
        below_them += choose[members[i], i + 1]
        if i + 1 < k:
            above_them -= choose[members[i + 1], i + 1]
    for v in range(k):
        weight[v] = 0.0
        for u in range(k):
            if u != v:
                weight[v] += flow[ranks[u], v if v < u else v - 1]


@helper
def _add_steps(members: Ints, k: int, weight: Floats, follow: Bits, steps: Floats, counts: Counts, n_sets: int) -> None:
    """Add the weights, and `n_sets` to the counts, where a run of successors begins; subtract them where it ends."""
    sign = 1.0
    inside = _NONE
    for w in range(follow.shape[0]):
        turns = follow[w] ^ ((follow[w] << _ONE) | inside)
        inside = follow[w] >> np.uint64(63)
        while turns != _NONE:
            low = turns & (~turns + _ONE)
            turns ^= low
            at = 64 * w + count_bits(low - _ONE)
            for i in range(k):
                steps[members[i], at] += sign * weight[i]
                counts[members[i], at] += n_sets
            sign = -sign
            n_sets = -n_sets


@kernel
def simulated_inclusion(tables: Tables, start: int, l: int, words: Bits) -> tuple[Floats, Floats]:
    """Return one row of Q by position, from one simulated draw per row of `words`, and its standard errors.

    At every step, a draw adds the probability of each candidate instead of the choice itself (Rao and Blackwell), so
    rows sum to l without error.
    """
    size = max(tables[1].shape[0], tables[3].shape[0])
    lo = np.empty(size + 2, dtype=np.int32)
    hi = np.empty(size + 2, dtype=np.int32)
    chosen = np.empty(l, dtype=np.int32)
    scratch = np.empty((l + 2, tables[3].shape[1]), dtype=np.uint64)
    total = np.zeros(size)
    squares = np.zeros(size)
    one = np.empty(size)
    for i in range(words.shape[0]):
        one[:] = 0.0
        chosen[0] = start
        used = 0
        for k in range(1, l):
            n_runs = runs(tables, chosen, k, l - k, lo, hi, scratch)
            n = 0
            for r in range(n_runs):
                n += hi[r] - lo[r]
            for r in range(n_runs):
                for j in range(lo[r], hi[r]):
                    one[j] += 1.0 / n
            draw, used = below(words[i], used, n)
            draw = max(draw, 0)  # words run out less than once in 2**32 draws, which is negligible here
            r = 0
            while draw >= hi[r] - lo[r]:
                draw -= hi[r] - lo[r]
                r += 1
            value = lo[r] + draw
            at = k
            while at > 0 and chosen[at - 1] > value:
                chosen[at] = chosen[at - 1]
                at -= 1
            chosen[at] = value
        for j in range(size):
            total[j] += one[j]
            squares[j] += one[j] * one[j]
    n_draws = words.shape[0]
    mean, error = total, squares
    for j in range(size):
        mean[j] = total[j] / n_draws
        error[j] = math.sqrt(max(squares[j] / n_draws - mean[j] * mean[j], 0.0) / n_draws)
    mean[start] = 1.0
    return mean, error
