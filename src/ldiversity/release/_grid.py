"""The public grid of a column: where the ends of its intervals may lie.

A grid cuts all numbers into cells that do not overlap. An interval that is rounded outward begins where a cell begins,
and ends where a cell ends. Of integers, days and instants, the end is the last number of its cell, so that intervals of
neighboring cells share no number. Of fractions, an interval holds ``low <= x < high``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.errors import ParameterError
from ldiversity.release._grid_calendar import CALENDAR_UNITS, Calendar, is_calendar, units_per_day

__all__ = ["EXACT", "SMALLEST_STEP", "Grid", "Step", "grid_of"]

Step: TypeAlias = int | float | str
"""The width of a cell: a number, or a unit of the calendar such as ``month``."""

EXACT: Final = "exact"
"""The word for a column without a grid."""

SMALLEST_STEP: Final = 1e-290
"""Smaller fractions have few digits, or none."""

_OWNER: Final = "grid"


class Grid(ABC):
    """Cells that cut all numbers of a column; days and instants are integers of their unit.

    Examples
    --------
    >>> ages = grid_of(5, pa.int64())
    >>> ages.below(np.array([17, 40])), ages.above(np.array([17, 40]))
    (array([15, 40]), array([19, 44]))
    >>> heights = grid_of(0.1, pa.float64())
    >>> heights.below(np.array([1.72])), heights.above(np.array([1.7]))
    (array([1.7]), array([1.8]))
    """

    half_open: bool = False
    """Whether an interval does not hold its upper end."""

    @abstractmethod
    def below(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Where the cell of each number begins."""

    @abstractmethod
    def above(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Where the cell of each number ends."""

    def holds(self, low: NDArray[Any], high: NDArray[Any]) -> bool:
        """Whether all intervals begin where a cell begins, and end where one ends."""
        return bool(np.array_equal(self.below(low), low) and np.array_equal(self._last(high), high))

    def _last(self, high: NDArray[Any]) -> NDArray[Any]:
        return self.above(high)

    def closed(self, high: NDArray[Any]) -> NDArray[Any]:
        """The greatest number of intervals that end at `high`."""
        return high


def grid_of(step: Step, kind: pa.DataType) -> Grid:
    """The grid of a column of this type.

    Raises
    ------
    ParameterError
        When columns of this type have no such grid; says what they have.
    """
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        if not is_calendar(step, kind):
            units = [unit for unit in CALENDAR_UNITS if is_calendar(unit, kind)]
            raise ParameterError(_OWNER, f"must be {', '.join(units)} or exact", got=repr(step))
        return _calendar_grid(str(step), kind)
    if isinstance(step, str | bool) or not SMALLEST_STEP <= step <= LARGEST_NUMBER:
        raise ParameterError(_OWNER, "must be a number above 0, or exact", got=repr(step))
    if not pa.types.is_integer(kind):
        return _Fractions.of(step, kind)
    if step != int(step) or step > np.iinfo(np.int64).max:
        raise ParameterError(_OWNER, "must be a whole number for a column of integers, or exact", got=repr(step))
    least, greatest = _limits(kind)
    return _Whole(int(step), 0, least, greatest)


def _limits(kind: pa.DataType) -> tuple[int, int]:
    """The least and the greatest number that a column of this type can hold."""
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        return int(limits.min), min(int(limits.max), int(np.iinfo(np.int64).max))
    limits = np.iinfo(np.int32 if pa.types.is_date32(kind) else np.int64)
    return int(limits.min) + 1, int(limits.max)


def _calendar_grid(unit: str, kind: pa.DataType) -> Grid:
    calendar, (least, greatest) = Calendar(unit, kind), _limits(kind)
    length, start = calendar.fixed
    if length is not None and not pa.types.is_date64(kind):
        return _Whole(length, start, least, greatest)
    # A day of date64 is many numbers, of which only the first is a date.
    return _Periods(calendar, units_per_day(kind) if pa.types.is_date64(kind) else 1, least, greatest)


@dataclass(frozen=True)
class _Whole(Grid):
    """Cells of equally many integers; the first and the last one end where the type does."""

    step: int
    start: int
    least: int
    greatest: int

    def below(self, numbers: NDArray[Any]) -> NDArray[Any]:
        cells, (first, _) = self._cells(numbers), self._whole_cells
        begins = np.maximum(cells, first) * self.step + self.start
        return np.where(cells < first, self.least, begins)

    def above(self, numbers: NDArray[Any]) -> NDArray[Any]:
        cells, (_, last) = self._cells(numbers), self._whole_cells
        ends = np.minimum(cells, last) * self.step + (self.start + self.step - 1)
        return np.where(cells > last, self.greatest, ends)

    @property
    def _whole_cells(self) -> tuple[int, int]:
        # The first cell that begins, and the last one that ends, within the type.
        return -((self.start - self.least) // self.step), (self.greatest - self.start + 1) // self.step - 1

    def _cells(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        # Negative numbers are counted from the other side, in a type in which adding the start cannot overflow.
        values = np.asarray(numbers).astype(np.int64)
        step, start = self.step, self.start
        ahead = (np.maximum(values, 0) - start) // step
        behind = ((-(np.minimum(values, -1) + 1)).astype(np.uint64) + np.uint64(start)) // np.uint64(step)
        return np.where(values >= 0, ahead, -behind.astype(np.int64) - 1)


@dataclass(frozen=True)
class _Periods(Grid):
    """Months and longer, days of a time zone, and dates that are counted in milliseconds."""

    calendar: Calendar
    last_of_day: int
    least: int
    greatest: int

    def below(self, numbers: NDArray[Any]) -> NDArray[Any]:
        return np.maximum(self.calendar.begin(self._cells(numbers)), self.least)

    def above(self, numbers: NDArray[Any]) -> NDArray[Any]:
        following = self.calendar.begin(self._cells(numbers) + 1)
        return np.where(following >= self.greatest, self.greatest, following - self.last_of_day)

    def _cells(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        values = np.asarray(numbers).astype(np.int64)
        cells = self.calendar.cell(values)
        # Clocks that were set back or forward may put an instant on the other side of a border.
        cells = np.where(self.calendar.begin(cells) > values, cells - 1, cells)
        following = self.calendar.begin(cells + 1)
        return np.where((following <= values) & (following < self.greatest), cells + 1, cells)


@dataclass(frozen=True)
class _Fractions(Grid):
    """Multiples of a decimal number, each rounded once to the column's type, so that 3 x 0.1 is 0.3."""

    digits: int
    exponent: int
    number: Any

    half_open = True

    @classmethod
    def of(cls, step: float, kind: pa.DataType) -> _Fractions:
        _, digits, exponent = Decimal(str(step)).normalize().as_tuple()
        return cls(int("".join(map(str, digits))), int(exponent), np.dtype(kind.to_pandas_dtype()))

    def below(self, numbers: NDArray[Any]) -> NDArray[Any]:
        return self._edges(self._cells(numbers))

    def above(self, numbers: NDArray[Any]) -> NDArray[Any]:
        return self._edges(self._cells(numbers) + 1)

    def _last(self, high: NDArray[Any]) -> NDArray[Any]:
        return self.below(high)

    def closed(self, high: NDArray[Any]) -> NDArray[Any]:
        return np.nextafter(np.asarray(high, dtype=np.float64), -math.inf)

    def _cells(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        values = np.asarray(numbers).astype(self.number)
        step = self.digits * 10.0**self.exponent
        cells = np.floor(values.astype(np.float64) / step)
        cells = np.where(self._edges(cells) > values, cells - 1, cells)
        return np.where(self._edges(cells + 1) <= values, cells + 1, cells)

    def _edges(self, cells: NDArray[np.float64]) -> NDArray[Any]:
        whole = cells * self.digits
        edges = whole * 10.0**self.exponent if self.exponent >= 0 else whole / 10.0**-self.exponent
        most = min(LARGEST_NUMBER, float(np.finfo(self.number).max))
        within: NDArray[Any] = np.clip(edges, -most, most).astype(self.number)
        within += 0  # -0.0 becomes 0.0
        return within
