"""The options of methods as keys of a policy, all of them read from the catalog."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from ldiversity.base.checks import name_some
from ldiversity.catalog import CATALOG, OPTIONS, MethodEntry, Option, methods_with
from ldiversity.errors import ParameterError

__all__ = ["Part", "check_method", "completed", "methods_of", "options_part"]

_Family = Literal["sets", "classes"]


class Part(BaseModel):
    """A section of a policy: frozen, and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


_TYPES: Final[Mapping[str, Any]] = {
    "integer": int,
    "number": float,
    "text": str,
    "file": str,
    "distance": str,
    "model": str,
    "switch": bool,
    "shares": dict[str, float] | list[float],
}
_EXAMPLES: Final[Mapping[str, list[str]]] = {
    "distance": ["ordered", "numeric:10", "tree:diseases.csv", "semilattice:jobs.csv", "matrix:distances.csv"],
    "model": ["frequency:3", "entropy:3"],
}


def methods_of(family: _Family) -> dict[str, MethodEntry]:
    """The methods of a family by name."""
    return {name: entry for name, entry in CATALOG.items() if entry.family == family}


def options_part(family: _Family, key: str) -> type[Part]:
    """A section with a key for every option of a family's methods; `key` is where the method is named.

    All options are allowed here, so that a file can be checked before the method is known. The JSON Schema also says
    which options each method takes, and the method refuses the others.
    """
    entries = methods_of(family)
    known = [name for name in OPTIONS if any(name in entry.options for entry in entries.values())]

    def add_rules(schema: dict[str, Any]) -> None:
        others = [name for name in schema["properties"] if name not in known]
        schema["allOf"] = [
            {
                "if": {"properties": {key: {"const": name}}, "required": [key]},
                "then": {"propertyNames": {"enum": [*others, *entry.options]}},
            }
            for name, entry in entries.items()
        ]

    class Section(Part):
        model_config = ConfigDict(json_schema_extra=add_rules)

    Section.__name__ = f"{family.capitalize()}Options"
    return completed(Section, family)


def completed(section: type[Part], family: _Family) -> type[Part]:
    """A section with all options of a family, those of methods that a program registered later included."""
    entries = methods_of(family)
    missing = [
        name
        for name in OPTIONS
        if name not in section.model_fields and any(name in entry.options for entry in entries.values())
    ]
    if not missing:
        return section
    options: dict[str, Any] = {name: _field(OPTIONS[name], entries) for name in missing}
    part: type[Part] = create_model(section.__name__, __base__=section, **options)
    return part


def check_method(key: str, name: str, family: _Family, hint: str) -> None:
    """Refuse a method that is unknown, or of the other family."""
    known = methods_of(family)
    if name not in known:
        raise ParameterError(
            "policy", key, f"must be one of {name_some(known)}", got=repr(name), hint=hint if name in CATALOG else None
        )


def _field(option: Option, entries: Mapping[str, MethodEntry]) -> tuple[Any, Any]:
    takers = [name for name in methods_with(option.name) if name in entries]
    whose = "" if len(takers) == len(entries) else f" For {', '.join(takers)}."
    kind = Literal[option.choices] if option.kind == "choice" else _TYPES[option.kind]
    if option.several:
        kind |= types.GenericAlias(list, (kind,))
    description = f"{option.help}{whose}"
    return kind | None, Field(
        default=None, ge=option.minimum, description=description, examples=_EXAMPLES.get(option.name)
    )
