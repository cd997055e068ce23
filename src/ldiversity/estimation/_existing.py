"""The estimate of earlier work: as if dummies had been drawn uniformly."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import MatrixEstimator

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["Existing"]


class Existing(MatrixEstimator):
    """Take dummies as uniform over the other values (Eq. 21 and 22 of paper 004). For comparison only.

    Exact for randomized addition, where dummies are uniform.
    """

    name: ClassVar[str] = "existing"
    summary: ClassVar[str] = "As if dummies were uniform (Eq. 21); biased under semantic diversity."
    biased: ClassVar[str] = "existing takes dummies as uniform, which they are not here: its estimates are biased."

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the matrix of (W - q N) / (1 - q), in which N is the sum of W divided by l."""
        q = (mechanism.l - 1) / (mechanism.n_values - 1)
        return (np.eye(mechanism.n_values) - q / mechanism.l) / (1 - q)
