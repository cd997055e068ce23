"""Texts of a survey that people read: nothing in them may hide, turn or imitate something else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, StringConstraints

__all__ = ["Label", "LongText", "Name", "ShortText", "are_distinct"]

_MARKUP: Final = re.compile(r"<[A-Za-z/!?]|&#?\w+;")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BLANKS: Final = frozenset("\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}\N{BRAILLE PATTERN BLANK}")
"""Letters and signs that look like nothing."""

_IGNORED: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Marks that change nothing on their own, or only how the letter before them looks."""

_NEW_LINE: Final = "\n"
_MOST_MARKS: Final = 4
"""How many marks may stand on a letter: more of them cover the lines around it."""


def _plain(text: str) -> str:
    if text != unicodedata.normalize("NFC", text):
        raise ValueError("must be in Unicode's composed form (NFC)\nType it again, or let a program compose it.")
    if any(_is_hidden(letter) for letter in text) or _IGNORED.search(text):
        raise ValueError("must not have invisible, control or turning characters\nType it again as plain text.")
    if _has_many_marks(text):
        raise ValueError(f"must have at most {_MOST_MARKS} marks on a letter")
    if _MARKUP.search(text):
        raise ValueError("must not have markup\nWrite plain text; a page shows it as it is.")
    if not text.strip() or text != text.strip():
        raise ValueError("must not be blank, and must not begin or end with blanks")
    return text


def _is_hidden(letter: str) -> bool:
    kind = unicodedata.category(letter)
    other_blank = kind == "Zs" and letter != " "
    return (kind in _INVISIBLE and letter != _NEW_LINE) or letter in _BLANKS or other_blank


def _has_many_marks(text: str) -> bool:
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) in {"Mn", "Me"} else 0
        if marks > _MOST_MARKS:
            return True
    return False


def _one_line(text: str) -> str:
    if _NEW_LINE in text:
        raise ValueError("must be one line")
    return text


def are_distinct(texts: Sequence[str]) -> bool:
    """Whether no two texts are alike apart from case, width and blanks.

    Examples
    --------
    >>> are_distinct(["flu", "cold"]), are_distinct(["flu", "FLU"]), are_distinct(["a b", "a  b"])
    (True, False, False)
    """
    seen = {" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts}
    return len(seen) == len(texts)


Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
"""The name of a question or of something about a person, which is a column of the release."""

Label: TypeAlias = Annotated[str, StringConstraints(max_length=120), AfterValidator(_plain), AfterValidator(_one_line)]
"""One of the answers that can be chosen."""

ShortText: TypeAlias = Annotated[
    str, StringConstraints(max_length=300), AfterValidator(_plain), AfterValidator(_one_line)
]
"""A title or a question."""

LongText: TypeAlias = Annotated[str, StringConstraints(max_length=6000), AfterValidator(_plain)]
"""Paragraphs, separated by empty lines."""
