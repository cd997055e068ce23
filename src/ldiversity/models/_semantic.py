"""(l,d)-semantic diversity of classes: every class has l values that are pairwise at least d apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray, Json, Scalar
from ldiversity.base.checks import check_integer, check_number
from ldiversity.distances import (
    DISTANCES,
    Distance,
    MatrixDistance,
    SemilatticeDistance,
    TreeDistance,
    distance_from_dict,
    parse_distance,
    place_distance,
)
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.models._apart import apart
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured
from ldiversity.schema import Domain

__all__ = ["SemanticClassDiversity"]


@dataclass(frozen=True)
class SemanticClassDiversity(PrivacyModel):
    """Every class contains `l` values that are pairwise at distance `d` or more.

    Stops an attacker who gains from knowing roughly what a value is: similar values count as one. As with
    distinct diversity, nothing bounds how often the most frequent value occurs.

    Reached is the largest number of values of the class that are pairwise at least d apart. It is exact: on orders,
    numbers and trees by one pass over the values, with proof in the module `_apart`; under other distances by one
    pass where that is exact, else by a search that refuses (`UnsupportedError`) rather than guess.

    Parameters
    ----------
    l
        At least 2.
    d
        Greater than 0.
    distance
        How far apart two values are, or its short form.

    Notes
    -----
    Monotone: a merged class has the values of both.

    References
    ----------
    (l,d)-semantic diversity, for the values of a class instead of those of a published set.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain((20, 30, 40, 50), ordered=True), np.array([3, 3, 3, 3]))
    >>> model = SemanticClassDiversity(2, 3, "ordered")
    >>> model.holds(np.array([[1, 1, 1, 0], [1, 0, 0, 1]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "semantic"
    monotone: ClassVar[bool] = True
    example: ClassVar[str] = "semantic:3:2:ordered, semantic:3:2:numeric:10 or semantic:3:2:tree:<file>"
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "possible"
    measured: ClassVar[Measured] = Measured("l_d", "values pairwise at least d apart in the worst class", "whole")

    l: int
    d: float
    distance: Distance

    def __init__(self, l: int, d: float, distance: Distance | str) -> None:
        object.__setattr__(self, "l", check_integer("SemanticClassDiversity", "l", l, minimum=2))
        object.__setattr__(self, "d", check_number("SemanticClassDiversity", "d", d, above=0))
        known = parse_distance(distance) if isinstance(distance, str) else distance
        if not isinstance(known, Distance):
            raise ParameterError("SemanticClassDiversity", "distance", "must be a distance", got=type(known).__name__)
        object.__setattr__(self, "distance", known)

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The largest number of values that are pairwise at least d apart."""
        return apart(self.distance, self.d, population.domain).count(counts).astype(np.float64)

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether l values are pairwise at least d apart."""
        holds: BoolArray = apart(self.distance, self.d, population.domain).count(counts, self.l) >= self.l
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"Every class has {self.l} values of {attribute!r} that are pairwise at least {self.d:g} apart "
            f"({self.distance.kind} distance)."
        )

    def to_dict(self) -> dict[str, Json]:
        """The model in JSON's types, with the whole distance."""
        values = _listed(self.distance)
        described = self.distance.to_dict(_own_domain(values))
        return {"name": self.name, "l": self.l, "d": self.d, "distance": described, "values": list(values)}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Self:
        """Read what `to_dict` wrote."""
        said: Any = described  # not trusted: the class checks what it is given
        domain = _own_domain(tuple(said["values"]))
        return cls(said["l"], said["d"], distance_from_dict(said["distance"], domain))

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read ``l``, ``d``, and the short form of a distance, which may have colons of its own."""
        if len(parts) < len("ld") + 1:
            raise ValueError(parts)
        return cls(**cls._named(parts[:2]), distance=parse_distance(":".join(parts[2:]), base))

    @classmethod
    def place_files(cls, parts: Sequence[str], place: Callable[[str], str]) -> Sequence[str]:
        """The file of the distance, which stands last."""
        return [*parts[:2], place_distance(":".join(parts[2:]), place)] if parts[2:] else parts


def _listed(distance: Distance) -> tuple[Scalar, ...]:
    """The values that a distance names, so that it can be described without a domain."""
    if isinstance(distance, TreeDistance):
        return distance.hierarchy.leaves
    if isinstance(distance, SemilatticeDistance):
        return distance.lattice.nodes
    if isinstance(distance, MatrixDistance):
        return distance.values
    if type(distance) is not DISTANCES.get(distance.kind):
        raise UnsupportedError(
            "SemanticClassDiversity", "this distance depends on a domain and cannot be described without it"
        ).with_hint("Use TreeDistance.icd(values) instead of tree:icd10cm.")
    return ()


def _own_domain(values: tuple[Scalar, ...]) -> Domain:
    return Domain(values, positions=(float("nan"),) * len(values))
