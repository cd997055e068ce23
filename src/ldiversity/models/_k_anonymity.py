"""k-anonymity: every class has at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_integer
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least `k` records. Reached is the size of the class.

    Nobody can tell which of k records is a person's. It says nothing about sensitive values: k records that all have
    the same value satisfy it, and give that value away.

    Parameters
    ----------
    k
        At least 2.

    Notes
    -----
    Monotone: sizes add up.

    References
    ----------
    Sweeney, "k-anonymity: a model for protecting privacy", 2002.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([4, 2]))
    >>> KAnonymity(3).holds(np.array([[3, 0], [1, 1]]), everyone).tolist()
    [True, False]
    """

    name: ClassVar[str] = "k-anonymity"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    fails_in_parts: ClassVar[bool] = True
    scale: ClassVar[str] = "k"
    example: ClassVar[str] = "k-anonymity:5"
    words: ClassVar[str] = "at least {k} records look alike"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((2,),)
    of_people: ClassVar[bool] = True
    measured: ClassVar[Measured] = Measured(
        "k_anonymity", "records in the smallest class: everyone hides among at least that many", "whole"
    )

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_integer("KAnonymity", "k", self.k, minimum=2))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The size of each class."""
        reached: FloatArray = counts.sum(axis=1).astype(np.float64)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether there are k records."""
        holds: BoolArray = counts.sum(axis=1) >= self.k
        return holds

    @property
    def least_records(self) -> int:
        """As many as must look alike."""
        return self.k

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        whatever = f", whatever their values of {attribute!r} are" if attribute else ""
        return f"Every class has at least {self.k} records{whatever}."
