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
"""Stop when so small a share of the records is in the wrong place."""

_LEAST: Final = 1e-12
"""No value that occurs becomes rarer than this, compared with the most frequent: a region may hold nothing else."""


def rake(published: FloatArray, expected: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Find relative frequencies with which regions, each spread by them, add up to what is published.

    Spreading every region by the published frequencies themselves counts frequent values twice: regions that overlap,
    or that were made narrow on purpose, already lie where records are. So frequencies are scaled, value by value, until
    the expected numbers of records are the published ones (iterative proportional fitting: of all ways to place the
    records of each region that agree with what is published, the one with the most entropy).

    Parameters
    ----------
    published
        How often each value occurs in all regions.
    expected
        Gives the expected number of records of each value when regions are spread by the frequencies it is given.

    Examples
    --------
    Ten records are somewhere in {0, 1}, two are 1 for certain; in all there are five and seven.

    >>> found = rake(np.array([5.0, 7.0]), lambda f: 10 * f / f.sum() + np.array([0.0, 2.0]))
    >>> np.round(10 * found / found.sum(), 3).tolist()
    [5.0, 5.0]
    """
    frequency = published.astype(np.float64)
    reached = expected(frequency)
    occurs = (published > 0) & (reached > 0)
    if not occurs.any():
        return frequency
    # Should they be of more or of fewer records than the regions have: as much of each.
    wanted = np.where(occurs, published, 0.0) * (reached.sum() / (published[occurs].sum() or 1.0))
    for _ in range(_ROUNDS):
        if np.abs(reached - wanted).sum() <= _CLOSE * wanted.sum():
            break
        frequency *= np.divide(wanted, reached, out=np.ones(len(published)), where=occurs & (reached > 0))
        frequency = np.where(occurs, np.maximum(frequency / frequency[occurs].max(), _LEAST), 0.0)
        reached = expected(frequency)
    return frequency
