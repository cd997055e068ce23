"""The unbiased estimate: the exact inverse of the inclusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ldiversity.estimation._base import MatrixEstimator

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["Linear"]


class Linear(MatrixEstimator):
    """Multiply the published counts by the exact inverse of the inclusion matrix.

    Unbiased for every mechanism; single counts may be negative. All intervals rest on it.
    """

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "Unbiased: the exact inverse of the inclusion matrix; counts may be negative."

    def matrix(self, mechanism: SetMechanism) -> FloatArray:
        """Give the exact inverse."""
        return mechanism.inverse
