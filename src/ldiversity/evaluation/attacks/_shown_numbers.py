"""A published column of numbers: single numbers, or intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.evaluation.attacks._shown_columns import Between, Condition, Once, ShownColumn

__all__ = ["NumberShown"]

_NEAR: Final = 0.05
"""A guessed number counts as right when it is at most this share off, as Giomi et al. count it."""

_LARGEST: Final = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class NumberShown(ShownColumn):
    """Numbers, days or instants: each cell is an interval, a single number, or missing (NaN at both ends).

    Parameters
    ----------
    low, high
        Shape (cells,): the ends.
    step
        The distance of neighboring numbers: 1 for whole numbers, 0 for reals.

    Examples
    --------
    >>> low, high, once = np.array([20.0, 30]), np.array([20.0, 40]), np.array([1, 1])
    >>> ages = NumberShown("age", np.array([0, 1]), once, lambda cells: cells, low, high, 1)
    >>> ages.distances(25, extent=20).round(3).tolist(), ages.chances(Between(35, 50)).round(3).tolist()
    ([0.25, 0.5], [0.0, 0.545])
    """

    low: FloatArray
    high: FloatArray
    step: float

    numeric: ClassVar[bool] = True

    @property
    def n_cells(self) -> int:
        """How many distinct cells there are."""
        return len(self.low)

    def _of_cells(self, cells: NDArray[np.int64], of_row: NDArray[np.int64]) -> ShownColumn:
        return replace(self, of_row=of_row, times=self.times[cells], low=self.low[cells], high=self.high[cells])

    @property
    def rows_that_vary(self) -> int:
        """How many rows show an interval."""
        return int(self._rows_of_cell[self.low < self.high].sum())

    def extent(self, *people: NDArray[Any]) -> float:
        """The range of all numbers; 1 where all are the same."""
        every = np.concatenate([self.low, self.high, *people])
        every = every[np.isfinite(every)]
        with np.errstate(over="ignore"):
            span = float(every.max() - every.min()) if len(every) else 0.0
        return min(span, _LARGEST) or 1.0

    def distances(self, value: float, extent: float) -> FloatArray:
        """The mean distance to the numbers of the interval; 1 between a missing number and any other."""
        if value != value:  # noqa: PLR0124 - NaN
            return np.where(np.isnan(self.low), 0.0, 1.0)
        # As shares of the extent, because squares of large numbers overflow.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            width = (self.high - self.low) / extent
            left, right = (value - self.low) / extent, (self.high - value) / extent
            inside = (left**2 + right**2) / (2 * width)
            outside = np.abs(left - right) / 2
        found = np.where((width > 0) & (left >= 0) & (right >= 0), inside, outside)
        return np.where(np.isnan(found), 1.0, np.minimum(found, 1.0))

    def chances(self, condition: Between) -> FloatArray:
        """The part of the interval that lies within the condition."""
        missing = np.isnan(self.low)
        if condition.missing:
            return missing.astype(np.float64)
        inside = (self.low >= condition.low) & (self.high <= condition.high)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            width = self.high - self.low + self.step
            part = np.minimum(self.high, condition.high) - np.maximum(self.low, condition.low) + self.step
            single = width <= 0
            share = np.where(single, inside.astype(np.float64), np.clip(part / width, 0.0, 1.0))
        return np.where(missing, 0.0, 1.0 - share if condition.outside else share)

    def holds(self, condition: Between, coded: NDArray[Any]) -> BoolArray:
        """Which numbers lie within the condition."""
        if condition.missing:
            return np.asarray(np.isnan(coded))
        inside = (coded >= condition.low) & (coded <= condition.high)
        return np.asarray(~inside & ~np.isnan(coded) if condition.outside else inside)

    def stated(self, cell: int, rng: np.random.Generator) -> Condition:  # noqa: ARG002 - the base's
        """The interval itself."""
        low, high = float(self.low[cell]), float(self.high[cell])
        return Between(low, high, missing=low != low)  # noqa: PLR0124 - NaN

    @cached_property
    def median(self) -> float:
        """The median of the middles of all rows."""
        middles = (self.low + (self.high - self.low) / 2)[self.of_row[self.of_row >= 0]]
        return float(np.nanmedian(middles)) if not np.isnan(middles).all() else 0.0

    def beyond(self, cell: int) -> Condition | None:
        """Numbers at least as far from the median as that of a cell; None for an interval or a missing number."""
        number = float(self.low[cell])
        if number != self.high[cell]:
            return None
        return Between(number, np.inf) if number > self.median else Between(-np.inf, number)

    def once(self) -> list[Once]:
        """Single numbers and ends of intervals that are shown once, also as extremes; and a missing number."""
        rows, missing, single = self._rows_of_cell, np.isnan(self.low), self.low == self.high
        found = [Once(Between(np.nan, np.nan, missing=True))] if rows[missing].sum() == 1 else []
        wide = ~single & ~missing
        ends = np.concatenate([self.low[single], self.low[wide], self.high[wide]])
        numbers, back = np.unique(ends, return_inverse=True)
        shown = np.bincount(back, np.concatenate([rows[single], self.times[wide], self.times[wide]]), len(numbers))
        of_interval = np.bincount(back, np.repeat([0.0, 1.0], [single.sum(), 2 * wide.sum()]), len(numbers)) > 0
        for place in np.flatnonzero(shown == 1).tolist():
            number, besides = float(numbers[place]), int(of_interval[place])
            found.append(Once(Between(number, number), besides))
            if place == 0:
                found.append(Once(Between(-np.inf, number), besides))
            if place == len(numbers) - 1:
                found.append(Once(Between(number, np.inf), besides))
        return found

    def anything(self, rng: np.random.Generator) -> Condition:
        """A number that is shown, and any way to compare with it."""
        number = float(rng.choice(rng.choice([self.low, self.high])))
        if number != number:  # noqa: PLR0124 - NaN
            return Between(np.nan, np.nan, missing=True)
        choices = (
            Between(number, number),
            Between(number, number, outside=True),
            Between(number, np.inf),
            Between(-np.inf, number),
            Between(float(np.nextafter(number, np.inf)), np.inf),
            Between(-np.inf, float(np.nextafter(number, -np.inf))),
        )
        return choices[rng.integers(len(choices))]

    def guess(self, cell: int, rng: np.random.Generator) -> float:  # noqa: ARG002 - the base's
        """The middle of the interval."""
        return float(self.low[cell] + (self.high[cell] - self.low[cell]) / 2)

    def right(self, guessed: FloatArray, coded: NDArray[Any]) -> BoolArray:
        """Numbers that are at most 5 % off; missing ones where they are missing."""
        with np.errstate(over="ignore"):
            near = np.abs(guessed - coded) <= _NEAR * np.abs(guessed)
        return np.asarray(near | (np.isnan(guessed) & np.isnan(coded)))
