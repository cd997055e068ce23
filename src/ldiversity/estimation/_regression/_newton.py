"""Newton's method for a likelihood that need not be concave: it never goes down, and says where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["Found", "maximize"]

_GAINED: Final = 1e-8
"""Steps end when the next one would gain less, in logarithms of the likelihood: far below any standard error."""

_MOST_STEPS: Final = 60
_SHORTEST: Final = 2.0**-20
_FLAT: Final = 1e-9


class Smooth(Protocol):
    """A function with two derivatives."""

    def value(self, coefficients: FloatArray) -> float:
        """Its value."""

    def derivatives(self, coefficients: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Its value, gradient and negative Hessian."""


@dataclass(frozen=True, eq=False)
class Found:
    """Where the steps ended: coefficients, value, information there, and whether it is the maximum."""

    coefficients: FloatArray
    value: float
    information: FloatArray
    reached: bool


def maximize(function: Smooth, start: FloatArray, *, most_steps: int = _MOST_STEPS) -> Found:
    """Climb to the maximum that is reached from `start`.

    Where the information is not positive definite, its eigenvalues are taken without their signs, so that each step
    goes up; a step that would go down is halved.
    """
    coefficients = start
    value, gradient, information = function.derivatives(coefficients)
    for _ in range(most_steps):
        step, concave = _direction(information, gradient.ravel())
        gain = float(step @ gradient.ravel())
        step = step.reshape(coefficients.shape)
        if concave and gain < _GAINED:
            return Found(coefficients + step, value + gain / 2, information, reached=True)
        length = _length(function, coefficients, step, value, gain)
        if length == 0:
            return Found(coefficients, value, information, reached=concave and gain < 1e-3)  # noqa: PLR2004 - rounding
        coefficients = coefficients + length * step
        value, gradient, information = function.derivatives(coefficients)
    return Found(coefficients, value, information, reached=False)


def _direction(information: FloatArray, gradient: FloatArray) -> tuple[FloatArray, bool]:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    try:
        return np.asarray(cho_solve(cho_factor(information), gradient)), True
    except LinAlgError:
        values, vectors = eigh(information)
        sizes = np.maximum(np.abs(values), _FLAT * np.abs(values).max() + 1e-300)
        return np.asarray(vectors @ ((vectors.T @ gradient) / sizes)), False


def _length(function: Smooth, at: FloatArray, step: FloatArray, value: float, gain: float) -> float:
    """The first of 1, 1/2, 1/4, ... that goes up; 0 if none does."""
    # A logit that moves further than this in one step has overshot.
    length = min(1.0, 10.0 / max(float(np.abs(step).max()), 1e-300))
    while length > _SHORTEST:
        reached = function.value(at + length * step)
        if np.isfinite(reached) and reached >= value + 1e-4 * length * gain:
            return length
        length /= 2
    return 0.0
