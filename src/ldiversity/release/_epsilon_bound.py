"""The epsilon that a release of sets claims, as a privacy model that its sets can be checked by."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.numbers import number
from ldiversity.models import Measured, Population, PrivacyModel

__all__ = ["EpsilonBound"]

_ROUNDING: Final = 0.5
"""Probabilities are rounded to whole numbers, each by at most this."""


@dataclass(frozen=True)
class EpsilonBound(PrivacyModel):
    """No true value makes a set more than e**epsilon times as likely as another value does.

    It looks at the posterior of every value, for someone to whom all were equally likely: its greatest ratio is that of
    the likelihoods.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([5, 5]))
    >>> counts = np.array([[300_000, 100_000], [100_000, 0]])
    >>> bound = EpsilonBound(1.2)
    >>> bound.holds(counts, everyone).tolist(), bound.reached(counts, everyone).round(3).tolist()
    ([True, False], [1.099, inf])
    """

    name: ClassVar[str] = "epsilon"
    monotone: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    scale: ClassVar[str] = "epsilon"
    rounding: ClassVar[float] = inf  # posteriors are rounded, which matters where one is small
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "likely"
    measured: ClassVar[Measured] = Measured(
        "epsilon",
        "the greatest logarithm of how many times likelier one true value makes a set than another; none if a set "
        "rules a value out",
        infinite="A set rules a value out, so that no epsilon holds.",
    )

    epsilon: float

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the set alone decides
        """The logarithm of the greatest ratio of two likelihoods."""
        with np.errstate(divide="ignore"):
            reached: FloatArray = np.log(counts.max(axis=1) / counts.min(axis=1))
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the set alone decides
        """Whether no ratio is greater than e**epsilon, but for the rounding of posteriors."""
        least = (counts.min(axis=1) + _ROUNDING) * exp(self.epsilon)
        holds: BoolArray = (counts.min(axis=1) > 0) & (counts.max(axis=1) - _ROUNDING <= least)
        return holds

    @property
    def text(self) -> str:
        """The bound: it has no text form that could be read."""
        return f"{self.name}:{self.epsilon:g}"

    @property
    def phrase(self) -> str:
        """The rule in a few words."""
        return f"epsilon is at most {number(self.epsilon)}"

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"No true value of {attribute!r} makes a set more than {exp(self.epsilon):.4g} times as likely as another "
            "does."
        )
