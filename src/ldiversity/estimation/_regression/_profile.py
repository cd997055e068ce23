"""Intervals by the likelihood itself, where its curvature alone does not tell how far a coefficient may be off.

An interval of z standard errors takes the logarithm of the likelihood as a parabola. With few records of an outcome, or
predictors of which few records decide, it falls fast on one side and slowly on the other. Then the interval holds the
coefficients at which the greatest likelihood, over all other coefficients, is less than z**2 / 2 below the maximum
(profile likelihood). It has no end where the likelihood never falls so far, as for an outcome that never occurs with a
value of a predictor.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._regression._newton import Found, maximize

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._regression._likelihood import SetLikelihood

__all__ = ["Profiles", "bent"]

_BENT: Final = 0.15
"""By which share the fall of the likelihood at the end of an interval may differ from that of a parabola."""

_ROWS: Final = 10_000
"""Rows on which that is measured, so that many records cost no more."""

_LOOSE: Final = 1e-3
"""How many records hold a coefficient within a profile: next to none, but none runs away to no number."""

_FARTHEST: Final = 20.0
"""A coefficient per standard deviation of its predictor beyond which nothing is told apart: there is no end."""

_MOST_TRIALS: Final = 25
_NEAR: Final = 1e-3


def bent(model: SetLikelihood, at: FloatArray, directions: FloatArray, z: float) -> BoolArray:
    """For which directions the likelihood is no parabola within `z` steps, on either side.

    `directions`, shape (coefficients, logits, predictors), have one standard error as their length, and all other
    coefficients follow in them.
    """
    part = replace(model.some_rows(_ROWS), ridge=0.0)
    value, gradient, information = part.derivatives(at)
    flat = directions.reshape(len(directions), -1)
    slopes, curvatures = flat @ gradient.ravel(), np.einsum("ki,ij,kj->k", flat, information, flat, optimize=True)
    found = np.zeros(len(flat), dtype=bool)
    for place, direction in enumerate(directions):
        for step in (-z, z):
            fallen = value + step * slopes[place] - part.value(at + step * direction)
            found[place] |= not abs(fallen - step**2 * curvatures[place] / 2) <= _BENT * step**2 / 2 * max(
                curvatures[place], _NEAR
            )
    return found


@dataclass(frozen=True, eq=False)
class Profiles:
    """The likelihood of one coefficient at a time, each with the others where they fit best.

    Parameters
    ----------
    model
        The likelihood, in coordinates of width 1.
    at
        The estimate in these coordinates.
    back
        Coefficients of the predictors themselves are ``back @ coefficients``.
    places
        The outcome and the predictor of each coefficient.
    errors
        Their standard errors.
    """

    model: SetLikelihood
    at: FloatArray
    back: FloatArray
    places: tuple[tuple[int, int], ...]
    errors: FloatArray
    _known: dict[float, FloatArray] = field(default_factory=dict)

    def limits(self, confidence: float) -> FloatArray:
        """The ends of the interval of each coefficient, shape (coefficients, 2)."""
        from scipy.special import ndtri

        if confidence not in self._known:
            z = float(ndtri((1 + confidence) / 2))
            hold = np.full((self.model.shape[0], 1), self.model.ridge)
            hold[: len(self.model.outcomes.compared)] = _LOOSE
            loose = replace(self.model, ridge=hold)
            best = maximize(loose, self.at)
            ends = [self._ends(loose, best, place, z) for place in range(len(self.places))]
            self._known[confidence] = np.array(ends).reshape(-1, 2)
        return self._known[confidence]

    def _ends(self, loose: SetLikelihood, best: Found, place: int, z: float) -> tuple[float, float]:
        logit, predictor = self.places[place]
        row = self.back[predictor]
        line = _Line.along(loose, logit, row)
        start = float(line.across(self.at)[0])
        # Both ends are searched for from the maximum; the reported estimate, which is held back, stays inside.
        low, high = (line.end(best, sign, z, self.errors[place] / line.length) for sign in (-1.0, 1.0))
        return float(min(low, start) * line.length), float(max(high, start) * line.length)


@dataclass(frozen=True, eq=False)
class _Line:
    """The likelihood where one coefficient is given, as a function of all others."""

    model: SetLikelihood
    logit: int
    turn: FloatArray
    length: float
    given: float = 0.0

    @classmethod
    def along(cls, model: SetLikelihood, logit: int, row: FloatArray) -> _Line:
        """Turn the coordinates of one logit so that the first is the coefficient, in units of `length`."""
        length = float(np.linalg.norm(row))
        turn, _ = np.linalg.qr(np.column_stack([row, np.eye(len(row))]))
        return cls(model, logit, turn * np.sign(turn[:, 0] @ row), length)

    def across(self, coefficients: FloatArray) -> FloatArray:
        """The coefficients of the logit in turned coordinates."""
        return np.asarray(self.turn.T @ coefficients[self.logit])

    def value(self, coefficients: FloatArray) -> float:
        """The value; `coefficients` are all but the given one."""
        return self.model.value(self._whole(coefficients))

    def derivatives(self, coefficients: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The value and its derivatives by all other coefficients."""
        value, gradient, information = self.turned(coefficients)
        at = self._place
        return value, np.delete(gradient, at), np.delete(np.delete(information, at, 0), at, 1)

    def end(self, best: Found, sign: float, z: float, step: float) -> float:
        """Where the likelihood is z**2 / 2 below its maximum, going up or down; infinite if nowhere.

        The signed root of twice the fall is nearly a straight line, so Newton's method on it needs few trials. What was
        found too near and too far encloses the end.
        """
        point = best.coefficients
        start = float(self.across(point)[0])
        now, reached, inside, outside = start, 0.0, start, np.inf * sign
        others = self._others(point)
        rate = 1.0 / max(step, 1e-12)
        for _ in range(_MOST_TRIALS):
            ahead = now + sign * min((z - reached) / rate, max(4 * step, abs(now - start)))
            if not sign * ahead > sign * inside or not sign * ahead < sign * outside:
                ahead = (inside + outside) / 2
            if abs(ahead) > _FARTHEST:
                return sign * np.inf
            trial = replace(self, given=ahead)
            if not np.isfinite(trial.value(others)):  # so far away that a set has no likelihood in floating point
                outside = ahead
                continue
            found = maximize(trial, others, most_steps=20)
            others, now = found.coefficients, ahead
            reached = float(np.sqrt(max(2 * (best.value - found.value), 0.0)))
            if abs(reached - z) < _NEAR:
                return now
            if reached < z:
                inside = now
            else:
                outside = now
            slope = float(trial.turned(others)[1][self._place])
            rate = max(-sign * slope / max(reached, 1e-6), 1e-3 / step)
        return float(outside)  # the nearest that is known to be beyond the end

    @property
    def _place(self) -> int:
        return self.logit * self.model.shape[1]

    def _others(self, coefficients: FloatArray) -> FloatArray:
        turned = coefficients.copy()
        turned[self.logit] = self.across(coefficients)
        return np.delete(turned.ravel(), self._place)

    def _whole(self, others: FloatArray) -> FloatArray:
        turned = np.insert(others, self._place, self.given).reshape(self.model.shape)
        turned[self.logit] = self.turn @ turned[self.logit]
        return np.asarray(turned)

    def turned(self, others: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The value and its derivatives by all coefficients, with those of the logit in turned coordinates."""
        value, gradient, information = self.model.derivatives(self._whole(others))
        own = slice(self._place, self._place + self.model.shape[1])
        gradient = gradient.copy()
        gradient[self.logit] = self.turn.T @ gradient[self.logit]
        information[own] = self.turn.T @ information[own]
        information[:, own] = information[:, own] @ self.turn
        return value, gradient.ravel(), information
