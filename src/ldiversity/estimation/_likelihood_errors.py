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

No count is negative, so values without records mostly get some, and others lack them. Where sets tell little, that
moves other values by more than their standard errors, and intervals around such counts miss. So limits are those of
``linear`` where two things come together: a value would move far if all values that may be without records were
(`_pulls`), and the half records of other values, not the sets, decide about a value (`_doubts`). Standard errors and
covariances stay those of the likelihood: such errors are as large as it says, but have the same sign every time.

Values that come in the same sets share the records that these sets tell of, and one of them may have them all. So no
upper limit of a value that may be without records is below the count that it has if no other one of these has any, as
far as sets without half a record more for each value allow such a count (`_Curvature._room`).
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

    from ldiversity.base.arrays import BoolArray, FloatArray, IntArray
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

_MAY_BE_ZERO: Final = 1.5
"""A value may be without records if its count is below so many standard errors."""

_MOST_PULLED: Final = 1.0
"""By how many standard errors such values may move others, or one of them.

A round number. As the limit for others it was chosen together with `_MOST_DOUBT`. For one of them
(`_Curvature._alone`) it was taken over: on 18 made cells, published 300 times each, half of it changed no share of
intervals that hold by more than .006, and no width by more than .001 of that of ``linear``."""

_MOST_DOUBT: Final = 1 / 8
"""How much half records may decide (`_doubts`) where values are moved further than that.

Simulated on 234 made cells, published 300 times each, with this limit alone: up to .15 no value was held in less than
.88 of the releases. One eighth is a round number below. With both limits, 5 of 160 further cells, a fifth of them with
nearly one value, had a value that was held in less than .9: 4 with the limit of pulls alone, which takes the limits of
``linear`` nearly twice as often, and 24 without either."""

_LITTLE: Final = 0.25
"""Records that each value has more than its sets say where that room ends.

With none at all, room is left for counts that the sets of many values contradict together: rare ones of Adult's
relationship and race were then held in .976 of the releases. Chosen there and on one made cell: with a quarter, .968 of
those are held, and in .71 a value with 11 records whose sets it shares with six that have none; with .15, .973 and .81;
without room, .967 and .63."""

_MOST_SKEWED: Final = 1.0
_BLOCK: Final = 1 << 21


def likelihood_errors(cells: CellData, counts: FloatArray, asked: Asked, *, pulled: bool) -> Errors:
    """Errors of the reported `counts`: by the likelihood in large cells, else of ``linear``.

    Limits are also those of ``linear`` in large cells whose sets tell too little, and no interval is wider. With
    `pulled`, counts of large cells follow a prior as well as the sets; otherwise they are the likeliest.
    """
    exact = [mechanism.inverse for mechanism in cells.mechanisms]
    borrowed = matrix_errors(cells, counts, exact, asked)
    large = np.flatnonzero(_are_large(cells, asked))
    std_error, low, high = borrowed.std_error.copy(), borrowed.low.copy(), borrowed.high.copy()
    covariance, lent = borrowed.covariance, np.ones(cells.n_cells, dtype=bool)
    if large.size:
        likelihood = SetLikelihood.of(cells).take(large)
        curvature = _Curvature(likelihood, counts[large], cells.records[large], pulled=pulled)
        told = (curvature.pulled <= _MOST_PULLED) | (curvature.doubt <= _MOST_DOUBT)
        chosen = large[told]
        std_error[large] = curvature.std_error
        own = curvature.limits(asked.confidence, cells.counts[large])[:, told]
        wider = own[1] - own[0] > high[chosen] - low[chosen]
        low[chosen] = np.where(wider, low[chosen], own[0])
        high[chosen] = np.where(wider, high[chosen], own[1])
        lent[chosen] = False
        covariance = partial(_covariance, curvature, large, borrowed.covariance)
    n_small = cells.n_cells - len(large)
    caveats = _caveats(cells.n_cells, n_small, int(np.count_nonzero(lent)) - n_small)
    return Errors(std_error, low, high, covariance, caveats, lent)


def _are_large(cells: CellData, asked: Asked) -> BoolArray:
    # Where the true value may be missing from its set, the likelihood is far flatter. Values without records get counts
    # then that the frequent ones lack, and intervals around those hold too rarely in skewed cells of any size.
    missing = any(mechanism.epsilon is not None for mechanism in cells.mechanisms)
    if missing or not cells.has_sets or cells.n_values > VALUE_LIMIT:
        return np.zeros(cells.n_cells, dtype=bool)
    return cells.records >= max(MANY_RECORDS * cells.n_values, asked.min_records)


def _caveats(n_cells: int, n_small: int, n_doubted: int) -> tuple[str, ...]:
    said = "are those of linear, widened to hold the reported count"
    caveats = []
    if n_small:
        where = "" if n_small == n_cells else f" in {counted(n_small, 'small cell')}"
        caveats.append(f"Standard errors and intervals{where} {said}.")
    if n_doubted:
        where = "" if n_doubted == n_cells else f" in {counted(n_doubted, 'larger cell' if n_small else 'cell')}"
        caveats.append(f"Intervals{where} {said}, where sets tell too little about values with few records.")
    return tuple(caveats)


def _covariance(curvature: _Curvature, large: IntArray, others: Callable[[int], FloatArray], cell: int) -> FloatArray:
    place = int(np.searchsorted(large, cell))
    return curvature.covariance(place) if place < len(large) and large[place] == cell else others(cell)


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
        self._variance, self.pulled, self.doubt = self._variances()
        self._likeliest = counts
        if pulled:
            plain, _ = likelihood.maximize(flat, np.zeros(len(counts)), self._shares, _NEARLY)
            self._likeliest = plain * records[:, None]

    @property
    def std_error(self) -> FloatArray:
        """The root of the expected squared error of each reported count."""
        error: FloatArray = np.sqrt(self._variance + (self._counts - self._middle) ** 2)
        return error

    def limits(self, confidence: float, published: IntArray) -> FloatArray:
        """The lower and the upper limits of the true counts, none of which exceeds its published count."""
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
        high = self._middle + np.where(apart > 0, beyond, 0.0) + reach
        high = np.minimum(np.maximum(high, self._room(z, deviation)), published)
        return np.stack([np.minimum(low, self._counts), np.maximum(high, self._counts)])

    def _room(self, z: float, deviation: FloatArray) -> FloatArray:
        # The likeliest count of each doubtful value if no other one has a record. Where it is further away than such
        # values may move others, limits leave room for the error that it then has, as far as sets allow.
        doubtful = self._middle < _MAY_BE_ZERO * deviation
        counts, variances = self._likelihood.alone(np.where(doubtful, 0.0, self._shares))
        far = doubtful & (counts - self._middle > _MOST_PULLED * deviation)
        room = counts + np.where(far, np.hypot(z * np.sqrt(variances), HALF_A_RECORD), 0.0)
        cells = np.flatnonzero(far.any(axis=1))
        allowed = self._middle[cells] + np.hypot(z * np.sqrt(self._loose_variances(cells)), HALF_A_RECORD)
        room[cells] = np.minimum(room[cells], allowed)
        return np.where(doubtful, room, 0.0)

    def _loose_variances(self, chosen: IntArray) -> FloatArray:
        # Those of some cells if values had `_LITTLE` more than their sets say, and not half a record.
        likelihood, shares, most = self._likelihood.take(chosen), self._shares[chosen], self._most[chosen]
        found = np.empty_like(most)

        def work(block: slice) -> None:
            information = _with_prior(likelihood.information(shares, block.start, block.stop), _LITTLE)
            inverse: FloatArray = np.asarray(np.linalg.inv(information), dtype=np.float64)
            found[block] = _left_open(inverse, most[block])

        _over_blocks(work, likelihood)
        return found

    def covariance(self, at: int) -> FloatArray:
        """The expected products of the errors of one cell's counts."""
        most, off = self._most[at], self._counts[at] - self._middle[at]
        inverse = np.linalg.inv(self._information(at, at + 1)[0])
        found: FloatArray = most[:, None] * inverse * most - np.diag(most) + np.outer(off, off)
        return (found + found.T) / 2

    def _information(self, first: int, last: int) -> FloatArray:
        return _with_prior(self._likelihood.information(self._shares, first, last), _PSEUDO)

    def _variances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        # The variances of what is true, by how much values that may be without records move others, and how much half
        # records decide.
        found = np.empty_like(self._most)
        pulled, doubt = np.empty(len(found)), np.empty(len(found))

        def work(block: slice) -> None:
            information, most = self._information(block.start, block.stop), self._most[block]
            inverse: FloatArray = np.asarray(np.linalg.inv(information), dtype=np.float64)
            found[block] = _left_open(inverse, most)
            deviation = np.sqrt(found[block])
            pulled[block] = _pulls(information, most, deviation)
            doubt[block] = _doubts(inverse, most, deviation)

        _over_blocks(work, self._likelihood)
        return found, pulled, doubt


def _over_blocks(work: Callable[[slice], None], likelihood: SetLikelihood) -> None:
    """Do the work for all cells, a few of them at once: their matrices take memory."""
    size = likelihood.n_values
    step = max(1, _BLOCK // size**2)

    def blocks(first: int, last: int) -> None:
        for at in range(first, last, step):
            work(slice(at, min(at + step, last)))

    over_cells(blocks, np.diff(likelihood.starts) * likelihood.sets.shape[1] ** 2 + size**3)


def _with_prior(information: FloatArray, records: float) -> FloatArray:
    """The information of cells in which each value has some records more; changes what it is given."""
    diagonal = np.arange(information.shape[1])
    information[:, diagonal, diagonal] += records
    return information


def _left_open(inverse: FloatArray, most: FloatArray) -> FloatArray:
    """The variances of what is true, from the inverse of the information."""
    found: FloatArray = np.maximum(most**2 * np.einsum("cjj->cj", inverse) - most, 0.0)
    return found


def _doubts(inverse: FloatArray, most: FloatArray, deviation: FloatArray) -> FloatArray:
    """How much the half records of other values decide about a count, by cell: their pull times their information.

    The pull is by how many standard errors a count would grow, to the first order, if all other values lost their half
    records. The information is the share of the precision of a count that is due to these half records. If they are
    taken away, each order of the pull is the one before times about this share. So the product of the greatest pull and
    the greatest share is the second order: what a normal distribution leaves out.
    """
    # Shares sum to one: what all counts have in common is no error.
    apart = inverse - 1.0 / most.sum(axis=1)[:, None, None]
    own, tiny = np.einsum("cjj->cj", apart), np.finfo(float).tiny
    pull = _PSEUDO * most * (own - apart.sum(axis=2)) / np.maximum(deviation, tiny)
    share = _PSEUDO * (np.einsum("cjk,cjk->cj", apart, apart) - own**2) / np.maximum(own, tiny)
    surely = deviation <= 0.0
    found: FloatArray = np.where(surely, 0.0, pull).max(axis=1) * np.where(surely, 0.0, share).max(axis=1)
    return found


def _pulls(information: FloatArray, most: FloatArray, deviation: FloatArray) -> FloatArray:
    """By how many standard errors some count would move, if all values that may be without records were; by cell.

    That is the regression of the other counts on these. It is infinite where every value may be without records.
    """
    middle = np.maximum(most - _PSEUDO, 0.0)
    unsure = middle < _MAY_BE_ZERO * deviation
    moved = np.where(unsure, 0.0, np.einsum("cij,cj->ci", information, np.where(unsure, middle / most, 0.0)))
    # The rows and columns of unsure values are those of the identity, so that all cells are solved at once.
    others = np.where(unsure[:, :, None] | unsure[:, None, :], 0.0, information)
    diagonal = np.arange(most.shape[1])
    others[:, diagonal, diagonal] = np.where(unsure, 1.0, information[:, diagonal, diagonal])
    change = most * np.linalg.solve(others, moved[:, :, None])[:, :, 0]
    pulls = np.abs(change) / np.maximum(deviation, np.finfo(float).tiny)
    found: FloatArray = np.where(unsure.all(axis=1), np.inf, np.where(unsure, 0.0, pulls).max(axis=1))
    return found
