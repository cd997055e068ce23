"""How much a published column tells about a sensitive value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldiversity.publish._screening._tally import HashCounts

__all__ = ["Telling", "telling"]


class Telling(NamedTuple):
    """What a column tells.

    Attributes
    ----------
    share
        The share of people whose sensitive value is guessed right from the others who have the same value of the
        column. A person who shares their value with nobody counts as not told: a column in which everybody differs
        tells nothing in this way.
    one_to_one
        Whether each of its values goes with one sensitive value, and each sensitive value with one of its values.
    """

    share: float
    one_to_one: bool


def telling(counted: HashCounts, n_rows: int) -> Telling:
    """Guess every person's sensitive value from the others who share a value, and count how often that is right.

    Examples
    --------
    >>> counts = HashCounts(bits=1)  # values 1, 2 and 4, and one bit for the sensitive value
    >>> counts.add(np.array([2, 2, 2, 5, 5, 5, 9], dtype=np.uint64), np.ones(7, dtype=np.int64))
    >>> round(telling(counts, 7).share, 2)
    0.86
    """
    keys, counts = counted.keys, counted.counts
    _, starts = counted.groups()
    if not len(starts) or not n_rows:
        return Telling(0.0, one_to_one=False)
    sizes = np.diff(starts, append=len(keys))
    most = np.maximum.reduceat(counts, starts)
    # The second largest count of each value: the largest once one of the largest is taken away.
    group = np.repeat(np.arange(len(starts)), sizes)
    largest = np.flatnonzero(counts == most[group])
    rest = counts.copy()
    rest[largest[np.diff(group[largest], prepend=-1) > 0]] = 0  # the first one of each value
    second = np.maximum.reduceat(rest, starts)
    # Without the person themself the most frequent value has one less: then it wins, or it is a draw, or it loses.
    right = np.where(most - 1 > second, most, np.where((most - 1 == second) & (second > 0), most / 2, 0))
    codes = keys & np.uint64((1 << counted.bits) - 1)
    alone = bool((sizes == 1).all()) and len(np.unique(codes)) == len(codes)
    return Telling(min(float(right.sum()) * counted.scale / n_rows, 1.0), one_to_one=alone and counted.scale == 1)
