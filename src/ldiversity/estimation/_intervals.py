"""Intervals for true counts, from the unbiased estimate and from the published counts."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.estimation._threads import over_cells
from ldiversity.estimation._variance import dummy_range, greatest_errors

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData

__all__ = ["HALF_A_RECORD", "intervals"]

_EQUAL: Final = 1e-12
HALF_A_RECORD: Final = 0.5
"""By which limits are wider than standard errors say: true counts are whole numbers."""


def intervals(
    cells: CellData, errors: FloatArray, points: FloatArray, *, confidence: float, min_records: int
) -> tuple[FloatArray, FloatArray]:
    """Give the limits of every true count, each of shape (cells, F), from the `errors` of the unbiased estimate.

    Where dummies of a value are equally likely whatever the true value is, the published count is
    V + Bin(N - V, p) and its tails are inverted exactly. Elsewhere the limits are ``linear -+ (z * error + 1/2)``:
    counts are whole numbers, and the sum of a few rare dummies is far from normal. Cells below `min_records` are too
    small for that, so the tails are inverted for the least favorable probabilities. No true count exceeds its
    published count, so no limit does, except where the interval is widened to hold the reported point.

    Where the true value may be missing from its set, none of this holds: the limits are ``linear -+ (z * error + 1/2)``
    in every cell, with the greatest error of any true counts in small ones.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if any(mechanism.epsilon is not None for mechanism in cells.mechanisms):
        few = (cells.records < min_records)[:, None]
        reach = z * np.where(few, greatest_errors(cells), errors) + HALF_A_RECORD
        records = cells.records[:, None].astype(np.float64)
        center = np.clip(cells.linear, 0.0, records)
        low, high = np.maximum(center - reach, 0.0), np.minimum(center + reach, records)
        return np.minimum(low, points), np.maximum(high, points)
    least, most = dummy_range(cells)
    exact = (most - least < _EQUAL)[None, :] | (cells.records < min_records)[:, None]
    reach = z * errors + HALF_A_RECORD
    center = np.clip(cells.linear, 0.0, cells.counts)
    low = np.maximum(center - reach, 0.0)
    high = np.minimum(center + reach, cells.counts)
    rows = np.flatnonzero(exact.any(axis=1))
    if rows.size:
        limits = _exact(cells.counts[rows], cells.records[rows], (least, most), (1 - confidence) / 2)
        low[rows] = np.where(exact[rows], limits[0], low[rows])
        high[rows] = np.where(exact[rows], limits[1], high[rows])
    return np.minimum(low, points), np.maximum(high, points)


def _exact(
    counts: NDArray[np.int64],
    records: NDArray[np.int64],
    dummies: tuple[FloatArray, FloatArray],
    tail: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from ldiversity._kernels.cells import count_limits

    low, high = np.zeros_like(counts), np.zeros_like(counts)
    z = NormalDist().inv_cdf(1 - tail)

    def work(first: int, last: int) -> None:
        count_limits(counts, records, *dummies, tail, z, first, last, low, high)

    over_cells(work, np.full(len(counts), 10 * counts.shape[1]))
    return low, high
