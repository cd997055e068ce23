"""What the label of a made hierarchy covers, without the values that it was made from."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ldiversity.hierarchies._origin import Origin

__all__ = ["Days", "Span", "days_of", "span_of", "starts_of"]

_QUARTERS: Final = {"Q1": 1, "Q2": 4, "Q3": 7, "Q4": 10}


class Span(NamedTuple):
    """An interval of numbers; it includes its lower end, and its upper end when it is closed."""

    low: Fraction
    high: Fraction
    closed: bool

    def whole(self) -> tuple[int, int]:
        """Return the least and the greatest integer in it.

        Examples
        --------
        >>> span_of("[20, 30)").whole(), span_of("[20, 30]").whole()
        ((20, 29), (20, 30))
        """
        return math.ceil(self.low), math.floor(self.high) if self.closed else math.ceil(self.high) - 1

    def real(self) -> tuple[float, float]:
        """Return the least and the greatest float in it."""
        low, high = float(self.low), float(self.high)
        return low, high if self.closed else math.nextafter(high, -math.inf)


class Days(NamedTuple):
    """The first and the last day of a part of the calendar."""

    first: dt.date
    last: dt.date


def span_of(label: str) -> Span:
    """Read the label of an interval, as `Hierarchy.by_width` and `Hierarchy.by_quantiles` write it.

    Examples
    --------
    >>> span_of("[0.5, 1)").real()[0]
    0.5
    """
    low, high = label[1:-1].split(", ")
    return Span(Fraction(low), Fraction(high), label.endswith("]"))


def days_of(label: str) -> Days:
    """Read a decade, year, quarter, month or day, as `Hierarchy.by_date` and levels write it.

    Examples
    --------
    >>> [day.isoformat() for day in days_of("2020-Q1")], days_of("1980s").last.isoformat()
    (['2020-01-01', '2020-03-31'], '1989-12-31')
    """
    if label.endswith("s"):
        return Days(dt.date(max(int(label[:-1]), 1), 1, 1), dt.date(int(label[:-1]) + 9, 12, 31))
    year, rest = int(label[:4]), label[5:]
    if len(rest) >= len("MM-DD"):
        day = dt.date.fromisoformat(label[:10])
        return Days(day, day)
    month = _QUARTERS.get(rest, int(rest) if rest.isdigit() else 1)
    length = 3 if rest in _QUARTERS else 1 if rest else 12
    after = (year, month + length) if month + length <= 12 else (year + 1, 1)  # noqa: PLR2004 - months
    last = dt.date.max if after[0] > dt.MAXYEAR else dt.date(*after, 1) - dt.timedelta(days=1)
    return Days(dt.date(year, month, 1), last)


def starts_of(origin: Origin, label: str) -> tuple[str, ...]:
    """Return prefixes; the label covers the texts that start with one of them.

    Examples
    --------
    >>> from ldiversity.hierarchies._origin import Origin
    >>> starts_of(Origin("prefix", "*"), "130**"), starts_of(Origin("date"), "2020-Q4")
    (('130',), ('2020-10', '2020-11', '2020-12'))
    """
    if origin.kind == "prefix":
        return (label.rstrip(origin.mask),)
    if label.endswith("T*"):
        return (label[:10],)
    year, rest = label[:4], label[5:]
    if rest in _QUARTERS:
        return tuple(f"{year}-{_QUARTERS[rest] + month:02d}" for month in range(3))
    return (f"{year}-{rest}",)
