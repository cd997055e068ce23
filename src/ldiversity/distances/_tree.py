"""How far up a tree two values meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import check_keys, listed_codes, refusing, spread
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import Hierarchy, icd_hierarchy
from ldiversity.schema import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from pathlib import Path

    from ldiversity.base.arrays import FloatArray, Scalar

__all__ = ["TreeDistance"]

_ICD: Final = "icd10cm"


@dataclass(frozen=True)
class TreeDistance(Distance):
    """Levels from two leaves up to their first common label: siblings 1, a common grandparent 2, and so on.

    Values are matched to leaves by their text. The category of missing values may be a leaf ``(missing)``. If it is
    not, its distance from everything else is the greatest one that occurs.

    Parameters
    ----------
    hierarchy
        The tree; may have more leaves than the domain has values.

    Notes
    -----
    An ultrametric: of the three distances between three values, the two greatest are equal. Two values are closer
    than d exactly when they share their label at level d - 1.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> tree = Hierarchy.from_rows([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*")])
    >>> TreeDistance(tree).matrix(Domain(("flu", "cold", "ulcer")))
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 2., 0.]])
    """

    hierarchy: Hierarchy

    kind: ClassVar[str] = "tree"
    form: ClassVar[str] = "tree:<file>, tree:icd10cm"

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Read the named file, or take the tree of ICD-10-CM (the extra `icd`)."""
        if argument == _ICD:
            from ldiversity.distances._icd import IcdDistance

            return IcdDistance()
        if not argument:
            raise ValueError(argument)
        return cls.read(base / argument)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> TreeDistance:
        """Read the hierarchy from a file of lines ``leaf;level 1;...;root``; see `Hierarchy.read`."""
        return cls(Hierarchy.read(path))

    @classmethod
    def icd(cls, codes: Domain | Iterable[Scalar]) -> TreeDistance:
        """Use the ICD-10-CM tree above `codes`; see `icd_hierarchy`. Needs the extra `icd`."""
        return cls(icd_hierarchy(codes.values if isinstance(codes, Domain) else codes))

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        codes = self._codes(domain)
        nodes = self.hierarchy.nodes[self.hierarchy.positions(domain.values[code] for code in codes)]
        levels = np.zeros((len(codes), len(codes)))
        for column in nodes.T:
            levels += column[:, None] != column
        return spread(levels, codes, len(domain))

    def to_dict(self, domain: Domain) -> dict[str, Json]:
        """Describe the tree above the values of `domain` in JSON's types."""
        kept = self.hierarchy.restrict(domain.values[code] for code in self._codes(domain))
        return {"kind": self.kind, "rows": kept.to_rows()}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> TreeDistance:
        """Read what `to_dict` wrote; the description is not trusted."""
        rows = check_keys(cls.kind, described, ["rows"])["rows"]
        with refusing(cls.kind):
            if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
                raise SchemaError("TreeDistance", "rows", "must be lists of labels")
            if len(rows) > len(domain):
                raise SchemaError("TreeDistance", f"there must be at most {len(domain)} rows", got=len(rows))
            distance = cls(Hierarchy(tuple(map(tuple, rows))))
            distance._codes(domain)
        return distance

    def _codes(self, domain: Domain) -> list[int]:
        return listed_codes("TreeDistance", domain, self.hierarchy.__contains__)
