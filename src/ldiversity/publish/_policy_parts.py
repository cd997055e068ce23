"""The sections of a policy file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from ldiversity.publish._policy_options import Part, methods_of, options_part

__all__ = ["BinsPolicy", "KeyPolicy", "MethodPolicy", "OutputPolicy", "SensitivePolicy", "TablePolicy"]

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
    types: dict[str, Literal["text", "integer", "number", "boolean", "date"]] = Field(
        default={}, description="Types of columns where the inferred one is not wanted."
    )
    hierarchies: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default={},
        description="Hierarchies of quasi-identifiers, for methods that group records: a file, or an automatic one.",
        examples=[
            {"zip": "zip.csv", "age": "width:5/10/20", "born": "date", "ward": "prefix", "pay": "quantiles:16/4"}
        ],
    )
    person: str | None = Field(
        default=None,
        min_length=1,
        description="The column that says whose row it is, when a person may have several; for methods that group.",
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
    format: Literal["parquet", "csv"] = Field(default="parquet", description="How rows are stored.")
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
    record_id: Annotated[list[_Column], Field(min_length=1, description="Columns that identify records.")]
