"""Distances as the command line and policy files write them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ldiversity.distances._discrete import DiscreteDistance
from ldiversity.distances._icd import IcdDistance
from ldiversity.distances._matrix import MatrixDistance
from ldiversity.distances._numeric import NumericDistance
from ldiversity.distances._ordered import OrderedDistance
from ldiversity.distances._semilattice import SemilatticeDistance
from ldiversity.distances._tree import TreeDistance
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ldiversity.distances._base import Distance

__all__ = ["parse_distance"]

_PLAIN: Final[Mapping[str, Callable[[], Distance]]] = {
    "discrete": DiscreteDistance,
    "ordered": OrderedDistance,
}
_FILES: Final[Mapping[str, Callable[[Path], Distance]]] = {
    "tree": TreeDistance.read,
    "semilattice": SemilatticeDistance.read,
    "matrix": MatrixDistance.read,
}
_ICD: Final = "icd10cm"
_HINT: Final = (
    "Known are discrete, ordered, numeric:<unit>, tree:<file>, tree:icd10cm, semilattice:<file> and matrix:<file>."
)


def parse_distance(text: str, base: Path | None = None) -> Distance:
    """Make a distance from its short form.

    Parameters
    ----------
    text
        ``discrete``, ``ordered``, ``numeric`` or ``numeric:<unit>``, ``tree:<file>``, ``tree:icd10cm`` (the
        extra `icd`), ``semilattice:<file>`` or ``matrix:<file>``.
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
    if kind in _PLAIN and not colon:
        return _PLAIN[kind]()
    if kind == "numeric":
        return NumericDistance(_unit(text, argument)) if colon else NumericDistance()
    if kind == "tree" and argument == _ICD:
        return IcdDistance()
    if kind in _FILES and argument:
        return _FILES[kind](Path(argument) if base is None else base / argument)
    if kind in _FILES:
        raise ParameterError("distance", f"{kind!r} must name its file, as {kind}:<file>", got=repr(text), hint=_HINT)
    if kind in _PLAIN:
        raise ParameterError("distance", f"{kind!r} must stand alone", got=repr(text), hint=_HINT)
    raise ParameterError("distance", "it must start with a known kind", got=repr(text), hint=_HINT)


def _unit(text: str, argument: str) -> float:
    try:
        return float(argument)
    except ValueError as error:
        raise ParameterError("distance", "the unit must be a number", got=repr(text), hint=_HINT) from error
