"""Who may receive a release, and under which conditions: a small TOML file that the holder writes."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from ldiversity.base.checks import name_some
from ldiversity.base.numbers import in_bytes
from ldiversity.errors import ParameterError, StorageError

__all__ = ["TEMPLATE", "Committee", "read_committee"]

Access: TypeAlias = Literal["public", "agreement", "secure room"]

_MOST_BYTES: Final = 1_000_000
_HINT: Final = "ldiversity report --committee-template prints a file to begin with."

TEMPLATE: Final = """\
# Who may receive the release, and under which conditions. The report shows what stands here, word for word.
# Delete what does not apply. Only recipient and access are needed.

recipient = "Department of Epidemiology, Example University"
# public: anyone; agreement: those who signed one; secure room: nobody takes a copy away.
access = "agreement"
purpose = "Study of readmissions after heart failure"
agreements = ["Data use agreement of 2 March 2026: no attempt to recognize anybody, no copies to others"]
safeguards = ["Encrypted storage", "Named analysts only"]
decided_by = "Data access committee"
contact = "privacy@example.org"
review_date = 2027-03-01
"""
"""A file to begin with."""


@dataclass(frozen=True)
class Committee:
    """Who may receive a release, and under which conditions, in the holder's words.

    Attributes
    ----------
    recipient
        Who may receive it.
    access
        ``public``: anyone; ``agreement``: those who signed one; ``secure room``: nobody takes a copy away.
    purpose
        What for.
    agreements, safeguards
        What recipients agreed to, and what protects the data at their place.
    decided_by, contact
        Who decided, and whom to ask.
    review_date
        When the decision is looked at again: year-month-day; empty when that is not said.
    """

    recipient: str
    access: Access
    purpose: str = ""
    agreements: tuple[str, ...] = ()
    safeguards: tuple[str, ...] = ()
    decided_by: str = ""
    contact: str = ""
    review_date: str = ""


def read_committee(given: str | os.PathLike[str] | Mapping[str, object] | Committee | None) -> Committee | None:
    """Read who may receive a release: from a TOML file, from its content, or as it is.

    Raises
    ------
    StorageError
        When the file cannot be read.
    ParameterError
        When it is not TOML, or a key breaks its rule; names the key.

    Examples
    --------
    >>> read_committee({"recipient": "Example University", "access": "agreement"}).access
    'agreement'
    """
    if given is None or isinstance(given, Committee):
        return given
    said = given if isinstance(given, Mapping) else _content(Path(given))
    known = {one.name: one for one in fields(Committee)}
    unknown = [key for key in said if key not in known]
    if unknown:
        rule = f"has no key {unknown[0]!r}; its keys are {name_some(known, most=len(known))}"
        raise ParameterError("committee", rule, hint=_HINT)
    for name, one in known.items():
        if one.default is MISSING and name not in said:
            raise ParameterError("committee", name, "must be given", hint=_HINT)
    if said["recipient"] == tomllib.loads(TEMPLATE)["recipient"]:
        rule = "must name who receives the release; it is still that of the template"
        raise ParameterError("committee", "recipient", rule, hint="Change every line of the template, or delete it.")
    return Committee(**{name: _checked(name, value) for name, value in said.items()})  # type: ignore[arg-type]


def _content(file: Path) -> Mapping[str, object]:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise StorageError("committee", f"file {str(file)!r} cannot be read: {error.strerror}", hint=_HINT) from None
    if len(content) > _MOST_BYTES:
        raise ParameterError("committee", f"file {str(file)!r} must be at most {in_bytes(_MOST_BYTES)} long")
    try:
        return cast("Mapping[str, object]", tomllib.loads(content.decode("utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not in UTF-8"
        raise ParameterError("committee", f"file {str(file)!r} must be TOML: {why}", hint=_HINT) from None


def _checked(name: str, value: object) -> str | tuple[str, ...]:
    if name == "review_date":
        return _day(value)
    if name == "access" and value not in get_args(Access):
        listed = ", ".join(repr(one) for one in get_args(Access))
        raise ParameterError("committee", name, f"must be one of {listed}", got=repr(value))
    if name in {"agreements", "safeguards"}:
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise ParameterError("committee", name, "must be a list of texts", got=type(value).__name__)
        return tuple(" ".join(one.split()) for one in value)
    if not isinstance(value, str) or (name == "recipient" and not value.strip()):
        raise ParameterError("committee", name, "must be a text that is not empty", got=type(value).__name__)
    return " ".join(value.split())


def _day(value: object) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else _no_day(value)
    except ValueError:
        return _no_day(value)


def _no_day(value: object) -> str:
    raise ParameterError("committee", "review_date", "must be a day such as 2027-03-01", got=repr(value))
