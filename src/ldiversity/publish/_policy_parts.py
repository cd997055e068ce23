"""The sections of a policy file; the options of methods are keys that come from the catalog."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from ldiversity.base.checks import name_some
from ldiversity.catalog import CATALOG, OPTIONS, MethodEntry, Option, methods_with
from ldiversity.errors import ParameterError

__all__ = [
    "BinsPolicy",
    "KeyPolicy",
    "MethodPolicy",
    "OutputPolicy",
    "Part",
    "SensitivePolicy",
    "TablePolicy",
    "check_method",
    "completed",
]

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
    description = f"{option.help}{whose}"
    if option.kind == "levels":
        level: Any = Annotated[int, Field(ge=option.minimum)]
        by_column = any(entry.family == "classes" for entry in entries.values())
        kind = level | dict[str, level] if by_column else level
        return kind | None, Field(default=None, description=description)
    kind = Literal[option.choices] if option.kind == "choice" else _TYPES[option.kind]
    if option.several:
        kind |= types.GenericAlias(list, (kind,))
    return kind | None, Field(
        default=None, ge=option.minimum, description=description, examples=_EXAMPLES.get(option.name)
    )


_Column = Annotated[str, Field(min_length=1, description="The name of a column.")]
_Value = str | int | float | bool

if TYPE_CHECKING:
    _SetOptions: TypeAlias = Part
    _ClassOptions: TypeAlias = Part
else:
    _SetOptions = options_part("sets", "method")
    _ClassOptions = options_part("classes", "name")


class TablePolicy(Part):
    """The roles of columns, and a table. Columns without a role are not published."""

    file: str | None = Field(
        default=None,
        min_length=1,
        description="The table, unless it is given elsewhere: CSV, TSV, JSON lines, Parquet, Arrow or Excel.",
    )
    quasi: list[_Column] = Field(
        default=[],
        description="Columns by which people might be recognized: published as they are, or as a method groups them.",
    )
    drop: list[_Column] = Field(default=[], description="Columns that name people; never published.")
    plain: list[_Column] = Field(
        default=[], description="Columns published as they are, because the holder knows that they tell nothing."
    )
    confirm: list[_Column] = Field(
        default=[],
        description="Columns published although they name people or give a sensitive value away; refused otherwise.",
    )
    types: dict[str, Literal["text", "integer", "number", "boolean", "date"]] = Field(
        default={}, description="Types of columns where the inferred one is not wanted."
    )
    sheet: Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The sheet of an Excel workbook, by name or by number from 1; the first by default."
    )
    encoding: str | None = Field(
        default=None,
        description="The character encoding of a text file; UTF-8 by default.",
        examples=["cp1252", "latin-1", "utf-16", "utf-8-sig"],
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="What stands before the decimals of numbers that are written as texts."
    )
    date_format: str | None = Field(
        default=None,
        description="How days and instants are written in texts, besides 2020-01-31.",
        examples=["dmy", "mdy", "ymd", "%d.%m.%Y"],
    )
    skip_rows: int = Field(
        default=0, ge=0, description="How many lines of a text file, or rows of a sheet, stand above the column names."
    )
    hierarchies: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default={},
        description="Hierarchies of quasi-identifiers, for methods that group records: a file, or an automatic one.",
        examples=[
            {"zip": "zip.csv", "age": "width:5/10/20", "born": "date", "ward": "prefix", "pay": "quantiles:16/4"}
        ],
    )
    publish: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default={},
        description="How coarsely a quasi-identifier is published, and from where methods generalize it further.",
        examples=[{"age": "width:5,bottom:20,top:90", "zip": "prefix:3", "born": "year", "job": "jobs.csv:2"}],
    )
    grid: Literal["exact"] | dict[str, float | str] = Field(
        default={},
        description="Where intervals may end, for methods that publish intervals: all ends are rounded outward to a "
        'step, by default about 1 % of the range. "exact" leaves the ends of a column, or of all columns, as they are.',
        examples=[{"age": 5, "born": "year", "weight": "exact"}, "exact"],
    )
    model: str | list[str] = Field(
        default=[],
        description="A promise about quasi-identifiers, for methods that do not generalize them.",
        examples=["k-anonymity:5"],
    )
    person: str | None = Field(
        default=None,
        min_length=1,
        description="The column that says whose row it is, when a person may have several; never published.",
    )


class BinsPolicy(Part):
    """How numbers are cut into bins: exactly one of width, edges and quantiles."""

    width: float | None = Field(default=None, gt=0, description="Bins of this width.")
    edges: list[float] | None = Field(default=None, min_length=2, description="Increasing edges.")
    quantiles: int | None = Field(
        default=None, ge=2, description="This many bins, with about equally many rows in each."
    )
    low: float | None = Field(default=None, description="Public lower bound, with width.")
    high: float | None = Field(default=None, description="Public upper bound, with width.")


class SensitivePolicy(_SetOptions):
    """What is said about one sensitive column, and how it is hidden unless records are grouped."""

    method: str | None = Field(
        default=None,
        description="The method's name; unless given, semantic when there is a d, else randomized-addition.",
        json_schema_extra={"enum": [*sorted(methods_of("sets")), None]},
        examples=["semantic"],
    )
    domain: list[_Value] | None = Field(
        default=None, min_length=1, description="The public values in order; may be wider than what occurs."
    )
    missing: Literal["refuse", "category", "drop"] = Field(
        default="refuse", description="What happens to rows without a value."
    )
    bins: BinsPolicy | None = Field(default=None, description="Cut a column of numbers into bins.")


class MethodPolicy(_ClassOptions):
    """The method that groups the records, for all sensitive columns together."""

    name: str = Field(
        description="The method's name.",
        json_schema_extra={"enum": [*sorted(methods_of("classes"))]},
        examples=["bsgi"],
    )


class OutputPolicy(Part):
    """Where the release goes, and in which form."""

    folder: str | None = Field(default=None, min_length=1, description="The folder of the release.")
    format: Literal["parquet", "csv"] | None = Field(
        default=None, description="How rows are stored; as the table is by default: csv for CSV and TSV, else parquet."
    )
    layout: Literal["sets", "exploded"] | None = Field(
        default=None,
        description="sets (the default): one row per record; exploded: one row per member of a record's set. "
        "Not for methods that group records, which decide their layout themselves.",
    )
    marginals: bool = Field(
        default=False,
        description="Publish how often each value of a generalized quasi-identifier occurs; for methods that group.",
    )


class KeyPolicy(Part):
    """The holder's key, which makes publishing again safe."""

    file: str | None = Field(
        default=None,
        min_length=1,
        description="A key file, made by `ldiversity key new`, unless it is given elsewhere.",
    )
    record_id: list[_Column] = Field(
        default=[], description="Columns that identify records, unless table.person says whose row it is."
    )
    stable_order: bool = Field(
        default=False,
        description="The same table gives the same bytes again. People who look alike can then be linked between "
        "releases by their places.",
    )
