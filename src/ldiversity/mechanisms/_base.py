"""The base class of set mechanisms.

A *set mechanism* turns the true value of a record into a published set of `l` values, which contains it unless the
mechanism has an `epsilon`.
Its description is public and complete: the data holder draws with it, the data user estimates with it, and both
compute the same exact facts from it. F is the number of values; Q[v, j] is the probability that value j is in the
published set when v is true.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.schema import Domain

__all__ = ["CONDITION_LIMIT", "FITTED_CONDITION", "SINGULAR_CONDITION", "SetMechanism"]

CONDITION_LIMIT: Final = 50.0
"""Above this condition number of Q, a warning says that estimates will be poor."""

SINGULAR_CONDITION: Final = 1e10
"""Above this condition number, Q counts as singular: the distribution cannot be recovered."""

FITTED_CONDITION: Final = SINGULAR_CONDITION / 10
"""The limit for a new mechanism. It is stricter, because readers compute the condition again with other rounding."""


class SetMechanism(ABC):
    """A public rule that hides a true value in a set of `l` values.

    Instances are immutable. Everything here is exact unless `inclusion_error` says otherwise.
    """

    kind: ClassVar[str]
    """The name of this mechanism in a release; never reused for another meaning."""

    version: int = 1
    """Changes whenever a record would get another set under the same key; part of every keyed draw.

    Each class documents which changes these are, and tests pin the sets that given words draw. A mechanism that was
    read from a release has the version with which it was drawn. All versions of a kind publish with the same
    probabilities.
    """

    # --- what it publishes -------------------------------------------------------------------------

    @property
    @abstractmethod
    def n_values(self) -> int:
        """F, the number of values of the domain."""

    @property
    @abstractmethod
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """How many values a published set has."""

    @property
    @abstractmethod
    def words_per_record(self) -> int:
        """How many random words `sample` needs per record, including spare words for rejected draws."""

    @abstractmethod
    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; it depends only on the code and the random words of that record.

        Parameters
        ----------
        codes
            True values, shape (n,).
        words
            Uniform random words, shape (n, m) with ``m >= words_per_record``. If fewer words are enough for a
            record, more words do not change its set.

        Returns
        -------
        sets
            Shape (n, l), ascending in each row, so that their order reveals nothing.
        short
            True where rejected draws used up the record's words. That row of `sets` is void, and the caller must
            ask again with more words.
        """

    @property
    def partitions(self) -> Partitions | None:
        """How all sets of one person are drawn, so that they are equal or disjoint; None where no way is known.

        Each single set must have the same distribution as those of `sample`. A mechanism that draws nothing but
        partitions gives `words_per_record` and `sample` of its `Partitions` as its own.
        """
        return None

    @abstractmethod
    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row is a set that this mechanism may publish: l distinct codes, far enough apart."""

    @property
    def epsilon(self) -> float | None:
        """No two values make any set likely by factors that differ by more than e**epsilon; None without such a bound.

        Without it, every set holds the true value, and so rules others out. With it, the true value may be missing.
        """
        return None

    # --- exact facts -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def inclusion(self) -> FloatArray:
        """Q, shape (F, F): every row sums to l, and Q[v, v] = 1 without an `epsilon`. Read-only; computed once."""

    @property
    def inclusion_error(self) -> float:
        """Largest standard error of an entry of Q: 0.0 unless Q had to be simulated."""
        return 0.0

    @property
    def flat_likelihood(self) -> bool:
        """Whether a published set is equally likely from each of its members, so that it changes no odds."""
        return False

    @abstractmethod
    def likelihood(self, sets: SetArray) -> FloatArray:
        """P(set | each of its members is true), shape (n, l), up to one positive factor per row."""

    def explanations(self, sets: SetArray) -> tuple[SetArray, FloatArray]:
        """Return the values that may be true for each set, and P(set | value), up to one positive factor per row.

        Both have the shape (n, m): the members of the set or, with an `epsilon`, all values of the domain.
        """
        return sets, self.likelihood(sets)

    @abstractmethod
    def worst_posterior(self, prior: FloatArray | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value.

        `prior` is what an attacker believes before seeing the set; uniform when None.
        """

    @property
    @abstractmethod
    def variance_factors(self) -> FloatArray:
        """G, shape (F, F): the variance of the linear estimate of count j is ``G[j] @ V`` for true counts V.

        G[j, v] = sum over R of P(R | v) a_R[j]**2 - [j = v], with a_R = inverse(Q') 1_R.
        """

    def expected_mse(self, n: float, prior: FloatArray | None = None) -> float:
        """Mean squared error of the linear estimate of the F shares, averaged over values.

        Exact for fixed true counts ``n * prior``; `prior` is uniform when None.
        """
        shares = np.full(self.n_values, 1.0 / self.n_values) if prior is None else np.asarray(prior, dtype=float)
        return float((self.variance_factors @ shares).mean() / n)

    @cached_property
    def condition(self) -> float:
        """Condition number of Q: how much estimation amplifies noise."""
        return float(np.linalg.cond(self.inclusion))

    @cached_property
    def inverse(self) -> FloatArray:
        """A = inverse(Q'), so that ``A @ W`` estimates the counts from published counts W without bias."""
        return np.asarray(np.linalg.inv(self.inclusion.T), dtype=np.float64)

    def cautions(self) -> tuple[str, ...]:
        """What the holder should know before publishing with this mechanism, in one sentence each."""
        if self.condition > CONDITION_LIMIT:
            return (f"Estimates will be poor: the inclusion matrix has condition {self.condition:.0f}.",)
        return ()

    # --- as data -----------------------------------------------------------------------------------

    @abstractmethod
    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types, completely, with ``"kind"`` and ``"version"``.

        Numbers that were computed from the parameters are under ``"fitted"``.
        """

    def parameters(self) -> dict[str, Json]:
        """`to_dict` without ``"fitted"``: what the holder chose, the same on every machine to the last bit."""
        return {name: value for name, value in self.to_dict().items() if name != "fitted"}

    @classmethod
    @abstractmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> SetMechanism:
        """Read what `to_dict` wrote. The dict is not trusted: check it, and raise `ReleaseFormatError`."""
