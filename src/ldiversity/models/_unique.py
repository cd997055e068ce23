"""Unique-distinct l-diversity: at least l records, no two of which have the same value."""

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

__all__ = ["UniqueDiversity"]


@dataclass(frozen=True)
class UniqueDiversity(PrivacyModel):
    """Every class has at least `l` records, and no two of them have the same value.

    Reached is the number of records, or 0 when two of them have the same value.

    Parameters
    ----------
    l
        At least 2.

    References
    ----------
    BSGI, Definition 2, read with frequency: each value occurs once.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([3, 3]))
    >>> UniqueDiversity(2).holds(np.array([[2, 2], [1, 1]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "unique"
    monotone: ClassVar[bool] = False
    only_counts: ClassVar[bool] = True
    example: ClassVar[str] = "unique:3"
    words: ClassVar[str] = "at least {l} records, all with different values"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((2,),)
    shares_decide: ClassVar[bool] = True
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "possible"
    measured: ClassVar[Measured] = Measured(
        "unique_l", "records in the smallest class when no value repeats in any class; else 0", "whole"
    )

    l: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_integer("UniqueDiversity", "l", self.l, minimum=2))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The number of records, or 0 when a value repeats."""
        return np.where(counts.max(axis=1) <= 1, counts.sum(axis=1), 0).astype(np.float64)

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether there are l records and no value repeats."""
        holds: BoolArray = (counts.max(axis=1) <= 1) & (counts.sum(axis=1) >= self.l)
        return holds

    @property
    def posterior(self) -> float:
        """1/l."""
        return 1 / self.l

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"Every class has at least {self.l} records, all with different values of {attribute!r}."
