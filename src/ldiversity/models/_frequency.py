"""Frequency l-diversity: no value has more than 1/l of a class."""

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

__all__ = ["FrequencyDiversity"]


@dataclass(frozen=True)
class FrequencyDiversity(PrivacyModel):
    """No value has more than ``1/l`` of the records of a class.

    Reached is the size of the class over the count of its most frequent value.

    Parameters
    ----------
    l
        At least 2.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([3, 3]))
    >>> FrequencyDiversity(2).holds(np.array([[2, 2], [1, 2]]), everyone).tolist()
    [True, False]
    """

    name: ClassVar[str] = "frequency"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    example: ClassVar[str] = "frequency:3"
    words: ClassVar[str] = "no value has more than 1 of {l} records"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((2,),)
    shares_decide: ClassVar[bool] = True
    measured: ClassVar[Measured] = Measured(
        "frequency", "the greatest share of one value in a class: how sure an attacker can be", "share"
    )

    l: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_integer("FrequencyDiversity", "l", self.l, minimum=2))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The size of each class over the count of its most frequent value."""
        reached: FloatArray = counts.sum(axis=1) / counts.max(axis=1)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether the most frequent value has at most 1/l of the class."""
        holds: BoolArray = counts.max(axis=1) * self.l <= counts.sum(axis=1)
        return holds

    @property
    def posterior(self) -> float:
        """1/l."""
        return 1 / self.l

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"In every class no value of {attribute!r} belongs to more than 1 of {self.l} records."
