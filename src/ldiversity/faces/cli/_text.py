"""Texts in and out of the command line: names split as in CSV, words quoted as for a shell."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable
from typing import Final

import click

__all__ = [
    "one_line",
    "printable",
    "shell_line",
    "split_assignment",
    "split_assignments",
    "split_names",
    "split_numbers",
]

_ITEM: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^,"]*))\s*(?:,|$)')
_ASSIGNMENT: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^="]+?))\s*=(?P<rest>.*)', re.DOTALL)
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def split_names(texts: Iterable[str], option: str) -> list[str]:
    """Split each text at its commas; a name with a comma stands in double quotes.

    Examples
    --------
    >>> split_names(['age,sex', '"home, zip"'], "--quasi")
    ['age', 'sex', 'home, zip']
    """
    names: list[str] = []
    for text in texts:
        position = 0
        while True:
            item = _ITEM.match(text, position)
            name = None if item is None else item["plain"] if item["quoted"] is None else item["quoted"]
            if item is None or name is None or not name.strip():
                raise click.UsageError(
                    f"{option} must be names separated by commas, got {text!r}. "
                    "Put a name with a comma into double quotes, as in '\"home, zip\",age'."
                )
            names.append(name.strip() if item["quoted"] is None else name.replace('""', '"'))
            position = item.end()
            if not item[0].endswith(","):
                break
    return names


def split_assignment(text: str, option: str, what: str) -> tuple[str, str]:
    """Split ``name=rest`` at the first equals sign; a name with one stands in double quotes.

    Examples
    --------
    >>> split_assignment("income=width:10", "--bins", "width:10")
    ('income', 'width:10')
    """
    found = _ASSIGNMENT.fullmatch(text)
    if found is None or not found["rest"].strip():
        raise click.UsageError(f"{option} must be a column, an equals sign and {what}, got {text!r}.")
    name = found["plain"] if found["quoted"] is None else found["quoted"].replace('""', '"')
    return name, found["rest"].strip()


def split_assignments(texts: Iterable[str], option: str, what: str) -> dict[str, str]:
    """Split each of several texts as `split_assignment` does; a name may stand in one of them only.

    Examples
    --------
    >>> split_assignments(["zip=text", "age=integer"], "--type", "a type")
    {'zip': 'text', 'age': 'integer'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, rest = split_assignment(text, option, what)
        if name in found:
            raise click.UsageError(f"{option} must name each column once, got {name!r} again: leave one of them out.")
        found[name] = rest
    return found


def split_numbers(texts: Iterable[str], option: str) -> dict[str, float]:
    """Read ``name=number`` texts.

    Examples
    --------
    >>> split_numbers(["age=2", "zip=0.5"], "--weight")
    {'age': 2.0, 'zip': 0.5}
    """
    found: dict[str, float] = {}
    for name, text in split_assignments(texts, option, "a number").items():
        try:
            found[name] = float(text)
        except ValueError:
            raise click.UsageError(
                f"{option} must be a name, an equals sign and a number such as 0.5, got {f'{name}={text}'!r}."
            ) from None
    return found


def shell_line(*words: object) -> str:
    """Write a command as a user would type it.

    Examples
    --------
    >>> shell_line("ldiversity", "estimate", "my release", "--by", "sex")
    "ldiversity estimate 'my release' --by sex"
    """
    return shlex.join(map(str, words))


def printable(text: object) -> str:
    r"""Return a text that cannot steer a terminal: control and format characters are written as escapes.

    Examples
    --------
    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _HIDDEN else character
        for character in str(text)
    )


def one_line(text: str) -> str:
    r"""Return a text on one line.

    Examples
    --------
    >>> one_line("l must be 2.\nUse 2.")
    'l must be 2. Use 2.'
    """
    return printable(" ".join(text.split()))
