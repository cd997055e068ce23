"""Values of records by a regression whose coefficients are drawn, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ldiversity.errors import ParameterError
from ldiversity.estimation._regression._choose import Choice
from ldiversity.estimation._regression._design import whiten
from ldiversity.estimation._regression._formula import read_formula
from ldiversity.estimation._regression._logit import posterior
from ldiversity.estimation._regression._regress import check_formula
from ldiversity.estimation._regression._select import select_rows

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.release import Release

__all__ = ["draw_coefficients", "outcome_of"]


def outcome_of(release: Release, formula: str) -> str:
    """The sensitive column before the ~ of a formula."""
    read = read_formula(formula)
    check_formula(release, read)
    return read.outcome


def draw_coefficients(
    release: Release, formula: str, attribute: str, m: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """For each draw of the coefficients: how likely each value that may be true is, by the predictors alone.

    Shape (records, values that may be true). Coefficients are drawn from the normal distribution around their estimate,
    with the covariance of the observed information.
    """
    read = read_formula(formula)
    check_formula(release, read)
    if read.outcome != attribute:
        raise ParameterError("impute", "formula", "must have the drawn attribute before the ~", got=repr(read.outcome))
    if read.chosen is not None:
        raise ParameterError("impute", "formula", "must have the sensitive column alone before the ~")
    rows = select_rows(release, read, None, "refuse", together=False)
    outcomes = Choice(release.domain(read.outcome)).outcomes(rows.shares())
    design = whiten(rows.design, rows.weights)
    candidates, given = rows.explanations()
    mean, factor = posterior(outcomes, design, candidates, given, rows.weights)
    each = np.arange(len(candidates))[:, None]

    def draw() -> FloatArray:
        drawn = (mean.ravel() + factor @ rng.standard_normal(mean.size)).reshape(mean.shape)
        logits = np.zeros((len(candidates), outcomes.n))
        logits[:, outcomes.compared] = design.wide @ drawn.T
        found = logits[each, candidates]
        return np.asarray(np.exp(found - found.max(axis=1, keepdims=True)))

    return (draw() for _ in range(m))
