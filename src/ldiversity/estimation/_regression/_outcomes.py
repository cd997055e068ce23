"""What a regression tells apart: the values of a domain, or some of them and all others together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["OTHER", "Outcomes"]

OTHER: Final = "(others)"
"""The name of the outcome that holds all values which are not named."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A partition of the values into outcomes, one of which is the reference.

    The probability of a value is that of its outcome, times its share within the outcome. Both depend on the
    predictors: the first is what is asked for, the second is fitted beside it, because sets show values and not
    outcomes.

    Parameters
    ----------
    labels
        The name of each outcome.
    of_value
        Shape (F,): the outcome of each value.
    reference
        The outcome to which the others are compared.
    shares
        Shape (F,): how frequent the values are, by an estimate; the most frequent value of an outcome is the one to
        which its others are compared.

    Examples
    --------
    >>> flu = Outcomes(("flu", "(others)"), np.array([0, 1, 1]), 1, np.array([0.2, 0.3, 0.5]))
    >>> flu.compared.tolist(), flu.inner.tolist(), flu.n_logits
    ([0], [1], 2)
    """

    labels: tuple[str, ...]
    of_value: NDArray[np.int64]
    reference: int
    shares: FloatArray

    @property
    def n(self) -> int:
        """The number of outcomes."""
        return len(self.labels)

    @cached_property
    def compared(self) -> NDArray[np.int64]:
        """The outcomes that have coefficients."""
        return np.delete(np.arange(self.n), self.reference)

    @cached_property
    def inner(self) -> NDArray[np.int64]:
        """The values that are compared with another value of their outcome."""
        most_frequent = {
            int(outcome): int(np.flatnonzero(self.of_value == outcome)[self.shares[self.of_value == outcome].argmax()])
            for outcome in np.unique(self.of_value)
        }
        return np.array(sorted(set(range(len(self.of_value))) - set(most_frequent.values())), dtype=np.int64)

    @cached_property
    def members(self) -> FloatArray:
        """Shape (F, outcomes): 1 where a value belongs to an outcome."""
        belongs: FloatArray = np.equal.outer(self.of_value, np.arange(self.n)).astype(np.float64)
        return belongs

    @property
    def plain(self) -> bool:
        """Whether every value is an outcome, and their orders are the same."""
        return bool(np.array_equal(self.of_value, np.arange(self.n)))

    @property
    def n_logits(self) -> int:
        """How many logits a record has: those of outcomes, then those within outcomes. It is always F - 1."""
        return len(self.compared) + len(self.inner)

    @cached_property
    def starts(self) -> FloatArray:
        """The logits when predictors say nothing."""
        of_outcome = self.shares @ self.members
        best = self.shares.copy()
        for outcome in range(self.n):
            best[self.of_value == outcome] = self.shares[self.of_value == outcome].max()
        outer = np.log(of_outcome[self.compared] / of_outcome[self.reference])
        return np.concatenate([outer, np.log(self.shares[self.inner] / best[self.inner])])

    @classmethod
    def every_value(cls, domain: Domain, shares: FloatArray, reference: int) -> Outcomes:
        """Every value is an outcome."""
        return cls(domain.labels, np.arange(len(domain)), reference, shares)

    @classmethod
    def some_values(cls, domain: Domain, codes: Sequence[int], shares: FloatArray, reference: int | None) -> Outcomes:
        """Each of these values is an outcome, and all others are one, which is the reference unless a code is given."""
        of_value = np.full(len(domain), len(codes))
        of_value[list(codes)] = np.arange(len(codes))
        chosen = len(codes) if reference is None else int(of_value[reference])
        return cls((*(domain.labels[code] for code in codes), OTHER), of_value, chosen, shares)

    @classmethod
    def one_group(cls, domain: Domain, codes: Iterable[int], label: str, shares: FloatArray) -> Outcomes:
        """These values together against all others."""
        of_value = np.ones(len(domain), dtype=np.int64)
        of_value[list(codes)] = 0
        return cls((label, OTHER), of_value, 1, shares)
