"""The likelihood of published sets when the logits of values are linear in predictors, with its derivatives.

A record with predictors x publishes its set R with probability ``sum over j of P(j | x) P(R | j)``, where j are its
members, or all values where the true one may be missing. Every derivative takes one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.estimation._regression._outcomes import Outcomes

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, SetArray

__all__ = ["SetLikelihood"]

_BLOCK_NUMBERS: Final = 1 << 21
"""Rows are taken in blocks whose largest array has about as many numbers: it stays in the processor's cache."""

_LEAST_ROWS: Final = 256


@dataclass(frozen=True, eq=False)
class SetLikelihood:
    """The logarithm of the likelihood, as a function of coefficients of shape (logits, predictors).

    Parameters
    ----------
    outcomes
        What the first logits compare; the others compare values within outcomes.
    design
        Shape (rows, predictors).
    candidates
        Shape (rows, m): the codes of the values that may be true, given the set of each row.
    given
        Shape (rows, m): P(set | value) up to a factor for each row; empty where all candidates are equally likely.
    weights
        Shape (rows,): how many records each row stands for.
    prior, ridge
        Holds coefficients near `prior`, as much as this many records would. So none runs away. A column has a number
        for each logit.
    """

    outcomes: Outcomes
    design: FloatArray
    candidates: SetArray
    given: FloatArray
    weights: FloatArray
    prior: FloatArray
    ridge: float | FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of coefficients."""
        return self.outcomes.n_logits, self.design.shape[1]

    def value(self, coefficients: FloatArray) -> float:
        """The logarithm of the likelihood, less the penalty of `ridge`."""
        total = sum(_Block.of(self, coefficients, rows).value for rows in self._blocks())
        return float(total) - self.penalty(coefficients)

    def derivatives(self, coefficients: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The value, its gradient (in the shape of the coefficients), and its negative Hessian (as a square)."""
        n_logits, width = self.shape
        upper = np.triu_indices(width)
        value = 0.0
        gradient = np.zeros(self.shape)
        information = np.zeros((n_logits * (n_logits + 1) // 2, len(upper[0])))
        for rows in self._blocks():
            block = _Block.of(self, coefficients, rows)
            value += block.value
            weighted = block.design * block.weights[:, None]
            gradient += block.scores @ weighted
            information += block.curvatures() @ (weighted[:, upper[0]] * block.design[:, upper[1]])
        gradient -= self.ridge * (coefficients - self.prior)
        square = _square(information, n_logits, width)
        square[np.diag_indices(len(square))] += np.broadcast_to(self.ridge, self.shape).ravel()
        return value - self.penalty(coefficients), gradient, square

    def some_rows(self, most: int) -> SetLikelihood:
        """The same for at most about so many rows, taken evenly."""
        step = -(-len(self.candidates) // most)
        part = slice(None, None, step)
        given = self.given[part] if len(self.given) else self.given
        return SetLikelihood(
            self.outcomes, self.design[part], self.candidates[part], given, self.weights[part], self.prior, self.ridge
        )

    def penalty(self, coefficients: FloatArray) -> float:
        """What being away from `prior` costs."""
        return float((self.ridge * (coefficients - self.prior) ** 2).sum()) / 2

    def _blocks(self) -> Iterator[slice]:
        n_logits, width = self.shape
        size = max(_BLOCK_NUMBERS // max(n_logits * (n_logits + 1) // 2, width * (width + 1) // 2), _LEAST_ROWS)
        return (slice(start, start + size) for start in range(0, len(self.candidates), size))


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows at given coefficients. Arrays of logits have one row per logit, so that loops run over records."""

    outcomes: Outcomes
    design: FloatArray
    weights: FloatArray
    value: float
    scores: FloatArray
    expected: FloatArray

    @classmethod
    def of(cls, model: SetLikelihood, coefficients: FloatArray, rows: slice) -> _Block:
        """Compute what all derivatives need.

        `scores` are the derivatives by logits: of an outcome, how likely it is given the set, less how likely it is
        given the predictors; of a value within its outcome the same, given the outcome. `expected` has the second.
        """
        outcomes, design = model.outcomes, model.design[rows]
        candidates, weights = model.candidates[rows], model.weights[rows]
        logits = coefficients @ design.T
        n_outer = len(outcomes.compared)
        outer = np.zeros((outcomes.n, len(design)))
        outer[outcomes.compared] = logits[:n_outer]
        outer = _softmax(outer)
        within = np.ones((len(outcomes.of_value), len(design)))
        if len(outcomes.inner):
            within[:] = 0.0
            within[outcomes.inner] = logits[n_outer:]
            for outcome in range(outcomes.n):
                own = outcomes.of_value == outcome
                within[own] = _softmax(within[own])
        probabilities = outer[outcomes.of_value] * within
        columns = np.arange(len(design))
        members = probabilities[candidates.T, columns]
        if len(model.given):
            members *= model.given[rows].T
        likelihood = members.sum(axis=0)
        members /= likelihood
        believed = np.zeros_like(probabilities)
        believed[candidates.T, columns] = members
        of_outcome = believed if outcomes.plain else outcomes.members.T @ believed
        expected = np.concatenate([outer[outcomes.compared], within[outcomes.inner]])
        scores = np.concatenate(
            [
                of_outcome[outcomes.compared] - outer[outcomes.compared],
                believed[outcomes.inner] - of_outcome[outcomes.of_value[outcomes.inner]] * within[outcomes.inner],
            ]
        )
        value = float(weights @ np.log(likelihood))
        return cls(outcomes, design, weights, value, scores, expected)

    def curvatures(self) -> FloatArray:
        """Shape (pairs of logits, rows): minus the second derivatives, of each logit with itself and those after it.

        With scores s and expectations q it is ``s s' - diag(s)``, plus ``s q' + q s'`` between logits of one softmax;
        between an outcome and a value it is ``s s'`` plus the value's score times the outcome's q, less 1 where the
        value belongs to the outcome.
        """
        scores, expected = self.scores, self.expected
        n_logits, n_outer = len(scores), len(self.outcomes.compared)
        own = self.outcomes.of_value[self.outcomes.inner]
        found = np.empty((n_logits * (n_logits + 1) // 2, scores.shape[1]))
        at = 0
        for logit in range(n_logits):
            row = found[at : at + n_logits - logit]
            np.multiply(scores[logit], scores[logit:], out=row)
            row[0] -= scores[logit]
            if logit < n_outer:
                alike = np.arange(logit, n_outer)
                inner = row[n_outer - logit :]
                inner += scores[n_outer:] * expected[logit]
                inner -= scores[n_outer:] * (own == self.outcomes.compared[logit])[:, None]
            else:
                alike = logit + np.flatnonzero(own[logit - n_outer :] == own[logit - n_outer])
            row[alike - logit] += scores[logit] * expected[alike] + scores[alike] * expected[logit]
            at += n_logits - logit
        return found


def _softmax(logits: FloatArray) -> FloatArray:
    raised: NDArray[np.float64] = np.exp(logits - logits.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


def _square(information: FloatArray, n_logits: int, width: int) -> FloatArray:
    """The symmetric matrix of all pairs of coefficients, from pairs of logits and pairs of predictors."""
    of_predictors = np.empty((width, width), dtype=np.int64)
    of_predictors[np.triu_indices(width)] = np.arange(information.shape[1])
    of_predictors = np.triu(of_predictors) + np.triu(of_predictors, 1).T
    of_logits = np.empty((n_logits, n_logits), dtype=np.int64)
    of_logits[np.triu_indices(n_logits)] = np.arange(len(information))
    of_logits = np.triu(of_logits) + np.triu(of_logits, 1).T
    blocks = information[of_logits][:, :, of_predictors]
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3).reshape(n_logits * width, n_logits * width))
