"""The bound on probabilities that a release of sets claims, as a privacy model that its sets can be checked by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.numbers import percent_at_most
from ldiversity.models import FrequencyDiversity, Measured, Population, PrivacyModel

__all__ = ["PosteriorBound"]

_ROUNDING: Final = 1e-6
"""Claims and probabilities are rounded; differences up to this are ignored."""


@dataclass(frozen=True)
class PosteriorBound(PrivacyModel):
    """No set gives a value a greater probability than `p`, to someone to whom all values were equally likely.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([5, 5]))
    >>> PosteriorBound(0.5).holds(np.array([[2, 2], [2, 1]]), everyone).tolist()
    [True, False]
    """

    name: ClassVar[str] = "posterior"
    monotone: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    scale: ClassVar[str] = "p"
    rounding: ClassVar[float] = 2 * _ROUNDING
    measured: ClassVar[Measured] = FrequencyDiversity.measured

    p: float

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the set alone decides
        """The probability of the likeliest member."""
        reached: FloatArray = counts.max(axis=1) / counts.sum(axis=1)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether no member is likelier than p."""
        holds: BoolArray = self.reached(counts, population) <= self.p * (1 + _ROUNDING)
        return holds

    @property
    def posterior(self) -> float:
        """The bound itself."""
        return self.p

    @property
    def text(self) -> str:
        """The bound, rounded: it has no text form that could be read."""
        return f"{self.name}:{self.p:g}"

    @property
    def phrase(self) -> str:
        """The rule in a few words."""
        return f"no value is more likely than {percent_at_most(self.p)}"

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        most = f"more than {percent_at_most(self.p)}"
        return f"To someone without prior knowledge no set gives a value of {attribute!r} {most}."
