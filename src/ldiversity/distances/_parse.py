"""Distances as the command line and policy files write them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldiversity.distances._registry import DISTANCES
from ldiversity.errors import LDiversityError, ParameterError

if TYPE_CHECKING:
    from ldiversity.distances._base import Distance

__all__ = ["parse_distance"]


def parse_distance(text: str, base: Path | None = None) -> Distance:
    """Make a distance from its short form.

    Parameters
    ----------
    text
        ``discrete``, ``ordered``, ``numeric`` or ``numeric:<unit>``, ``tree:<file>``, ``tree:icd10cm`` (the extra
        `icd`), ``semilattice:<file>`` or ``matrix:<file>``; or the form of a distance from another package.
    base
        The folder that relative paths start from; the working directory when None.

    Raises
    ------
    ParameterError
        When the form is unknown, or the file cannot be opened.
    SchemaError
        When the file breaks a rule.

    Examples
    --------
    >>> parse_distance("numeric:10")
    NumericDistance(unit=10.0)
    """
    kind, colon, argument = text.strip().partition(":")
    if kind not in DISTANCES:
        raise ParameterError("distance", "it must start with a known kind", got=repr(text), hint=_known_forms())
    try:
        return DISTANCES[kind].from_text(argument if colon else None, base or Path())
    except ValueError as error:
        if isinstance(error, LDiversityError):
            raise
        raise ParameterError(
            "distance", f"it must be written {DISTANCES[kind].form}", got=repr(text), hint=_known_forms()
        ) from None


def _known_forms() -> str:
    *others, last = [distance.form for distance in DISTANCES.values()]
    return f"Known are {', '.join(others)} and {last}."
