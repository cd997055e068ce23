"""What the texts of a column look like: names, numbers of people, addresses, free text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

__all__ = ["FREE_TEXT", "LOOKS", "NAMES", "NUMBERED", "Look", "Looked", "look_at"]

_IBAN: Final = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_PHONE: Final = re.compile(r"(?:\+|00|\(?0)[\d\s()/.\-]{6,20}|\(?\d{3}\)?[ .\-]\d{3}[ .\-]\d{4}")
_SOCIAL: Final = re.compile(r"\d{3}-\d{2}-\d{4}")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+|(?:\d{1,3}\.){3}\d{1,3}")
_CODE: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{24,}")
_WORD: Final = r"[^\W\d_][^\W\d_'\u2019.\-]*(?:[-'\u2019][^\W\d_]+)*\.?"
_NAME: Final = re.compile(rf"{_WORD},? {_WORD}(?: {_WORD})?")
_DAY: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?")
_NUMBERED: Final = re.compile(r"(?=(?:.*\d){5})[A-Za-z0-9][A-Za-z0-9/_\-]{7,}")
_LONG_NUMBER: Final = re.compile(r"\d{9,}")
_ZIP: Final = re.compile(r"\d{5}-\d{4}")
_LEAST_DIGITS: Final = 7
_LONG: Final = 30
_MANY_WORDS: Final = 5
_MOST_KNOWN: Final = 1 << 14


class Look(NamedTuple):
    """Something that texts may look like.

    `certain` looks name people wherever they occur; the others do if nearly every row has another one.
    """

    word: str
    certain: bool
    fits: Callable[[str], bool]


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    # Digits alone may be any code that is filled up with zeros.
    written = digits < len(text) and not _DAY.fullmatch(text) and not _ZIP.fullmatch(text)
    return digits >= _LEAST_DIGITS and written and bool(_PHONE.fullmatch(text))


def _is_iban(text: str) -> bool:
    if not _IBAN.fullmatch(text):
        return False
    packed = text.replace(" ", "")
    return int("".join(str(int(character, 36)) for character in packed[4:] + packed[:4])) % 97 == 1


def _is_name(text: str) -> bool:
    words = text.replace(",", " ").split()
    return bool(_NAME.fullmatch(text)) and all(word[0].isupper() for word in words)


def _is_number_of_something(text: str) -> bool:
    mixed = not text.isdigit() and bool(_NUMBERED.fullmatch(text)) and not _DAY.fullmatch(text)
    return (mixed and not _ZIP.fullmatch(text)) or bool(_LONG_NUMBER.fullmatch(text))


def _is_free_text(text: str) -> bool:
    return len(text) >= _LONG and len(text.split()) >= _MANY_WORDS


LOOKS: Final[tuple[Look, ...]] = (
    Look("e-mail addresses", True, lambda text: bool(_EMAIL.fullmatch(text))),
    Look("account numbers (IBAN)", True, _is_iban),
    Look("social security numbers", True, lambda text: bool(_SOCIAL.fullmatch(text))),
    Look("phone numbers", True, _is_phone),
    Look("addresses of web pages or computers", True, lambda text: bool(_ADDRESS.fullmatch(text))),
    Look("codes made to be unique", False, lambda text: bool(_CODE.fullmatch(text))),
    Look("numbers of people or cases", False, _is_number_of_something),
    Look("names of people", False, _is_name),
    Look("free text", False, _is_free_text),
)
FREE_TEXT: Final = len(LOOKS) - 1
NAMES: Final = FREE_TEXT - 1
NUMBERED: Final = FREE_TEXT - 2


class Looked(NamedTuple):
    """How many texts were looked at, and how many of them look like each of `LOOKS`."""

    n: int
    hits: tuple[int, ...]

    @property
    def share(self) -> tuple[float, ...]:
        """The share of the texts that look like each."""
        return tuple(hit / self.n if self.n else 0.0 for hit in self.hits)


def look_at(texts: Sequence[str], known: dict[str, tuple[int, ...]] | None = None) -> Looked:
    """Say what some texts look like; `known` remembers the looks that each text has, for texts that come again.

    Examples
    --------
    >>> seen = look_at(["jo@example.org", "ann@example.org"])
    >>> [look.word for look, share in zip(LOOKS, seen.share) if share]
    ['e-mail addresses']
    >>> sum(look_at(["01307", "1990-05-01", "12345-6789", "SW1A 1AA"]).hits)
    0
    """
    often = Counter(text.strip() for text in texts)  # each text is looked at once
    seen = {} if known is None or len(known) > _MOST_KNOWN else known
    hits = [0] * len(LOOKS)
    for text, n in often.items():
        if text not in seen:
            seen[text] = tuple(place for place, look in enumerate(LOOKS) if look.fits(text))
        for place in seen[text]:
            hits[place] += n
    return Looked(often.total(), tuple(hits))
