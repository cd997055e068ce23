"""Sentences that each face writes in its own terms.

A message that advises ``missing='drop'`` is right in Python, but a user of the command line types ``--missing drop``,
and the author of a policy writes ``missing = "drop"``. So a sentence keeps what it mentions as data. As a text it
is written for Python; another face calls `Sentence.worded` with its own spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from typing import Any, Final, Self, TypeAlias, get_args

__all__ = [
    "Listed",
    "Mention",
    "Method",
    "Named",
    "Options",
    "Owner",
    "Parameter",
    "Sentence",
    "Setting",
    "say",
    "type_word",
    "worded",
]


@dataclass(frozen=True)
class Owner:
    """The callable whose argument a sentence is about; it comes before the sentence.

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

    Parameters
    ----------
    name, value
        What is written; a pair is the value for one column, and several pairs those for several.
    python
        How Python writes it, where that is not ``name=value``.

    Examples
    --------
    >>> str(Setting("missing", "drop")), str(Setting("types", ("zip", "text"))), str(Setting("d", 2.0))
    ("missing='drop'", "types={'zip': 'text'}", 'd=2')
    >>> str(Setting("by", "age:10", python="bins('age', width=10)"))
    "bins('age', width=10)"
    >>> str(Setting("l", (("job", 3), ("pay", 2))))
    "l={'job': 3, 'pay': 2}"
    """

    name: str
    value: str | float | tuple[str, str] | tuple[tuple[str, float], ...]
    python: str | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str | float], ...]:
        """The columns and their values; empty when there is one value for all."""
        if not isinstance(self.value, tuple):
            return ()
        first, *_ = self.value
        return (self.value,) if isinstance(first, str) else self.value  # type: ignore[return-value]

    def __str__(self) -> str:
        if self.python is not None:
            return self.python
        if self.pairs:
            return f"{self.name}={{{', '.join(f'{column!r}: {value!r}' for column, value in self.pairs)}}}"
        return f"{self.name}={self.value:g}" if isinstance(self.value, float) else f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Listed:
    """A parameter with the names of columns.

    Examples
    --------
    >>> str(Listed("drop", ("name",))), str(Listed("drop", ("name", "notes")))
    ("drop='name'", "drop=['name', 'notes']")
    """

    name: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}={self.columns[0]!r}" if len(self.columns) == 1 else f"{self.name}={list(self.columns)!r}"


@dataclass(frozen=True)
class Options:
    """The parameters that something has; a face lists those that it offers.

    Examples
    --------
    >>> str(Options(("l", "overflow")))
    'l, overflow'
    """

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.names)


@dataclass(frozen=True)
class Method:
    """A method by the name of its class; the command line and policies use another name.

    Examples
    --------
    >>> str(Method("SemanticAnatomy"))
    'SemanticAnatomy'
    """

    class_name: str

    def __str__(self) -> str:
        return self.class_name


@dataclass(frozen=True)
class Named:
    """Something that has one name in Python, and another on the command line and in policies.

    Examples
    --------
    >>> str(Named("by_prefix", "prefix"))
    'by_prefix'
    """

    python: str
    text: str

    def __str__(self) -> str:
        return self.python


Mention: TypeAlias = Owner | Parameter | Setting | Listed | Options | Method | Named

_MENTIONS: Final[dict[str, Callable[..., Mention]]] = {kind.__name__: kind for kind in get_args(Mention)}


class Sentence(str):
    """A text, written for Python, that keeps what it mentions as data.

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

    def to_list(self) -> list[str | list[object]]:
        """The parts in JSON's types, from which `from_list` makes the same sentence.

        Examples
        --------
        >>> say("Use {}.", Setting("l", 3)).to_list()
        ['Use ', ['Setting', 'l', 3, None], '.']
        """
        return [part if isinstance(part, str) else [type(part).__name__, *astuple(part)] for part in self.parts]

    @classmethod
    def from_list(cls, parts: Iterable[str | list[Any]]) -> Self:
        """Make a sentence of its stored parts."""
        return cls(*(part if isinstance(part, str) else _mention(*part) for part in parts))

    def worded(self, spell: Callable[[Mention], str]) -> str:
        """The text with every mention as `spell` says it."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)


def say(template: str, *mentioned: str | Mention | float | None) -> Sentence:
    """Fill the places ``{}`` of a template; None leaves its place empty.

    Examples
    --------
    >>> say("Use {} or {}.", Setting("missing", "drop"), Method("BSGI"))
    "Use missing='drop' or BSGI."
    """
    first, *rest = template.split("{}")
    filled = ("" if part is None else f"{part}" if isinstance(part, int | float) else part for part in mentioned)
    return Sentence(first, *(piece for pair in zip(filled, rest, strict=True) for piece in pair))


_TYPE_WORDS: Final = (
    ("text", ("string", "large_string", "utf8")),
    ("integer", ("int", "uint")),
    ("number", ("double", "float", "halffloat", "decimal")),
    ("boolean", ("bool",)),
    ("date and time", ("timestamp",)),
    ("date", ("date",)),
    ("time of day", ("time",)),
)


def type_word(kind: object) -> str:
    """The type of a column in the word with which users declare it, instead of Arrow's name; others stay as they are.

    Examples
    --------
    >>> type_word("double"), type_word("date32[day]"), type_word("dictionary<values=string, indices=int8, ordered=0>")
    ('number', 'date', 'text')
    >>> type_word("list<item: int64>")
    'list<item: int64>'
    """
    name = str(kind).removeprefix("dictionary<values=")
    return next((word for word, starts in _TYPE_WORDS if name.startswith(starts)), str(kind))


def worded(text: str, spell: Callable[[Mention], str]) -> str:
    """A text as `spell` says what it mentions; one that mentions nothing stays as it is."""
    return text.worded(spell) if isinstance(text, Sentence) else text


def _mention(kind: str, *fields: object) -> Mention:
    return _MENTIONS[kind](*map(_frozen, fields))


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
