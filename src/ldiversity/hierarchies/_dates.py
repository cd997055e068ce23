"""Days and instants by the calendar: month, quarter, year."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies._distinct import check_pair, distinct_values, refuse_outside
from ldiversity.hierarchies._unambiguous import ROOT, MadeRows, with_missing
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Named, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["are_dates", "calendar_level", "date_rows"]

_ISO: Final = re.compile(r"(\d{4}-\d\d-\d\d)(T\d\d:\d\d\S*)?")
_MOST_DAYS: Final = 1_000_000
_TIMED_LEVELS: Final = 6
"""Instant, day, month, quarter, year and root."""


def date_rows(owner: str, dates: Iterable[object], low: dt.date | str | None, high: dt.date | str | None) -> MadeRows:
    """Return one row per date: the day (or the instant and its day), month, quarter, year, and the root."""
    distinct = distinct_values(owner, dates)
    texts = distinct.values
    if distinct.kind not in {"date", "text", "none"} or not are_dates(texts):
        raise SchemaError(
            owner, "values", "must be dates such as 2020-01-31, or instants such as 2020-01-31T08:30:00", got="others"
        ).with_hint(say("Convert them first, or use {} for texts.", Named("by_prefix", "prefix")))
    leaves = _declared(owner, texts, low, high)
    timed = any("T" in leaf for leaf in leaves)
    rows = with_missing([_row(leaf, timed=timed) for leaf in leaves], missing=distinct.missing)
    return MadeRows(rows, declared=leaves is not texts)


def are_dates(values: Iterable[object]) -> bool:
    """Whether all values are texts of ISO dates or instants.

    Examples
    --------
    >>> are_dates(["2020-01-31", "2020-01-31T08:30:00.5"]), are_dates(["2020-02-30"]), are_dates([20200131])
    (True, False, False)
    """
    return all(isinstance(value, str) and _is_date(value) for value in values)


def calendar_level(rows: Sequence[Sequence[str]], level: int) -> Callable[[str], str] | None:
    """Return a function that names the node of any day at a level; None unless `date_rows` made the rows.

    Examples
    --------
    >>> calendar_level(date_rows("by_date", ["2020-01-31"], None, None).rows, 1)("2020-05-01")
    '2020-05'
    """
    dated = [row for row in rows if row[0] != MISSING_LABEL]
    timed = bool(dated) and len(dated[0]) == _TIMED_LEVELS
    if not level or not dated or not are_dates(row[0] for row in dated):
        return None
    if any(tuple(row) != _row(row[0], timed=timed) for row in dated):
        return None
    return lambda text: _row(text, timed=timed)[level] if _is_date(text) else text


def _is_date(text: str) -> bool:
    match = _ISO.fullmatch(text)
    try:
        return match is not None and dt.date.fromisoformat(match[1]).year > 0
    except ValueError:
        return False


def _row(leaf: str, *, timed: bool) -> tuple[str, ...]:
    month = int(leaf[5:7])
    # Midnight is written as the day alone, so the day as a whole must look different.
    day = (f"{leaf[:10]}T*",) if timed else ()
    return (leaf, *day, leaf[:7], f"{leaf[:4]}-Q{(month + 2) // 3}", leaf[:4], ROOT)


def _declared(owner: str, texts: Sequence[str], low: dt.date | str | None, high: dt.date | str | None) -> Sequence[str]:
    check_pair(owner, low, high)
    if low is None or high is None:
        if not texts:
            raise ParameterError(owner, "values", "must hold at least one date", got="none", hint="Give low and high.")
        return texts
    first, last = _day(owner, "low", low), _day(owner, "high", high)
    n_days = (last - first).days + 1
    check_integer(owner, "number of days from low to high", n_days, minimum=1, maximum=_MOST_DAYS)
    refuse_outside(owner, sum(not first.isoformat() <= text[:10] <= last.isoformat() for text in texts))
    if any("T" in text for text in texts):
        return texts
    return [(first + dt.timedelta(days=day)).isoformat() for day in range(n_days)]


def _day(owner: str, name: str, day: dt.date | str) -> dt.date:
    try:
        return dt.date.fromisoformat(str(day)[:10])
    except ValueError:
        raise ParameterError(owner, name, "must be a date such as 2020-01-31", got=repr(day)) from None
