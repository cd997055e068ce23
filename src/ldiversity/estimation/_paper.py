"""The estimate of paper 004: the same probability for every value that is far enough away."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import MatrixEstimator
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["Paper"]


class Paper(MatrixEstimator):
    """Solve with the probabilities of Eq. 2 of paper 004. For comparison only.

    Eq. 2 gives every value at distance d or more from v the same probability of being its dummy. That is
    exact for l = 2 with simple selection and for randomized addition; elsewhere the estimate is biased, and the
    bias does not shrink with more records.
    """

    name: ClassVar[str] = "paper"
    summary: ClassVar[str] = "Equal dummy probabilities (Eq. 2); biased for l > 2 under semantic diversity."
    biased: ClassVar[str] = (
        "paper solves with equal dummy probabilities (Eq. 2), which are not those of this mechanism: "
        "its estimates are biased."
    )

    def supports(self, mechanism: SetMechanism) -> bool:
        """Whether both the exact matrix and the one of Eq. 2 have an inverse."""
        return super().supports(mechanism) and bool(np.linalg.cond(equal_inclusion(mechanism)) < SINGULAR_CONDITION)

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the inverse of the transposed matrix of Eq. 2."""
        return np.linalg.inv(equal_inclusion(mechanism).T).astype(np.float64)


def equal_inclusion(mechanism: SetMechanism) -> FloatArray:
    """The inclusion matrix of Eq. 2: (l - 1) / the number of values at distance d or more from v."""
    own = np.eye(mechanism.n_values, dtype=bool)
    pairs = getattr(mechanism, "compatibility", None)  # mechanisms without a distance admit every pair that occurs
    possible = (mechanism.inclusion > 0) & ~own if pairs is None else pairs.allowed
    shares: FloatArray = (mechanism.l - 1) / possible.sum(axis=1, keepdims=True)
    equal: FloatArray = possible * shares + own
    return equal
