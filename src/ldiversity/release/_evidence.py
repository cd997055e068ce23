"""`Evidence`: what a release says about the sensitive value of each record, in one form for sets and classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms import SetMechanism, distinct_rows
from ldiversity.models import ClassCounts
from ldiversity.release._batches import RowBatch
from ldiversity.schema import Domain

__all__ = [
    "CountedTally",
    "Evidence",
    "EvidenceTally",
    "SetTally",
    "evidence_of_classes",
    "evidence_of_members",
]

_MERGE_SETS: Final = 1 << 20


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a release says about one sensitive attribute: pieces of evidence, and the piece that each row shows.

    A piece is a class with the values of its records, or a set that one or several records show.

    Parameters
    ----------
    candidates
        The values that a record of each piece may have, and how often: as many records of a class have the value, or
        once for each member of a set. Where sets were drawn with an epsilon, all values, once: the true one may be
        missing from its set.
    records
        Shape (pieces,): how many records show each piece.
    counted
        Whether candidates are counted, so that a value which one record of a piece has is taken from the others. If
        not, each record was hidden on its own, and `likelihood` says how.
    complete
        Whether a row shows all that is said about its record; a row of a release that was exploded does not.
    mechanism
        How members of sets were drawn; None where candidates are counted.
    shown
        Shape (pieces, l): the sets, where values that are not in them are candidates too.

    Examples
    --------
    >>> from ldiversity.models import count_classes
    >>> of = np.array([0, 0, 0, 1], dtype=np.int32)
    >>> counts = count_classes(of, np.array([1, 1, 0, 0]), 2, Domain(("a", "b")))
    >>> evidence = evidence_of_classes(counts, of)
    >>> evidence.shares().round(2).tolist(), evidence.marginal.tolist()
    ([0.33, 0.67, 1.0], [0.5, 0.5])
    """

    candidates: ClassCounts
    records: NDArray[np.int64]
    counted: bool
    complete: bool = True
    mechanism: SetMechanism | None = None
    shown: SetArray | None = None
    _of_row: CodeArray | None = field(default=None, repr=False)

    @property
    def domain(self) -> Domain:
        """The public values."""
        return self.candidates.domain

    @property
    def n_pieces(self) -> int:
        """The number of pieces."""
        return self.candidates.n_classes

    @property
    def of_row(self) -> CodeArray:
        """Shape (rows,): the piece that each published row shows; -1 where it shows no value."""
        if self._of_row is None:
            raise UnsupportedError("release", "this evidence was gathered without its rows", hint="Use evidence().")
        return self._of_row

    @cached_property
    def sets(self) -> SetArray:
        """Shape (pieces, l): the sets, where all pieces are sets of one size."""
        return self.candidates.codes.reshape(self.n_pieces, -1) if self.shown is None else self.shown

    @cached_property
    def marginal(self) -> FloatArray | None:
        """Shape (F,): the share of each value among all records; None where it is not counted but must be estimated."""
        if not self.counted:
            return None
        counts = self.candidates.population.counts.astype(np.float64)
        return np.asarray(counts / counts.sum())

    @cached_property
    def likelihood(self) -> FloatArray:
        """For each candidate: how likely its value leads to the piece, up to a factor for each piece."""
        if self.marginal is not None:
            return self.shares() / self.marginal[self.candidates.codes]
        if self.mechanism is None or self.mechanism.flat_likelihood or not self.complete:
            return np.ones(len(self.candidates.codes))
        _, likelihood = self.mechanism.explanations(self.sets)
        # A set that the mechanism never draws says nothing about its members.
        never = likelihood.sum(axis=1, keepdims=True) <= 0
        return np.asarray(np.where(never, 1.0, likelihood).reshape(-1))

    def shares(self, prior: FloatArray | None = None, *, aware: bool = False) -> FloatArray:
        """For each candidate: its probability, which sums to one in each piece.

        Parameters
        ----------
        prior
            Shape (F,): what was believed before; all values equally likely when None. Counted values are what they are.
        aware
            Whether the reader knows how sets are drawn; otherwise every member is equally likely, and nothing else.
        """
        shown = self.candidates
        if self.counted:
            return np.asarray(shown.counts / np.repeat(shown.sizes, np.diff(shown.starts)))
        known = self.likelihood if aware else self._members
        weights = known if prior is None else known * prior[shown.codes]
        # A prior that gives no member a probability says nothing about this set.
        weights = np.where(self._totals(weights) > 0, weights, known)
        return np.asarray(weights / self._totals(weights))

    @property
    def _members(self) -> FloatArray:
        """For each candidate: 1 if its set shows it, and 0 if not."""
        members = np.ones(len(self.candidates.codes))
        if self.shown is None:
            return members
        members[:] = 0.0
        np.put_along_axis(members.reshape(self.n_pieces, -1), self.shown.astype(np.int64), 1.0, axis=1)
        return members

    def _totals(self, weights: FloatArray) -> FloatArray:
        """For each candidate: the sum of the weights of its piece."""
        starts = self.candidates.starts
        return np.repeat(np.add.reduceat(weights, starts[:-1]), np.diff(starts)) if len(weights) else weights

    def take(self, pieces: NDArray[np.integer]) -> Evidence:
        """Some of the pieces, without their rows."""
        lengths = np.diff(self.candidates.starts)[pieces]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.candidates.starts[:-1][pieces], lengths)
        some = ClassCounts(starts, self.candidates.codes[inside], self.candidates.counts[inside], self.domain)
        shown = None if self.shown is None else self.shown[pieces]
        return replace(self, candidates=some, records=self.records[pieces], shown=shown, _of_row=None)

    def of_sets(self, sets: SetArray) -> Evidence:
        """The same for these sets, one for each record, without rows."""
        return _evidence_of_sets(sets, np.ones(len(sets), dtype=np.int64), self.domain, self.drawn_by())

    def drawn_by(self) -> SetMechanism:
        """How sets were drawn, or `UnsupportedError` where values are counted."""
        if self.mechanism is None:
            raise UnsupportedError("release", "values are counted in classes, and no sets were drawn")
        return self.mechanism


def _members(sets: SetArray, domain: Domain) -> ClassCounts:
    """Each set as a piece in which every member counts once."""
    starts = np.arange(0, sets.size + 1, sets.shape[1], dtype=np.int64)
    return ClassCounts(starts, sets.reshape(-1), np.ones(sets.size, dtype=np.int64), domain)


def _evidence_of_sets(
    sets: SetArray,
    records: NDArray[np.int64],
    domain: Domain,
    mechanism: SetMechanism,
    of_row: CodeArray | None = None,
) -> Evidence:
    """Evidence of sets: their members, or all values where the true one may be missing."""
    if mechanism.epsilon is None:
        return Evidence(_members(sets, domain), records, counted=False, mechanism=mechanism, _of_row=of_row)
    every, _ = mechanism.explanations(sets)
    return Evidence(_members(every, domain), records, counted=False, mechanism=mechanism, shown=sets, _of_row=of_row)


def evidence_of_classes(counts: ClassCounts, class_of: CodeArray | None) -> Evidence:
    """Evidence of classes whose values are counted."""
    return Evidence(counts, counts.sizes, counted=True, _of_row=class_of)


def evidence_of_members(members: CodeArray, domain: Domain, mechanism: SetMechanism) -> Evidence:
    """Evidence of exploded rows, which show one member each and not the set: a piece for each value."""
    n = len(domain)
    each = _members(np.arange(n, dtype=np.int32)[:, None], domain)
    shown = np.bincount(members, minlength=n).astype(np.int64)
    return Evidence(each, shown, counted=False, complete=False, mechanism=mechanism, _of_row=members)


class EvidenceTally(Protocol):
    """Gathers what batches of rows say. Memory grows with the number of different pieces, not of rows."""

    def add(self, batch: RowBatch) -> None:
        """Look at some more rows."""

    def result(self) -> Evidence:
        """What all of them say."""


@dataclass(frozen=True)
class CountedTally:
    """Evidence that the release has already counted, so that rows add nothing."""

    read: Callable[[], ClassCounts]

    def add(self, batch: RowBatch) -> None:
        """Look at some more rows."""

    def result(self) -> Evidence:
        """The classes, without the link from rows to them."""
        return evidence_of_classes(self.read(), None)


class SetTally:
    """The different sets of an attribute, and how many records show each, gathered batch by batch.

    Memory grows with the different sets alone, and by four bytes per row when the link from rows to sets is wanted.

    Examples
    --------
    >>> from ldiversity.mechanisms import UniformSelection
    >>> tally = SetTally("disease", Domain(("a", "b", "c")), UniformSelection(3, 2), linked=True)
    >>> tally.add_sets(np.array([[0, 1], [1, 2], [0, 1]], dtype=np.int32))
    >>> found = tally.result()
    >>> found.sets.tolist(), found.records.tolist(), found.of_row.tolist()
    ([[0, 1], [1, 2]], [2, 1], [0, 1, 0])
    """

    def __init__(self, attribute: str, domain: Domain, mechanism: SetMechanism, *, linked: bool = False) -> None:
        self._attribute, self._domain, self._mechanism, self._linked = attribute, domain, mechanism, linked
        self._sets: list[SetArray] = [np.empty((0, mechanism.l), dtype=np.int32)]
        self._records: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        self._links: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        self._n_waiting = 0

    def add(self, batch: RowBatch) -> None:
        """Count one more batch of rows."""
        self.add_sets(batch.codes[self._attribute])

    def add_sets(self, sets: SetArray) -> None:
        """Count some more sets, members in code order."""
        different, back = distinct_rows(sets, len(self._domain))
        self._sets.append(different)
        self._records.append(np.bincount(back, minlength=len(different)).astype(np.int64))
        if self._linked:
            self._links.append(back + self._n_waiting)
        self._n_waiting += len(different)
        if not self._linked and self._n_waiting > max(_MERGE_SETS, len(self._sets[0])):
            self._merge()

    def result(self) -> Evidence:
        """What was gathered; sets are in an order that does not depend on the rows."""
        numbers = self._merge()
        (sets,), (records,) = self._sets, self._records
        of_row = numbers[np.concatenate(self._links)] if self._linked else None
        return _evidence_of_sets(sets, records, self._domain, self._mechanism, of_row)

    def _merge(self) -> CodeArray:
        """Merge the gathered sets into one list; returns the place of each of them in it."""
        different, back = distinct_rows(np.concatenate(self._sets), len(self._domain))
        records = np.bincount(back, np.concatenate(self._records), minlength=len(different))
        self._sets, self._records, self._n_waiting = [different], [np.rint(records).astype(np.int64)], 0
        return back.astype(np.int32)
