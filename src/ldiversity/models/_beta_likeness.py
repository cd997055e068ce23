"""Beta-likeness: no value is much more frequent in a class than overall, relative to its overall share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_number
from ldiversity.base.typed import number_text
from ldiversity.errors import ParameterError
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._exact import as_written, at_most, is_positive, to_decimal, widened
from ldiversity.models._measured import Measured

__all__ = ["BetaLikeness"]

_BORDER: Final = 1e-9
_ENHANCED: Final = "enhanced"
_OF_ENHANCED: Final = Measured(
    "beta_enhanced",
    "the same, where a frequent value may gain less; none where no beta holds",
    infinite="A frequent value gains more in a class than the enhanced form allows for any beta.",
)


@dataclass(frozen=True)
class BetaLikeness(PrivacyModel):
    """With shares q in a class and p overall, ``(q - p) / p <= beta`` for every value.

    A belief in a value may grow at most ``1 + beta`` times when the class is known. The enhanced form also bounds how
    sure anyone becomes of a frequent value: ``(q - p) / p <= min(beta, -ln p)``.

    Reached is the greatest gain ``(q - p) / p``; infinite, in the enhanced form, where a gain is above ``-ln p``, so
    that no beta helps.

    Parameters
    ----------
    beta
        Greater than 0.
    enhanced
        Whether the gain is also at most ``-ln p``.

    Notes
    -----
    Monotone: each value's rule is an upper bound on its share, and a merged class has a share between the two.

    References
    ----------
    Cao and Karras, "Publishing microdata with a robust privacy guarantee", 2012, Definitions 2 and 3.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([6, 2]))
    >>> counts = np.array([[4, 0], [2, 2]])
    >>> BetaLikeness(1).reached(counts, everyone).round(3).tolist()
    [0.333, 1.0]
    >>> BetaLikeness(1, enhanced=True).holds(counts, everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "beta-likeness"
    monotone: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    scale: ClassVar[str] = "beta"
    example: ClassVar[str] = "beta-likeness:1 or beta-likeness:1:enhanced"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((1.0,), (1.0, True))
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "learned"
    measured: ClassVar[Measured] = Measured(
        "beta", "how many times its overall share a value gains in a class, at worst"
    )

    beta: float
    enhanced: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", check_number("BetaLikeness", "beta", self.beta, above=0))
        if not isinstance(self.enhanced, bool):
            raise ParameterError("BetaLikeness", "enhanced", "must be True or False", got=repr(self.enhanced))

    @property
    def figure(self) -> Measured:
        """The two forms have a figure each."""
        return _OF_ENHANCED if self.enhanced else self.measured

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The greatest gain of a value; infinite where no beta helps."""
        gains = _gains(counts, population)
        reached: FloatArray = np.maximum(gains.max(axis=1), 0.0)
        if self.enhanced:
            reached[~_below_logarithm(counts, population, gains).all(axis=1)] = inf
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether no gain is too great."""
        total, sizes = int(population.counts.sum()), counts.sum(axis=1, keepdims=True)
        wide = widened(counts, total * int(sizes.max(initial=0)))
        expected = population.counts * wide.sum(axis=1, keepdims=True)
        holds: BoolArray = np.all(at_most(wide * total, 1 + as_written(self.beta), expected), axis=1)
        if self.enhanced:
            holds &= np.all(_below_logarithm(counts, population, _gains(counts, population)), axis=1)
        return holds

    @property
    def text(self) -> str:
        """The text form."""
        return ":".join([self.name, number_text(self.beta), *([_ENHANCED] if self.enhanced else [])])

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        more = ", and the less so the more frequent it is" if self.enhanced else ""
        return (
            f"In every class the share of a value of {attribute!r} is at most {1 + self.beta:.6g} times its share "
            f"of all records{more}."
        )

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read ``beta`` and, where it is asked for, the word ``enhanced``."""
        del base
        enhanced = list(parts[1:]) == [_ENHANCED]
        if len(parts) > 1 and not enhanced:
            raise ValueError(parts[1])
        return cls(**cls._named(parts[:1]), enhanced=enhanced)


def _gains(counts: NDArray[np.int64], population: Population) -> FloatArray:
    """Shape (classes, F): ``(q - p) / p``; 0 for a value that occurs nowhere."""
    share = population.counts / population.counts.sum()
    shares = counts / counts.sum(axis=1, keepdims=True)
    ratios: FloatArray = np.divide(shares, share, where=share > 0, out=np.full_like(shares, inf))
    ratios[(counts == 0) & (population.counts == 0)] = 1.0
    return ratios - 1


def _below_logarithm(counts: NDArray[np.int64], population: Population, gains: FloatArray) -> BoolArray:
    """Shape (classes, F): whether each gain is at most ``-ln p``.

    A logarithm of a fraction other than 1 is irrational, so that the two are never equal unless p is 1, where the
    gain is 0.
    """
    total, sizes = int(population.counts.sum()), counts.sum(axis=1)
    share = population.counts / total
    limits = -np.log(np.where(share > 0, share, 1.0))
    below: BoolArray = gains <= limits
    below[:, population.counts == total] = True
    border = (np.abs(gains - limits) <= _BORDER) & (population.counts > 0) & (population.counts < total)
    for row, code in np.argwhere(border):
        everywhere = Fraction(int(population.counts[code]), total)
        gain = Fraction(int(counts[row, code]), int(sizes[row])) / everywhere - 1
        below[row, code] = is_positive(partial(_room, everywhere, gain))
    return below


def _room(share: Fraction, gain: Fraction) -> Decimal:
    return -to_decimal(share).ln() - to_decimal(gain)
