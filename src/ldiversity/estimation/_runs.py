"""Shares of regions, collected by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray

__all__ = ["Spread", "collect", "share_runs", "too_many_cells"]

WIDER: Final = Setting("by", "column:10", python="bins() or groups()")
"""How to ask for fewer, wider cells."""

_MOST_SHARES: Final = 50_000_000
"""The most shares, regions times the labels that each one reaches, to hold for one column."""


@dataclass(frozen=True, eq=False)
class Spread:
    """How the regions of one column fall into labels.

    Parameters
    ----------
    region_of
        Shape (classes,): the region of each class.
    starts
        Shape (regions + 1,): row r is ``starts[r]:starts[r + 1]`` of the following two.
    codes
        The labels that a region reaches, each once.
    weights
        The share of the region in each of them; together less than 1 where filters leave some of it out.
    sure
        Shape (regions,): whether all values of the region have one label and match the filters.
    labels
        The labels; None when the column is only filtered.
    """

    region_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    weights: FloatArray
    sure: BoolArray
    labels: pa.Array | None

    @property
    def n_labels(self) -> int:
        """How many labels there are; 1 when the column is only filtered."""
        return 1 if self.labels is None else len(self.labels)

    @property
    def matching(self) -> FloatArray:
        """Shape (classes,): the share of each class that matches the filters."""
        reached = np.concatenate([[0.0], np.cumsum(self.weights)])
        shares: FloatArray = (reached[self.starts[1:]] - reached[self.starts[:-1]])[self.region_of]
        return np.clip(shares, 0.0, 1.0)


def too_many_cells(limit: int, got: int) -> UnsupportedError:
    """The error of a question whose answer would be too large."""
    return UnsupportedError("estimate", f"cells times values may be at most {limit}", got=got).with_hint(
        say("Use fewer columns, or {} for wider cells; within a limit of memory, more of it helps too.", WIDER)
    )


def share_runs(
    low: NDArray[Any],
    high: NDArray[Any],
    reached: tuple[FloatArray, FloatArray],
    turns: NDArray[Any],
    reached_turns: FloatArray,
    codes: NDArray[np.int64],
    *,
    name: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Cut regions ``low <= x < high`` at `turns`; give the region, the label and the share of each piece.

    Between two turns there is one run, whose label `codes` has. All regions lie within the turns, low below high.
    `reached` has the measure of everything below `low` and below `high`, `reached_turns` that below each turn.
    """
    first = np.searchsorted(turns, low, side="right") - 1
    last = np.searchsorted(turns, high, side="left")
    lengths = last - first
    if lengths.sum() > _MOST_SHARES:
        raise UnsupportedError(
            "estimate", f"the regions of {name!r} reach too many cells, more than {_MOST_SHARES} in all"
        ).with_hint(say("Use {} for wider cells.", WIDER))
    region = np.repeat(np.arange(len(low)), lengths)
    run = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[region]
    piece = np.minimum(reached[1][region], reached_turns[run + 1]) - np.maximum(reached[0][region], reached_turns[run])
    return region, codes[run], piece / (reached[1] - reached[0])[region]


def collect(
    region_of: NDArray[np.int64],
    n_regions: int,
    region: NDArray[np.int64],
    codes: NDArray[np.int64],
    weights: FloatArray,
    labels: pa.Array | None,
) -> Spread:
    """Add up the shares of each region in each label; pieces with label -1 are left out.

    A piece whose share is 0 can still hold a value, which makes its region unsure.
    """
    n_labels = 1 if labels is None else max(1, len(labels))
    least = np.full(n_regions, n_labels)
    np.minimum.at(least, region, codes)
    greatest = np.full(n_regions, -1)
    np.maximum.at(greatest, region, codes)
    kept = codes >= 0
    keys = region[kept] * n_labels + codes[kept]
    if (np.diff(keys) > 0).all():
        found, sums = keys, weights[kept]
    else:
        found, inverse = np.unique(keys, return_inverse=True)
        sums = np.bincount(inverse, weights=weights[kept], minlength=len(found)).astype(np.float64)
    starts = np.searchsorted(found, np.arange(n_regions + 1) * n_labels).astype(np.int64)
    sure = (least == greatest) & (least >= 0)
    return Spread(region_of, starts, found % n_labels, np.minimum(sums, 1.0), sure, labels)
