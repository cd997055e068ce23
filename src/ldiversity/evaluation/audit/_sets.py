"""What an attacker sees of a release of sets: a record's set is its own little class.

Whoever finds a person's record reads a set. What he then believes of each member is its posterior, by the published
mechanism: ``P(set | value) * prior(value)``, normalized over the members. A model says in `of_sets` in which of three
ways it looks at that belief.

``possible``: every member once.
``likely``: to someone without prior knowledge, all values equally likely before. This is what the claim of a release
speaks of.
``learned``: the marginal is estimated from the release, serves as the prior, and is what the posterior is compared to.

Some models have no answer, and say why in `not_of_sets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.errors import LDiversityError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, CellData
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._tally import Tally, counts_of
from ldiversity.evaluation.audit._views import View
from ldiversity.mechanisms import SetMechanism
from ldiversity.models import ClassCounts, Population, PrivacyModel
from ldiversity.release import SetRelease
from ldiversity.schema import Domain

__all__ = ["ExplodedView", "SetTally", "SetView", "estimated_marginal"]

_WHOLE: Final = 10**8
"""Posteriors as whole numbers of this part, so that models can look at them as at counts."""


@dataclass(frozen=True, eq=False)
class _Beliefs(ClassCounts):
    """Posteriors as counts; a class is a set, and its size is the number of records that show it."""

    records: NDArray[np.int64]
    everyone: Population

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records show each set."""
        return self.records

    @property
    def population(self) -> Population:
        """The estimated marginal."""
        return self.everyone


@dataclass(frozen=True, eq=False)
class SetView(View):
    """The different sets of an attribute, and how many records show each.

    Parameters
    ----------
    values
        The public values.
    mechanism
        How sets were drawn.
    sets
        Shape (m, l): the different sets.
    records
        Shape (m,): how many records show each.
    estimated
        Shape (F,): the estimated marginal, as numbers of records.
    """

    values: Domain
    mechanism: SetMechanism
    sets: SetArray
    records: NDArray[np.int64]
    estimated: NDArray[np.int64]

    @classmethod
    def of(cls, release: SetRelease, attribute: str, sets: SetArray, records: NDArray[np.int64]) -> SetView:
        """The different sets of a release, and how many records show each."""
        mechanism = release.mechanism(attribute)
        shown = np.bincount(sets.reshape(-1), np.repeat(records, mechanism.l), minlength=mechanism.n_values)
        return cls(release.domain(attribute), mechanism, sets, records, estimated_marginal(mechanism, shown))

    @property
    def domain(self) -> Domain:
        """The public values."""
        return self.values

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records show each set."""
        return self.records

    @property
    def largest(self) -> FloatArray:
        """The likeliest value of each set, to someone without prior knowledge."""
        largest: FloatArray = self._posterior(None).max(axis=1, initial=0.0)
        return largest

    @property
    def largest_informed(self) -> FloatArray:
        """The likeliest value of each set, to someone who knows the marginal."""
        largest: FloatArray = self._posterior(self.estimated).max(axis=1, initial=0.0)
        return largest

    @property
    def marginal(self) -> NDArray[np.int64]:
        """The estimated marginal."""
        return self.estimated

    def picture(self, model: type[PrivacyModel]) -> ClassCounts:
        """The beliefs that a kind of model looks at."""
        if model.not_of_sets:
            raise UnsupportedError(model.not_of_sets)
        if model.of_sets == "possible":
            return self._possible
        return self._compared if model.of_sets == "learned" else self._unprejudiced

    @cached_property
    def _possible(self) -> ClassCounts:
        return self._counted(np.ones(self.sets.shape, dtype=np.int64))

    @cached_property
    def _unprejudiced(self) -> ClassCounts:
        if self.mechanism.flat_likelihood:
            return self._possible
        return self._counted(np.rint(self._posterior(None) * _WHOLE).astype(np.int64))

    @cached_property
    def _compared(self) -> ClassCounts:
        return self._counted(np.rint(self._posterior(self.estimated) * _WHOLE).astype(np.int64))

    def _posterior(self, prior: NDArray[np.int64] | None) -> FloatArray:
        """Shape (m, l): the probability of each member."""
        flat = self.mechanism.flat_likelihood
        weights = np.ones(self.sets.shape) if flat else self.mechanism.likelihood(self.sets).copy()
        weights[weights.sum(axis=1) <= 0] = 1.0  # no set of this mechanism: nothing is known about its members
        if prior is not None:
            weighted = weights * prior[self.sets]
            # A marginal that knows none of the members is no knowledge about this set.
            weights = np.where(weighted.sum(axis=1, keepdims=True) > 0, weighted, weights)
        posterior: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return posterior

    def _counted(self, weights: NDArray[np.int64]) -> ClassCounts:
        m, l = self.sets.shape
        starts = np.arange(0, m * l + 1, l, dtype=np.int64)
        everyone = Population(self.values, self.estimated)
        return _Beliefs(starts, self.sets.reshape(-1), weights.reshape(-1), self.values, self.records, everyone)


@dataclass(frozen=True, eq=False)
class ExplodedView(View):
    """Rows of one member each: which sets they made is lost, but for people whom nobody else looks like.

    What is possible can be counted; how likely it is has the bound of the mechanism, which holds for the sets
    themselves and so for anything made of them.
    """

    counts: ClassCounts
    mechanism: SetMechanism
    estimated: NDArray[np.int64]

    @classmethod
    def of(cls, release: SetRelease, attribute: str, counts: ClassCounts) -> ExplodedView:
        """The members in classes of equal quasi-identifiers."""
        mechanism = release.mechanism(attribute)
        return cls(counts, mechanism, estimated_marginal(mechanism, counts.population.counts))

    @property
    def domain(self) -> Domain:
        """The public values."""
        return self.counts.domain

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each class has."""
        sizes: NDArray[np.int64] = self.counts.sizes // self.mechanism.l
        return sizes

    @property
    def largest(self) -> FloatArray:
        """The bound of the mechanism, for every class."""
        return np.full(self.counts.n_classes, self.bound)

    @property
    def bound(self) -> float:
        """The greatest probability that a set can give to a value, to someone without prior knowledge."""
        proven = getattr(self.mechanism, "worst_posterior_is_exact", True)
        return float(self.mechanism.worst_posterior()) if proven else 1.0

    @property
    def marginal(self) -> NDArray[np.int64]:
        """The estimated marginal."""
        return self.estimated

    def picture(self, model: type[PrivacyModel]) -> ClassCounts:
        """Which values are possible in each class."""
        # Members of several sets stand together: what is not monotone may be broken by that alone.
        if model.of_sets != "possible" or not model.monotone:
            raise UnsupportedError(
                "The sets of an exploded release cannot be told apart, so that only possible values are counted."
            )
        counts = self.counts
        once = np.ones(len(counts.counts), dtype=np.int64)
        everyone = Population(counts.domain, self.estimated)
        return _Beliefs(counts.starts, counts.codes, once, counts.domain, self.sizes, everyone)


class SetTally:
    """The different sets of an attribute, and how many records show each, gathered batch by batch.

    Examples
    --------
    >>> tally = SetTally(2)
    >>> tally.add(np.array([[0, 1], [1, 2], [0, 1]]))
    >>> sets, records = tally.result()
    >>> sets.tolist(), records.tolist()
    ([[0, 1], [1, 2]], [2, 1])
    """

    def __init__(self, l: int) -> None:
        self._names = [str(place) for place in range(l)]
        self._tally = Tally(self._names)

    def add(self, sets: SetArray) -> None:
        """Count one more batch, members in code order."""
        columns = (pa.array(np.ascontiguousarray(column)) for column in sets.T)
        self._tally.add(pa.table(dict(zip(self._names, columns, strict=True))))

    def result(self) -> tuple[SetArray, NDArray[np.int64]]:
        """The sets in their order, and how many records show each."""
        counted = self._tally.result()
        _, order = number_rows(counted, self._names)
        sets = np.column_stack([counted.column(name).to_numpy() for name in self._names])
        return np.ascontiguousarray(sets[order], dtype=np.int32), counts_of(counted)[order]


def estimated_marginal(mechanism: SetMechanism, shown: NDArray[np.number[Any]]) -> NDArray[np.int64]:
    """How often each value occurs, as anyone can estimate it who counts members; all alike where nobody can.

    Parameters
    ----------
    mechanism
        How sets were drawn.
    shown
        Shape (F,): how many records show each value.

    Examples
    --------
    >>> from ldiversity.mechanisms import UniformSelection
    >>> estimated_marginal(UniformSelection(3, 2), np.array([10, 5, 5])).tolist()
    [10, 0, 0]
    """
    counts: NDArray[np.int64] = np.rint(shown).astype(np.int64)[np.newaxis]
    records = counts.sum(axis=1) // mechanism.l
    cells = CellData((mechanism,), records, counts, np.zeros(0, dtype=np.int64), None, lambda: np.zeros(0))
    try:
        found = ESTIMATORS["simplex"]().solve(cells).counts[0]
    except LDiversityError:
        found = np.full(mechanism.n_values, records[0] / mechanism.n_values)
    rounded: NDArray[np.int64] = np.rint(np.clip(found, 0, None)).astype(np.int64)
    return rounded if rounded.any() else np.ones(len(rounded), dtype=np.int64)
