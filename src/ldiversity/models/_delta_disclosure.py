"""Delta-disclosure privacy: every value is nearly as frequent in a class as overall, up and down."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_number
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._exact import as_written, is_positive, to_decimal
from ldiversity.models._measured import Measured

__all__ = ["DeltaDisclosure"]

_BORDER: Final = 1e-9


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """With shares q in a class and p overall, ``|ln(q / p)| < delta`` for every value that occurs anywhere.

    A class that lacks a value discloses that nobody in it has that value: it satisfies no delta. Programs that skip
    such values check less than the definition says.

    Reached is the greatest ``|ln(q / p)|``; infinite where a value is lacking.

    Parameters
    ----------
    delta
        Greater than 0; natural logarithms.

    Notes
    -----
    Monotone: each value's rule is an interval for its share, and a merged class has a share between the two.

    References
    ----------
    Brickell and Shmatikov, "The cost of privacy", 2008, Definition 3.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([6, 6]))
    >>> DeltaDisclosure(0.5).reached(np.array([[4, 4], [2, 1], [1, 0]]), everyone).round(3).tolist()
    [0.0, 0.405, inf]
    """

    name: ClassVar[str] = "delta-disclosure"
    monotone: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    strict: ClassVar[bool] = True
    scale: ClassVar[str] = "delta"
    example: ClassVar[str] = "delta-disclosure:1"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((1.0,),)
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "learned"
    not_of_sets: ClassVar[str] = "A set rules out all values that are not in it, so no delta holds for sets."
    measured: ClassVar[Measured] = Measured(
        "delta",
        "the greatest logarithm of a value's share in a class over its overall share; none if one is absent",
        infinite="A class lacks a value that occurs elsewhere, so that no delta holds.",
    )

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_number("DeltaDisclosure", "delta", self.delta, above=0))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The greatest logarithm of a ratio of shares, whatever its sign."""
        reached: FloatArray = np.abs(_logarithms(counts, population)).max(axis=1)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether all ratios are close enough to 1.

        No ratio of counts is a power of e with a rational exponent but 1, so that none lies exactly on the border.
        """
        distances = np.abs(_logarithms(counts, population))
        inside: BoolArray = distances < self.delta
        total, sizes, limit = int(population.counts.sum()), counts.sum(axis=1), as_written(self.delta)
        border = (np.abs(distances - self.delta) <= _BORDER) & (population.counts > 0)
        for row, code in np.argwhere(border):
            everywhere = Fraction(int(population.counts[code]), total)
            ratio = Fraction(int(counts[row, code]), int(sizes[row])) / everywhere
            inside[row, code] = is_positive(partial(_room, limit, ratio))
        holds: BoolArray = np.all(inside, axis=1)
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"In every class each value of {attribute!r} is less than {np.exp(self.delta):.6g} times as frequent, "
            f"and more than {np.exp(-self.delta):.6g} times as frequent, as in all records."
        )


def _logarithms(counts: NDArray[np.int64], population: Population) -> FloatArray:
    """Shape (classes, F): ``ln(q / p)``; 0 for a value that occurs nowhere."""
    total, sizes = float(population.counts.sum()), counts.sum(axis=1, keepdims=True)
    nowhere = (counts == 0) & (population.counts == 0)
    ratios: FloatArray = np.ones(counts.shape)
    with np.errstate(divide="ignore"):
        np.divide(counts * total, sizes * population.counts.astype(np.float64), where=~nowhere, out=ratios)
        logarithms: FloatArray = np.log(ratios, out=ratios)
    return logarithms


def _room(limit: Fraction, ratio: Fraction) -> Decimal:
    return to_decimal(limit) - abs(to_decimal(ratio).ln())
