"""Days and instants divided by the calendar: years, quarters, months, days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.checks import check_choice
from ldiversity.errors import SchemaError
from ldiversity.estimation._by import By
from ldiversity.hierarchies import are_dates
from ldiversity.release import Calendar, units_per_day
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray

__all__ = ["PERIODS", "CalendarColumn", "begins", "by_calendar"]

PERIODS: Final = ("year", "quarter", "month", "day")
"""What a calendar is divided into."""

_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_EPOCH: Final = dt.date(1970, 1, 1)
"""The day from which Arrow counts."""


@dataclass(frozen=True)
class CalendarColumn(By):
    """Days and instants by the calendar. Made by `by_calendar`."""

    column: str
    period: str

    def check(self, column: pa.ChunkedArray) -> None:
        """Refuse a column that holds no days."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        self._days(pc.unique(column.cast(kind)).drop_null())

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:  # noqa: ARG002
        found = [_name(day, self.period) for day in self._days(distinct)]
        labels = sorted(set(found))
        code_of = {label: code for code, label in enumerate(labels)}
        return np.array([code_of[label] for label in found], dtype=np.int32), pa.array(labels, pa.string())

    def edges(self, kind: pa.DataType, low: float, high: float) -> tuple[float, ...]:
        """Where periods begin, from the one that holds `low` to the first after `high`, in the column's unit."""
        first, last = _days_at((low, high), kind)
        starts = [_start(first, self.period)]
        while starts[-1] <= last:
            starts.append(_following(starts[-1], self.period))
        return tuple(dict.fromkeys(begins(starts, kind)))  # where a zone left out a day, the next one begins as it does

    def names(self, edges: Sequence[float], kind: pa.DataType) -> pa.Array:
        """The label of the period after each edge but the last."""
        # At noon, because the day of a zone may begin later than at midnight.
        days = _days_at([edge + units_per_day(kind) // 2 for edge in edges[:-1]], kind)
        return pa.array([_name(day, self.period) for day in days], pa.string())

    @staticmethod
    def place(numbers: NDArray[Any], edges: Sequence[float]) -> CodeArray:
        """The positions of numbers in the labels that `names` gives."""
        found = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
        return np.clip(found, 0, len(edges) - 2).astype(np.int32)

    def _days(self, values: pa.Array) -> list[dt.date]:
        kind, name = values.type, self.column
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            days: list[dt.date] = values.cast(pa.date32(), safe=False).to_pylist()
            return days
        texts: list[str] = values.to_pylist() if pa.types.is_string(kind) or pa.types.is_large_string(kind) else [""]
        if are_dates(texts):
            return [dt.date.fromisoformat(text[:10]) for text in texts]
        numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        raise SchemaError(
            "by", f"must hold dates such as 2020-01-31 to be divided by {self.period}", column=name, got=kind
        ).with_hint(
            say("Ask for bins: {}.", Setting("by", f"{name}:10", python=f"bins({name!r}, width=10)"))
            if numbers
            else say("Name the column alone for a cell of each value: {}.", Setting("by", name))
        )


def by_calendar(column: str, period: str) -> CalendarColumn:
    """Divide a column of days or instants by the calendar.

    Examples
    --------
    >>> coded = by_calendar("birth", "quarter").encode(pa.chunked_array([[dt.date(2020, 1, 31), dt.date(2020, 5, 1)]]))
    >>> coded.labels.to_pylist()
    ['2020-Q1', '2020-Q2']
    """
    return CalendarColumn(column, check_choice("groups", "members", period, PERIODS))


def _name(day: dt.date, period: str) -> str:
    # Must agree with the labels that the hierarchy of dates makes.
    text = day.isoformat()
    quarter = f"{text[:4]}-Q{(day.month + 2) // 3}"
    return {"year": text[:4], "quarter": quarter, "month": text[:7], "day": text}[period]


def _start(day: dt.date, period: str) -> dt.date:
    if period == "day":
        return day
    months = _MONTHS[period]
    return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def _following(start: dt.date, period: str) -> dt.date:
    if period == "day":
        return start + dt.timedelta(days=1)
    months = start.year * 12 + start.month - 1 + _MONTHS[period]
    return dt.date(months // 12, months % 12 + 1, 1)


def begins(days: Sequence[dt.date], kind: pa.DataType) -> tuple[float, ...]:
    """When days begin, in the column's unit: instants with a zone have the days of that zone, as public grids do.

    Examples
    --------
    >>> begins([dt.date(1970, 1, 2)], pa.timestamp("s")), begins([dt.date(1970, 1, 2)], pa.timestamp("s", "+01:00"))
    ((86400.0,), (82800.0,))
    """
    cells = np.array([(day - _EPOCH).days for day in days], dtype=np.int64)
    return tuple(map(float, Calendar("day", kind).begin(cells)))


def _days_at(numbers: Sequence[float], kind: pa.DataType) -> list[dt.date]:
    """The day of each number of the column's unit."""
    cells = Calendar("day", kind).cell(np.array([int(number) for number in numbers], dtype=np.int64))
    return [_EPOCH + dt.timedelta(days=day) for day in cells.tolist()]
