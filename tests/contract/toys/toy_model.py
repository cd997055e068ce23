"""A privacy model as a stranger writes it: one file, and one registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.models import Measured, Population, PrivacyModel


@dataclass(frozen=True)
class Minority(PrivacyModel):
    """In every class at least `m` records do not have its most frequent value."""

    name: ClassVar[str] = "toy-minority"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    scale: ClassVar[str] = "m"
    example: ClassVar[str] = "toy-minority:2"
    measured: ClassVar[Measured] = Measured("minority_m", "records outside the majority of the worst class", "whole")

    m: int

    def reached(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.float64]:  # noqa: ARG002
        """How many records do not have the most frequent value."""
        reached: NDArray[np.float64] = (counts.sum(axis=1) - counts.max(axis=1)).astype(np.float64)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.bool_]:  # noqa: ARG002
        """Whether these are m."""
        holds: NDArray[np.bool_] = counts.sum(axis=1) - counts.max(axis=1) >= self.m
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"In every class at least {self.m} records do not have the most frequent value of {attribute!r}."
