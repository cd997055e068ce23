"""Fit logits of outcomes to published sets: in coordinates where every predictor is as wide as the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._regression._likelihood import SetLikelihood
from ldiversity.estimation._regression._newton import Found, maximize

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray, SetArray
    from ldiversity.estimation._regression._design import Whitened
    from ldiversity.estimation._regression._outcomes import Outcomes

__all__ = ["LogitFit", "fit_logit", "posterior"]

_RIDGE: Final = 0.5
"""How many records hold each coefficient, in coordinates of width 1, near what the shares of the values alone say.

Sets tell less than values do: without it, the likelihood of a rare outcome is often greatest at infinity, where the
outcome explains a few records with extreme predictors.
"""

_SHIFTED: Final = 0.5
"""How many standard errors the held coefficient may be away from the free one, for the records to decide it."""

_FIRST_ROWS: Final = 20_000
_FIRST_PER_COEFFICIENT: Final = 50
"""Many rows are fitted from the estimate of some of them, from which few steps remain."""

_FIRST_STEPS: Final = 12


@dataclass(frozen=True, eq=False)
class LogitFit:
    """Coefficients of shape (compared outcomes, predictors), and the covariance of the same numbers in a row.

    `lost` says which outcomes have no finite estimate, and `loose` which predictors that is about. `inner` are the
    coefficients within outcomes.
    """

    coefficients: FloatArray
    covariance: FloatArray
    value: float
    lost: BoolArray
    loose: BoolArray
    reached: bool
    inner: FloatArray


def fit_logit(
    outcomes: Outcomes, design: Whitened, candidates: SetArray, given: FloatArray, weights: FloatArray
) -> LogitFit:
    """Maximize the likelihood, and take standard errors from the observed information."""
    found, model = _fit(outcomes, design, candidates, given, weights)
    free, lost = _errors(found, model)
    back = design.back
    n_outer, width = len(outcomes.compared), len(back)
    blocks = free.reshape(n_outer, width, n_outer, width)
    covariance = np.einsum("ij,ajbk,lk->aibl", back, blocks, back, optimize=True).reshape(free.shape)
    return LogitFit(
        coefficients=found.coefficients[:n_outer] @ back.T,
        covariance=covariance,
        value=found.value + model.penalty(found.coefficients),
        lost=np.asarray(lost.any(axis=1)),
        loose=np.asarray(lost.any(axis=0)),
        reached=found.reached,
        inner=found.coefficients[n_outer:] @ back.T,
    )


def posterior(
    outcomes: Outcomes, design: Whitened, candidates: SetArray, given: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The normal distribution of the coefficients in coordinates of width 1: its mean, and a factor of its covariance.

    What holds coefficients back is its prior.
    """
    from scipy.linalg import eigh

    found, model = _fit(outcomes, design, candidates, given, weights)
    values, vectors = eigh(found.information)
    # Nothing is less certain than by the prior alone.
    return found.coefficients, np.asarray(vectors / np.sqrt(np.maximum(values, model.ridge)))


def _fit(
    outcomes: Outcomes, design: Whitened, candidates: SetArray, given: FloatArray, weights: FloatArray
) -> tuple[Found, SetLikelihood]:
    start = np.outer(outcomes.starts, design.constant)
    model = SetLikelihood(outcomes, design.wide, candidates, given, weights, start, _RIDGE)
    few = max(_FIRST_ROWS, _FIRST_PER_COEFFICIENT * start.size)
    near = start
    if len(candidates) > 2 * few:
        near = maximize(model.some_rows(few), start, most_steps=_FIRST_STEPS).coefficients
    return maximize(model, near), model


def _errors(found: Found, model: SetLikelihood) -> tuple[FloatArray, BoolArray]:
    """The covariance of the coefficients of outcomes, as the records alone tell it, and which of them are not told.

    What holds coefficients back is taken off the information again, but not within outcomes: these only help.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    n_outer, width = len(model.outcomes.compared), model.shape[1]
    size = n_outer * width
    information = found.information.copy()
    information[np.arange(size), np.arange(size)] -= model.ridge
    try:
        covariance = np.asarray(cho_solve(cho_factor(information), np.eye(len(information), size)))[:size]
    except LinAlgError:
        values, vectors = eigh(information)
        flat = vectors[:size, values <= values[-1] * 1e-12]
        covariance = np.asarray((vectors[:size] / np.maximum(np.abs(values), model.ridge)) @ vectors[:size].T)
        return covariance, (np.abs(flat).max(axis=1) > 0.1).reshape(n_outer, width)  # noqa: PLR2004 - takes part
    errors = np.sqrt(np.diag(covariance))
    pull = model.ridge * (found.coefficients - model.prior)[:n_outer].ravel()
    shifted = np.abs(covariance @ pull) / errors
    # Less information than what holds a coefficient back decides nothing, either.
    lost = (shifted > _SHIFTED) | (errors > model.ridge**-0.5)
    return covariance, np.asarray(lost).reshape(n_outer, width)
