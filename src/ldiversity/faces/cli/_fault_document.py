"""A fault as a JSON document, and its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ldiversity.errors import LDiversityError

__all__ = ["fault_schema", "fault_text"]


@dataclass(frozen=True)
class Fault:
    """What went wrong. No field holds a cell of the source table."""

    kind: str
    """The class of the error in Python; ``UsageError`` for the words of a command, or ``Interrupted``."""

    owner: str | None
    """The function or class in Python that refuses, or what breaks the rule: a file, ``table``, ``release``."""

    parameter: str | None
    """The name of the argument in Python, or of the option."""

    column: str | None
    """The column of the table."""

    rule: str
    """What must hold, or what is wrong."""

    got: str | None
    """What was given instead."""

    message: str
    """The whole sentence, in the words of the command line."""

    hint: str | None
    """The way out."""

    exit_code: int
    """What the command returns."""

    nearest: list[dict[str, float]] = field(default_factory=list)
    """Settings close to the one that was asked for that are possible."""


@dataclass(frozen=True)
class FaultDocument:
    """What a command prints on stdout with ``--json`` when it fails."""

    schema: Literal["fault"]
    version: Literal[1]
    fault: Fault


def fault_text(said: LDiversityError, kind: str, exit_code: int, in_words: Callable[[str], str]) -> str:
    """The JSON document of an error."""
    fault = Fault(
        kind=kind,
        owner=said.owner,
        parameter=said.parameter,
        column=said.column,
        rule=in_words(said.rule),
        got=said.got,
        message=in_words(said.message),
        hint=said.hint and in_words(said.hint),
        exit_code=exit_code,
        nearest=[{name: float(value) for name, value in goal.items()} for goal in getattr(said, "nearest", [])],
    )
    # In ASCII, whatever the encoding of stdout: names of columns and files may hold anything.
    return json.dumps(asdict(FaultDocument("fault", 1, fault)), indent=2, ensure_ascii=True)


def fault_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    from pydantic import TypeAdapter

    return TypeAdapter(FaultDocument).json_schema()
