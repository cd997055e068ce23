"""Values that people would call the same: they differ by case, blanks, Unicode form, invisible characters or zeros."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["plain_spelling"]

_INVISIBLE: Final = ("Cf", "Cc")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")


def plain_spelling(text: str) -> str:
    r"""The text without what readers do not see, or do not mean.

    Zeros in front are kept: they tell codes apart, such as zip codes.

    Examples
    --------
    >>> {plain_spelling(text) for text in ("Flu", " flu", "FLU", "ﬂu", "flu\u200b")}
    {'flu'}
    >>> plain_spelling("1.50") == plain_spelling("1.5"), plain_spelling("01") == plain_spelling("1")
    (True, False)
    """
    seen = text.lower() if text.isascii() and text.isprintable() else _seen(text)
    plain = " ".join(seen.split())
    if "." in plain and _NUMBER.fullmatch(plain):
        return plain.rstrip("0").rstrip(".")
    return plain


def _seen(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(" " if character.isspace() else character for character in folded)
    return "".join(character for character in spaced if unicodedata.category(character) not in _INVISIBLE)
