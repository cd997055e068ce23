"""By-columns as texts, for the command line and for short questions in Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ldiversity.errors import ParameterError
from ldiversity.estimation._by import By, ByLike, PlainColumn, as_by, bins, groups
from ldiversity.estimation._calendar import PERIODS, by_calendar
from ldiversity.estimation._date_edges import by_days

__all__ = ["parse_by", "read_by"]

_MARKS: Final = frozenset(":@,")
_ITEM: Final = re.compile(r'(?:"[^"]*"|[^",])+')
_PARTS: Final = re.compile(
    r'\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^:@"]+?))\s*(?:(?P<mark>[:@])(?P<rule>.*))?', re.DOTALL
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FILE: Final = re.compile(r'\s*"?(?P<path>.+?)"?(?::(?P<level>\d+))?\s*', re.DOTALL)


def parse_by(text: str) -> tuple[By, ...]:
    """Read by-columns from a text such as ``sex,age:10,zip@zones.csv``.

    ``age:10`` means bins of width 10, ``age:0/18/65/120`` bins with these edges, ``age:q4`` four bins with equally
    many records. ``birth:year`` (or quarter, month, day) divides dates by the calendar, ``birth:1950-01-01/1980-01-01``
    at these days. ``zip@zones.csv:2`` means the groups at level 2 of a hierarchy file; without a number, level 1. Put
    names and paths with ``, : @`` into double quotes.

    Examples
    --------
    >>> [part.column for part in parse_by('sex, "home, zip", age:10')]
    ['sex', 'home, zip', 'age']
    """
    if text.count('"') % 2:
        raise ParameterError("by", "quotes must come in pairs", got=repr(text))
    items = [item for item in _ITEM.findall(text) if item.strip()]
    if any(re.search(r":[\d./]*\d$", one) and re.match(r"\d", other) for one, other in pairwise(items)):
        raise ParameterError(
            "by", "columns are separated by commas, and fractions are written with a point", got=repr(text)
        ).with_hint("Write for example age:2.5, or put a name that begins with a digit into double quotes.")
    parts = tuple(map(_parse_part, items))
    if not parts:
        raise ParameterError("by", "at least one column must be named", got=repr(text))
    return parts


def read_by(by: ByLike, columns: Sequence[str]) -> tuple[By, ...]:
    """Turn any form of by-columns into a tuple of `By`: texts that are no name of a column are read as `parse_by` does.

    Examples
    --------
    >>> [type(part).__name__ for part in read_by(["a:b", "age:10"], ["a:b", "age"])]
    ['PlainColumn', 'BinnedColumn']
    """
    given = [by] if isinstance(by, str) else list(by) if isinstance(by, list | tuple) else None
    if given is None:
        return as_by(by)
    texts = (part if isinstance(part, str) and part not in columns and set(part) & _MARKS else None for part in given)
    return as_by(
        [one for part, text in zip(given, texts, strict=True) for one in ([part] if text is None else parse_by(text))]
    )


def _parse_part(item: str) -> By:
    parts = _PARTS.fullmatch(item)
    if parts is None:
        raise ParameterError(
            "by", "each part must be a column, column:bins or column@file", got=repr(item.strip())
        ).with_hint('Put a name with one of , : @ into double quotes, as in "home:zip".')
    column = parts["plain"] if parts["quoted"] is None else parts["quoted"]
    if parts["mark"] is None:
        return PlainColumn(column)
    rule = parts["rule"].strip()
    return _parse_bins(column, rule) if parts["mark"] == ":" else _parse_groups(column, rule)


def _parse_bins(column: str, rule: str) -> By:
    if re.fullmatch(r"q\d{1,6}", rule):
        return bins(column, quantiles=int(rule[1:]))
    if rule in PERIODS:
        return by_calendar(column, rule)
    if _DAY.match(rule):
        return by_days(column, rule.split("/"))
    try:
        numbers = [float(number) for number in rule.split("/")]
    except ValueError as error:
        raise ParameterError(
            "by",
            f"the bins of {column!r} must be a width, edges or quantiles, or a period of the calendar",
            got=repr(rule),
        ).with_hint(
            f"Write {column}:10, {column}:0/18/65/120 or {column}:q4 for numbers, with a point in fractions; "
            f"{column}:year, :quarter, :month, :day or {column}:1950-01-01/1980-01-01 for dates."
        ) from error
    return bins(column, width=numbers[0]) if len(numbers) == 1 else bins(column, edges=numbers)


def _parse_groups(column: str, rule: str) -> By:
    from ldiversity.hierarchies import Hierarchy

    parts = _FILE.fullmatch(rule)
    if parts is None:
        raise ParameterError("by", f"a hierarchy file must follow {column}@", got="nothing")
    level = None if parts["level"] is None else int(parts["level"])
    return groups(column, Hierarchy.read(parts["path"]), level=level)
