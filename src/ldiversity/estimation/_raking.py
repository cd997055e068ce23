"""Frequencies within regions, such that all regions together have the published frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["rake"]

_ROUNDS: Final = 500
_CLOSE: Final = 1e-6
"""Stop when at most this share of the records is in the wrong place."""

_LEAST: Final = 1e-12
"""The least frequency of a value that occurs, relative to the greatest: a region may hold nothing else."""


def rake(published: FloatArray, expected: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Find relative frequencies such that regions, each spread by them, add up to what is published.

    Spreading every region by the published frequencies would count frequent values twice, because regions already lie
    where records are. So the frequencies are scaled, value by value, until the expected numbers of records are the
    published ones. This is iterative proportional fitting: of all placements that agree with what is published, it
    finds the one with the most entropy.

    `published` says how often each value occurs in all regions. `expected` gives the expected number of records of each
    value when regions are spread by the given frequencies.

    Examples
    --------
    Ten records are 0 or 1, and two more are 1 for certain. In all, five are 0 and seven are 1.

    >>> found = rake(np.array([5.0, 7.0]), lambda f: 10 * f / f.sum() + np.array([0.0, 2.0]))
    >>> np.round(10 * found / found.sum(), 3).tolist()
    [5.0, 5.0]
    """
    frequency = published.astype(np.float64)
    reached = expected(frequency)
    occurs = (published > 0) & (reached > 0)
    if not occurs.any():
        return frequency
    # Scaled, in case the published counts have more or fewer records than the regions.
    wanted = np.where(occurs, published, 0.0) * (reached.sum() / (published[occurs].sum() or 1.0))
    for _ in range(_ROUNDS):
        if np.abs(reached - wanted).sum() <= _CLOSE * wanted.sum():
            break
        frequency *= np.divide(wanted, reached, out=np.ones(len(published)), where=occurs & (reached > 0))
        frequency = np.where(occurs, np.maximum(frequency / frequency[occurs].max(), _LEAST), 0.0)
        reached = expected(frequency)
    return frequency
