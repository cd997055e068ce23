"""What simple and ring selection share: dummies drawn one after another, and facts by enumerating the sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.distances import Distance, distance_from_dict
from ldiversity.errors import (
    InfeasibleError,
    LDiversityError,
    ReleaseFormatError,
    UnsupportedError,
)
from ldiversity.mechanisms._apart import ApartSelection
from ldiversity.mechanisms._arguments import check_prior, check_sample, described_integer, described_number, read_only
from ldiversity.mechanisms._base import FITTED_CONDITION
from ldiversity.mechanisms._enumerated import EnumeratedSets, distinct_rows, enumerate_or_sample, list_sets
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["SequentialSelection"]


class SequentialSelection(ApartSelection):
    """A mechanism on the sets of `l` values whose members are pairwise at distance `d` or more."""

    def __init__(self, domain: Domain, distance: Distance, l: int, d: float) -> None:
        owner = type(self).__name__
        l, d = check_integer(owner, "l", l, minimum=2), check_number(owner, "d", d, minimum=0)
        super().__init__(domain, distance, l=l, d=d)
        if self._l > self._most_members:
            raise UnsupportedError(owner, "l", f"must be at most {self._most_members}", got=self._l).with_hint(
                "Exact facts about larger sets would take too long. Use a smaller l, or balanced selection."
            )

    @classmethod
    def fit(cls, domain: Domain, distance: Distance, l: int, d: float) -> Self:
        """Make the mechanism for a domain, and check that it can hide every value and that estimates are possible.

        Raises
        ------
        InfeasibleError
            When some value is in no valid set, or when the inclusion matrix is singular.
        """
        mechanism = cls(domain, distance, l, d)
        reason = mechanism._why_infeasible() or mechanism._why_singular()
        if reason is not None:
            raise _infeasible(mechanism, reason)
        return mechanism

    def __repr__(self) -> str:
        return f"{type(self).__name__}(F={self.n_values}, l={self.l}, d={self.d:g}, distance={self.distance.kind!r})"

    # --- what it is --------------------------------------------------------------------------------

    @property
    def words_per_record(self) -> int:
        """One random word per dummy, and a spare one."""
        return self._l

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; see `SetMechanism.sample`."""
        codes, words = check_sample(
            type(self).__name__, codes, words, n_values=self.n_values, n_words=self.words_per_record
        )
        return self._draw(codes, words)

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds `l` codes that are pairwise at distance `d` or more."""
        rows = np.asarray(sets)
        if rows.shape[1] != self.l:
            return np.zeros(len(rows), dtype=np.bool_)
        return self.compatibility.admits(rows)

    # --- what a subclass adds ----------------------------------------------------------------------

    @property
    @abstractmethod
    def _most_members(self) -> int:
        """The greatest l for which P(set | member) can be computed."""

    @property
    @abstractmethod
    def _work(self) -> int:
        """Steps of computing P(set | member) for the members of one set."""

    @abstractmethod
    def _draw(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]: ...

    @abstractmethod
    def _explain(self, sets: SetArray) -> FloatArray:
        """P(set | member) of distinct valid sets."""

    @abstractmethod
    def _why_infeasible(self) -> str | None:
        """Return the broken rule as half a sentence, or None."""

    # --- facts by enumeration ----------------------------------------------------------------------

    def likelihood(self, sets: SetArray) -> FloatArray:
        """P(set | each of its members is true), shape (n, l); zero for sets that are never published."""
        rows = np.ascontiguousarray(sets, dtype=np.int32)
        result = np.zeros(rows.shape)
        valid = self.admits(rows)
        if valid.any():
            distinct, back = distinct_rows(rows[valid], self.n_values)
            result[valid] = self._explain(distinct)[back]
        return result

    @cached_property
    def _listed(self) -> SetArray | None:
        return list_sets(self.l, self.compatibility, self._work)

    @cached_property
    def _enumerated(self) -> EnumeratedSets:
        return enumerate_or_sample(self, self._listed, self._work)

    @property
    def worst_posterior_is_exact(self) -> bool:
        """Whether `worst_posterior` examined all sets; otherwise it is a lower bound from sampled sets.

        `variance_factors` are exact in the same case, otherwise simulated.
        """
        return self._listed is not None

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value.

        Exact if `worst_posterior_is_exact`, otherwise the greatest among sampled sets.
        """
        shares = check_prior(type(self).__name__, prior, self.n_values)
        enumerated = self._enumerated
        joint = enumerated.likelihood * shares[enumerated.sets]
        total = joint.sum(axis=1)
        return float((joint.max(axis=1)[total > 0] / total[total > 0]).max())

    @cached_property
    def variance_factors(self) -> FloatArray:
        """G; exact if `worst_posterior_is_exact`, otherwise simulated from a fixed sample of sets."""
        from ldiversity._kernels.likelihood import variance_sums

        enumerated = self._enumerated
        sums = np.zeros((self.n_values, self.n_values))
        variance_sums(enumerated.sets, enumerated.weights, np.ascontiguousarray(self.inverse.T), sums)
        return read_only(sums.T - np.eye(self.n_values))

    def _why_singular(self) -> str | None:
        if self.inclusion_error > 0:
            least = float(np.linalg.svd(self.inclusion, compute_uv=False)[-1])
            if least < 2 * self.inclusion_error * np.sqrt(self.n_values):
                return "the simulated inclusion matrix cannot be distinguished from a singular one"
        if not self.condition < FITTED_CONDITION:
            return "the inclusion matrix is singular, so no distribution could be estimated"
        return None

    # --- as data -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types."""
        return {
            "kind": self.kind,
            "version": self.version,
            "l": self.l,
            "d": self.d,
            "distance": self.distance.to_dict(self.domain),
        }

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> Self:
        """Read what `to_dict` wrote; the description is not trusted."""
        l = described_integer(described, "l", 2, max(len(domain), 2))
        d = described_number(described, "d")
        distance = distance_from_dict(described.get("distance"), domain)
        try:
            mechanism = cls(domain, distance, l, d)
            reason = mechanism._why_infeasible()
        except LDiversityError as error:
            raise ReleaseFormatError(
                "release", say("mechanism {}: {}", repr(cls.kind), error.message), hint=error.hint
            ) from None
        if reason is not None:
            raise ReleaseFormatError("release", f"mechanism {cls.kind!r} cannot be: {reason}")
        return mechanism


def _infeasible(mechanism: SequentialSelection, reason: str) -> InfeasibleError:
    from ldiversity.mechanisms._nearest import search_nearest

    matrix = mechanism.distance.matrix(mechanism.domain)
    nearest = search_nearest(matrix, mechanism.l, mechanism.d, mechanism.kind, np.ones(len(matrix)))
    goal = Setting("l", mechanism.l), Setting("d", float(mechanism.d))
    return InfeasibleError(
        type(mechanism).__name__,
        say("({}, {}) must be feasible on this domain of {} values, but {}", *goal, mechanism.n_values, reason),
        nearest=nearest.as_dicts(),
    ).with_hint(nearest.hint())
