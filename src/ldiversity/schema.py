"""The roles of a table's columns, and the public domain of each sensitive attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from ldiversity.base.arrays import Json, Scalar
from ldiversity.base.checks import did_you_mean, name_some
from ldiversity.errors import SchemaError

__all__ = ["EXACT_POSITION", "MISSING_LABEL", "Attribute", "Domain", "Dtype", "Role", "Schema", "label_text"]

MISSING_LABEL: Final = "(missing)"
"""How the category of missing values is shown to people."""

EXACT_POSITION: Final = 2**52
"""Floats hold every integer up to 2**53, so also every difference of two integers up to this one."""

_EMPTY_LABEL: Final = "(empty text)"


def label_text(value: object) -> str:
    """Write a label for people, also that of what is missing, and of a text without a letter.

    Examples
    --------
    >>> label_text(None), label_text(" "), label_text(3)
    ('(missing)', '(empty text)', '3')
    """
    text = MISSING_LABEL if value is None else str(value)
    return text if text.strip() else _EMPTY_LABEL


class Role(StrEnum):
    """How a column is treated when the table is published."""

    IDENTIFIER = "identifier"
    """Names a person. Never published."""
    QUASI = "quasi"
    """Could be combined with other sources to find a person. Published; not protected."""
    SENSITIVE = "sensitive"
    """What nobody may learn about one person."""
    PLAIN = "plain"
    """None of these; published unchanged, on the holder's responsibility."""


@dataclass(frozen=True)
class Domain:
    """The public values of a sensitive attribute, in code order.

    The domain is published. It may be wider than what occurs in the table. Declare it when the mere occurrence
    of a value would reveal something.

    Parameters
    ----------
    values
        Distinct values; the position of a value is its code. ``None`` is the category of missing values.
    ordered
        Whether the code order means something (numbers, bins, a declared order).
    positions
        A number for each value, for numeric distances: the value itself, or the middle of its bin.
        NaN where a value has none.
    edges
        For binned numbers, the ``len(values) + 1`` edges; a bin holds ``low <= x < high`` and the last one
        also holds its upper edge.

    Examples
    --------
    >>> Domain(values=("flu", "cold")).code_of["cold"]
    1
    """

    values: tuple[Scalar, ...]
    ordered: bool = False
    positions: tuple[float, ...] | None = None
    edges: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        repeated = [value for value, count in Counter(map(_key, self.values)).items() if count > 1]
        if repeated:
            raise SchemaError(
                "Domain", "values", "must be distinct", got=f"{len(repeated)} repeated", hint="List each value once."
            )
        if self.positions is not None and len(self.positions) != len(self.values):
            raise SchemaError("Domain", "positions", "must give one number for each value")
        if self.edges is not None and any(not low < high for low, high in pairwise(self.edges)):
            raise SchemaError("Domain", "edges", "must be strictly increasing")

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def code_of(self) -> Mapping[Scalar, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values as texts for people."""
        return tuple(MISSING_LABEL if value is None else str(value) for value in self.values)

    @cached_property
    def has_exact_positions(self) -> bool:
        """Whether integers and their differences are exact as positions, as up to `EXACT_POSITION`."""
        return all(not abs(place) > EXACT_POSITION for place in self.positions or ())  # NaN is no number

    def to_dict(self) -> dict[str, Json]:
        """Describe the domain in JSON's types."""
        described: dict[str, Json] = {"values": list(self.values), "ordered": self.ordered}
        if self.positions is not None:
            described["positions"] = [None if p != p else p for p in self.positions]  # noqa: PLR0124 - NaN
        if self.edges is not None:
            described["edges"] = list(self.edges)
        return described

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Domain:
        """Read what `to_dict` wrote."""
        said: Any = described  # not trusted: the class checks what it is given
        positions, edges = said.get("positions"), said.get("edges")
        return cls(
            values=tuple(said["values"]),
            ordered=bool(said.get("ordered", False)),
            positions=None if positions is None else tuple(float("nan") if p is None else p for p in positions),
            edges=None if edges is None else tuple(edges),
        )


Dtype: TypeAlias = Literal["category", "ordered", "nullable", "arrow", "object"]
"""What the frame of the source says of a column besides its Arrow type."""


@dataclass(frozen=True)
class Attribute:
    """One column: its name, its role and its type.

    `type` is the Arrow type of a published cell as text (``"int64"``, ``"string"``); for a sensitive attribute, that
    of one member of the set. Only sensitive attributes have a `domain`.

    `dtype` says what the Arrow type does not: the column of the source's frame was a ``category``, one with an order
    (``ordered``, of which `categories` has the texts), or of pandas' ``nullable`` types, of its types from ``arrow``,
    or held texts as ``object``.
    """

    name: str
    role: Role
    type: str
    domain: Domain | None = None
    dtype: Dtype | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Examples
    --------
    >>> schema = Schema((Attribute("age", Role.QUASI, "int64"), Attribute("disease", Role.SENSITIVE, "string")))
    >>> schema.names(Role.QUASI)
    ('age',)
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        repeated = [name for name, count in Counter(a.name for a in self.attributes).items() if count > 1]
        if repeated:
            raise SchemaError(
                "table", "column names must be distinct", got=f"{name_some(repeated)} more than once"
            ).with_hint("Rename the columns so that each name occurs once.")

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        near = did_you_mean(name, self.names())
        raise SchemaError(
            "table", "does not exist", column=name, hint=near or f"The columns are {name_some(self.names())}."
        )

    def names(self, *roles: Role) -> tuple[str, ...]:
        """The names of the columns with one of these roles; of all columns when no role is given."""
        return tuple(a.name for a in self.attributes if not roles or a.role in roles)

    def domain(self, name: str) -> Domain:
        """The public domain of a sensitive attribute."""
        domain = self[name].domain
        if domain is None:
            named = self.names(Role.SENSITIVE)
            hint = f"The sensitive columns are {name_some(named)}." if named else "No column is sensitive."
            raise SchemaError("table", "is not sensitive", column=name, hint=hint)
        return domain


def _key(value: Scalar) -> tuple[str, Scalar]:
    # 1, 1.0 and True are equal in Python, so in a domain they would be one value twice. That is refused.
    return ("number" if isinstance(value, bool | int | float) else "other", value)
