"""Hierarchies of quasi-identifiers: objects, files, or made from the values of the table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ldiversity.base.checks import name_some
from ldiversity.base.typed import point_hint
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.hierarchies import Hierarchy, automatic_hierarchy
from ldiversity.tables import ColumnValues, Source, column_values

__all__ = ["HIERARCHY_FORMS", "is_automatic", "is_made", "read_hierarchies"]

HIERARCHY_FORMS: Final = (
    "a file, auto, date, prefix, prefix:3/2, width:5/10/20, width:5/10,low:0,high:119 or quantiles:16/4"
)
"""What may stand for a hierarchy."""


def _auto(column: ColumnValues, _: str, **limits: Any) -> Hierarchy:  # noqa: ANN401 - checked by it
    return automatic_hierarchy(column.values, **limits)


def _date(column: ColumnValues, _: str, **limits: Any) -> Hierarchy:  # noqa: ANN401 - same
    return Hierarchy.by_date(column.values, **limits)


def _prefix(column: ColumnValues, text: str) -> Hierarchy:
    return Hierarchy.by_prefix(column.values, [int(part) for part in text.split("/")] if text else None)


def _width(column: ColumnValues, text: str, **limits: Any) -> Hierarchy:  # noqa: ANN401 - same
    return Hierarchy.by_width(column.values, [_number(part) for part in text.split("/")], **limits)


def _quantiles(column: ColumnValues, text: str) -> Hierarchy:
    return Hierarchy.by_quantiles(column.values, [int(part) for part in text.split("/")], counts=column.counts)


_MADE: Final[Mapping[str, Callable[..., Hierarchy]]] = {
    "auto": _auto,
    "date": _date,
    "prefix": _prefix,
    "width": _width,
    "quantiles": _quantiles,
}


def is_automatic(text: str) -> bool:
    """Whether a hierarchy is made from the values, and not read from a file.

    Examples
    --------
    >>> is_automatic("width:5/10"), is_automatic("zip.csv"), is_automatic("date")
    (True, False, True)
    """
    return re.split("[:,]", text, maxsplit=1)[0].strip() in _MADE


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
    """Read or make the hierarchy of each column.

    Parameters
    ----------
    given
        By column: a hierarchy, the path of its file, or a text in one of the `HIERARCHY_FORMS`.
    source
        The table, from whose values automatic hierarchies are made.
    quasi
        The quasi-identifiers: no other column is generalized.
    folder
        Where relative paths start; the working directory when None.
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
            return Hierarchy.read(folder / (given if text is None else text))
        first, *limits = text.split(",")
        word, _, argument = (part.strip() for part in first.partition(":"))
        return _MADE[word](column_values(source, column), argument, **_limits(limits))
    except (TypeError, ValueError) as error:
        if isinstance(error, LDiversityError):
            error.about(column, f"hierarchy of {column!r}")
            raise
        raise ParameterError(
            f"hierarchy of {column!r}: it must be {HIERARCHY_FORMS}, got {given!r}.",
            hint=point_hint(str(given)) or None,
        ) from None


def _limits(texts: Sequence[str]) -> dict[str, float | str]:
    """The public range: numbers, or dates as texts."""
    pairs = [text.partition(":") for text in texts]
    return {name.strip(): limit.strip() if limit.count("-") > 1 else _number(limit) for name, _, limit in pairs}


def _number(text: str) -> float:
    return float(text) if set(text) & set(".eE") else int(text)
