"""All of a release but its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ldiversity.base.findings import Confirmed
from ldiversity.mechanisms import ClassMechanism, SetMechanism
from ldiversity.release._claims import COARSE, PEOPLE, AlikeClaim, Claim, ClassClaim, sets_not_protected
from ldiversity.release._class_limits import class_not_protected
from ldiversity.release._forms import Form
from ldiversity.schema import Schema

__all__ = ["ClassDescription", "ClassLayout", "Format", "Layout", "ReleaseDescription", "SetLayout"]

Format: TypeAlias = Literal["parquet", "csv"]
SetLayout: TypeAlias = Literal["sets", "exploded"]
"""One row per record, with a set; or one row per member of a record's set."""

ClassLayout: TypeAlias = Literal["generalized", "bucketized"]
"""Rows of a class share their quasi-identifiers, or the values of a class stand in a table of their own."""

Layout: TypeAlias = Literal["sets", "exploded", "generalized", "bucketized"]


@dataclass(frozen=True)
class ReleaseDescription:
    """All of a release of sets but its rows."""

    schema: Schema
    mechanisms: Mapping[str, SetMechanism]
    claims: tuple[Claim | AlikeClaim, ...]
    layout: SetLayout = "sets"
    forms: Mapping[str, Form] = field(default_factory=dict)
    confirmed: tuple[Confirmed, ...] = ()
    person: bool = False
    collected: bool = False

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is not protected, in plain words."""
        return sets_not_protected(self.mechanisms, coarse=_coarse(self.forms), collected=self.collected)


@dataclass(frozen=True)
class ClassDescription:
    """All of a grouped release but its rows; `Release` explains the fields.

    In the schema, a quasi-identifier has the type that its cells had before they were generalized.
    """

    schema: Schema
    mechanisms: Mapping[str, ClassMechanism]
    claims: tuple[ClassClaim, ...]
    layout: ClassLayout
    forms: Mapping[str, Form]
    class_columns: Mapping[str, str]
    suppressed: int = 0
    warnings: tuple[str, ...] = field(default=())
    confirmed: tuple[Confirmed, ...] = ()
    person: bool = False

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is not protected, in plain words."""
        said = class_not_protected(
            self.layout,
            left_out=self.suppressed > 0,
            several_records=self.person,
            records_alone=PEOPLE in self.mechanisms,
        )
        return (COARSE, *said[1:]) if self.layout == "bucketized" and _coarse(self.forms) else said


def _coarse(forms: Mapping[str, Form]) -> bool:
    return any(form.kind != "exact" for form in forms.values())
