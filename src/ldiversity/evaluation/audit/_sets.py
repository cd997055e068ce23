"""What an attacker sees of a release of sets: the set of a record is a small class of its own.

Someone who finds a person's record reads a set. Then they believe in each member with its posterior probability, by
the published mechanism: ``P(set | value) * prior(value)``, normalized over the members. A model says in `of_sets` in
which of three ways it looks at that belief.

``possible``: every member once.
``likely``: the belief of someone without prior knowledge, to whom all values are equally likely before. The claim of a
release is about this belief.
``learned``: the marginal, estimated from the release, is the prior, and the posterior is compared with it.

Some models have no answer, and say why in `not_of_sets`. Where sets were drawn with an epsilon, the true value may be
missing, so every value is a candidate and has a posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.errors import LDiversityError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, CellData
from ldiversity.evaluation.audit._views import ClassView, View
from ldiversity.mechanisms import SetMechanism
from ldiversity.models import ClassCounts, Population, PrivacyModel
from ldiversity.release import Evidence
from ldiversity.schema import Domain

__all__ = ["ExplodedView", "SetView", "estimated_marginal", "view_of"]

_WHOLE: Final = 10**8
"""Posteriors are multiples of 1 over this, so that models can treat them as counts."""

_POSSIBLE: Final = 0.5
"""Records that are added to an estimate of each value."""

_FINE: Final = 10**12
"""The same where no value is ruled out, and the least likely of all values matters."""


@dataclass(frozen=True, eq=False)
class _Beliefs(ClassCounts):
    """Posteriors as counts; a class is a set, and its size is the number of records with that set."""

    records: NDArray[np.int64]
    everyone: Population

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records have each set."""
        return self.records

    @property
    def population(self) -> Population:
        """The estimated marginal."""
        return self.everyone


@dataclass(frozen=True, eq=False)
class SetView(View):
    """The different sets of an attribute, and the estimated marginal, shape (F,), as numbers of records.

    `counted` says that the marginal was not estimated but counted in the original.
    """

    evidence: Evidence
    estimated: NDArray[np.int64]
    counted: bool = False

    @property
    def domain(self) -> Domain:
        """The public values."""
        return self.evidence.domain

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records have each set."""
        return self.evidence.records

    @property
    def largest(self) -> FloatArray:
        """The likeliest value of each set, to someone without prior knowledge."""
        return self._largest(None)

    @property
    def largest_informed(self) -> FloatArray:
        """The likeliest value of each set, to someone who knows the marginal.

        A value that is estimated to occur never may occur: half a record more of each value keeps it possible, so that
        an estimate alone makes nobody certain.
        """
        return self._largest(self.estimated.astype(np.float64) + (0.0 if self.counted else _POSSIBLE))

    def _largest(self, prior: FloatArray | None) -> FloatArray:
        shares = self.evidence.shares(prior, aware=True).reshape(self.evidence.n_pieces, -1)
        largest: FloatArray = shares.max(axis=1, initial=0.0)
        return largest

    @property
    def marginal(self) -> NDArray[np.int64]:
        """The estimated marginal."""
        return self.estimated

    def picture(self, model: type[PrivacyModel]) -> ClassCounts:
        """The beliefs that a kind of model looks at."""
        if model.not_of_sets and not (model.of_sets == "learned" and self._rules_nothing_out):
            raise UnsupportedError(model.not_of_sets)
        if model.of_sets == "possible":
            return self._possible
        return self._compared if model.of_sets == "learned" else self._unprejudiced

    @cached_property
    def _possible(self) -> ClassCounts:
        return self._counted(self.evidence.candidates.counts)

    @cached_property
    def _unprejudiced(self) -> ClassCounts:
        if self.evidence.drawn_by().flat_likelihood:
            return self._possible
        return self._believed(None)

    @cached_property
    def _compared(self) -> ClassCounts:
        return self._believed(self.estimated.astype(np.float64))

    @property
    def _rules_nothing_out(self) -> bool:
        return self.evidence.drawn_by().epsilon is not None

    def _believed(self, prior: FloatArray | None) -> ClassCounts:
        whole = _FINE if self._rules_nothing_out else _WHOLE
        return self._counted(np.rint(self.evidence.shares(prior, aware=True) * whole).astype(np.int64))

    def _counted(self, weights: NDArray[np.int64]) -> ClassCounts:
        shown, everyone = self.evidence.candidates, Population(self.domain, self.estimated)
        return _Beliefs(shown.starts, shown.codes, weights, self.domain, self.evidence.records, everyone)


@dataclass(frozen=True, eq=False)
class ExplodedView(View):
    """Rows of one member each: which rows made a set is lost, except for people who look like nobody else.

    Possible values can be counted. For probabilities there is the bound of the mechanism: it holds for the sets, and so
    for anything made from them.
    """

    counts: ClassCounts
    mechanism: SetMechanism
    estimated: NDArray[np.int64]

    @classmethod
    def of(cls, counts: ClassCounts, mechanism: SetMechanism) -> ExplodedView:
        """The members in classes of equal quasi-identifiers."""
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
        # The members of several sets are mixed, which alone can break a model that is not monotone.
        if model.of_sets != "possible" or not model.monotone:
            raise UnsupportedError(
                "The sets of an exploded release cannot be separated, so only possible values are counted."
            )
        counts = self.counts
        once = np.ones(len(counts.counts), dtype=np.int64)
        everyone = Population(counts.domain, self.estimated)
        return _Beliefs(counts.starts, counts.codes, once, counts.domain, self.sizes, everyone)


def view_of(evidence: Evidence) -> View:
    """How models look at evidence: as counts, or as beliefs in the members of sets."""
    if evidence.counted:
        return ClassView(evidence.candidates)
    mechanism = evidence.drawn_by()
    shown = np.bincount(evidence.sets.ravel(), np.repeat(evidence.records, mechanism.l), mechanism.n_values)
    return SetView(evidence, estimated_marginal(mechanism, shown))


def estimated_marginal(mechanism: SetMechanism, shown: NDArray[np.number[Any]]) -> NDArray[np.int64]:
    """How often each value occurs, estimated from how many records show it; uniform where no estimate exists.

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
