"""A privacy model about records, as a stranger writes it, with nothing but what a model must bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.models import Measured, Population, PrivacyModel


@dataclass(frozen=True)
class ShareOfAll(PrivacyModel):
    """Every class has at least the share `s` of all records. Monotone: shares add up."""

    name: ClassVar[str] = "share-of-all"
    monotone: ClassVar[bool] = True
    of_people: ClassVar[bool] = True
    scale: ClassVar[str] = "s"
    example: ClassVar[str] = "share-of-all:0.02"
    measured: ClassVar[Measured] = Measured("share_of_all", "the share of all records that the smallest class has")

    s: float

    def reached(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.float64]:
        """The share of each class."""
        reached: NDArray[np.float64] = counts.sum(axis=1) / population.counts.sum()
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.bool_]:
        """Whether it is s."""
        holds: NDArray[np.bool_] = counts.sum(axis=1) >= self.s * population.counts.sum()
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words; there may be no attribute."""
        whatever = f", whatever their {attribute!r} is" if attribute else ""
        return f"Every class has at least {self.s:.0%} of all records{whatever}."
