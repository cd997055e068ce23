"""Units of the calendar as cells: where each begins, in the unit of a column of days or instants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["CALENDAR_UNITS", "Calendar", "is_calendar", "units_per_day"]

CALENDAR_UNITS: Final = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_746,
    "quarter": 7_889_238,
    "year": 31_556_952,
    "decade": 315_569_520,
    "century": 3_155_695_200,
}
"""The units and their mean length in seconds. Weeks begin on Mondays, decades and centuries with a round year."""

_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1_200}
_DAYS: Final = {"day": 1, "week": 7}
_MONDAY: Final = 4
"""The first Monday after the first of January 1970, in days."""

_MONTHS_BEFORE: Final = 1970 * 12
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_calendar(step: object, kind: pa.DataType) -> bool:
    """Whether a column of days or instants can be cut into such units.

    Examples
    --------
    >>> is_calendar("month", pa.date32()), is_calendar("hour", pa.date32())
    (True, False)
    """
    known = isinstance(step, str) and step in CALENDAR_UNITS
    return known and (pa.types.is_timestamp(kind) or step not in {"second", "minute", "hour"})


def units_per_day(kind: pa.DataType) -> int:
    """How many units of a type a day has."""
    if pa.types.is_timestamp(kind):
        return 86_400 * _PER_SECOND[kind.unit]
    return 86_400_000 if pa.types.is_date64(kind) else 1


@dataclass(frozen=True)
class Calendar:
    """The cells of a unit: days and longer ones by the clocks of the column's time zone, shorter ones everywhere alike.

    Examples
    --------
    >>> months = Calendar("month", pa.date32())
    >>> months.begin(months.cell(np.array([0, 31, 45]))).tolist()
    [0, 31, 31]
    """

    unit: str
    kind: pa.DataType

    @property
    def fixed(self) -> tuple[int | None, int]:
        """The length of all cells and the start of one, from 0; no length where cells have several."""
        day = units_per_day(self.kind)
        if self.unit in _DAYS and self._zone is None:
            days = _DAYS[self.unit]
            return days * day, (_MONDAY * day if days > 1 else 0)
        if self.unit in _DAYS or self.unit in _MONTHS:
            return None, 0
        return CALENDAR_UNITS[self.unit] * day // 86_400, 0

    def cell(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell of each number, up to what clocks do when they are set."""
        days = self._local(numbers) // units_per_day(self.kind)
        if self.unit in _DAYS:
            length = _DAYS[self.unit]
            return (days - (_MONDAY if length > 1 else 0)) // length
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return (months + _MONTHS_BEFORE) // _MONTHS[self.unit]

    def begin(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first number of each cell; what lies beyond 64 bits is cut off there."""
        if self.unit in _DAYS:
            length = _DAYS[self.unit]
            days = cells * length + (_MONDAY if length > 1 else 0)
        else:
            months = (cells * _MONTHS[self.unit] - _MONTHS_BEFORE).astype("datetime64[M]")
            days = months.astype("datetime64[D]").astype(np.int64)
        day, beyond = units_per_day(self.kind), np.iinfo(np.int64)
        most = beyond.max // day
        begins = self.instants(np.clip(days, -most, most) * day)
        return np.where(days > most, beyond.max, np.where(days < -most, beyond.min + 1, begins))

    @property
    def _zone(self) -> str | None:
        return self.kind.tz if pa.types.is_timestamp(self.kind) else None

    @property
    def _offset(self) -> int | None:
        """How far a zone without a name, such as ``+05:30``, is ahead; older versions of pyarrow do not know it."""
        found = re.fullmatch(r"([+-])(\d\d):(\d\d)", self._zone or "")
        if found is None:
            return None
        seconds = int(found[2]) * 3_600 + int(found[3]) * 60
        return (-seconds if found[1] == "-" else seconds) * _PER_SECOND[self.kind.unit]

    def _local(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._zone is None:
            return numbers
        if self._offset is not None:
            return numbers + self._offset
        return _integers(pc.local_timestamp(pa.array(numbers).cast(self.kind)))

    def instants(self, local: NDArray[np.int64]) -> NDArray[np.int64]:
        """When clocks of the zone show these times first, or the first time after those that they skip."""
        if self._zone is None:
            return local
        if self._offset is not None:
            return local - self._offset
        naive = pa.array(local).cast(pa.timestamp(self.kind.unit))
        return _integers(pc.assume_timezone(naive, self._zone, ambiguous="earliest", nonexistent="latest"))


def _integers(instants: Any) -> NDArray[np.int64]:  # noqa: ANN401 - an Arrow array
    return np.asarray(instants.cast(pa.int64()))
