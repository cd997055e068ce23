"""The naive estimate of paper 004: every member of a set counts 1/l."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.estimation._base import MatrixEstimator

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["Naive"]


class Naive(MatrixEstimator):
    """Count every published member 1/l, as if it told nothing (Eq. 20 of paper 004). For comparison only."""

    name: ClassVar[str] = "naive"
    summary: ClassVar[str] = "Published counts divided by l (Eq. 20); biased, for comparison."
    biased: ClassVar[str] = "naive counts dummies as if they were true values: its estimates are biased."

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the identity divided by l."""
        return np.eye(mechanism.n_values) / mechanism.l
