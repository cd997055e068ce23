"""The estimators that multiply the published counts by a matrix: one unbiased, three of paper 004 to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import MatrixEstimator
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["Existing", "Linear", "Naive", "Paper", "equal_inclusion"]


class Linear(MatrixEstimator):
    """Multiply the published counts by the exact inverse of the inclusion matrix.

    It is unbiased for every mechanism. Single counts may be negative. All intervals are based on it.
    """

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "Unbiased: the exact inverse of the inclusion matrix; counts may be negative."
    meaning: ClassVar[str] = (
        "An estimate that is right on average over what chance may draw; a single one may be off, or even negative."
    )

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the exact inverse."""
        return mechanism.inverse


class Paper(MatrixEstimator):
    """Solve with the probabilities of Eq. 2 of paper 004. For comparison only.

    Eq. 2 gives every value at distance d or more from v the same probability of being its dummy. That is exact for
    l = 2 with simple selection and for randomized addition. Elsewhere the estimate is biased, and more records do not
    reduce the bias.
    """

    name: ClassVar[str] = "paper"
    summary: ClassVar[str] = "Equal dummy probabilities (Eq. 2); biased for l > 2 under semantic diversity."
    biased: ClassVar[str] = (
        "paper assumes equal dummy probabilities (Eq. 2), which this mechanism does not have: its estimates are biased."
    )

    def supports(self, mechanism: SetMechanism) -> bool:
        """Whether both the exact matrix and the one of Eq. 2 have an inverse."""
        return super().supports(mechanism) and bool(np.linalg.cond(equal_inclusion(mechanism)) < SINGULAR_CONDITION)

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the inverse of the transposed matrix of Eq. 2."""
        return np.linalg.inv(equal_inclusion(mechanism).T).astype(np.float64)


class Existing(MatrixEstimator):
    """Assume that dummies are uniform over the other values (Eq. 21 and 22 of paper 004). For comparison only.

    It is exact for randomized addition, where dummies are uniform.
    """

    name: ClassVar[str] = "existing"
    summary: ClassVar[str] = "As if dummies were uniform (Eq. 21); biased under semantic diversity."
    biased: ClassVar[str] = "existing assumes uniform dummies, which they are not here: its estimates are biased."

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the matrix of (W - q N) / (1 - q), in which N is the sum of W divided by l."""
        q = (mechanism.l - 1) / (mechanism.n_values - 1)
        return (np.eye(mechanism.n_values) - q / mechanism.l) / (1 - q)


class Naive(MatrixEstimator):
    """Count every published member as 1/l of a record (Eq. 20 of paper 004). For comparison only."""

    name: ClassVar[str] = "naive"
    summary: ClassVar[str] = "Published counts divided by l (Eq. 20); biased, for comparison."
    biased: ClassVar[str] = "naive counts dummies as if they were true values: its estimates are biased."

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the identity divided by l."""
        return np.eye(mechanism.n_values) / mechanism.l


def equal_inclusion(mechanism: SetMechanism) -> FloatArray:
    """The inclusion matrix of Eq. 2: (l - 1) / the number of values at distance d or more from v."""
    own = np.eye(mechanism.n_values, dtype=bool)
    pairs = getattr(mechanism, "compatibility", None)  # mechanisms without a distance allow every pair that occurs
    possible = (mechanism.inclusion > 0) & ~own if pairs is None else pairs.allowed
    shares: FloatArray = (mechanism.l - 1) / possible.sum(axis=1, keepdims=True)
    equal: FloatArray = possible * shares + own
    return equal
