"""Entropy l-diversity: the values of a class are as uncertain as l equally frequent ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, log
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_number
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._exact import as_written, is_positive, to_decimal
from ldiversity.models._measured import Measured

__all__ = ["EntropyDiversity"]

_BORDER: Final = 1e-9
"""Classes whose entropy is closer to log(l) than this are decided exactly; floating point errs by 1e-13 at most."""


@dataclass(frozen=True)
class EntropyDiversity(PrivacyModel):
    """The entropy of the values of every class is at least ``log(l)``.

    Reached is the exponential of the entropy, not truncated: the number of equally frequent values that would be as
    uncertain.

    Parameters
    ----------
    l
        Greater than 1; need not be an integer.

    Notes
    -----
    Monotone: entropy is concave, and the values of a merged class are a mixture of those of the two.

    A class at the border is decided exactly. With counts c of sum n, the rule is ``n^n >= l^n prod c^c``. Whether
    both sides are equal is seen from their prime factors; when they are not, logarithms with enough digits decide.

    References
    ----------
    Machanavajjhala et al., "l-diversity", 2007, Definition 4.1.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut", "burn")), np.array([6, 5, 3]))
    >>> counts = np.array([[3, 3, 3], [3, 2, 0]])
    >>> EntropyDiversity(3).holds(counts, everyone).tolist()
    [True, False]
    >>> EntropyDiversity(3).reached(counts, everyone).round(3).tolist()
    [3.0, 1.96]
    """

    name: ClassVar[str] = "entropy"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    example: ClassVar[str] = "entropy:2.5"
    words: ClassVar[str] = "as uncertain as {l:g} equally frequent values"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((2,),)
    measured: ClassVar[Measured] = Measured(
        "entropy_l", "equally frequent values that would be as uncertain as the least uncertain class"
    )

    l: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_number("EntropyDiversity", "l", self.l, above=1))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The exponential of the entropy of each class; exact where all its values are equally frequent."""
        reached: FloatArray = np.where(_uniform(counts), np.count_nonzero(counts, axis=1), np.exp(_entropies(counts)))
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether the entropy is at least log(l)."""
        excess = _entropies(counts) - log(self.l)
        uniform = _uniform(counts)
        holds: BoolArray = np.where(uniform, np.count_nonzero(counts, axis=1) >= self.l, excess >= 0)
        border = np.flatnonzero((np.abs(excess) <= _BORDER) & ~uniform)
        if border.size:
            kinds, kind_of = np.unique(np.sort(counts[border], axis=1), axis=0, return_inverse=True)
            decided = np.array([_reaches(kind[kind > 0].tolist(), as_written(self.l)) for kind in kinds])
            holds[border] = decided[kind_of.ravel()]
        return holds

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"The values of {attribute!r} in every class are at least as uncertain (entropy) as "
            f"{self.l:g} equally frequent ones."
        )


def _entropies(counts: NDArray[np.int64]) -> FloatArray:
    sizes = counts.sum(axis=1)
    terms = counts * np.log(np.maximum(counts, 1))
    entropies: FloatArray = np.log(sizes) - terms.sum(axis=1) / sizes
    return entropies


def _uniform(counts: NDArray[np.int64]) -> BoolArray:
    uniform: BoolArray = counts.max(axis=1) * np.count_nonzero(counts, axis=1) == counts.sum(axis=1)
    return uniform


def _reaches(counts: list[int], l: Fraction) -> bool:
    """Whether the exponential of the entropy of these counts, none of them 0, is at least l."""
    common = gcd(*counts)
    counts = [count // common for count in counts]
    size = sum(counts)
    if _is_equal(counts, size, l):
        return True

    def excess() -> Decimal:
        spent = sum((count * Decimal(count).ln() for count in counts), Decimal(0))
        return size * (Decimal(size).ln() - to_decimal(l).ln()) - spent

    return is_positive(excess)


def _is_equal(counts: list[int], size: int, l: Fraction) -> bool:
    """Whether ``size^size == l^size * prod count^count``, by the exponents of prime factors."""
    up, down = l.numerator, l.denominator
    for prime in _primes([size, *counts]):
        power_up, up = _divided(up, prime)
        power_down, down = _divided(down, prime)
        spent = sum(count * _divided(count, prime)[0] for count in counts)
        if size * (_divided(size, prime)[0] - power_up + power_down) != spent:
            return False
    return up == down == 1


def _primes(numbers: Iterable[int]) -> set[int]:
    primes = set()
    for number in set(numbers):
        rest, prime = number, 2
        while prime * prime <= rest:
            power, rest = _divided(rest, prime)
            if power:
                primes.add(prime)
            prime += 1
        if rest > 1:
            primes.add(rest)
    return primes


def _divided(number: int, prime: int) -> tuple[int, int]:
    """How often a prime divides a number, and what remains."""
    power = 0
    while number % prime == 0:
        number //= prime
        power += 1
    return power, number
