"""Maximum-entropy weights: find log weights such that each value is in a set with a given probability.

With ``w(R) = exp(sum of x over R)`` over valid sets, the function ``log(sum of w) - targets @ x`` is convex. Its
gradient is (probability that a value is in a set) - target, and its curvature is the covariance of the memberships.
A damped Newton method finds the minimum if there is one. The minimum is an entropy, so a value below zero proves that
there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from ldiversity.base.arrays import FloatArray

__all__ = ["ACCURACY", "Curvature", "Value", "calibrate"]

ACCURACY: Final = 1e-10
"""Greatest relative error of a calibrated membership probability."""

GOAL: Final = 1e-14
MOST_STEPS: Final = 200
LEAST_STEP: Final = 1e-10
ARMIJO: Final = 1e-4
LEAST_ENTROPY: Final = -1e-6
"""The minimum is the entropy of the weights, so it cannot be negative; this leaves room for rounding."""

Value: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]
"""From log weights to the logarithm of the total weight and the membership probabilities."""

Curvature: TypeAlias = Callable[[FloatArray], FloatArray]
"""From log weights to the covariance matrix of the memberships."""


def calibrate(value: Value, curvature: Curvature, targets: FloatArray) -> FloatArray | None:
    """Find log weights whose membership probabilities are `targets`; None if there are none.

    The targets are positive, and sum to the number of members of a set.

    Examples
    --------
    Sets of one value, where the weights are the targets:

    >>> def value(x):
    ...     return float(np.log(np.exp(x).sum())), np.exp(x) / np.exp(x).sum()
    >>> def curvature(x):
    ...     p = value(x)[1]
    ...     return np.diag(p) - np.outer(p, p)
    >>> x = calibrate(value, curvature, np.array([0.25, 0.75]))
    >>> print(np.exp(x[1] - x[0]).round(9))
    3.0
    """
    x = np.log(targets)
    log_total, memberships = value(x)
    best, best_gap = x, np.inf
    for _ in range(MOST_STEPS):
        gap = float(np.abs(memberships / targets - 1.0).max())
        if gap < best_gap:
            best, best_gap = x, gap
        elif best_gap < ACCURACY:
            break  # only rounding errors are left
        if gap < GOAL or log_total - float(targets @ x) < LEAST_ENTROPY:
            break
        moved = _step(value, x, (log_total, memberships), targets, curvature(x))
        if moved is None:
            break
        x, log_total, memberships = moved
    return best if best_gap < ACCURACY else None


def _step(
    value: Value, x: FloatArray, here: tuple[float, FloatArray], targets: FloatArray, curvature: FloatArray
) -> tuple[FloatArray, float, FloatArray] | None:
    log_total, memberships = here
    gradient = memberships - targets
    # Scale by the roots of the targets, because rare values have tiny rows: without it, their part of a step is a
    # rounding error, which depends on the processor's BLAS. Adding a constant to all log weights changes nothing, so
    # that direction (`root` after scaling) is pinned.
    root = np.sqrt(targets)
    scaled = curvature / root / root[:, None] + root * root[:, None] / float(targets.sum())
    try:
        direction = np.linalg.solve(scaled, -gradient / root) / root
    except np.linalg.LinAlgError:
        direction = np.linalg.lstsq(scaled, -gradient / root)[0] / root
    direction -= direction.mean()
    slope = float(gradient @ direction)
    start = log_total - float(targets @ x)
    slack = 1e-13 * max(1.0, abs(log_total), float(np.abs(targets @ x)))
    size = 1.0
    while size > LEAST_STEP:
        tried = x + size * direction
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            log_new, memberships_new = value(tried)
        reached = log_new - float(targets @ tried)
        if (
            np.isfinite(reached)
            and bool(np.isfinite(memberships_new).all())
            and reached <= start + ARMIJO * size * slope + slack
        ):
            return tried, log_new, memberships_new
        size *= 0.5
    return None
