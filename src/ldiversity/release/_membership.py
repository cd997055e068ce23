"""Whom the cells of a generalized quasi-identifier may stand for: people as codes, and regions as runs of codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray, different
from ldiversity.release._regions import Region

__all__ = ["Membership", "membership"]


@dataclass(frozen=True, eq=False)
class Membership:
    """People's cells of one quasi-identifier as codes, and which codes each region of a release holds.

    Parameters
    ----------
    code_of
        Shape (people,): the code of each person's cell; people with the same code lie in the same regions.
    n_codes
        How many codes there are.
    region_of
        Shape (cells,): the region of each cell of the release.
    starts, first, last
        Region r holds the codes from ``first[i]`` to before ``last[i]``, for each i in ``starts[r]:starts[r + 1]``.
        These runs ascend, and no two of a region touch.
    """

    code_of: NDArray[np.int64]
    n_codes: int
    region_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return len(self.starts) - 1

    @cached_property
    def single(self) -> bool:
        """Whether every region is one run of codes."""
        return len(self.first) == self.n_regions and bool((np.diff(self.starts) == 1).all())

    @cached_property
    def _table(self) -> BoolArray:
        """Shape (regions, codes): whether each region holds each code."""
        change = np.zeros((self.n_regions, self.n_codes + 1), dtype=np.int8)
        of_region = np.repeat(np.arange(self.n_regions), np.diff(self.starts))
        np.add.at(change, (of_region, self.first), 1)
        np.add.at(change, (of_region, self.last), -1)
        held: BoolArray = np.cumsum(change, axis=1, dtype=np.int8)[:, :-1] > 0
        return held

    def contains(self, codes: NDArray[np.int64]) -> BoolArray:
        """Shape (codes, cells): which cells hold each of these codes."""
        if self.single:
            some, first, last = codes[:, None], self.first[self.region_of], self.last[self.region_of]
            between: BoolArray = (first <= some) & (some < last)
            return between
        inside: BoolArray = self._table[:, codes].T[:, self.region_of]
        return inside

    def holds(self, cell: int) -> BoolArray:
        """Shape (codes,): which codes one cell holds."""
        held = np.zeros(self.n_codes, dtype=np.bool_)
        region = self.region_of[cell]
        for run in range(self.starts[region], self.starts[region + 1]):
            held[self.first[run] : self.last[run]] = True
        return held

    def total(self, measure: FloatArray) -> FloatArray:
        """Shape (cells,): the sum of what is measured of each code, over the codes that a cell holds."""
        reached = np.concatenate([[0.0], np.cumsum(measure)])
        runs = np.concatenate([[0.0], np.cumsum(reached[self.last] - reached[self.first])])
        of_region: FloatArray = runs[self.starts[1:]] - runs[self.starts[:-1]]
        return of_region[self.region_of]


def membership(region: Region, cells: pa.ChunkedArray) -> Membership:
    """Say in which regions of a release people's cells of one quasi-identifier lie.

    A number lies between the ends of an interval. A value is one of a list, or stands under a node. What says nothing
    holds everybody, also those whose cell is missing.

    Examples
    --------
    >>> from ldiversity.release import Form
    >>> interval = pa.struct([("low", pa.int64()), ("high", pa.int64())])
    >>> ages = pa.array([{"low": 20, "high": 30}, {"low": 50, "high": 60}], interval)
    >>> region = Region("age", Form("interval", low=20, high=60), pa.int64(), ages, lambda: np.array([0, 1, 1]))
    >>> found = membership(region, pa.chunked_array([[30, 31, None]]))
    >>> found.contains(found.code_of).tolist()
    [[True, False], [False, False], [False, False]]
    """
    return _of_numbers(region, cells) if region.form.kind == "interval" else _of_values(region, cells)


def _of_numbers(region: Region, cells: pa.ChunkedArray) -> Membership:
    intervals = region.intervals
    numbers, known = region.numbers(cells)
    distinct = np.unique(numbers[known])
    # The last code is that of a missing number.
    code_of = np.where(known, np.searchsorted(distinct, numbers), len(distinct)).astype(np.int64)
    first = np.searchsorted(distinct, intervals.low, side="left")
    last = np.searchsorted(distinct, intervals.high, side="right")
    n_cells, n_codes = len(intervals.low), len(distinct) + 1
    return Membership(
        code_of,
        n_codes,
        np.arange(n_cells),
        np.arange(n_cells + 1),
        np.where(intervals.unknown, 0, first).astype(np.int64),
        np.where(intervals.unknown, n_codes, last).astype(np.int64),
    )


def _of_values(region: Region, cells: pa.ChunkedArray) -> Membership:
    lists, n_codes = region.lists, len(region.form.labels) + 1
    n_regions = len(lists.starts) - 1
    of_region = np.repeat(np.arange(n_regions), np.diff(lists.starts))
    keys = different(of_region * (n_codes + 1) + lists.values)  # a gap after each region, so that no run passes its end
    begins = np.flatnonzero(np.diff(keys, prepend=-2) != 1)
    ends = np.append(begins[1:], len(keys)) - 1 if len(begins) else begins
    owner = keys[begins] // (n_codes + 1)
    return Membership(
        region.places(cells),
        n_codes,
        lists.region_of,
        np.searchsorted(owner, np.arange(n_regions + 1)).astype(np.int64),
        keys[begins] % (n_codes + 1),
        keys[ends] % (n_codes + 1) + 1,
    )
