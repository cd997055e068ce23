"""Levels: public rules by which a quasi-identifier is made coarser before anything else happens to it.

A level is a function of the value alone. Its labels follow from what the holder declared, never from other records, so
that no end of an interval is somebody's cell.
"""

from __future__ import annotations

import datetime as dt
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.limits import LARGEST_NUMBER, MOST_VALUES, are_measurable
from ldiversity.base.typed import number_text
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import Hierarchy, Origin, decimal_text, span_of
from ldiversity.publish._columns_read import is_number
from ldiversity.publish._cut import reach_of_days, reach_of_label
from ldiversity.release import Form, Reach
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Setting, say

__all__ = ["UNITS", "CalendarLevel", "Level", "NumberLevel"]

UNITS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""Parts of the calendar, in months."""

_NEAR: Final = 1e-14
"""How near to an end, as a share of the quotient, a division of floats cannot decide."""

_MOST_INDEX: Final = 1 << 53
_MOST_YEAR: Final = 9999
_ROOT: Final = "*"


class Level(ABC):
    """At which level a quasi-identifier is published: a public rule from a value to its label."""

    @abstractmethod
    def __str__(self) -> str:
        """The level as texts give it."""

    @abstractmethod
    def check(self, name: str, kind: pa.DataType) -> None:
        """Refuse a column of a type that has no such level."""

    def labels(self, name: str, cells: pa.Array) -> pa.Array:
        """The label of each cell; a missing cell has the category of missing values."""
        if pa.types.is_floating(cells.type):
            cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)
        return pc.fill_null(self._label(name, cells), MISSING_LABEL)

    def fits(self, name: str, cells: pa.Array) -> bool:
        """Whether every cell has a label.

        Examples
        --------
        >>> NumberLevel(5).fits("x", pa.array([1e300])), NumberLevel(1e299).fits("x", pa.array([1e300]))
        (False, True)
        """
        try:
            self.labels(name, cells)
        except SchemaError:
            return False
        return True

    @abstractmethod
    def _label(self, name: str, cells: pa.Array) -> pa.Array:
        """The labels of cells that are not missing."""

    def reach(self, label: str, kind: pa.DataType) -> Reach | None:  # noqa: ARG002 - for those who have it
        """What a label stands for; None for a single text, and where the values under it are public."""
        return None

    def form(self, name: str, shown: Iterable[str], kind: pa.DataType) -> Form:
        """How a column of this type is described: the labels that published records show, and what each stands for."""
        labels = set(shown)
        if len(labels) > MOST_VALUES:
            raise SchemaError(
                "table", f"must have at most {MOST_VALUES} different labels", column=name, got=len(labels)
            ).with_hint("Choose a coarser level.")
        told = {label: self.reach(label, kind) for label in labels if label != MISSING_LABEL}
        reaches = {label: reach for label, reach in told.items() if reach is not None}
        lows = {label: reach.low for label, reach in reaches.items() if reach.low is not None}
        highs = [reach.high for reach in reaches.values() if reach.high is not None]
        ordered = sorted(labels, key=lambda label: (lows.get(label, math.inf), label == MISSING_LABEL, label))
        tree = Hierarchy(tuple((label, _ROOT) for label in ordered))
        low, high = min(lows.values(), default=None), max(highs, default=None)
        return Form("node", tree, low, high, tree.leaves, reaches=reaches)

    def ready(self) -> Level:
        """Read and check the hierarchy of its file, if it has one."""
        return self


@dataclass(frozen=True)
class NumberLevel(Level):
    """Intervals of one width that start at multiples of it, and numbers below and above as one label each.

    Examples
    --------
    >>> NumberLevel(5, bottom=18, top=90).labels("age", pa.array([17, 19, 20, 95, None])).to_pylist()
    ['< 18', '[18, 20)', '[20, 25)', '>= 90', '(missing)']
    >>> NumberLevel(top=90).labels("age", pa.array([41, 90])).to_pylist()
    ['41', '>= 90']
    """

    width: float | None = None
    bottom: float | None = None
    top: float | None = None

    def __str__(self) -> str:
        parts = (("width", self.width), ("bottom", self.bottom), ("top", self.top))
        return ",".join(f"{name}:{number_text(value)}" for name, value in parts if value is not None)

    def check(self, name: str, kind: pa.DataType) -> None:
        """Refuse anything but numbers."""
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            rule = "must hold numbers to be published in intervals"
            raise SchemaError("levels", rule, column=name, got=kind).with_hint(
                say("Publish dates as in {}.", Setting("levels", (name, "year")))
                if is_number(kind)
                else say(
                    "Publish texts as in {}, or declare the type of the column: {}.",
                    Setting("levels", (name, "prefix:3")),
                    Setting("types", (name, "number")),
                )
            )

    def _label(self, name: str, cells: pa.Array) -> pa.Array:
        known = np.asarray(pc.is_valid(cells))
        numbers = np.asarray(pc.fill_null(cells, 0) if cells.null_count else cells)
        if numbers.dtype.kind == "f" and not are_measurable(numbers):
            raise SchemaError(
                "table",
                f"must hold numbers from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g} to be generalized",
                column=name,
                got="larger ones",
            ).with_hint("Give them in a larger unit, or leave the cells empty.")
        below = known & (numbers < self.bottom) if self.bottom is not None else np.zeros(len(known), np.bool_)
        above = known & (numbers >= self.top) if self.top is not None else np.zeros(len(known), np.bool_)
        inside = np.flatnonzero(known & ~below & ~above)
        places, texts = self._inside(name, numbers[inside])
        codes = np.full(len(numbers), -1, dtype=np.int64)
        codes[inside] = places
        codes[below], codes[above] = len(texts), len(texts) + 1
        ends = [f"< {_end(self.bottom)}", f">= {_end(self.top)}"]
        return pa.array([*texts, *ends], pa.string()).take(pa.array(codes, mask=codes < 0))

    def reach(self, label: str, kind: pa.DataType) -> Reach | None:
        """An interval, a number, or all numbers beyond an end."""
        whole = pa.types.is_integer(kind)
        if label.startswith("<"):
            below = span_of(f"[0, {label[2:]})")
            end = below.whole()[1] if whole else below.real()[1]
            return Reach(end, end, unbounded="low")
        if label.startswith(">="):
            above = span_of(f"[{label[3:]}, {label[3:]}]")
            end = above.whole()[0] if whole else above.real()[0]
            return Reach(end, end, unbounded="high")
        return reach_of_label(Origin("width"), label, kind, level=int(label.startswith("[")))

    def _inside(self, name: str, numbers: NDArray[Any]) -> tuple[NDArray[np.int64], list[str]]:
        """Which text each number has, and the texts."""
        if self.width is None:
            distinct, places = np.unique(numbers, return_inverse=True)
            return places, [decimal_text(Fraction(str(number))) for number in distinct.tolist()]
        step = Fraction(str(self.width))
        found = _indices(numbers, step)
        if len(found) and np.abs(found).max() >= _MOST_INDEX:
            raise SchemaError("table", f"must hold numbers within {_MOST_INDEX} widths of 0", column=name).with_hint(
                "Choose a larger width, or correct the numbers."
            )
        indices, places = np.unique(found, return_inverse=True)
        return places, [self._interval(int(index) * step, (int(index) + 1) * step) for index in indices.tolist()]

    def _interval(self, low: Fraction, high: Fraction) -> str:
        low = low if self.bottom is None else max(low, Fraction(str(self.bottom)))
        high = high if self.top is None else min(high, Fraction(str(self.top)))
        return f"[{decimal_text(low)}, {decimal_text(high)})"


@dataclass(frozen=True)
class CalendarLevel(Level):
    """Months, quarters, years or decades; days before and after as one label each.

    Examples
    --------
    >>> born = pa.array([dt.date(1984, 5, 17), dt.date(1921, 1, 1)])
    >>> CalendarLevel("quarter", bottom=dt.date(1930, 1, 1)).labels("born", born).to_pylist()
    ['1984-Q2', '< 1930-01-01']
    """

    unit: str
    bottom: dt.date | None = None
    top: dt.date | None = None

    def __str__(self) -> str:
        ends = (("bottom", self.bottom), ("top", self.top))
        return ",".join([self.unit, *(f"{name}:{day.isoformat()}" for name, day in ends if day is not None)])

    def check(self, name: str, kind: pa.DataType) -> None:
        """Refuse anything but days and instants."""
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            rule = f"must hold dates to be published by {self.unit}"
            raise SchemaError("levels", rule, column=name, got=kind).with_hint(
                say("Declare its type, {}, or choose another level.", Setting("types", (name, "date")))
            )

    def _label(self, name: str, cells: pa.Array) -> pa.Array:
        try:
            years, months = pc.year(cells), pc.month(cells)
        except pa.ArrowInvalid:
            raise SchemaError("table", "must be in a time zone that this machine knows", column=name) from None
        outside = pc.or_(pc.less(years, 1), pc.greater(years, _MOST_YEAR))
        if pc.any(outside).as_py():
            raise SchemaError("table", f"must hold dates of the years 1 to {_MOST_YEAR}", column=name).with_hint(
                "Correct them, or leave the cells empty."
            )
        months_since = pc.add(pc.multiply(years.cast(pa.int64()), 12), pc.subtract(months.cast(pa.int64()), 1))
        since = np.asarray(pc.fill_null(months_since, 0))
        known = np.asarray(pc.is_valid(months_since))
        length = UNITS[self.unit]
        indices, places = np.unique(since[known] // length, return_inverse=True)
        texts = [self._name(int(index) * length) for index in indices.tolist()]
        codes = np.full(len(since), -1, dtype=np.int64)
        codes[known] = places
        if self.bottom is not None:
            codes[known & (since < _months(self.bottom))] = len(texts)
        if self.top is not None:
            codes[known & (since >= _months(self.top))] = len(texts) + 1
        return pa.array([*texts, f"< {self.bottom}", f">= {self.top}"], pa.string()).take(
            pa.array(codes, mask=codes < 0)
        )

    def reach(self, label: str, kind: pa.DataType) -> Reach | None:
        """The days or instants of a part of the calendar, or all beyond an end."""
        if label.startswith("<"):
            day = dt.date.fromisoformat(label[2:]) - dt.timedelta(days=1)
            end = reach_of_days(day, day, kind).high
            return Reach(end, end, unbounded="low")
        if label.startswith(">="):
            day = dt.date.fromisoformat(label[3:])
            end = reach_of_days(day, day, kind).low
            return Reach(end, end, unbounded="high")
        return reach_of_label(Origin("date"), label, kind)

    def _name(self, months: int) -> str:
        year, month = divmod(months, 12)
        named = {
            "month": f"{year:04d}-{month + 1:02d}",
            "quarter": f"{year:04d}-Q{month // 3 + 1}",
            "year": f"{year:04d}",
            "decade": f"{year // 10 * 10:04d}s",
        }
        return named[self.unit]


def _indices(numbers: NDArray[Any], step: Fraction) -> NDArray[np.float64]:
    """The interval of each number; exact for the decimals of its text, not for its binary fraction."""
    if numbers.dtype.kind != "f" and step.denominator == 1:
        whole = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64)
        if step.numerator <= np.iinfo(whole.dtype).max:
            return np.asarray(whole // whole.dtype.type(step.numerator), dtype=np.float64)
    distinct, places = np.unique(numbers, return_inverse=True)
    ratio = distinct.astype(np.float64) / float(step)
    found = np.floor(ratio)
    for place in np.flatnonzero(np.abs(ratio - np.rint(ratio)) <= _NEAR * np.maximum(1.0, np.abs(ratio))):
        found[place] = Fraction(str(distinct[place].item())) // step
    return np.asarray(found[places])


def _months(day: dt.date) -> int:
    return day.year * 12 + day.month - 1


def _end(number: float | None) -> str:
    return "" if number is None else decimal_text(Fraction(str(number)))
