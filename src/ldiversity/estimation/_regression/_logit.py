"""Fit logits of outcomes to published sets: in coordinates where every predictor is as wide as the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._regression._likelihood import SetLikelihood
from ldiversity.estimation._regression._newton import Found, maximize
from ldiversity.estimation._regression._profile import Profiles, bent

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

_SHIFTED: Final = 0.1
"""How many standard errors the held coefficient may be away from the free one, for its interval to be around it."""

_MOST_WORK: Final = 5e11
"""Multiplications that the intervals by the likelihood of all coefficients may take, about a minute."""

_ABSENT: Final = 1.0
"""The standard error of the logit of a share at which it is not told from zero: as large as the share itself."""

_NOTHING: Final = 1e-9

_PASSES: Final = 50
"""Passes over the rows that the two ends of such an interval take."""

_FIRST_ROWS: Final = 20_000
_FIRST_PER_COEFFICIENT: Final = 50
"""Many rows are fitted from the estimate of some of them, from which few steps remain."""

_FIRST_STEPS: Final = 12


@dataclass(frozen=True, eq=False)
class LogitFit:
    """Coefficients of shape (compared outcomes, predictors), and the covariance of the same numbers in a row.

    `lost` says which outcomes the sets do not tell from zero. `doubtful` says for which coefficients the curvature
    alone gives no interval; `profiles` gives these, or is None where that would take too long. `inner` are the
    coefficients within outcomes.
    """

    coefficients: FloatArray
    covariance: FloatArray
    value: float
    lost: BoolArray
    doubtful: BoolArray
    profiles: Profiles | None
    reached: bool
    inner: FloatArray


def fit_logit(
    outcomes: Outcomes,
    design: Whitened,
    candidates: SetArray,
    given: FloatArray,
    weights: FloatArray,
    confidence: float = 0.95,
) -> LogitFit:
    """Maximize the likelihood, and take standard errors from the observed information."""
    found, model = _fit(outcomes, design, candidates, given, weights)
    back = design.back
    n_outer, width = len(outcomes.compared), len(back)
    free, shifted = _errors(found, model)
    # Coefficients of the predictors themselves, and how all coefficients move when one of them does.
    moved = np.einsum("ij,xaj->xai", back, free.reshape(-1, n_outer, width)).reshape(len(free), -1)
    outer = moved[: n_outer * width].reshape(n_outer, width, -1)
    covariance = np.einsum("ij,ajx->aix", back, outer).reshape(n_outer * width, -1)
    errors = np.sqrt(np.diag(covariance))
    doubtful = shifted(moved, errors) | _bent(model, found, moved / errors, confidence)
    profiles = None
    logits, numbers = model.shape
    work = len(candidates) * logits * (logits + 1) * numbers * (numbers + 1) / 2
    if doubtful.any() and work * _PASSES * np.count_nonzero(doubtful) <= _MOST_WORK:
        places = tuple((int(place) // width, int(place) % width) for place in np.flatnonzero(doubtful))
        profiles = Profiles(model, found.coefficients, back, places, errors[doubtful])
    return LogitFit(
        coefficients=found.coefficients[:n_outer] @ back.T,
        covariance=covariance,
        value=found.value + model.penalty(found.coefficients),
        lost=_lost(model),
        doubtful=doubtful.reshape(n_outer, width),
        profiles=profiles,
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

    found, _ = _fit(outcomes, design, candidates, given, weights)
    values, vectors = eigh(found.information)
    # Nothing is less certain than by the prior alone.
    return found.coefficients, np.asarray(vectors / np.sqrt(np.maximum(values, _RIDGE)))


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


def _errors(found: Found, model: SetLikelihood) -> tuple[FloatArray, Callable[[FloatArray, FloatArray], BoolArray]]:
    """The covariance of all coefficients with those of outcomes, as the records alone tell it.

    What holds coefficients back is taken off the information again, but not within outcomes: these only help. Beside
    it is given which coefficients are then elsewhere by more than a little.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    n_outer, width = len(model.outcomes.compared), model.shape[1]
    size = n_outer * width
    information = found.information.copy()
    information[np.arange(size), np.arange(size)] -= _RIDGE
    try:
        covariance = np.asarray(cho_solve(cho_factor(information), np.eye(len(information), size)))
    except LinAlgError:
        values, vectors = eigh(information)
        # No curvature is told from none; what holds coefficients back is then all that there is.
        covariance = np.asarray((vectors / np.maximum(np.abs(values), _RIDGE)) @ vectors[:size].T)
        return covariance, lambda moved, _errors: np.ones(moved.shape[1], dtype=bool)
    pull = _RIDGE * (found.coefficients - model.prior)[:n_outer].ravel()
    return covariance, lambda moved, errors: np.asarray(np.abs(pull @ moved[:size]) > _SHIFTED * errors)


def _bent(model: SetLikelihood, found: Found, directions: FloatArray, confidence: float) -> BoolArray:
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return bent(model, found.coefficients, directions.T.reshape(-1, *model.shape), z)


def _lost(model: SetLikelihood) -> BoolArray:
    """Which outcomes the sets do not tell from zero, by the shares of the values alone.

    What is refused must not depend on the slopes: if steep ones were refused, those that are answered would be too flat
    on average. So it is what a logit without predictors would say.
    """
    from scipy.linalg import eigh

    n_outer, starts = len(model.outcomes.compared), model.outcomes.starts[:, None]
    alone = replace(model, design=np.ones((len(model.design), 1)), prior=starts, ridge=0.0)
    information = alone.derivatives(starts)[2]
    information[np.arange(n_outer, len(starts)), np.arange(n_outer, len(starts))] += _RIDGE
    values, vectors = eigh(information)
    variances = np.square(vectors[:n_outer]) @ (1 / np.maximum(values, _NOTHING))
    return np.asarray(np.sqrt(variances) > _ABSENT)
