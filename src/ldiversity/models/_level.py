"""(l,e)-diversity: the values of every class lie under at least l nodes at depth e of a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray, Json
from ldiversity.base.checks import check_integer
from ldiversity.distances import TreeDistance
from ldiversity.errors import ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.models._apart import Apart, apart
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured

__all__ = ["LevelDiversity"]


@dataclass(frozen=True)
class LevelDiversity(PrivacyModel):
    """Every class has values under at least `l` different nodes at depth `e` of a tree.

    Values under one node count as one. Reached is the number of nodes. The missing category, where the tree does not
    list it, counts as a node of its own.

    Parameters
    ----------
    l
        At least 2.
    e
        The depth, from 1 (the children of the root) to that of the leaves.
    hierarchy
        A tree with a leaf for each value.

    Notes
    -----
    Monotone: a merged class has the values of both.

    References
    ----------
    Wang, Han, Wang and Wang, "(l, e)-diversity", 2014.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> tree = Hierarchy.from_rows([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*")])
    >>> everyone = Population(Domain(("flu", "cold", "ulcer")), np.array([3, 3, 3]))
    >>> LevelDiversity(2, 1, tree).holds(np.array([[1, 1, 0], [1, 0, 1]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "level"
    monotone: ClassVar[bool] = True
    example: ClassVar[str] = "level:3:1:<file of the tree>"
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "possible"
    measured: ClassVar[Measured] = Measured("l_e", "different nodes at depth e of the tree in the worst class", "whole")

    l: int
    e: int
    hierarchy: Hierarchy

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_integer("LevelDiversity", "l", self.l, minimum=2))
        if not isinstance(self.hierarchy, Hierarchy):
            raise ParameterError(
                "LevelDiversity", "hierarchy", "must be a Hierarchy", hint="Hierarchy.read reads a file."
            )
        deepest = max(self.hierarchy.depth - 1, 1)
        object.__setattr__(self, "e", check_integer("LevelDiversity", "e", self.e, minimum=1, maximum=deepest))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The number of different nodes at depth e."""
        return self._apart(population).count(counts).astype(np.float64)

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether there are l different nodes at depth e."""
        holds: BoolArray = self._apart(population).count(counts, self.l) >= self.l
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"Every class has values of {attribute!r} under {self.l} different nodes at depth {self.e} of their tree."
        )

    def to_dict(self) -> dict[str, Json]:
        """The model in JSON's types, with the rows of the tree."""
        return {"name": self.name, "l": self.l, "e": self.e, "hierarchy": self.hierarchy.to_rows()}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Self:
        """Read what `to_dict` wrote."""
        said: Any = described  # not trusted: the class checks what it is given
        return cls(said["l"], said["e"], Hierarchy(tuple(tuple(row) for row in said["hierarchy"])))

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read ``l``, ``e``, and the file of the tree."""
        if len(parts) < len("le") + 1:
            raise ValueError(parts)
        file = Path(":".join(parts[2:]))  # a path may have colons of its own
        return cls(**cls._named(parts[:2]), hierarchy=Hierarchy.read(file if base is None else base / file))

    @classmethod
    def place_files(cls, parts: Sequence[str], place: Callable[[str], str]) -> Sequence[str]:
        """The file stands last."""
        return [*parts[:2], place(":".join(parts[2:]))] if parts[2:] else parts

    @cached_property
    def _distance(self) -> TreeDistance:
        return TreeDistance(self.hierarchy)

    def _apart(self, population: Population) -> Apart:
        """Leaves under different nodes at depth e meet above it: at a level of more than height - e."""
        return apart(self._distance, self.hierarchy.depth - self.e, population.domain)
