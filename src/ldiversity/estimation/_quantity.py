"""Figures that follow from an estimate: shares, means, quantiles, differences and ratios, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ldiversity.base.answers import Answer, Scalar, Unbounded, fit_screen
from ldiversity.base.checks import name_some
from ldiversity.base.numbers import level, number
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.schema import label_text

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._moments import Moments
    from ldiversity.schema import Domain

__all__ = [
    "ROUNDING",
    "Quantity",
    "Ratios",
    "Told",
    "ValuesLike",
    "fieller",
    "numbers_of_domain",
    "selected",
    "value_factors",
]

ROUNDING: Final = 1e-9
"""A sum of counts is zero if it is no greater than this part of them: what is left of them is rounding."""

ValuesLike: TypeAlias = "str | float | bool | Sequence[Scalar]"


@dataclass(frozen=True, repr=False)
class Quantity(Answer, schema="quantity", version=1):
    """A figure that follows from an estimate, with its error.

    Attributes
    ----------
    name
        What it is, for readers.
    value
        The estimate.
    std_error
        Its standard error; None where an interval was found without one.
    low, high
        The interval; None where it has no end.
    confidence
        How often the interval should hold the truth.
    population
        Whether the truth is that of a population from which the records were drawn, or that of the table.
    caveats
        What the user should know, one sentence each.
    """

    name: str
    value: Unbounded
    std_error: float | None
    low: Unbounded
    high: Unbounded
    confidence: float
    population: bool
    caveats: tuple[str, ...]

    def __str__(self) -> str:
        about = "of the population" if self.population else "of the table"
        ends = f"{_end(self.low)} to {_end(self.high)}"
        first = f"{self.name}: {number(self.value)} ({ends}, {level(self.confidence)}, {about})"
        return fit_screen([first, *self.caveats])


@dataclass(frozen=True)
class Told:
    """What all figures of one estimate share: confidence, whom they are about, caveats."""

    confidence: float
    population: bool
    caveats: tuple[str, ...]

    @property
    def z(self) -> float:
        """How many standard errors an interval reaches."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    def around(self, name: str, value: float, error: float) -> Quantity:
        """A figure with an interval of z standard errors on both sides."""
        reach = self.z * error
        return self.between(name, value, error, (value - reach, value + reach))

    def between(self, name: str, value: float, error: float | None, ends: tuple[float, float]) -> Quantity:
        """A figure with these ends."""
        return Quantity(name, value, error, *ends, self.confidence, self.population, self.caveats)


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios of sums of counts, and their covariance by the delta method."""

    values: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, moments: Moments, above: FloatArray, below: FloatArray, *, population: bool) -> Ratios:
        """The ratios of sums with factors `above` and `below`, both of shape (k, cells, F)."""
        bottom = np.einsum("kcf,cf->k", below, moments.counts)
        if (bottom <= ROUNDING * np.einsum("kcf,cf->k", np.abs(below), np.abs(moments.counts))).any():
            raise UnsupportedError(
                "Estimate",
                "a group must have a positive estimated number of records, but noise exceeds that of one here",
            ).with_hint("Ask for a larger group.")
        values = np.einsum("kcf,cf->k", above, moments.counts) / bottom
        factors = (above - values[:, None, None] * below) / bottom[:, None, None]
        return cls(values, moments.covariance(factors, population=population))

    @property
    def errors(self) -> FloatArray:
        """Standard errors; zero where rounding leaves a variance below zero."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def fieller(values: FloatArray, covariance: FloatArray, z: float, *, signed: bool = False) -> tuple[float, float]:
    """The interval of the ratio of two estimates: all ratios r at which ``first - r second`` is not far from zero.

    The ends of a ratio are not symmetric. Where the second estimate may be zero, there is no upper end. Ratios may then
    be in two pieces, small ones and great ones. The interval begins at zero and holds both: one of them alone would
    leave out ratios that the estimates allow. Where ratios may be negative (`signed`), it has no end at all then.

    Examples
    --------
    >>> low, high = fieller(np.array([2.0, 4.0]), np.diag([0.01, 0.01]), 2.0)
    >>> round(float(low), 2), round(float(high), 2)
    (0.45, 0.56)
    >>> low, high = fieller(np.array([2.0, 0.1]), np.diag([0.01, 0.01]), 2.0)
    >>> round(float(low), 2), high
    (6.62, inf)
    """
    (a, b), square = values, z * z
    first, cross, second = covariance[0, 0], covariance[0, 1], covariance[1, 1]
    p, q, r = b * b - square * second, a * b - square * cross, a * a - square * first
    inside = q * q - p * r
    if p > 0:
        reach = math.sqrt(max(inside, 0.0))
        return (q - reach) / p, (q + reach) / p
    if signed:
        return -math.inf, math.inf
    # Ratios with p x^2 - 2 q x + r <= 0. Zero is one of them unless r > 0. Then the roots have different signs if p is
    # negative, and all ratios from the positive one on are in the set; if p is zero, all from the only root on.
    if r <= 0:
        return 0.0, math.inf
    if p < 0:
        return (q - math.sqrt(inside)) / p, math.inf
    return (r / (2 * q), math.inf) if q > 0 else (0.0, math.inf)


def value_factors(domain: Domain, values: ValuesLike) -> FloatArray:
    """One for the named values of a domain, zero for others."""
    named = [values] if isinstance(values, str | int | float | bool) else list(values)
    known = {label_text(value): code for code, value in enumerate(domain.values)}
    codes = [domain.code_of.get(value, known.get(str(value), -1)) for value in named]
    if not named or min(codes) < 0:
        wrong = [str(value) for value, code in zip(named, codes, strict=True) if code < 0]
        raise ParameterError(
            "Estimate",
            "value",
            f"must name values among {name_some(map(label_text, domain.values))}",
            got=name_some(wrong) if wrong else "none",
        )
    if len(set(codes)) < len(codes):
        raise ParameterError("Estimate", "value", "must name each value once")
    factors = np.zeros(len(domain))
    factors[codes] = 1.0
    return factors


def numbers_of_domain(name: str, domain: Domain) -> tuple[FloatArray, BoolArray]:
    """The number of each value, or the middle of its bin, and which values have one."""
    given = domain.positions or tuple(
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
        for value in domain.values
    )
    numbers = np.array(given, dtype=np.float64)
    known = np.isfinite(numbers)
    if not known.any():
        raise UnsupportedError("Estimate", f"{name!r} has no numbers, so it has no mean and no quantiles").with_hint(
            "Name a value to compare its shares."
        )
    return np.where(known, numbers, 0.0), known


def selected(labels: Sequence[Mapping[str, str]], by: Sequence[str], at: object) -> BoolArray:
    """Which cells a user means: a label, one for each by-column, or a mapping from some by-columns to labels."""
    if at is None:
        return np.ones(len(labels), dtype=np.bool_)
    if isinstance(at, Mapping):
        wanted = dict(at)
    else:
        given = [at] if isinstance(at, str) or not isinstance(at, Sequence) else list(at)
        if len(given) != len(by):
            raise ParameterError(
                "Estimate", "a group", f"must have a label for each of {name_some(by)}", got=len(given)
            ).with_hint("Give a tuple of labels in this order, or a mapping from some of these columns to labels.")
        wanted = dict(zip(by, given, strict=True))
    unknown = [name for name in wanted if name not in by]
    if unknown:
        raise ParameterError("Estimate", f"groups must name columns among {name_some(by)}", got=name_some(unknown))
    texts = {name: label_text(value) for name, value in wanted.items()}
    found = np.array([all(label[name] == text for name, text in texts.items()) for label in labels])
    if not found.any():
        shown = [", ".join(label[name] for name in by) for label in labels]
        raise ParameterError("Estimate", "a group must be one of the cells", got=repr(at)).with_hint(
            f"The cells are {name_some(shown)}."
        )
    return found


def _end(number_or_none: float) -> str:
    return number(number_or_none) if math.isfinite(number_or_none) else "no end"
