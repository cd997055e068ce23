"""Hierarchies of quasi-identifiers: objects, files, or made from the values of the table."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ldiversity.base.checks import name_some
from ldiversity.base.typed import point_hint
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.hierarchies import HIERARCHY_MAKERS, Hierarchy
from ldiversity.publish._method import shorten
from ldiversity.tables import ColumnValues, Source, column_values

__all__ = ["hierarchy_forms", "is_automatic", "is_made", "read_hierarchies"]


def hierarchy_forms() -> str:
    """What may stand for a hierarchy, for messages."""
    forms = [form for maker in HIERARCHY_MAKERS.values() for form in maker.form.split(", ")]
    return f"a file, {', '.join(forms[:-1])} or {forms[-1]}"


def is_automatic(text: str) -> bool:
    """Whether a hierarchy is made from the values, and not read from a file.

    Examples
    --------
    >>> is_automatic("width:5/10"), is_automatic("zip.csv"), is_automatic("date")
    (True, False, True)
    """
    return re.split("[:,]", text, maxsplit=1)[0].strip() in HIERARCHY_MAKERS


def is_made(given: Hierarchy | str | os.PathLike[str]) -> bool:
    """Whether a hierarchy, in any form that `read_hierarchies` takes, is made from the values of the table.

    Examples
    --------
    >>> is_made("date"), is_made(Path("zip.csv"))
    (True, False)
    """
    return isinstance(given, str) and is_automatic(given.strip())


def read_hierarchies(
    given: Mapping[str, Hierarchy | str | os.PathLike[str]],
    source: Source,
    quasi: Collection[str],
    folder: Path | None = None,
) -> dict[str, Hierarchy]:
    """Read the hierarchy of each column, or make it from the values of the table.

    A hierarchy is given as an object, as the path of its file, or as a text as in `hierarchy_forms`. Only
    quasi-identifiers may have one. Relative paths start at `folder`, or at the working directory when it is None.
    """
    others = [column for column in given if column not in quasi]
    if others:
        raise ParameterError("hierarchy", "the column must be a quasi-identifier", got=repr(others[0])).with_hint(
            f"Quasi-identifiers are {name_some(quasi)}." if quasi else "There are no quasi-identifiers."
        )
    return {column: _hierarchy(column, one, source, folder or Path()) for column, one in given.items()}


def _hierarchy(column: str, given: Hierarchy | str | os.PathLike[str], source: Source, folder: Path) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    text = given.strip() if isinstance(given, str) else None
    try:
        if text is None or not is_automatic(text):
            return Hierarchy.read(shorten(folder / (given if text is None else text)))
        first, *limits = text.split(",")
        word, _, argument = (part.strip() for part in first.partition(":"))
        values: ColumnValues = column_values(source, column)
        return HIERARCHY_MAKERS[word](values.values, values.counts).make(argument, _limits(limits))
    except (TypeError, ValueError) as error:
        if isinstance(error, LDiversityError):
            error.about(column, f"hierarchy of {column!r}")
            raise
        rule = f"it must be {hierarchy_forms()}"
        hint = point_hint(str(given)) or None
        raise ParameterError(f"hierarchy of {column!r}", rule, got=repr(given), hint=hint) from None


def _limits(texts: Sequence[str]) -> dict[str, float | str]:
    """The public range: numbers, or dates as texts."""
    pairs = [text.partition(":") for text in texts]
    return {name.strip(): limit.strip() if limit.count("-") > 1 else _number(limit) for name, _, limit in pairs}


def _number(text: str) -> float:
    return float(text) if set(text) & set(".eE") else int(text)
