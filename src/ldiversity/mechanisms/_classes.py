"""How records were grouped into classes: the public description of a grouping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ldiversity.base.arrays import Json
from ldiversity.errors import ReleaseFormatError

__all__ = ["ClassMechanism"]


@dataclass(frozen=True)
class ClassMechanism:
    """Records were grouped; within a class, nothing says which value belongs to whom.

    `parameters` and `facts` are public, in JSON's types: what was asked for, and how it went. `blind` says that classes
    were formed without looking at quasi-identifiers. Then it is pure chance which records with the same values share a
    class, and an unbiased estimate exists.

    Examples
    --------
    >>> ClassMechanism("anatomy", {"l": 3}, blind=True).to_dict()["kind"]
    'classes'
    """

    kind: ClassVar[str] = "classes"
    version: ClassVar[int] = 1

    method: str
    parameters: Mapping[str, Json] = field(default_factory=dict)
    blind: bool = False
    facts: Mapping[str, Json] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Json]:
        """Describe the grouping in JSON's types."""
        return {
            "kind": self.kind,
            "version": self.version,
            "method": self.method,
            "parameters": dict(self.parameters),
            "blind": self.blind,
            "facts": dict(self.facts),
        }

    @classmethod
    def from_dict(cls, described: object) -> ClassMechanism:
        """Read what `to_dict` wrote; the description is not trusted."""
        if (
            not isinstance(described, dict)
            or (described.get("kind"), described.get("version")) != (cls.kind, cls.version)
            or not isinstance(described.get("method"), str)
            or not isinstance(described.get("blind"), bool)
            or not all(isinstance(described.get(name), dict) for name in ("parameters", "facts"))
        ):
            raise ReleaseFormatError(
                "release", f"mechanism must be of kind {cls.kind!r} and version {cls.version}, and complete"
            ).with_hint("The release is damaged, or comes from a newer version of this package.")
        return cls(described["method"], described["parameters"], described["blind"], described["facts"])
