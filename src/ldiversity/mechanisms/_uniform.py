"""Randomized addition: dummies drawn uniformly without replacement from all other values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.base.numbers import counted
from ldiversity.distances import Distance
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError
from ldiversity.mechanisms._arguments import check_prior, check_sample, described_integer, read_only
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.mechanisms._violation import Violation, count_violations
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["UniformSelection"]

_OUTCOMES_PER_WORD: Final = 2**32


class UniformSelection(SetMechanism):
    """Hide the true value among ``l - 1`` others; each set of others is equally likely.

    A set is equally likely from each of its members, so it changes no odds. The values of a set may be similar; see
    `violation_probability`.

    Parameters
    ----------
    n_values
        F, the number of values of the domain.
    l
        How many values a published set has, from 2 to F - 1: with l = F, every record would show the whole domain.

    References
    ----------
    Sei and Ohsuga, Randomized Addition of Sensitive Attributes for l-diversity; Eq. 19 there is `expected_mse_paper`.

    Examples
    --------
    >>> mechanism = UniformSelection(n_values=5, l=3)
    >>> print(mechanism.inclusion[0])
    [1.  0.5 0.5 0.5 0.5]
    >>> mechanism.expected_mse(n=100), mechanism.worst_posterior([4, 1, 1, 1, 1])
    (0.008, 0.6666666666666666)
    """

    kind: ClassVar[str] = "uniform"

    version: int = 2
    """Raise it when you change `_OUTCOMES_PER_WORD` (how many draws share a word) or the order of draws, here or in
    `Partitions`. Version 1 drew each value's set on its own, also under a key."""

    def __init__(self, n_values: int, l: int) -> None:
        self._n_values = check_integer("UniformSelection", "n_values", n_values, minimum=1, maximum=2**31 - 1)
        self._l = check_integer("UniformSelection", "l", l, minimum=2)
        if self._l >= self._n_values:
            raise _infeasible(self._n_values, self._l)

    @classmethod
    def fit(cls, domain: Domain, l: int) -> UniformSelection:
        """Make the mechanism for a domain.

        Raises
        ------
        InfeasibleError
            When the domain has fewer than l + 1 values.
        """
        try:
            return cls(len(domain), l)
        except InfeasibleError:
            raise _infeasible(len(domain), l, binned=domain.edges is not None) from None

    def __repr__(self) -> str:
        return f"UniformSelection(n_values={self.n_values}, l={self.l})"

    # --- what it publishes -------------------------------------------------------------------------

    @property
    def n_values(self) -> int:
        """F, the number of values of the domain."""
        return self._n_values

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """How many values a published set has."""
        return self._l

    @property
    def words_per_record(self) -> int:
        """Random words per record, including a spare one."""
        return -(-(self.l - 1) // self._draws_per_word) + 1

    @cached_property
    def _draws_per_word(self) -> int:
        # Small draws share a word as long as their joint outcomes are far fewer than its 2**64 values.
        draws = 1
        while draws < self.l - 1 and prod(self.n_values - k for k in range(1, draws + 2)) <= _OUTCOMES_PER_WORD:
            draws += 1
        return draws

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; see `SetMechanism.sample`."""
        from ldiversity._kernels.sampling import sample_uniform

        codes, words = check_sample(
            "UniformSelection", codes, words, n_values=self.n_values, n_words=self.words_per_record
        )
        drawn: tuple[SetArray, BoolArray] = sample_uniform(codes, words, self.n_values, self.l, self._draws_per_word)
        return drawn

    @cached_property
    def partitions(self) -> Partitions | None:
        """Uniformly random partitions of the domain into sets of l."""
        return None if self.version == 1 else Partitions(self.l, np.arange(self.n_values, dtype=np.int32)[:, None])

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds `l` distinct codes of the domain."""
        rows = np.asarray(sets)
        if rows.shape[1] != self.l:
            return np.zeros(len(rows), dtype=np.bool_)
        if (rows[:, 1:] < rows[:, :-1]).any():  # published sets are ascending, and need no sorting
            rows = np.sort(rows, axis=1)
        distinct: BoolArray = np.logical_and.reduce(rows[:, 1:] > rows[:, :-1], axis=1)
        return distinct & (rows[:, 0] >= 0) & (rows[:, -1] < self.n_values)

    # --- exact facts -------------------------------------------------------------------------------

    @property
    def chance(self) -> float:
        """Probability that a given other value is in the set, (l-1)/(F-1)."""
        return (self.l - 1) / (self.n_values - 1)

    @cached_property
    def inclusion(self) -> FloatArray:
        """Q: one on the diagonal, `chance` elsewhere."""
        matrix = np.full((self.n_values, self.n_values), self.chance)
        np.fill_diagonal(matrix, 1.0)
        return read_only(matrix)

    @cached_property
    def inverse(self) -> FloatArray:
        """A = inverse(Q') in closed form."""
        matrix = np.full((self.n_values, self.n_values), -self.chance / self.l)
        np.fill_diagonal(matrix, 1.0 - self.chance / self.l)
        return read_only(matrix / (1.0 - self.chance))

    @cached_property
    def condition(self) -> float:
        """Condition number of Q, l (F-1) / (F-l)."""
        return self.l * (self.n_values - 1) / (self.n_values - self.l)

    @property
    def flat_likelihood(self) -> bool:
        """True: a set is equally likely from each of its members."""
        return True

    def likelihood(self, sets: SetArray) -> FloatArray:
        """One for each member of an admissible set, and zero for other rows."""
        rows = np.asarray(sets)
        return np.repeat(self.admits(rows)[:, None], self.l, axis=1).astype(np.float64)

    def lightest(self, costs: FloatArray) -> FloatArray:
        """Return the least sum of `costs` over a set, among the sets of each value."""
        order = np.argsort(costs, kind="stable")
        cheap = order[: self.l]
        least = np.asarray(costs + costs[cheap[:-1]].sum(), dtype=np.float64)
        least[cheap[:-1]] += costs[cheap[-1]] - costs[cheap[:-1]]  # none of them is beside itself
        return least

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value.

        The worst set holds the likeliest value and the ``l - 1`` unlikeliest: ``p_max / (p_max + their sum)``.
        """
        if prior is None:
            return 1.0 / self.l
        shares = np.sort(check_prior("UniformSelection", prior, self.n_values))
        return float(shares[-1] / (shares[-1] + shares[: self.l - 1].sum()))

    @cached_property
    def variance_factors(self) -> FloatArray:
        """G: the variance of the estimate of count j is ``(N - V_j) (l-1) / (F-l)``."""
        matrix = np.full((self.n_values, self.n_values), self._noise)
        np.fill_diagonal(matrix, 0.0)
        return read_only(matrix)

    @property
    def _noise(self) -> float:
        return (self.l - 1) / (self.n_values - self.l)

    def covariance(self, counts: ArrayLike) -> FloatArray:
        """Return the covariance of the estimated counts for true counts V, shape (F, F).

        Notes
        -----
        ``(N - V_j) (l-1)/(F-l)`` on the diagonal, ``-(N - V_j - V_k) (l-1) / ((F-l)(F-2))`` elsewhere.
        """
        true = np.asarray(counts, dtype=np.float64)
        if true.shape != (self.n_values,):
            raise ParameterError("UniformSelection", "counts", f"must have shape ({self.n_values},)", got=true.shape)
        total = float(true.sum())
        matrix = (np.add.outer(true, true) - total) * (self._noise / (self.n_values - 2))
        np.fill_diagonal(matrix, (total - true) * self._noise)
        return np.asarray(matrix)

    def expected_mse(self, n: float, prior: ArrayLike | None = None) -> float:
        """Return the mean squared error of the linear estimate of the F shares from `n` records.

        ``(F-1)(l-1) / (n F (F-l))``, whatever the true counts are; `prior` is only checked.
        """
        records = _check_records(n)
        check_prior("UniformSelection", prior, self.n_values)
        size = self.n_values
        return (size - 1) * (self.l - 1) / (records * size * (size - self.l))

    def expected_mse_paper(self, n: float) -> float:
        """Return Eq. 19 of the paper, ``l (F-1)**2 / (n (F-l) F**2)``.

        It is `expected_mse` plus ``(F-1) / (n F**2)``, the noise of drawing the n records themselves from equally
        frequent values.
        """
        records = _check_records(n)
        size = self.n_values
        return self.l * (size - 1) ** 2 / (records * (size - self.l) * size**2)

    def violation_probability(self, distance: Distance, domain: Domain, d: float, n: int | None = None) -> Violation:
        """Return how often this mechanism breaks (l, d)-semantic diversity.

        With the number of records `n`, also the probability that any of them is affected.
        """
        if len(domain) != self.n_values:
            raise ParameterError("UniformSelection", "domain", f"must have {self.n_values} values", got=len(domain))
        records = None if n is None else check_integer("UniformSelection", "n", n, minimum=1)
        return count_violations(Compatibility.of(distance, domain, d), self.l, records)

    # --- as data -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types."""
        return {"kind": self.kind, "version": self.version, "n_values": self.n_values, "l": self.l}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> UniformSelection:
        """Read what `to_dict` wrote; the description is not trusted."""
        if described.get("n_values") != len(domain):
            raise ReleaseFormatError("release", "mechanism: n_values must be the number of values of the domain")
        return cls(len(domain), described_integer(described, "l", 2, len(domain) - 1))


def _check_records(n: float) -> float:
    records = check_number("UniformSelection", "n", n, minimum=0)
    if records == 0:
        raise ParameterError("UniformSelection", "n", "must be greater than 0", got="0")
    return records


def _infeasible(n_values: int, l: int, *, binned: bool = False) -> InfeasibleError:
    most = n_values - 1
    wider = (
        f"give edges or a width that make at least {l + 1} bins"
        if binned
        else f"declare a domain of at least {l + 1} values"
    )
    possible = most >= 2  # noqa: PLR2004 - the least l
    hint = say("Use {} or less, or {}.", Setting("l", most), wider) if possible else f"{wider.capitalize()}."
    nearest: list[dict[str, float]] = [{"l": most}] if possible else []
    return InfeasibleError(
        "UniformSelection",
        "l",
        f"must be at most F - 1 = {most} for the F = {n_values} values of the domain"
        if possible
        else f"cannot be reached with a domain of {counted(n_values, 'value')}",
        got=l,
        nearest=nearest,
    ).with_hint(hint)
