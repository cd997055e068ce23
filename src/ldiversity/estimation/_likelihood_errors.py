"""Errors of counts that use whole sets: from the curvature of the likelihood.

Give every value half a record more than its sets say (Jeffreys' prior). Then the likelihood of a cell has its maximum
at positive counts u, also where its plain maximum has values without records, and near it the true counts are close to
normal. Their mean is u - 1/2. Their covariance is what sets leave open: with r the chances that each value of a record
is the true one, it is

    diag(u) inverse(sum of r r' + 1/2) diag(u)  -  diag(u)

the variance of shares estimated from sets, less that of shares estimated from true values. Rows sum to zero, because
the number of records is known.

Neither u - 1/2 nor the likeliest count is without error where values have few records. Intervals are longer on the side
of the likeliest count, by as much of the difference as would harm them. They do not depend on what a prior made of the
reported count, except that they hold it. Standard errors are those of the reported count: they add the square of its
difference from u - 1/2, so what a prior pulls is part of the error.
"""

from __future__ import annotations

from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.numbers import counted
from ldiversity.estimation._errors import Asked, Errors, matrix_errors
from ldiversity.estimation._intervals import HALF_A_RECORD
from ldiversity.estimation._likelihood import SetLikelihood
from ldiversity.estimation._threads import over_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldiversity.base.arrays import FloatArray, IntArray
    from ldiversity.estimation._cells import CellData

__all__ = ["MANY_RECORDS", "likelihood_errors"]

MANY_RECORDS: Final = 10
"""From this many records per value on, maximum likelihood needs no prior and has errors of its own."""

VALUE_LIMIT: Final = 1_000
"""The most values, or combinations of values, for which a matrix is inverted in each cell."""

_PSEUDO: Final = 0.5
_TOLERANCE: Final = 0.01
"""By how much the logarithm of the likelihood may grow where the curvature is taken."""

_NEARLY: Final = 0.1
"""The same for the likeliest counts beside a prior's: a closer search hardly moves limits, and takes longer."""

_HARMLESS: Final = 0.1
"""An interval of 95 % that is off by this many standard errors still holds in 94.9 %."""

_MOST_SKEWED: Final = 1.0
_BLOCK: Final = 1 << 21


def likelihood_errors(cells: CellData, counts: FloatArray, asked: Asked, *, pulled: bool) -> Errors:
    """Errors of the reported `counts`: by the likelihood in large cells, those of ``linear`` elsewhere.

    No interval is wider than that of ``linear``. With `pulled`, counts of large cells follow a prior as well as the
    sets; otherwise they are the likeliest.
    """
    exact = [mechanism.inverse for mechanism in cells.mechanisms]
    borrowed = matrix_errors(cells, counts, exact, asked)
    large = np.flatnonzero(_are_large(cells, asked))
    std_error, low, high = borrowed.std_error.copy(), borrowed.low.copy(), borrowed.high.copy()
    covariance = borrowed.covariance
    if large.size:
        likelihood = SetLikelihood.of(cells).take(large)
        curvature = _Curvature(likelihood, counts[large], cells.records[large], pulled=pulled)
        std_error[large] = curvature.std_error
        own = curvature.limits(asked.confidence, cells.counts[large])
        wider = own[1] - own[0] > high[large] - low[large]
        low[large] = np.where(wider, low[large], own[0])
        high[large] = np.where(wider, high[large], own[1])
        covariance = partial(_covariance, curvature, large, borrowed.covariance)
    return Errors(std_error, low, high, covariance, _caveats(cells, len(large)))


def _are_large(cells: CellData, asked: Asked) -> np.ndarray:
    # Where the true value may be missing from its set, the likelihood is far flatter. Values without records get counts
    # then that the frequent ones lack, and intervals around those hold too rarely in skewed cells of any size.
    missing = any(mechanism.epsilon is not None for mechanism in cells.mechanisms)
    if missing or not cells.has_sets or cells.n_values > VALUE_LIMIT:
        return np.zeros(cells.n_cells, dtype=bool)
    return cells.records >= max(MANY_RECORDS * cells.n_values, asked.min_records)


def _caveats(cells: CellData, n_large: int) -> tuple[str, ...]:
    if n_large == cells.n_cells:
        return ()
    where = "" if not n_large else f" in {counted(cells.n_cells - n_large, 'small cell')}"
    return (f"Standard errors and intervals{where} are those of linear, widened to hold the reported count.",)


def _covariance(curvature: _Curvature, large: IntArray, others: Callable[[int], FloatArray], cell: int) -> FloatArray:
    at = int(np.searchsorted(large, cell))
    return curvature.covariance(at) if at < len(large) and large[at] == cell else others(cell)


class _Curvature:
    """The likelihood of cells with half a record more for every value, around its maximum."""

    def __init__(self, likelihood: SetLikelihood, counts: FloatArray, records: IntArray, *, pulled: bool) -> None:
        total = (records + _PSEUDO * likelihood.n_values)[:, None]
        flat = np.full((1, likelihood.n_values), 1.0 / likelihood.n_values)
        start = (np.maximum(counts, 0.0) + _PSEUDO) / total
        strength = np.full(len(counts), _PSEUDO * likelihood.n_values)
        self._likelihood = likelihood
        self._counts = counts
        self._shares, _ = likelihood.maximize(flat, strength, start / start.sum(axis=1, keepdims=True), _TOLERANCE)
        self._most = self._shares * total
        self._middle = self._most - _PSEUDO
        self._variance = self._variances()
        self._likeliest = counts
        if pulled:
            plain, _ = likelihood.maximize(flat, np.zeros(len(counts)), self._shares, _NEARLY)
            self._likeliest = plain * records[:, None]

    @property
    def std_error(self) -> FloatArray:
        """The root of the expected squared error of each reported count."""
        error: FloatArray = np.sqrt(self._variance + (self._counts - self._middle) ** 2)
        return error

    def limits(self, confidence: float, published: IntArray) -> tuple[FloatArray, FloatArray]:
        """The limits of the true counts, none of which exceeds its published count."""
        z, deviation = NormalDist().inv_cdf((1 + confidence) / 2), np.sqrt(self._variance)
        # True counts are whole numbers, and noise is not: the two errors are independent, and their squares add up.
        reach = np.hypot(z * deviation, HALF_A_RECORD)
        # Either of the two may be the one that is off.
        apart = self._likeliest - self._middle
        beyond = np.maximum(np.abs(apart) - _HARMLESS * deviation, 0.0)
        low = self._middle - np.where(apart < 0, beyond, 0.0) - reach
        # Upper limits hardly ever miss counts below one deviation: they are missed by lower limits alone. So those may
        # miss them as often as both limits miss other counts (the idea of Feldman and Cousins, 1998). Not further up:
        # where an estimate is low by chance, so is its deviation, and the upper limit misses, too.
        alone = self._likeliest - max(NormalDist().inv_cdf(confidence), 0.0) * deviation - HALF_A_RECORD
        low = np.maximum(np.maximum(low, np.minimum(alone, deviation)), 0.0)
        # Counts near zero are skewed like a Poisson variable of their mean and variance (Cornish and Fisher's term). It
        # would raise lower limits, too. But values without records are estimated too high, and would be missed often.
        skewness = np.minimum(deviation / self._most, _MOST_SKEWED)
        reach += max(z**2 - 1, 0.0) / 6 * skewness * deviation
        high = np.minimum(self._middle + np.where(apart > 0, beyond, 0.0) + reach, published)
        return np.minimum(low, self._counts), np.maximum(high, self._counts)

    def covariance(self, at: int) -> FloatArray:
        """The expected products of the errors of one cell's counts."""
        most, off = self._most[at], self._counts[at] - self._middle[at]
        found: FloatArray = most[:, None] * self._inverses(at, at + 1)[0] * most - np.diag(most) + np.outer(off, off)
        return (found + found.T) / 2

    def _inverses(self, first: int, last: int) -> FloatArray:
        information = self._likelihood.information(self._shares, first, last)
        diagonal = np.arange(information.shape[1])
        information[:, diagonal, diagonal] += _PSEUDO
        return np.asarray(np.linalg.inv(information), dtype=np.float64)

    def _variances(self) -> FloatArray:
        n_cells, size = self._most.shape
        found, step = np.empty((n_cells, size)), max(1, _BLOCK // size**2)

        def work(first: int, last: int) -> None:
            for at in range(first, last, step):
                block = slice(at, min(at + step, last))
                diagonals = np.einsum("cjj->cj", self._inverses(block.start, block.stop))
                found[block] = self._most[block] ** 2 * diagonals - self._most[block]

        over_cells(work, np.diff(self._likelihood.starts) * self._likelihood.sets.shape[1] ** 2 + size**3)
        return np.maximum(found, 0.0)
