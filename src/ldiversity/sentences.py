"""Sentences that every face can say in its own words.

A message that advises ``missing='drop'`` is right in Python, but a user of the command line types ``--missing drop``,
and the author of a policy writes ``missing = "drop"``. So a sentence keeps what it mentions as data. It is a text in
Python's words; a face that has other words asks for them with `Sentence.worded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self, TypeAlias

__all__ = ["Mention", "Named", "Owner", "Parameter", "Sentence", "Setting", "listed", "say", "worded"]


@dataclass(frozen=True)
class Owner:
    """The callable whose argument a sentence is about; it stands before the sentence.

    Examples
    --------
    >>> str(Owner("BSGI"))
    'BSGI: '
    """

    name: str

    def __str__(self) -> str:
        return f"{self.name}: "


@dataclass(frozen=True)
class Parameter:
    """A parameter, which is an option on the command line and a key in a policy.

    Examples
    --------
    >>> str(Parameter("record_id"))
    'record_id'
    """

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Setting:
    """A parameter with a value.

    Examples
    --------
    >>> str(Setting("missing", "drop")), str(Setting("types", ("zip", "text")))
    ("missing='drop'", "types={'zip': 'text'}")
    """

    name: str
    value: str | float | tuple[str, str]
    """A pair is the value for one column."""

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return f"{self.name}={{{self.value[0]!r}: {self.value[1]!r}}}"
        return f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Named:
    """Something with a name in Python and another where names are typed, such as a method.

    Examples
    --------
    >>> str(Named("RandomizedAddition", "randomized-addition"))
    'RandomizedAddition'
    """

    python: str
    text: str

    def __str__(self) -> str:
        return self.python


Mention: TypeAlias = Owner | Parameter | Setting | Named


class Sentence(str):
    """A text in Python's words that knows what it mentions.

    Parameters
    ----------
    parts
        Texts, mentions and other sentences, in their order.

    Examples
    --------
    >>> advice = Sentence("Use ", Setting("l", 3), ".")
    >>> advice
    'Use l=3.'
    >>> advice.worded(lambda mention: "-l 3")
    'Use -l 3.'
    """

    __slots__ = ("parts",)
    parts: tuple[str | Mention, ...]

    def __new__(cls, *parts: str | Mention) -> Self:
        """Join the parts."""
        flat = tuple(piece for part in parts for piece in (part.parts if isinstance(part, Sentence) else (part,)))
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = flat
        return made

    def __getnewargs__(self) -> tuple[str | Mention, ...]:  # type: ignore[override]
        return self.parts

    def worded(self, spell: Callable[[Mention], str]) -> str:
        """The text with every mention as `spell` says it."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)


def say(template: str, *mentioned: str | Mention | int | None) -> Sentence:
    """Fill the places ``{}`` of a template; None leaves its place empty.

    Examples
    --------
    >>> say("Use {} or {}.", Setting("missing", "drop"), Named("BSGI", "bsgi"))
    "Use missing='drop' or BSGI."
    """
    first, *rest = template.split("{}")
    filled = (part if isinstance(part, Mention) else "" if part is None else _text(part) for part in mentioned)
    return Sentence(first, *(piece for pair in zip(filled, rest, strict=True) for piece in pair))


def listed(mentions: Iterable[str | Mention], last: str = ", ") -> Sentence:
    """Mentions separated by commas.

    Examples
    --------
    >>> listed([Parameter("l"), Parameter("model")], " and ")
    'l and model'
    """
    several = list(mentions)
    marks = [*[", "] * (len(several) - 2), last, ""][-len(several) :]
    return Sentence(*(piece for pair in zip(several, marks, strict=True) for piece in pair))


def worded(text: str, spell: Callable[[Mention], str]) -> str:
    """A text as `spell` says what it mentions; one that mentions nothing stays as it is."""
    return text.worded(spell) if isinstance(text, Sentence) else text


def _text(part: object) -> str:
    return part if isinstance(part, str) else str(part)
