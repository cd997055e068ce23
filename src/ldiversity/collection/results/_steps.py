"""Which new reports may be counted now, so that no difference between published results shows one report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import BoolArray

__all__ = ["admitted"]

_ROUNDING: Final = 1e-6

_SINGULAR: Final = 1e-10


def admitted(
    profiles: NDArray[np.uint16], sizes: Sequence[int], needed: Sequence[NDArray[np.int64]], step: int, first: int
) -> BoolArray:
    """Which of the waiting reports may be counted now; none, if fewer than `first` would be.

    Parameters
    ----------
    profiles
        Shape (n, columns): the codes of the columns by which results are shown.
    sizes
        How many codes each column has.
    needed
        For each column and code, how many reports must come at once.
    step
        How many reports a combination of cells must be about at least.
    first
        How many reports must come at once altogether.

    Notes
    -----
    Results are sums over reports: of all, and of those with each code. A reader subtracts what was shown before, and
    combines cells of several columns. Three rules hold for the reports that are added together:

    1. They are at least `first`.
    2. Each cell gets none of them, or at least as many as it needs. Reports in other cells wait. That may take other
       cells below their numbers, so the rule is applied until nothing changes; what is left is the largest such set.
    3. Every combination of cells (with any factors) is about `step` reports or more, or about none. Otherwise it could
       show one report, or the difference of two, from which both sets can be read. A combination gives each report r
       the factor f(r). Let it be scaled so that the greatest factor is 1, that of report p. The leverage of p, one over
       the least sum of f(r)^2 over all combinations with f(p) = 1, is then at least one over the number of reports
       with other factors than 0. So the rule holds if no leverage is above 1 / `step`. Reports with the greatest
       leverage wait until it is so.

    All sums that are ever published are sums over whole batches, and batches have no report in common. So what holds
    within each batch holds for every combination of all published results.

    Examples
    --------
    Two of three cells have enough; the third waits.

    >>> profiles = np.array([[0], [0], [1], [1], [2]], dtype=np.uint16)
    >>> admitted(profiles, [3], [np.array([2, 2, 2])], 2, 2).tolist()
    [True, True, True, True, False]
    """
    kept = np.ones(len(profiles), dtype=np.bool_)
    while True:
        before = int(kept.sum())
        if before < first:
            return np.zeros(len(profiles), dtype=np.bool_)
        for column, (size, least) in enumerate(zip(sizes, needed, strict=True)):
            counts = np.bincount(profiles[kept, column], minlength=size)
            kept &= (counts >= least)[profiles[:, column]]
        if kept.sum() == before:
            rare = _exposed(profiles, sizes, kept, step)
            if not rare.any():
                return kept
            kept &= ~rare


def _exposed(profiles: NDArray[np.uint16], sizes: Sequence[int], kept: BoolArray, step: int) -> BoolArray:
    """Reports that might be among fewer than `step` in some combination of cells, the most exposed ones first."""
    exposed = np.zeros(len(profiles), dtype=np.bool_)
    if len(sizes) < 2:  # noqa: PLR2004 - cells of one column have nothing in common
        return exposed
    of_report = _profile_codes(profiles[kept], sizes)
    _, first, place, counts = np.unique(of_report, return_index=True, return_inverse=True, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    cells = profiles[kept][first].astype(np.int64) + starts
    total = int(sum(sizes))
    together = np.zeros(total * total)
    for one in range(len(sizes)):
        for other in range(len(sizes)):
            together += np.bincount(cells[:, one] * total + cells[:, other], weights=counts, minlength=total * total)
    inverse = np.linalg.pinv(together.reshape(total, total), rcond=_SINGULAR, hermitian=True)
    leverage = np.zeros(len(cells))
    for one in range(len(sizes)):
        for other in range(len(sizes)):
            leverage += inverse[cells[:, one], cells[:, other]]
    worst = max((1 + _ROUNDING) / step, float(leverage.max()) / 2)
    exposed[kept] = (leverage > worst)[place.reshape(-1)]
    return exposed


def _profile_codes(profiles: NDArray[np.uint16], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number for each distinct row, however many columns there are."""
    found = np.zeros(len(profiles), dtype=np.int64)
    for column, size in enumerate(sizes):
        # Numbered anew after each column, so that products stay small.
        found = np.unique(found * size + profiles[:, column], return_inverse=True)[1].reshape(-1)
    return found
