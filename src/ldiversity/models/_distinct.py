"""Distinct l-diversity: every class has at least l different values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_integer
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured

__all__ = ["DistinctDiversity"]


@dataclass(frozen=True)
class DistinctDiversity(PrivacyModel):
    """Every class has at least `l` different values. Reached is the number of different values.

    Nobody who knows only the class can be certain, and l - 1 values must be ruled out first. It does not bound how
    likely the most frequent value is: 98 records of one value and 2 others satisfy l = 3.

    Parameters
    ----------
    l
        At least 2.

    Notes
    -----
    Monotone: a merged class has the values of both.

    References
    ----------
    Machanavajjhala et al., "l-diversity", 2007, Section 4.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([4, 2]))
    >>> DistinctDiversity(2).holds(np.array([[3, 0], [1, 2]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "distinct"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    fails_in_parts: ClassVar[bool] = True
    example: ClassVar[str] = "distinct:3"
    words: ClassVar[str] = "at least {l} different values"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((2,),)
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "possible"
    measured: ClassVar[Measured] = Measured("distinct_l", "different values in the least diverse class", "whole")

    l: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_integer("DistinctDiversity", "l", self.l, minimum=2))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The number of different values of each class."""
        reached: FloatArray = np.count_nonzero(counts, axis=1).astype(np.float64)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether there are l different values."""
        holds: BoolArray = np.count_nonzero(counts, axis=1) >= self.l
        return holds

    @property
    def least_records(self) -> int:
        """As many as different values."""
        return self.l

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"Every class has at least {self.l} different values of {attribute!r}."
