"""The kinds of distances that a release may hold, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.base.checks import name_some
from ldiversity.base.registry import Registry
from ldiversity.distances._base import Distance
from ldiversity.entries import ENTRIES
from ldiversity.errors import ReleaseFormatError

if TYPE_CHECKING:
    from ldiversity.schema import Domain

__all__ = ["DISTANCES", "distance_from_dict"]

DISTANCES: Final = Registry[type[Distance]]("distances", ENTRIES["distances"])
"""The class of each kind; a kind is never removed and never changes its meaning."""


def distance_from_dict(described: object, domain: Domain) -> Distance:
    """Read the description of any kind of distance; it is not trusted.

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
