"""Uniqueness over levels: at least l records, no two of which have values of the same level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray, Json
from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured

__all__ = ["LevelUnique"]


@dataclass(frozen=True)
class LevelUnique(PrivacyModel):
    """Every class has at least `l` records, and no two of them have values of the same level.

    Stops an attacker who would gain even from knowing that all values of a class are alike. It is (l, e)-diversity
    where the levels are the nodes of a tree at depth e, and L-uniqueness where they are merged values.
    Reached is the number of records, or 0 when two of them share a level.

    Parameters
    ----------
    l
        At least 2.
    levels
        The level of each value of the domain, in code order; values with the same number are alike.

    References
    ----------
    Wang, Han, Wang and Wang, (l, e)-Diversity, 2014; L-LMSU, Definition 3.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cold", "cut")), np.array([3, 3, 3]))
    >>> LevelUnique(2, levels=(0, 0, 1)).holds(np.array([[1, 1, 0], [1, 0, 1]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "level-unique"
    monotone: ClassVar[bool] = False
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "possible"
    words: ClassVar[str] = "at least {l} records, all with values of different levels"
    measured: ClassVar[Measured] = Measured(
        "level_unique_l", "records in the smallest class when no level repeats in any class; else 0", "whole"
    )

    l: int
    levels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_integer("LevelUnique", "l", self.l, minimum=2)
        if not isinstance(self.levels, tuple) or not self.levels:
            raise ParameterError(
                "LevelUnique", "levels", "must be the level of each value, as a tuple of integers"
            ).with_hint("It has no text form: le-anatomy claims it with the levels of its tree.")
        for level in self.levels:
            check_integer("LevelUnique", "a level", level, minimum=0, maximum=len(self.levels) - 1)

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The number of records, or 0 when a level repeats."""
        by_level = self._by_level(counts)
        return np.where(by_level.max(axis=1) <= 1, by_level.sum(axis=1), 0).astype(np.float64)

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether there are l records and no level repeats."""
        by_level = self._by_level(counts)
        holds: BoolArray = (by_level.max(axis=1) <= 1) & (by_level.sum(axis=1) >= self.l)
        return holds

    @property
    def posterior(self) -> float:
        """1/l: also one value has at most 1/l of a class, because its level has."""
        return 1 / self.l

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"Every class has at least {self.l} records, all with values of {attribute!r} of different levels."

    def to_dict(self) -> dict[str, Json]:
        """The model in JSON's types."""
        return {"name": self.name, "l": self.l, "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Self:
        """Read what `to_dict` wrote."""
        said: Any = described  # not trusted: the class checks what it is given
        return cls(said["l"], tuple(said["levels"]))

    def _by_level(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Shape (classes, levels): how many records of each class have each level."""
        if counts.shape[1] != len(self.levels):
            raise ParameterError(
                "LevelUnique",
                "levels",
                f"must name one level for each of the {counts.shape[1]} values",
                got=len(self.levels),
            )
        order = np.argsort(self.levels, kind="stable")
        starts = np.flatnonzero(np.diff(np.asarray(self.levels)[order], prepend=-1))
        by_level: NDArray[np.int64] = np.add.reduceat(counts[:, order], starts, axis=1)
        return by_level
