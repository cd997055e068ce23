"""Min-max selection: where no balanced weights exist, sets whose worst posterior is as small as can be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.base.numbers import counted_of
from ldiversity.distances import Distance, distance_from_dict
from ldiversity.errors import InfeasibleError, LDiversityError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms._apart import ApartSelection
from ldiversity.mechanisms._arguments import check_prior, check_sample, described_integer, described_number, read_only
from ldiversity.mechanisms._balanced import ROUNDING
from ldiversity.mechanisms._balanced_sampling import AliasTables, ListedSampler
from ldiversity.mechanisms._base import CONDITION_LIMIT, SINGULAR_CONDITION
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.schema import Domain
from ldiversity.sentences import say

__all__ = ["MINMAX_SETS", "MinMaxSelection"]

MINMAX_SETS: Final = 1_000
"""The greatest number of valid sets for which the linear programs are solved."""

SPREAD: Final = (0.1, 0.2, 0.4, 0.8)
"""Tried one after the other: which share of a value's draws is spread evenly over all its sets."""

SUM_TOLERANCE: Final = 1e-8
"""How far the probabilities of a value's sets in a release may be from one in sum."""


class MinMaxSelection(ApartSelection):
    """Hide the true value in a set of `l` values at least `d` apart, by the least worst posterior that is possible.

    Where a group of alike values is larger than F/l, no weights are balanced: some set must point at a value with more
    than 1/l. A linear program finds probabilities P(R | v) for which no member of any set is likelier than a bound t,
    to someone to whom all values were equally likely, and for which t is as small as possible.

    At the least t of all, some sets are never published, and the distribution cannot be recovered. So a share of the
    draws of each value is spread evenly over all its sets: 10 %, or more if estimates would be poor otherwise. Every
    valid set can then be published. `worst_posterior` is the bound that is reached.

    Another version of scipy may find other probabilities that are as good. Under a key, sets then change as with
    another key.

    Use `fit`. The constructor trusts that the probabilities of a value's sets sum to one.

    Parameters
    ----------
    chances
        Shape (sets, l): P(set | member) of all valid sets in lexicographic order.

    Examples
    --------
    Of ten values six are alike, so that one of two values is true with 6/10 at best:

    >>> from ldiversity.distances import MatrixDistance
    >>> block = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
    >>> far = MatrixDistance(tuple(range(10)), 1.0 + np.not_equal.outer(block, block) - np.eye(10))
    >>> mechanism = MinMaxSelection.fit(Domain(tuple(range(10))), far, l=2, d=2)
    >>> bool(0.6 < mechanism.worst_posterior() < 0.62)
    True
    """

    kind: ClassVar[str] = "minmax"

    version: int = 1
    """Raise it when you change how probabilities are found, the order in which sets are listed, or alias tables."""

    def __init__(self, domain: Domain, distance: Distance, *, l: int, d: float, chances: FloatArray) -> None:
        super().__init__(domain, distance, l=l, d=d)
        self.sets = _list(self.compatibility, l)
        self.chances: FloatArray = read_only(np.array(chances, dtype=np.float64))

    @classmethod
    def fit(cls, domain: Domain, distance: Distance, l: int, d: float) -> MinMaxSelection:
        """Find probabilities with the least worst posterior, and a Q that can be inverted.

        Raises
        ------
        InfeasibleError
            When some value is in no valid set, or the valid sets do not distinguish all values.
        UnsupportedError
            When there are more than 1,000 valid sets.
        """
        from ldiversity.mechanisms._programs import least_chances

        l = check_integer("MinMaxSelection", "l", l, minimum=2)
        d = check_number("MinMaxSelection", "d", d, minimum=0)
        _check_feasible(domain, distance, l, d)
        sets = _list(Compatibility.of(distance, domain, d), l)
        tried = []
        for share in SPREAD:
            chances = least_chances(sets, len(domain), share)
            tried.append(cls(domain, distance, l=l, d=d, chances=chances))
            if tried[-1].condition <= CONDITION_LIMIT:
                return tried[-1]
        return min(tried, key=lambda one: one.condition)

    def __repr__(self) -> str:
        return f"MinMaxSelection(n_values={self.n_values}, l={self.l}, d={self.d:g})"

    # --- what it publishes -------------------------------------------------------------------------

    @property
    def words_per_record(self) -> int:
        """One random word per record; no draw is rejected."""
        return 1

    @cached_property
    def _sampler(self) -> ListedSampler:
        by_value = np.argsort(self.sets, axis=None, kind="stable")
        ends = np.searchsorted(self.sets.ravel()[by_value], np.arange(1, self.n_values))
        chances = np.split(self.chances.ravel()[by_value], ends)
        return ListedSampler(self.sets, AliasTables.of(chances, np.split(by_value // self.l, ends)))

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; see `SetMechanism.sample`."""
        codes, words = check_sample(
            "MinMaxSelection", codes, words, n_values=self.n_values, n_words=self.words_per_record
        )
        return self._sampler.sample(codes, words), np.zeros(len(codes), dtype=np.bool_)

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds `l` codes in ascending order that are pairwise at least `d` apart."""
        rows = np.asarray(sets)
        if rows.shape[1] != self.l:
            return np.zeros(len(rows), dtype=np.bool_)
        ascending: BoolArray = np.logical_and.reduce(rows[:, 1:] > rows[:, :-1], axis=1)
        return ascending & self.compatibility.admits(rows)

    # --- exact facts -------------------------------------------------------------------------------

    @cached_property
    def inclusion(self) -> FloatArray:
        """Q[v, j], the sum of P(R | v) over sets with v and j."""
        summed = np.zeros(self.n_values**2)
        for a in range(self.l):
            for b in range(self.l):
                cell = self.sets[:, a].astype(np.int64) * self.n_values + self.sets[:, b]
                summed += np.bincount(cell, weights=self.chances[:, a], minlength=len(summed))
        matrix = summed.reshape(self.n_values, self.n_values)
        matrix /= matrix.diagonal()[:, None].copy()
        matrix[matrix > 1.0 - ROUNDING] = 1.0  # both sums have the same terms, in another order
        return read_only(matrix)

    def likelihood(self, sets: SetArray) -> FloatArray:
        """P(set | each of its members is true), and zero for sets that are not valid."""
        valid = self.admits(sets)
        rows = np.asarray(sets).astype(np.int64)
        found = np.zeros(rows.shape)
        powers = self.n_values ** np.arange(self.l - 1, -1, -1, dtype=np.int64)
        listed = self.sets.astype(np.int64) @ powers  # ascending, because sets are in lexicographic order
        found[valid] = self.chances[np.searchsorted(listed, rows[valid] @ powers)]
        return found

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value, over all sets."""
        joint = self.chances * check_prior("MinMaxSelection", prior, self.n_values)[self.sets]
        total = joint.sum(axis=1)
        return float((joint.max(axis=1)[total > 0] / total[total > 0]).max())

    @cached_property
    def variance_factors(self) -> FloatArray:
        """G: see `SetMechanism.variance_factors`; exact."""
        squares = self.inverse.T[self.sets].sum(axis=1) ** 2
        summed = np.zeros((self.n_values, self.n_values))
        for k in range(self.l):
            np.add.at(summed, self.sets[:, k], self.chances[:, k, None] * squares)
        return read_only(summed.T - np.eye(self.n_values))

    # --- as data -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types, with the probabilities, so that readers solve no program."""
        return {
            "kind": self.kind,
            "version": self.version,
            "l": self.l,
            "d": self.d,
            "distance": self.distance.to_dict(self.domain),
            "fitted": self.chances.tolist(),
        }

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> MinMaxSelection:
        """Read what `to_dict` wrote, and check that the probabilities are some and Q is invertible."""
        l = described_integer(described, "l", 2, len(domain))
        d = described_number(described, "d")
        distance = distance_from_dict(described.get("distance"), domain)
        try:
            sets = _list(Compatibility.of(distance, domain, d), l)
        except LDiversityError as error:
            raise ReleaseFormatError(
                "release", say("mechanism {}: {}", repr(cls.kind), error.message), hint=error.hint
            ) from None
        mechanism = cls(domain, distance, l=l, d=d, chances=_described_chances(described.get("fitted"), sets))
        sums = np.bincount(sets.ravel(), weights=mechanism.chances.ravel(), minlength=len(domain))
        if float(np.abs(sums - 1.0).max()) > SUM_TOLERANCE or not mechanism.condition <= SINGULAR_CONDITION:
            raise ReleaseFormatError("release", "mechanism: fitted must give recoverable probabilities that sum to 1")
        return mechanism


def _list(compatibility: Compatibility, l: int) -> SetArray:
    sets = compatibility.enumerate_sets(l, MINMAX_SETS)
    if sets is None:
        raise UnsupportedError(
            "MinMaxSelection", f"there must be at most {MINMAX_SETS} valid sets of {l} values"
        ).with_hint("Use a smaller l, a larger d, or a domain with fewer values.")
    return sets


def _described_chances(numbers: Any, sets: SetArray) -> FloatArray:  # noqa: ANN401 - from a stranger
    rows = numbers if isinstance(numbers, list) and len(numbers) == len(sets) else None
    plain = rows is not None and all(isinstance(row, list) and len(row) == sets.shape[1] for row in rows)
    if not plain or not all(type(one) in {int, float} and 0 < one <= 1 for row in rows or () for one in row):
        raise ReleaseFormatError(
            "release", f"mechanism: fitted must be {len(sets)} rows of {sets.shape[1]} positive probabilities"
        )
    return np.array(rows, dtype=np.float64).reshape(sets.shape)


def _check_feasible(domain: Domain, distance: Distance, l: int, d: float) -> None:
    from ldiversity.mechanisms._feasibility import coverable, spans
    from ldiversity.mechanisms._nearest import search_nearest

    compatibility = Compatibility.of(distance, domain, d)
    missing = int(np.count_nonzero(~coverable(compatibility, l)))
    reason = None
    if missing:
        reason = (
            f"every value must be in a valid set, but {counted_of(missing, len(domain), 'value', 'is', 'are')} in none"
        )
    elif not spans(compatibility, l):
        reason = "the valid sets must distinguish all values, or the distribution cannot be recovered"
    if reason is None:
        return
    nearest = search_nearest(distance.matrix(domain), l, d, "simple", np.ones(len(domain)))
    raise InfeasibleError(
        "MinMaxSelection", reason, got=f"l={l}, d={d:g}", hint=nearest.hint(), nearest=nearest.as_dicts()
    )
