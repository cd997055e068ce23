"""How far up two values meet when a node may have several parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import check_keys, listed_codes, refusing, spread
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import SemiLattice

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["SemilatticeDistance"]


@dataclass(frozen=True)
class SemilatticeDistance(Distance):
    """Levels up to the nearest common ancestor: siblings 1, a common grandparent 2, and so on.

    For each common ancestor, take the longer of the two shortest ways up to it; the distance is the least of these.
    Values are matched to nodes by their text. The category of missing values may be a node ``(missing)``. If it is
    not, its distance from everything else is the greatest one that occurs.

    Parameters
    ----------
    lattice
        The semilattice; may have more nodes than the domain has values.

    Notes
    -----
    Not always a metric: a may share a parent with b, and b another parent with c, while a and c meet only far above.
    (l, d)-semantic diversity does not need the triangle inequality.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> lattice = SemiLattice.from_edges([("1", "1-2"), ("2", "1-2"), ("2", "2-3"), ("3", "2-3")])
    >>> SemilatticeDistance(lattice).matrix(Domain((1, 2, 3)))
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """

    lattice: SemiLattice

    kind: ClassVar[str] = "semilattice"
    form: ClassVar[str] = "semilattice:<file>"

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Read the named file."""
        if not argument:
            raise ValueError(argument)
        return cls.read(base / argument)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> SemilatticeDistance:
        """Read the semilattice from a file of lines ``child;parent``; see `SemiLattice.read`."""
        return cls(SemiLattice.read(path))

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        codes = self._codes(domain)
        values = [domain.values[code] for code in codes]
        above = self.lattice.restrict(values)
        return spread(_meeting_heights(above, above.positions(values)), codes, len(domain))

    def to_dict(self, domain: Domain) -> dict[str, Json]:
        """Describe the semilattice above the values of `domain` in JSON's types."""
        kept = self.lattice.restrict(domain.values[code] for code in self._codes(domain))
        return {"kind": self.kind, "parents": {node: list(above) for node, above in kept.parents}}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> SemilatticeDistance:
        """Read what `to_dict` wrote; the description is not trusted."""
        parents = check_keys(cls.kind, described, ["parents"])["parents"]
        with refusing(cls.kind):
            if not isinstance(parents, dict) or not all(isinstance(above, list) for above in parents.values()):
                raise SchemaError("SemilatticeDistance", "parents", "must be lists of nodes")
            distance = cls(SemiLattice(tuple((node, tuple(above)) for node, above in parents.items())))
            distance._codes(domain)
        return distance

    def _codes(self, domain: Domain) -> list[int]:
        return listed_codes("SemilatticeDistance", domain, self.lattice.__contains__)


def _meeting_heights(lattice: SemiLattice, values: NDArray[np.intp]) -> FloatArray:
    """Climb from all values at once; two have met when one reaches a node that the other has reached before.

    The loop ends, because all of them meet at the root after at most as many steps as there are nodes.
    """
    from scipy import sparse

    n_values, n_nodes = len(values), len(lattice)
    child, parent = lattice.edges.T
    up = sparse.csr_array((np.ones(len(child), np.float32), (child, parent)), shape=(n_nodes, n_nodes))
    reached = np.zeros((n_nodes, n_values), dtype=np.float32)
    heights = np.full((n_values, n_values), np.nan)
    climbers: NDArray[np.integer] = np.arange(n_values)
    places: NDArray[np.integer] = values
    for height in range(n_nodes):
        reached[places, climbers] = 1.0
        new = sparse.csr_array((np.ones(len(places), np.float32), (climbers, places)), shape=(n_values, n_nodes))
        met = (new @ reached) > 0
        heights[np.isnan(heights) & (met | met.T)] = height
        if not np.isnan(heights).any():
            break
        climbers, places = (new @ up).nonzero()
        fresh = reached[places, climbers] == 0
        climbers, places = climbers[fresh], places[fresh]
    return heights
