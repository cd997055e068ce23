"""Names and numbers as they are typed on the command line, for commands that are printed to be run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["join_assignment", "join_names", "number_text", "point_hint"]

_EXACT: Final = 2**53


def join_names(names: Iterable[str]) -> str:
    """Write names as a list of the command line: one with a comma stands in double quotes.

    Examples
    --------
    >>> join_names(["age", "home, zip"])
    'age,"home, zip"'
    """
    return ",".join(_quoted(name, ",") for name in names)


def join_assignment(name: str) -> str:
    """Write a name as it stands before an equals sign.

    Examples
    --------
    >>> join_assignment("income"), join_assignment("a=b")
    ('income', '"a=b"')
    """
    return _quoted(name, "=")


def number_text(number: float) -> str:
    """Write a number in full, so that it is read as the same number.

    Examples
    --------
    >>> number_text(2.0), number_text(2.1234567), number_text(1234567)
    ('2', '2.1234567', '1234567')
    """
    plain = float(number)
    return str(int(number)) if plain.is_integer() and abs(plain) < _EXACT else repr(plain)


def point_hint(text: str) -> str:
    """Say how fractions are written, after a text that has one with a comma; else nothing.

    Examples
    --------
    >>> point_hint("width:2,5"), point_hint("width:5,low:0")
    ('Fractions are written with a point, as in 2.5.', '')
    """
    return "Fractions are written with a point, as in 2.5." if re.search(r"\d,\d", text) else ""


def _quoted(name: str, mark: str) -> str:
    plain = not re.search(rf'[{mark}"]|^\s|\s$|^$', name)
    return name if plain else '"' + name.replace('"', '""') + '"'
