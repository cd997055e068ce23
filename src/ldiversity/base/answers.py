"""Answers are data: frozen values whose fields are typed all the way down.

Terminals, pages, notebooks and JSON only render an answer. This module makes its JSON document from its fields and its
`fact` properties, and its JSON Schema from their types. No answer writes either by hand.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from functools import cache
from textwrap import wrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias, get_type_hints

__all__ = [
    "BESIDE",
    "HIDDEN",
    "LAST",
    "OPTIONAL",
    "STORED",
    "Answer",
    "Document",
    "Part",
    "Scalar",
    "Unbounded",
    "document_of",
    "fact",
    "fit_screen",
    "keyed",
    "named_fact",
    "parts_of",
]

Document: TypeAlias = dict[str, Any]
"""A JSON object that is written to a file or to standard output."""

Scalar: TypeAlias = str | int | float | bool | None
"""A value in one of JSON's own types."""

Unbounded: TypeAlias = Annotated[float, "unbounded"]
"""A number that may be infinite or unknown; the document then has null."""

_KEY: Final = "key"
_LAST: Final = "last"
_STORED: Final = "stored"
_OPTIONAL: Final = "optional"
_PARTS: Final = object()
_LINES: Final = 24
_COLUMNS: Final = 100
_SHORT: Final = 300
_STICKS: Final = "\N{NO-BREAK SPACE}%"


if TYPE_CHECKING:
    fact = property
else:

    class fact(property):  # noqa: N801 - used and typed like `property`
        """A property that is part of the answer's document, like its fields."""


class named_fact:  # noqa: N801 - as above
    """A property that has another key in the document: ``@named_fact("rows")``."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __call__(self, getter: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - a property of any type
        """Make the property."""
        made: Any = fact(getter)
        made.key = self.key
        return made


def keyed(key: str) -> Mapping[str, str]:
    """Metadata of a field that has another name in the document."""
    return {_KEY: key}


BESIDE: Final[Mapping[str, object]] = {_KEY: _PARTS}
"""Metadata of a field whose parts are merged into the document."""

HIDDEN: Final[Mapping[str, object]] = {_KEY: None}
"""Metadata of a field that is not part of the document."""

LAST: Final[Mapping[str, object]] = {_LAST: True}
"""Metadata of a field of a common base that comes after the fields of the classes that extend it."""

OPTIONAL: Final[Mapping[str, object]] = {_OPTIONAL: True}
"""Metadata of a field that the document omits if it is None."""

STORED: Final[Mapping[str, object]] = {_STORED: True}
"""Metadata of a field whose value describes itself with ``to_dict``, such as a privacy model."""


class Answer:
    """The result of a call: a frozen dataclass with a document, a schema and a text that fits a screen.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True, repr=False)
    ... class Size(Answer, schema="size", version=1):
    ...     n_rows: int = field(metadata=keyed("rows"))
    ...
    ...     @fact
    ...     def empty(self) -> bool:
    ...         return not self.n_rows
    >>> Size(3).to_dict()
    {'schema': 'size', 'version': 1, 'rows': 3, 'empty': False}
    >>> Size(3)
    Size(n_rows=3)
    """

    schema: ClassVar[str]
    """The name of its JSON Schema, in ``docs/schemas``."""

    version: ClassVar[int]
    """Grows when a key of the document changes its meaning or goes away."""

    def __init_subclass__(cls, *, schema: str = "", version: int = 1, **options: Any) -> None:  # noqa: ANN401 - others'
        super().__init_subclass__(**options)
        if schema:
            cls.schema, cls.version = schema, version

    def to_dict(self) -> Document:
        """Return everything in JSON's types, as ``docs/schemas`` describes it; a number that is not finite is None."""
        return {"schema": self.schema, "version": self.version, **_object(self)}

    def __repr__(self) -> str:
        shown = (f"{one.name}={_short(getattr(self, one.name))}" for one in fields(self) if one.repr)  # type: ignore[arg-type]
        return fit_screen([f"{type(self).__name__}({', '.join(shown)})"])


@dataclass(frozen=True)
class Part:
    """One part of a dataclass's document.

    Attributes
    ----------
    owner, name
        The dataclass and its attribute.
    key
        Its key in the document; None if its parts are merged into the document.
    optional
        Whether it is omitted if it is None.
    """

    owner: type
    name: str
    key: str | None
    optional: bool = False

    @property
    def type(self) -> Any:  # noqa: ANN401 - a type
        """Its type; `dict` for a value that describes itself. Looked up late, because only the schema needs it."""
        made = inspect.getattr_static(self.owner, self.name, None)
        if isinstance(made, fact):
            return get_type_hints(made.fget, include_extras=True)["return"]
        if any(one.name == self.name and _STORED in one.metadata for one in fields(self.owner)):
            return dict
        # One annotation at a time: those of hidden fields may use names that only type checkers import.
        home = next(cls for cls in self.owner.__mro__ if self.name in inspect.get_annotations(cls))
        alone = SimpleNamespace(__annotations__={self.name: inspect.get_annotations(home)[self.name]})
        return get_type_hints(alone, vars(sys.modules[home.__module__]), include_extras=True)[self.name]


@cache
def parts_of(kind: type) -> tuple[Part, ...]:
    """Return the parts of a dataclass's document: fields first, then facts, each in the order of the class.

    Fields of a base come before those of the class, except if they are marked `LAST`.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass(kw_only=True)
    ... class Told:
    ...     table: str
    ...     notes: tuple[str, ...] = field(metadata=LAST)
    >>> @dataclass
    ... class Size(Told):
    ...     n_rows: int
    >>> [part.key for part in parts_of(Size)]
    ['table', 'n_rows', 'notes']
    """
    return tuple(_parts(kind))


def _parts(kind: type) -> Iterator[Part]:
    for each in sorted(fields(kind), key=lambda one: _LAST in one.metadata):
        key = each.metadata.get(_KEY, each.name)
        if key is not None:
            yield Part(kind, each.name, None if key is _PARTS else key, _OPTIONAL in each.metadata)
    named = {name: made for cls in reversed(kind.__mro__) for name, made in vars(cls).items()}
    yield from (Part(kind, name, getattr(made, "key", name)) for name, made in named.items() if isinstance(made, fact))


def document_of(value: Any) -> Any:  # noqa: ANN401, PLR0911 - a value of an answer, and JSON; one case for each kind
    """Return a value of an answer in JSON's types.

    A value with a ``to_dict``, such as a privacy model, describes itself.

    Examples
    --------
    >>> document_of({3: (1.5, math.inf)}), document_of(date(2026, 1, 31))
    ({'3': [1.5, None]}, '2026-01-31')
    """
    # The most frequent kinds first: an estimate may have millions of numbers.
    if value is None or type(value) in {str, int, bool}:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [document_of(part) for part in value]
    if isinstance(value, (str, int)):  # of a class of its own
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(name): document_of(part) for name, part in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict() if isinstance(value, Answer) else document_of(value.to_dict())
    if is_dataclass(value):
        return _object(value)
    if hasattr(value, "item"):  # a numpy number
        return document_of(value.item())
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)


def _object(value: Any) -> Document:  # noqa: ANN401 - a dataclass
    described: Document = {}
    for part in parts_of(value.__class__):
        made = getattr(value, part.name)
        if part.key is None:
            described |= _object(made)
        elif made is not None or not part.optional:
            described[part.key] = document_of(made)
    return described


def fit_screen(lines: list[str]) -> str:
    """Break lines at 100 columns, and keep at most 24 of them.

    Examples
    --------
    >>> print(fit_screen([f"row {number}" for number in range(30)])[-34:])
    row 21
    row 22
    ... and 7 more lines
    """
    broken = [part for line in lines for part in (_wrapped(line) if len(line) > _COLUMNS else [line])]
    if len(broken) > _LINES:
        broken = [*broken[: _LINES - 1], f"... and {len(broken) - _LINES + 1} more lines"]
    return "\n".join(broken)


def _wrapped(line: str) -> list[str]:
    # A number and its sign stay together.
    parts = wrap(line.replace(" %", _STICKS), _COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
    return [part.replace(_STICKS, " %") for part in parts]


def _short(value: object) -> str:
    # Cut a long tuple before formatting its items.
    if isinstance(value, tuple | list) and len(value) > 3:  # noqa: PLR2004 - a few
        first = ", ".join(map(_short, value[:3]))
        return f"[{first}, ... {len(value) - 3:,} more]"
    text = repr(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
