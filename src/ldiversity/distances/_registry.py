"""Kinds of distances by name: those that a release may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.base.checks import name_some
from ldiversity.distances._discrete import DiscreteDistance
from ldiversity.distances._matrix import MatrixDistance
from ldiversity.distances._numeric import NumericDistance
from ldiversity.distances._ordered import OrderedDistance
from ldiversity.distances._semilattice import SemilatticeDistance
from ldiversity.distances._tree import TreeDistance
from ldiversity.errors import ReleaseFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ldiversity.distances._base import Distance
    from ldiversity.schema import Domain

__all__ = ["DISTANCES", "distance_from_dict"]

DISTANCES: Final[Mapping[str, type[Distance]]] = {
    distance.kind: distance
    for distance in (
        DiscreteDistance,
        OrderedDistance,
        NumericDistance,
        TreeDistance,
        SemilatticeDistance,
        MatrixDistance,
    )
}
"""The class of each kind; a kind is never removed and never changes its meaning."""


def distance_from_dict(described: object, domain: Domain) -> Distance:
    """Read the description of any kind of distance, written by a stranger.

    Raises
    ------
    ReleaseFormatError
        When it is damaged, or of an unknown kind.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> distance_from_dict({"kind": "numeric", "unit": 5.0}, Domain((1, 2), positions=(1, 2)))
    NumericDistance(unit=5.0)
    """
    kind: Any = described.get("kind") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(kind, str) or kind not in DISTANCES:
        raise ReleaseFormatError(
            "release", f"a distance must be an object of a known kind ({name_some(DISTANCES)})"
        ).with_hint("The release may come from a newer version of this package.")
    return DISTANCES[kind].from_dict(described, domain)
