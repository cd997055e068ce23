"""All of a release but its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ldiversity.mechanisms import SetMechanism
from ldiversity.privacy import Claim
from ldiversity.schema import Schema

__all__ = ["Layout", "ReleaseDescription"]

Layout: TypeAlias = Literal["sets", "exploded"]
"""One row a record with a set, or one row a member of a record's set."""


@dataclass(frozen=True)
class ReleaseDescription:
    """All of a release but its rows."""

    schema: Schema
    mechanisms: Mapping[str, SetMechanism]
    claims: tuple[Claim, ...]
    layout: Layout = "sets"
