"""Levels of quasi-identifiers, read from texts as ``width:5,top:90``, ``year`` or ``jobs.csv:2``."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from ldiversity.base.checks import check_integer
from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.base.typed import point_hint
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.publish._levels import UNITS, CalendarLevel, Level, NumberLevel
from ldiversity.publish._method import locate
from ldiversity.publish._text_levels import PrefixLevel, SuppressLevel, TreeLevel

__all__ = ["LEVEL_FORMS", "GivenLevel", "as_level"]

LEVEL_FORMS: Final = (
    "width:5, width:5,bottom:20,top:90, top:90, prefix:3, month, quarter, year, decade, file.csv:2 or suppress"
)
"""What may stand for a level, for messages."""

End = TypeVar("End", float, dt.date)
GivenLevel: TypeAlias = "Level | str | tuple[Hierarchy | str | os.PathLike[str], int]"
_FILE: Final = re.compile(r"(?P<file>.+):(?P<level>\d{1,3})", re.DOTALL)
_HINT: Final = "To leave a column out of the release, drop it. Level 2 of the hierarchy in file.csv is file.csv:2."


def as_level(column: str, given: GivenLevel, folder: Path | None = None) -> Level:
    """Read a level from any form that is accepted; the path of a file starts at `folder`.

    Examples
    --------
    >>> as_level("age", "width:5, top:90"), str(as_level("born", "year,bottom:1930"))
    (NumberLevel(width=5, bottom=None, top=90), 'year,bottom:1930-01-01')
    """
    if isinstance(given, Level):
        return given
    if isinstance(given, tuple):
        tree, level = given
        check_integer("Publication", "levels", level, minimum=0)
        return TreeLevel(tree if isinstance(tree, Hierarchy) else Path(locate(tree, folder)), level)
    try:
        return _parse(given.strip(), folder)
    except (AttributeError, TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, LDiversityError):
            raise
        raise ParameterError(
            "Publication", "levels", f"of {column!r} must be one of {LEVEL_FORMS}", got=repr(given)
        ).with_hint(point_hint(str(given)) or _HINT) from None


def _parse(text: str, folder: Path | None) -> Level:
    first, *rest = [part.strip() for part in text.split(",")]
    word, _, argument = first.partition(":")
    if word == "prefix":
        _refuse_more(rest)
        return PrefixLevel(check_integer("Publication", "levels", int(argument), minimum=1))
    if text == "suppress":
        return SuppressLevel()
    if word in UNITS:
        _refuse_more(argument)
        return _calendar(word, _ends(rest, _day))
    if word in {"width", "bottom", "top"}:
        return _numbers(_ends([first, *rest], _number, ("width", "bottom", "top")))
    found = _FILE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return TreeLevel(Path(locate(found["file"], folder)), int(found["level"]))


def _numbers(said: Mapping[str, float]) -> NumberLevel:
    width, bottom, top = (said.get(name) for name in ("width", "bottom", "top"))
    if width is not None and width <= 0:
        raise ParameterError("Publication", "levels", "must have a width greater than 0", got=width)
    if bottom is not None and top is not None and bottom >= top:
        raise ParameterError("Publication", "levels", "must have a bottom less than its top", got=f"{bottom} and {top}")
    return NumberLevel(width, bottom, top)


def _calendar(unit: str, said: Mapping[str, dt.date]) -> CalendarLevel:
    for name, day in said.items():
        if day.day > 1 or (day.year * 12 + day.month - 1) % UNITS[unit]:
            raise ParameterError(
                "Publication", "levels", f"must have a {name} that is the first day of a {unit}", got=day
            )
    bottom, top = said.get("bottom"), said.get("top")
    if bottom is not None and top is not None and bottom >= top:
        raise ParameterError("Publication", "levels", "must have a bottom before its top", got=f"{bottom} and {top}")
    return CalendarLevel(unit, bottom, top)


def _ends(
    parts: Iterable[str], read: Callable[[str], End], known: tuple[str, ...] = ("bottom", "top")
) -> dict[str, End]:
    found: dict[str, End] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name not in known or name in found:
            raise ValueError(part)
        found[name] = read(value)
    return found


def _number(text: str) -> float:
    number = float(text) if set(text) & set(".eE") else int(text)
    if not abs(number) <= LARGEST_NUMBER:
        raise ValueError(text)
    return number


def _day(text: str) -> dt.date:
    return dt.date(int(text), 1, 1) if text.isdigit() else dt.date.fromisoformat(text)


def _refuse_more(rest: object) -> None:
    if rest:
        raise ValueError(rest)
