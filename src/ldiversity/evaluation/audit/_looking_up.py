"""What someone finds who looks up people of a population in a sample of it, estimated from the sample alone.

Person i of the population is in the table S with the probability ``1 / w_i``. A rule ``r_i(S)`` says what is found
about a person in a table that they are not in: whether somebody there looks like them, say. For how many people outside
the table does it hold? Taking record j out of S gives a table that j is not in, and that is drawn ``w_j - 1`` times as
often as S. So for any rule

    sum over the records of  (w_j - 1) r_j(S without j)        and        sum over everybody outside of  r_i(S)

have the same mean. The square of their difference has the same mean as

    sum over records of  w_j (w_j - 1) r_j^2  +  sum over pairs of  (w_j - 1) (w_k - 1) d_jk d_kj

where ``d_jk = r_j(S without j) - r_j(S without j and k)``. Both hold exactly where people are drawn independently.
Where the number of records of a stratum is fixed, the square of ``sum (w_j - 1) r_j`` over ``sum (1 - 1 / w_j)``, both
over the stratum, is taken off: what the number of records explains. That holds for large samples. Where few classes
make up the sum over pairs, it is uncertain itself; the degrees of freedom of an interval say so.

So nothing is assumed about the population, however small classes are. Of a class with one record, the classes with two
tell how many people look like it. What such a class holds in the population cannot be known, only what all of them
hold together.

References
----------
Good, The population frequencies of species and the estimation of population parameters, Biometrika 40, 1953: nobody
looks like them. Skinner and Elliot, A measure of disclosure risk for microdata, J. R. Statist. Soc. B 64, 2002: one
record does, with equal weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = [
    "CONFIDENCE",
    "Estimated",
    "Rule",
    "Sample",
    "between",
    "commonest_value",
    "look_like",
    "only_value",
    "people_outside",
    "shares_of",
]

CONFIDENCE: Final = 0.95
LEAST_RECORDS: Final = 30
"""Intervals need as many records of equal weight that tell something."""

_LEAST_FREEDOM: Final = 5
"""Below so many degrees of freedom a variance says nothing."""

_FAR: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sample:
    """The weight, the stratum and the class of every record; strata and classes are numbered from 0."""

    weights: FloatArray
    stratum_of: Ints
    class_of: Ints

    @cached_property
    def outside(self) -> FloatArray:
        """Shape (records,): how many people outside the table each record stands for."""
        return self.weights - 1

    @cached_property
    def sizes(self) -> Ints:
        """Shape (classes,): how many records look alike."""
        return np.bincount(self.class_of).astype(np.int64)

    def pairs(self, factors: FloatArray) -> FloatArray:
        """Shape (classes,): the sum over pairs of its records, in both orders, of what they stand for and factors."""
        each = self.outside * factors
        return np.square(_sums(self.class_of, each)) - _sums(self.class_of, np.square(each))

    def variance(self, found: FloatArray) -> float:
        """The variance of the sum of ``w_j found_j``, for numbers that no other record changes."""
        each = self.outside * found
        spread = _sums(self.stratum_of, self.weights * each * found)
        return float(self.within(spread, _sums(self.stratum_of, each)))

    def within(self, spread: FloatArray, explained: FloatArray) -> FloatArray:
        """The same from the sums of each stratum, shape (..., strata): of ``w (w - 1) found^2``, ``(w - 1) found``."""
        varies = _sums(self.stratum_of, 1 - 1 / self.weights)
        n = np.bincount(self.stratum_of)
        # Where all weights are 1, nobody is outside and nothing varies.
        rest = spread - np.square(explained) / np.where(varies > 0, varies, 1.0)
        variances: FloatArray = (rest * (n / np.maximum(n - 1, 1))).sum(axis=-1)
        return variances


@dataclass(frozen=True, eq=False)
class Rule:
    """What is found about the person of each record in the table without it, and the sum over pairs in each class."""

    found: FloatArray
    pairs: FloatArray


@dataclass(frozen=True)
class Estimated:
    """A number of people or a share, its interval, and the records of equal weight that tell about it.

    Without enough such records there is no interval.
    """

    value: float
    low: float | None
    high: float | None
    records: float


def people_outside(sample: Sample, rule: Rule) -> Estimated:
    """Estimate for how many people outside the table a rule holds, if there are as many as the weights say.

    Examples
    --------
    In 40 of 100 classes are two records, each of which stands for itself and 9 others. So about 2 * 9 * 40 people look
    like somebody who is alone in the table:

    >>> class_of = np.concatenate([np.arange(100), np.arange(40)])
    >>> sample = Sample(np.full(140, 10.0), np.zeros(140, dtype=np.int64), class_of)
    >>> people_outside(sample, look_like(sample, 1, 2)).value
    720.0
    """
    told = sample.outside * rule.found
    value, everybody = float(told.sum()), float(sample.outside.sum())
    if everybody == 0:
        return Estimated(0.0, 0.0, 0.0, 0.0)
    # Where the rule holds for nearly everybody, those for whom it does not tell how many there are.
    records = min(_effective(told), _effective(sample.outside * (1 - rule.found)))
    share, pairs = value / everybody, rule.pairs / everybody**2
    # The share is a ratio of sums: where weights of a stratum differ, the number of people varies, too.
    alone = max(sample.variance(rule.found - share), 0.0) / everybody**2
    variance = alone + float(pairs.sum())
    # Satterthwaite: how uncertain the variance itself is, by the records and by the classes that make it up.
    noise = alone**2 / max(records, 1.0) + float(np.square(pairs).sum()) / 2
    freedom = variance**2 / noise if noise else inf
    if records < LEAST_RECORDS or freedom < _LEAST_FREEDOM:
        return Estimated(value, None, None, records)
    low, high = between(share, variance, _quantile(freedom))
    return Estimated(value, low * everybody, high * everybody, records)


def between(share: float, variance: float, far: float = _FAR) -> tuple[float, float]:
    """Limits of a share by Wilson's formula, for as many independent draws as would have this variance.

    `far` is the quantile of the error over its standard deviation.

    Examples
    --------
    >>> [round(limit, 3) for limit in between(0.1, 0.1 * 0.9 / 100)]
    [0.055, 0.174]
    """
    share = min(share, 1.0)
    if variance == 0 or share in (0.0, 1.0):
        return share, share
    away = far**2 * variance / (share * (1 - share))  # squared quantile over the number of draws
    middle, reach = share + away / 2, sqrt(far**2 * variance + away**2 / 4)
    return max((middle - reach) / (1 + away), 0.0), min((middle + reach) / (1 + away), 1.0)


def shares_of(sample: Sample, codes: NDArray[np.int32], n_values: int) -> list[Estimated]:
    """Estimate the share of each value among the people that the table stands for.

    Examples
    --------
    >>> sample = Sample(np.array([1.0, 3.0]), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    >>> [one.value for one in shares_of(sample, np.array([0, 1], dtype=np.int32), 2)]
    [0.25, 0.75]
    """
    weights, outside, total = sample.weights, sample.outside, float(sample.weights.sum())
    shares = _sums(codes, weights, n_values) / total
    squares = _sums(codes, weights**2, n_values)
    # The share is a ratio of sums: its error is that of the sum of 1 - share, or of -share for other values. Below, the
    # sums of `Sample.variance` for all values at once.
    n_strata = int(sample.stratum_of.max()) + 1
    keys = sample.stratum_of * n_values + codes

    def by_stratum(numbers: FloatArray) -> FloatArray:
        return _sums(keys, numbers, n_strata * n_values).reshape(n_strata, n_values)

    spread, explained = by_stratum(weights * outside), by_stratum(outside)
    spread = spread * (1 - 2 * shares) + shares**2 * spread.sum(axis=1, keepdims=True)
    explained -= shares * explained.sum(axis=1, keepdims=True)
    variances = np.maximum(sample.within(spread.T, explained.T), 0.0) / total**2
    found = []
    for code, share in enumerate(shares.tolist()):
        others = (total - share * total, float(squares.sum() - squares[code]))
        records = min(_kish(share * total, float(squares[code])), _kish(*others))
        low, high = between(share, float(variances[code])) if records >= LEAST_RECORDS else (None, None)
        found.append(Estimated(share, low, high, records))
    return found


def look_like(sample: Sample, least: int, below: int) -> Rule:
    """At least so many records, and fewer than so many, look like the person."""

    def inside(sizes: Ints) -> FloatArray:
        return ((sizes >= least) & (sizes < below)).astype(np.float64)

    sizes = sample.sizes[sample.class_of]
    without_one = inside(sizes - 1)
    without_two = np.where(sizes > 1, inside(sizes - 2), 0.0)
    return Rule(without_one, sample.pairs(without_one - without_two))


def only_value(sample: Sample, codes: NDArray[np.int32]) -> Rule:
    """All records that look like the person have one value, and the person has it too."""
    values = _Values.of(sample, codes)
    alone = values.in_class == 1
    sure = (alone & (sample.sizes > 1))[sample.class_of].astype(np.float64)
    # Without both records of a class of two, nobody looks like them; in larger classes the second changes nothing.
    both = (alone & (sample.sizes == 2))[sample.class_of].astype(np.float64)  # noqa: PLR2004 - a pair
    return Rule(sure, sample.pairs(both))


def commonest_value(sample: Sample, codes: NDArray[np.int32]) -> Rule:
    """The person has the commonest value of the records that look like them; of several, one is guessed at random.

    Only the most frequent value of a class can still be the commonest without a record that has it.
    """
    values, sizes = _Values.of(sample, codes), sample.sizes
    lead = values.most - values.second
    shared = 1.0 / (1 + values.n_second)  # with all values that are as frequent then
    one = np.where(lead > 1, 1.0, np.where(lead == 1, shared, 0.0)) * (sizes > 1)
    two = np.where(lead > 2, 1.0, np.where(lead == 2, shared, 0.0)) * (sizes > 2)  # noqa: PLR2004 - two records less
    first = values.is_first[values.of_record]
    change = np.where(first, (one - two)[sample.class_of], 0.0)
    pairs = sample.pairs(change)
    # Records with the two values that lead together: each is guessed again when one of the other is gone.
    rivals = (values.n_first == 2) & (values.most > 1)  # noqa: PLR2004 - two values
    factor = np.where(rivals, 1.0 / (2 + values.n_next), 0.0)
    sums = values.outside * factor[values.class_of] * values.is_first
    of_rivals = np.square(_sums(values.class_of, sums)) - _sums(values.class_of, np.square(sums))
    return Rule(np.where(first, one[sample.class_of], 0.0), pairs + of_rivals)


@dataclass(frozen=True, eq=False)
class _Values:
    """The different values of each class.

    `of_record`, `class_of`, `outside` and `is_first` are about pairs of a class and one of its values: the pair of
    each record, the class of a pair, how many people outside its records stand for, and whether no value of the class
    is more frequent. The others are about classes: how many values it has, how often the commonest and the next less
    frequent occur, how many values do, and how many occur once less than the commonest.
    """

    of_record: Ints
    class_of: Ints
    outside: FloatArray
    is_first: NDArray[np.bool_]
    in_class: Ints
    most: Ints
    second: Ints
    n_first: Ints
    n_second: Ints
    n_next: Ints

    @classmethod
    def of(cls, sample: Sample, codes: NDArray[np.int32]) -> _Values:
        span = int(codes.max(initial=0)) + 1
        found, of_record, counts = np.unique(sample.class_of * span + codes, return_inverse=True, return_counts=True)
        class_of = found // span
        starts = np.flatnonzero(np.diff(class_of, prepend=-1))

        def number(are: NDArray[np.bool_]) -> Ints:
            return np.add.reduceat(are.astype(np.int64), starts)

        most = np.maximum.reduceat(counts, starts)
        is_first = counts == most[class_of]
        n_first = number(is_first)
        behind = np.maximum.reduceat(np.where(is_first, 0, counts), starts)
        second = np.where(n_first > 1, most, behind)
        return cls(
            of_record=of_record.ravel(),
            class_of=class_of,
            outside=_sums(of_record.ravel(), sample.outside),
            is_first=is_first,
            in_class=number(counts > 0),
            most=most,
            second=second,
            n_first=n_first,
            n_second=number((counts == second[class_of]) & (second[class_of] > 0)),
            n_next=number(counts == most[class_of] - 1),
        )


def _quantile(freedom: float) -> float:
    """The quantile of Student's distribution, by the first terms of its series.

    Examples
    --------
    >>> round(_quantile(10), 2), round(_quantile(inf), 2)
    (2.23, 1.96)
    """
    z = _FAR
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _sums(places: NDArray[Any], numbers: FloatArray, n: int = 0) -> FloatArray:
    """The sum of the numbers of each place."""
    return np.bincount(places, weights=numbers, minlength=n).astype(np.float64)


def _effective(told: FloatArray) -> float:
    """How many records of equal weight would tell as much."""
    return _kish(float(told.sum()), float(np.square(told).sum()))


def _kish(total: float, squares: float) -> float:
    return total**2 / squares if squares > 0 else 0.0
