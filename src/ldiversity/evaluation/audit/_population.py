"""The people among whom an attacker searches: counted in a table, or estimated from the share that is in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.base.checks import check_number
from ldiversity.base.numbers import number, percent
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, Threshold, read_threshold
from ldiversity.base.typed import number_text
from ldiversity.errors import ParameterError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import CountedTable
from ldiversity.evaluation.audit._linking import people_like
from ldiversity.sentences import Parameter, say

__all__ = [
    "Outside",
    "PopulationUsed",
    "Recognition",
    "RecognitionChoices",
    "expected_inverse",
    "look_outside",
    "population_used",
]

_HALF: Final = 0.5
_MANY: Final = 50
_TERMS: Final = 80
"""Enough for twelve digits: of the series above `_MANY` or from `_HALF` on, of the integral below both."""

_NOT_GIVEN: Final = "No population was given, so the journalist's risk equals the prosecutor's."
_BOUND: Final = (
    "The journalist's risk equals the prosecutor's, a bound for any population; what weights say about the population "
    "is told apart."
)

PopulationKind: TypeAlias = Literal["table", "fraction", "none"]


class RecognitionChoices(TypedDict, total=False):
    """Who searches among whom, and how likely being recognized may be.

    Attributes
    ----------
    population
        A table of all people among whom an attacker searches, with the same quasi-identifiers: a frame or a path.
    sample_fraction
        Instead of a table: which share of the population is in the table, drawn at random; above 0, at most 1.
    threshold
        The probability from which being recognized counts as a risk: a number from 0 to 1, or a name among
        `THRESHOLDS`.
    rationale
        Why that threshold was chosen.
    """

    population: Any
    sample_fraction: float | None
    threshold: float | str | Threshold
    rationale: str


@dataclass(frozen=True)
class Recognition:
    """The same, checked. `population` is not compared: it may be a frame."""

    threshold: Threshold
    population: Any = field(default=None, compare=False, repr=False)
    sample_fraction: float | None = None

    @classmethod
    def of(cls, owner: str, choices: RecognitionChoices) -> Recognition:
        """Check what a caller said."""
        population, fraction = choices.get("population"), choices.get("sample_fraction")
        if population is not None and fraction is not None:
            rule = say("{} and {} must not be given together", Parameter("population"), Parameter("sample_fraction"))
            raise ParameterError(owner, rule).with_hint("A table says more: it is counted.")
        if fraction is not None:
            fraction = check_number(owner, "sample_fraction", fraction, above=0, maximum=1)
        threshold = read_threshold(owner, choices.get("threshold", DEFAULT_THRESHOLD), choices.get("rationale", ""))
        return cls(threshold, population, fraction)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line that ask for it, where the population is the path of a file."""
        among = () if self.population is None else ("--population", str(self.population))
        share = () if self.sample_fraction is None else ("--sample-fraction", number_text(self.sample_fraction))
        return (*among, *share, *self.threshold.words)


@dataclass(frozen=True)
class PopulationUsed:
    """The population that figures about the journalist and the marketer are based on.

    Attributes
    ----------
    known
        ``"table"``: it was counted; ``"fraction"``: estimated from the share that is in the table; ``"none"``: nothing
        is known about it, and the table replaces it.
    people
        How many people it has; an estimate for a fraction.
    sample_fraction
        The share of it that is in the table, as the holder said.
    meaning
        How it was used, in one sentence.
    """

    known: PopulationKind
    people: float
    sample_fraction: float | None
    meaning: str


@dataclass(frozen=True, eq=False)
class Outside:
    """What an attacker who searches the population can expect of each of some classes.

    `risks` has the probability of a right link for each class, `unique` the probability that a record of it is alone
    in the population, `fewer` whether the population has fewer people like them than the table.
    """

    risks: FloatArray
    unique: FloatArray
    fewer: NDArray[np.bool_]


def look_outside(seen: AttackerView, population: CountedTable | None, fraction: float | None) -> Outside:
    """Say how likely someone who searches the population links a record of each class."""
    sizes = seen.sizes
    none = np.zeros(len(sizes), dtype=np.bool_)
    if fraction is not None:
        alone = np.where(sizes == 1, fraction, 0.0)
        return Outside(expected_inverse(sizes, fraction), alone, none)
    if population is None:
        return Outside(1 / sizes, (sizes == 1).astype(np.float64), none)
    outside = people_like(seen, population)
    found = np.maximum(outside, sizes)
    return Outside(1 / found, (found == 1).astype(np.float64), outside < sizes)


def population_used(
    records: int, people: int | None, fraction: float | None, *, sampled: bool = False
) -> PopulationUsed:
    """Say how the population was used: `people` of it were counted, or it is so many times larger than the table.

    `sampled` says whether weights tell of it, which leave these figures as they are.
    """
    if fraction is not None:
        return PopulationUsed("fraction", records / fraction, fraction, _estimated(records, fraction))
    if people is None:
        return PopulationUsed("none", records, None, _BOUND if sampled else _NOT_GIVEN)
    counted = f"The journalist searches among the {number(people)} people of the population that was given."
    return PopulationUsed("table", people, None, counted)


def expected_inverse(sizes: NDArray[np.int64], fraction: float) -> FloatArray:
    """The expected value of 1/F for classes of these sizes, where F people of the population look like each of them.

    Every person of the population is in the table with the probability `fraction`, independently of others. Before
    the table is seen, every F is assumed as likely as 1/F. Then F, given the size f, is negative binomial with f
    successes, and E(1/F) is fraction / f times the sum over n of
    (1 - fraction)^n / C(f + n, n).

    Notes
    -----
    ``fraction / f``, the inverse of the estimated count, is too small: 1/F is convex. For a class of one at a fraction
    of 0.1 the expectation is 0.256, not 0.1.

    References
    ----------
    Franconi and Polettini, Individual risk estimation in mu-Argus: a review, Privacy in Statistical Databases, 2004.

    Examples
    --------
    >>> expected_inverse(np.array([1, 10, 1000]), 0.1).round(5).tolist()
    [0.25584, 0.01098, 0.0001]
    >>> expected_inverse(np.array([1, 4]), 1.0).tolist()
    [1.0, 0.25]
    """
    different, back = np.unique(sizes, return_inverse=True)
    soon = (different > _MANY) | (fraction >= _HALF)  # the series ends soon
    risks = np.where(soon, _by_series(different, fraction), 0.0)
    if not soon.all():
        risks[~soon] = _by_integral(different[~soon], fraction)
    found: FloatArray = np.minimum(risks, 1 / different)[back]
    return found


def _by_series(sizes: NDArray[np.int64], fraction: float) -> FloatArray:
    """Sum the terms (1 - fraction)^n / C(f + n, n), of which `_TERMS` are enough."""
    term = np.ones(len(sizes))
    total = term.copy()
    for n in range(1, _TERMS):
        term = term * (1 - fraction) * n / (sizes + n)
        total += term
    risks: FloatArray = fraction / sizes * total
    return risks


def _by_integral(sizes: NDArray[np.int64], fraction: float) -> FloatArray:
    """Integrate u^(f - 1) over s = log(fraction + (1 - fraction) u), u from 0 to 1, where the fraction is small."""
    nodes, weights = np.polynomial.legendre.leggauss(_TERMS)
    length = -np.log(fraction)
    u = (np.exp((nodes - 1) / 2 * length) - fraction) / (1 - fraction)
    # A sum for each size by itself, so that the other sizes change nothing.
    integral = (np.power(u[None, :], sizes[:, None] - 1) * weights).sum(axis=1) * length / 2
    risks: FloatArray = fraction / (1 - fraction) * integral
    return risks


def _estimated(records: int, fraction: float) -> str:
    return (
        f"The table is taken for {percent(fraction)} of a population of about {number(round(records / fraction))} "
        "people, drawn at random. How many people of it look alike is estimated from that share alone; no model of the "
        "population was fitted. Where most classes have one or two records, the true risk may be twice as high; it is "
        "never higher than without the fraction."
    )
