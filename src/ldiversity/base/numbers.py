"""How numbers are written for people: the same way in terminals, pages, pictures and messages.

A share below 1 is never written as 100 %, and one above 0 never as 0 %: the difference between "nobody" and "hardly
anybody" is a person. The greater of two numbers is never written as the smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite
from typing import Final

__all__ = [
    "at_most",
    "counted",
    "counted_of",
    "decimal",
    "figure",
    "in_bytes",
    "level",
    "number",
    "percent",
    "percent_at_least",
    "percent_at_most",
    "percent_between",
    "percent_tenths",
    "percent_tick",
    "plain_level",
    "plain_number",
    "points",
    "seconds",
    "settings",
    "whole_percent",
]

_TINY: Final = 1e-4
_HUGE: Final = 1e7
_WHOLE: Final = 1e15
_LEAST_SHARE: Final = 1e-5
_DOUBLE_DIGITS: Final = 17
_SURE_DIGITS: Final = 12


def percent(share: float | None, digits: int = 3, *, unknown: str = "-") -> str:
    """Write a share as a percentage.

    Parameters
    ----------
    share
        A fraction of 1. Estimates may lie below 0, and errors above 1.
    digits
        Significant digits, at least two.
    unknown
        What to write when there is no share.

    Examples
    --------
    >>> percent(0.12345), percent(1.0), percent(0.99999), percent(1e-9), percent(0.0), percent(None)
    ('12.3 %', '100 %', '> 99.9 %', '< 0.001 %', '0 %', '-')
    >>> percent(-0.02), percent(25), percent(0.996, digits=2)
    ('-2 %', '2,500 %', '> 99 %')
    """
    return unknown if share is None or not isfinite(share) else f"{_hundredths(share, digits)} %"


def percent_at_most(share: float | None, digits: int = 3) -> str:
    """Write an upper bound of a share as a percentage, rounded up: what is written is never below it.

    Examples
    --------
    >>> percent_at_most(1 / 3), percent_at_most(0.25), percent_at_most(0.99999), percent_at_most(0.3222, digits=2)
    ('33.4 %', '25 %', '99.999 %', '33 %')
    """
    if share is None or not isfinite(share) or share < _LEAST_SHARE:
        return percent(share, digits)
    return f"{Decimal(at_most(share, digits)).scaleb(2).normalize():,f} %"


def percent_at_least(share: float | None, digits: int = 3) -> str:
    """Write a lower bound of a share as a percentage, rounded down: what is written is never above it.

    Examples
    --------
    >>> percent_at_least(2 / 3), percent_at_least(0.25), percent_at_least(0.99999), percent_at_least(0.1 + 0.2)
    ('66.6 %', '25 %', '99.9 %', '30 %')
    """
    if share is None or not isfinite(share) or share < _LEAST_SHARE:
        return percent(share, digits)
    exact = Context(prec=_SURE_DIGITS).create_decimal_from_float(share)
    written = Context(prec=digits, rounding=ROUND_FLOOR).plus(exact)
    if share < 1 <= written:  # a probability below 1 is not 1
        written = 1 - Decimal(10) ** -digits
    return f"{written.scaleb(2).normalize():,f} %"


def percent_between(low: float | None, high: float | None) -> str:
    """Write an interval of shares to follow its estimate; empty if there is none.

    Examples
    --------
    >>> percent_between(0.1, 0.25), percent_between(None, None)
    (' (10 % to 25 %)', '')
    """
    return "" if low is None or high is None else f" ({percent(low)} to {percent(high)})"


def points(share: float | None) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.00123), points(1e-9), points(None)
    ('0.123', '< 0.001', '-')
    """
    return "-" if share is None or not isfinite(share) else _hundredths(share, 3)


def percent_tenths(share: float) -> str:
    """Write a share as a percentage with one decimal and without the sign, where many stand below each other.

    Examples
    --------
    >>> [percent_tenths(share) for share in (0, 0.0001, 0.09, 0.5293, 0.9999, 1, -0.02)]
    ['0', '<0.1', '9.0', '52.9', '>99.9', '100', '-2.0']
    """
    if share in (0, 1):
        return plain_number(100 * share)
    rounded = round(100 * share, 1)
    if rounded == 0:
        return "<0.1" if share > 0 else ">\N{MINUS SIGN}0.1"
    return ">99.9" if rounded == 100 and share < 1 else f"{rounded:.1f}"  # noqa: PLR2004 - all of them


def whole_percent(share: float) -> str:
    """Write a share as a whole percentage without the sign, where space is short.

    Examples
    --------
    >>> [whole_percent(share) for share in (0, 0.004, 0.256, 0.996, 1)]
    ['0', '<1', '26', '>99', '100']
    """
    rounded = round(100 * share)
    if rounded == 0 and share != 0:
        return "<1" if share > 0 else ">\N{MINUS SIGN}1"
    return ">99" if rounded == 100 and share < 1 else plain_number(rounded)  # noqa: PLR2004 - all of them


def level(confidence: float) -> str:
    """Write a level that the user chose, with all its digits.

    Examples
    --------
    >>> level(0.95), level(0.99999)
    ('95 %', '99.999 %')
    """
    return f"{plain_level(confidence)} %"


def plain_level(confidence: float) -> str:
    """Write a level that the user chose, without the percent sign.

    Examples
    --------
    >>> plain_level(0.95)
    '95'
    """
    return f"{100 * confidence:.12g}"


def number(value: float | None, digits: int = 4) -> str:
    """Write a number.

    Examples
    --------
    >>> number(1234567), number(0.125), number(3.0), number(None), number(1e-9), number(0.999999)
    ('1,234,567', '0.125', '3', '-', '1e-09', '0.999999')
    >>> number(9999.97), number(10000.2), number(999.6, digits=3)
    ('10,000', '10,000', '1,000')
    """
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return "-"
    if not isfinite(value):
        return "infinite" if value > 0 else "-infinite"
    if float(value).is_integer() and abs(value) < _WHOLE:
        return f"{int(value):,}"
    if abs(value) < _TINY or abs(value) >= _HUGE:
        return f"{value:.{digits - 1}g}"
    if abs(value) >= 10**digits - 0.5:  # what is rounded to a digit more is written like it
        return f"{value:,.0f}"
    written = f"{value:,.{digits}g}"
    while abs(value) < 1 == abs(float(written)) and digits < _DOUBLE_DIGITS:  # a probability below 1 is not 1
        digits += 1
        written = f"{value:.{digits}g}"
    return written


def at_most(bound: float, digits: int = 3) -> str:
    """Write an upper bound with a few digits, rounded up: what is written is never below it.

    What differs from the rounded number by no more than the last digits of a float is that number.

    Examples
    --------
    >>> at_most(0.25), at_most(1 / 3), at_most(0.3222), at_most(0.1 + 0.2), at_most(0.9999), at_most(7.389056, 4)
    ('0.25', '0.334', '0.323', '0.3', '0.9999', '7.39')
    """
    exact = Context(prec=_SURE_DIGITS).create_decimal_from_float(bound)
    for precision in range(digits, _SURE_DIGITS):
        written = Context(prec=precision, rounding=ROUND_CEILING).plus(exact)
        if not exact < 1 <= written:  # a probability below 1 is not 1
            return f"{float(written):.{precision}g}"
    return repr(bound)


def figure(value: float | Mapping[str, float] | None) -> str:
    """Write a figure: a number, or the first three of several numbers by name.

    Examples
    --------
    >>> figure(12345), figure(None), figure({"alpha": 0.5, "k": 2})
    ('12,345', '-', 'alpha: 0.5, k: 2')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {number(part)}" for name, part in list(value.items())[:3])
    return number(value)


def decimal(value: float | None) -> str:
    """Write an estimated count, with one digit after the point.

    Examples
    --------
    >>> decimal(1234.56), decimal(None), decimal(float("nan"))
    ('1,234.6', '-', '-')
    """
    return "-" if value is None or not isfinite(value) else f"{value:,.1f}"


def plain_number(value: float, _position: float | None = None) -> str:
    """Write a number without needless zeros, for the ticks of an axis.

    Examples
    --------
    >>> plain_number(20.0), plain_number(2.5)
    ('20', '2.5')
    """
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def seconds(value: float | None) -> str:
    """Write a time in seconds.

    Examples
    --------
    >>> seconds(1.234), seconds(None)
    ('1.23', '-')
    """
    return "-" if value is None else f"{value:,.2f}"


def in_bytes(size: float) -> str:
    """Write the size of a file.

    Examples
    --------
    >>> in_bytes(812), in_bytes(12_345_678)
    ('812 bytes', '12.3 MB')
    """
    units = ("bytes", "kB", "MB", "GB")
    place = next((place for place in range(len(units)) if size < 1000 ** (place + 1)), len(units) - 1)
    return f"{size / 1000**place:.3g} {units[place]}"


def settings(values: Mapping[str, float | None]) -> str:
    """Write numbers with their names; those that are None are left out.

    Examples
    --------
    >>> settings({"l": 3, "d": 2.0})
    'l = 3, d = 2'
    """
    return ", ".join(f"{name} = {number(value)}" for name, value in values.items() if value is not None)


def percent_tick(hundredths: float, position: float | None = None) -> str:
    """Write a tick on an axis of percentages.

    Examples
    --------
    >>> percent_tick(20.0)
    '20 %'
    """
    return f"{plain_number(hundredths, position)} %"


def counted(n: int, one: str, several: str = "") -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def counted_of(n: int, whole: int, noun: str, one: str, several: str) -> str:
    """Write how many of all there are, with the noun for all and the verb for those.

    Examples
    --------
    >>> counted_of(1, 6, "cell", "has", "have"), counted_of(2, 6, "cell", "has", "have")
    ('1 of 6 cells has', '2 of 6 cells have')
    >>> counted_of(1, 1, "class|classes", "breaks", "break"), counted_of(1, 3000, "class|classes", "breaks", "break")
    ('1 of 1 class breaks', '1 of 3,000 classes breaks')
    """
    nouns = noun.partition("|")
    return f"{n:,} of {counted(whole, nouns[0], nouns[2])} {one if n == 1 else several}"


def _hundredths(share: float, digits: int) -> str:
    if share < 0:
        inside = _hundredths(-share, digits)
        turned = {"<": ">", ">": "<"}.get(inside[0])
        return f"-{inside}" if turned is None else f"{turned} -{inside[2:]}"
    if 0 < share < _LEAST_SHARE:
        return f"< {100 * _LEAST_SHARE:g}"
    rounded = float(f"{100 * share:.{digits}g}")
    if share < 1 and rounded >= 100:  # noqa: PLR2004 - all of them
        below = 100 - 10.0 ** (2 - digits)
        return f"> {below:g}"
    return f"{rounded:g}" if rounded < 10**digits else f"{100 * share:,.0f}"
