"""The tree distance of ICD-10-CM codes, whatever codes a domain turns out to have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ldiversity.distances._base import Distance
from ldiversity.distances._tree import TreeDistance

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["IcdDistance"]


@dataclass(frozen=True)
class IcdDistance(Distance):
    """The tree distance in ICD-10-CM, for a domain of disease codes that is not known yet.

    It describes itself as the tree distance that it is on its domain, so that a release can be read without
    the extra `icd`, and means the same when the classification changes. The levels are those of
    `icd_hierarchy`; where the domain is at hand, `TreeDistance.icd` is the same.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> IcdDistance().matrix(Domain(("E11.9", "E11.8", "B20")))
    array([[0., 1., 4.],
           [1., 0., 4.],
           [4., 4., 0.]])
    """

    kind: ClassVar[str] = TreeDistance.kind
    form: ClassVar[str] = "tree:icd10cm"

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        return TreeDistance.icd(domain).matrix(domain)

    def to_dict(self, domain: Domain) -> dict[str, Any]:
        """Describe the tree above the values of `domain` in JSON's types."""
        return TreeDistance.icd(domain).to_dict(domain)

    @classmethod
    def from_dict(cls, described: dict[str, Any], domain: Domain) -> TreeDistance:
        """Read what `to_dict` wrote, by a stranger: a tree distance."""
        return TreeDistance.from_dict(described, domain)
