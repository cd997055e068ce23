"""A fault as a JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ldiversity.base.answers import Answer
from ldiversity.errors import LDiversityError

__all__ = ["FaultDocument", "fault_text"]


@dataclass(frozen=True)
class Fault:
    """What went wrong. No field holds a cell of the source table.

    Attributes
    ----------
    kind
        The class of the error in Python; ``UsageError`` for the arguments of a command, or ``Interrupted``.
    owner
        The function or class in Python that refuses, or what breaks the rule: a file, ``table``, ``release``.
    parameter
        The name of the argument in Python, or of the option.
    column
        The column of the table.
    rule
        What must hold, or what is wrong.
    got
        What was given instead.
    message
        The whole sentence, as the command line spells its options.
    hint
        The way out.
    exit_code
        What the command returns.
    nearest
        Settings close to the one that was asked for that are possible.
    """

    kind: str
    owner: str | None
    parameter: str | None
    column: str | None
    rule: str
    got: str | None
    message: str
    hint: str | None
    exit_code: int
    nearest: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, repr=False)
class FaultDocument(Answer, schema="fault", version=1):
    """What a command prints on stdout with ``--json`` when it fails."""

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
        nearest=tuple(getattr(said, "nearest", ())),
    )
    # In ASCII, whatever the encoding of stdout: names of columns and files may hold anything.
    return json.dumps(FaultDocument(fault).to_dict(), indent=2)
