"""Match texts to values: a file says 2020-01-31 or 20, but the column holds instants or floats."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa

from ldiversity.base.typed import number_text

__all__ = ["matcher"]


def matcher(kind: pa.DataType) -> Callable[[object], str]:
    """Return a function that writes a value of a column and a text that names this value the same way.

    Examples
    --------
    >>> match = matcher(pa.timestamp("ns"))
    >>> match(dt.datetime(2020, 1, 31)), match("2020-01-31"), match("2020-01-31 00:00:00.000")
    ('2020-01-31T00:00:00', '2020-01-31T00:00:00', '2020-01-31T00:00:00')
    >>> match = matcher(pa.float64())
    >>> match(20.0), match("20"), match("20.0")
    ('20', '20', '20')
    """
    if pa.types.is_dictionary(kind):
        return matcher(kind.value_type)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _instant
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number
    return _lower if pa.types.is_boolean(kind) else str


def _instant(value: object) -> str:
    """Write an instant without its unit, and in UTC if it has a time zone."""
    text = value.isoformat() if isinstance(value, dt.date) else str(value).strip()
    with suppress(ValueError, OverflowError):
        instant = dt.datetime.fromisoformat(text)
        return (instant if instant.tzinfo is None else instant.astimezone(dt.UTC)).isoformat()
    return text


def _number(value: object) -> str:
    with suppress(ValueError):  # integers of any length, exactly
        return str(int(str(value)))
    with suppress(ValueError, OverflowError):
        return number_text(float(str(value)))
    return str(value)


def _lower(value: object) -> str:
    return str(value).lower()
