"""TP's first phase, backwards: what must have been moved from a group of equal people."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = ["moved_values"]

_MOST: Final = 60
"""Up to this many moved records, all ways are weighed; more records are shared out by the prior."""


def moved_values(published: NDArray[np.int64], moved: int, l: int, prior: FloatArray) -> FloatArray:
    """Expected counts of the records that phase 1 moved from a group, given what is left of it.

    Phase 1 cuts all counts to the greatest height h with ``sum of min(count, h) >= l h``. So values that lost records
    have the count h now. If p records are published and k values lost some, ``p + k < l (h + 1)``, else h would be
    greater. Among the ways that satisfy this, records are assumed to be independent draws from the prior, which is zero
    for values that were not moved.

    Examples
    --------
    Two of each value are left at l = 2, and three were moved. If both had lost some, three of each would be left. So
    all three had one value, most likely the frequent one.

    >>> moved_values(np.array([2, 2]), 3, 2, np.array([0.9, 0.1])).round(3).tolist()
    [2.996, 0.004]

    Only the most frequent value can have lost records.

    >>> moved_values(np.array([2, 1, 1]), 3, 2, np.ones(3)).tolist()
    [3.0, 0.0, 0.0]
    """
    taken = np.zeros(len(published))
    if moved <= 0:
        return taken
    height = int(published.max(initial=0))
    codes = np.flatnonzero((published == height) & (prior > 0))
    if not len(codes):  # phase 1 leaves no such group; nothing is known
        return np.asarray(moved * prior / prior.sum()) if prior.sum() > 0 else np.full(len(taken), moved / len(taken))
    share = prior[codes] / prior[codes].sum()
    losers = l * (height + 1) - int(published.sum()) - 1
    free = losers >= min(len(codes), moved)
    if (height == 0 and free) or len(codes) == 1 or moved > _MOST or losers < 1:
        taken[codes] = moved * share
    else:
        taken[codes] = _expected(share, height, moved, losers)
    return taken


def _expected(share: FloatArray, height: int, moved: int, losers: int) -> FloatArray:
    """Expected records that each value lost: p^x / (h + x)! weighs x of them, and at most `losers` have x > 0."""
    from scipy.special import gammaln

    x = np.arange(moved + 1)
    terms = np.exp(x * np.log(share)[:, None] - gammaln(height + x + 1) + gammaln(height + 1))
    before, after = [_start(moved, losers)], [_start(moved, losers)]
    for term in terms[:-1]:
        before.append(_add(before[-1], term))
    for term in terms[:0:-1]:
        after.append(_add(after[-1], term))
    expected = np.empty(len(share))
    for number, term in enumerate(terms):
        others = _combine(before[number], after[len(share) - 1 - number])
        own = np.array([term[n] * others[moved - n, : losers + (n == 0)].sum() for n in x])
        expected[number] = (x * own).sum() / own.sum() if own.sum() > 0 else 0.0
    return np.asarray(expected * moved / expected.sum())


def _start(moved: int, losers: int) -> FloatArray:
    ways = np.zeros((moved + 1, losers + 1))
    ways[0, 0] = 1.0
    return ways


def _add(ways: FloatArray, term: FloatArray) -> FloatArray:
    """Ways with one more value; rows are records moved so far, columns are values that lost some."""
    more: FloatArray = ways * term[0]
    for n in range(1, len(term)):
        more[n:, 1:] += ways[: len(ways) - n, :-1] * term[n]
    return more


def _combine(first: FloatArray, second: FloatArray) -> FloatArray:
    both = np.zeros_like(first)
    for n in range(len(first)):
        for k in range(first.shape[1]):
            if first[n, k]:
                both[n:, k:] += first[n, k] * second[: len(second) - n, : second.shape[1] - k]
    return both
