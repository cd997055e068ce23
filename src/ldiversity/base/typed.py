"""Names and numbers in the spelling of the command line, for commands that we print for users to run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["join_assignment", "join_names", "number_text", "point_hint"]

_EXACT: Final = 2**53


def join_names(names: Iterable[str]) -> str:
    """Write names as a comma-separated list; a name that contains a comma gets double quotes.

    Examples
    --------
    >>> join_names(["age", "home, zip"])
    'age,"home, zip"'
    """
    return ",".join(_quoted(name, ",") for name in names)


def join_assignment(name: str) -> str:
    """Write a name for use before an equals sign.

    Examples
    --------
    >>> join_assignment("income"), join_assignment("a=b")
    ('income', '"a=b"')
    """
    return _quoted(name, "=")


def number_text(number: float) -> str:
    """Write a number with all its digits, so that reading it gives the same number.

    Examples
    --------
    >>> number_text(2.0), number_text(2.1234567), number_text(1234567)
    ('2', '2.1234567', '1234567')
    """
    plain = float(number)
    return str(int(number)) if plain.is_integer() and abs(plain) < _EXACT else repr(plain)


def point_hint(text: str) -> str:
    """Explain how fractions are written if a text has one with a comma; otherwise return an empty text.

    Examples
    --------
    >>> point_hint("width:2,5"), point_hint("width:5,low:0")
    ('Fractions are written with a point, as in 2.5.', '')
    """
    return "Fractions are written with a point, as in 2.5." if re.search(r"\d,\d", text) else ""


def _quoted(name: str, mark: str) -> str:
    plain = not re.search(rf'[{mark}"]|^\s|\s$|^$', name)
    return name if plain else '"' + name.replace('"', '""') + '"'
