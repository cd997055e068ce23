"""Texts out of the command line: on one line, printable, quoted as for a shell."""

from __future__ import annotations

import shlex
import unicodedata
from typing import Final

__all__ = ["one_line", "printable", "shell_line"]

_HIDDEN: Final = {"Cc", "Cf", "Cs", "Zl", "Zp"}


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
