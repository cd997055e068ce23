"""Distances as the command line and policy files write them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldiversity.base.typed import number_text
from ldiversity.distances._registry import DISTANCES
from ldiversity.errors import LDiversityError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldiversity.distances._base import Distance

__all__ = ["distance_text", "parse_distance", "place_distance"]


def parse_distance(text: str, base: Path | None = None) -> Distance:
    """Make a distance from its short form.

    Parameters
    ----------
    text
        ``discrete``, ``ordered``, ``cyclic``, ``numeric`` or ``numeric:<unit>``, ``tree:<file>``, ``tree:icd10cm``
        (the extra `icd`), ``semilattice:<file>`` or ``matrix:<file>``; or the form of a distance from another package.
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
            if error.owner is not None and error.parameter is None:
                error.rename("distance")  # whose file it is
            raise
        raise ParameterError(
            "distance", f"it must be written {DISTANCES[kind].form}", got=repr(text), hint=_known_forms()
        ) from None


def place_distance(text: str, place: Callable[[str], str]) -> str:
    """The same short form with the name of its file, if it has one, as `place` says it.

    Examples
    --------
    >>> place_distance("tree:diseases.csv", lambda name: f"lists/{name}"), place_distance("ordered", str)
    ('tree:lists/diseases.csv', 'ordered')
    """
    kind, _, argument = text.strip().partition(":")
    forms = DISTANCES[kind].form.split(", ") if kind in DISTANCES else []
    named = argument and f"{kind}:<file>" in forms and text.strip() not in forms
    return f"{kind}:{place(argument)}" if named else text.strip()


def distance_text(distance: Distance) -> str | None:
    """The short form of a distance; None when it would have to name a file.

    Examples
    --------
    >>> from ldiversity.distances import NumericDistance, OrderedDistance
    >>> distance_text(NumericDistance(10)), distance_text(OrderedDistance())
    ('numeric:10', 'ordered')
    """
    numbers: list[object] = [getattr(distance, one.name) for one in fields(distance)] if is_dataclass(distance) else []
    own = [f"{distance.kind}:{number_text(one)}" for one in numbers if isinstance(one, int | float)]
    plain = [form for form in distance.form.split(", ") if "<" not in form]
    return next((text for text in (*plain, *own) if parse_distance(text) == distance), None)


def _known_forms() -> str:
    *others, last = [distance.form for distance in DISTANCES.values()]
    return f"Known are {', '.join(others)} and {last}."
