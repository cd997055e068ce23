"""The tree distance of ICD-10-CM codes, for a domain that is not known yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ldiversity.base.arrays import Json
from ldiversity.distances._base import Distance
from ldiversity.distances._tree import TreeDistance

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["IcdDistance"]


@dataclass(frozen=True)
class IcdDistance(Distance):
    """The tree distance in ICD-10-CM, for a domain of disease codes that is not known yet.

    A release stores it as a plain tree distance on its domain. So the release can be read without the extra `icd`,
    and keeps its meaning when the classification changes. The levels are those of `icd_hierarchy`. When the domain
    is known, `TreeDistance.icd` gives the same distance.

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

    def to_dict(self, domain: Domain) -> dict[str, Json]:
        """Describe the tree above the values of `domain` in JSON's types."""
        return TreeDistance.icd(domain).to_dict(domain)

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> TreeDistance:
        """Read what `to_dict` wrote, a tree distance; the description is not trusted."""
        return TreeDistance.from_dict(described, domain)
