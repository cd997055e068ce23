"""Linear regression of numbers that are hidden in sets: each set stands for a number that is right on average.

``a = inverse(Q') 1_R`` is on average 1 at the true value and 0 at others. So the numbers of the values, weighted by a,
are on average the true number of the record, whatever the distribution is. They have more noise, which the residuals
show, so standard errors that are robust to unequal variances cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, SetArray
    from ldiversity.estimation._regression._design import Whitened
    from ldiversity.mechanisms import SetMechanism

__all__ = ["LinearFit", "fit_linear", "unbiased_numbers"]


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Coefficients of the predictors, and their covariance."""

    coefficients: FloatArray
    covariance: FloatArray


def unbiased_numbers(mechanism: SetMechanism, positions: FloatArray, sets: SetArray) -> FloatArray:
    """A number for each set, which is on average that of the true value.

    Examples
    --------
    >>> from ldiversity.mechanisms import UniformSelection
    >>> unbiased_numbers(UniformSelection(3, 2), np.array([0.0, 10.0, 20.0]), np.array([[0, 1], [1, 2]]))
    array([-10.,  30.])
    """
    return np.asarray((positions @ mechanism.inverse)[sets].sum(axis=1))


def fit_linear(design: Whitened, numbers: FloatArray, weights: FloatArray) -> LinearFit:
    """Least squares, with a covariance that holds whatever the variance of each residual is (HC1)."""
    wide, records = design.wide, float(weights.sum())
    coefficients = (wide * weights[:, None]).T @ numbers / records
    residuals = numbers - wide @ coefficients
    scores = wide * (residuals * np.sqrt(weights))[:, None]
    covariance = scores.T @ scores / records**2 * (records / max(records - wide.shape[1], 1.0))
    return LinearFit(design.back @ coefficients, design.back @ covariance @ design.back.T)
