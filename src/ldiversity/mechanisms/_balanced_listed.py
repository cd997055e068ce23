"""Balanced weights on a graph without structure, with all valid sets listed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._balanced_sampling import ListedSampler
from ldiversity.mechanisms._calibration import calibrate
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["SET_LIMIT", "ListedWeights"]

SET_LIMIT: Final = 2_000_000
"""The greatest number of valid sets that are listed."""

CHUNK: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class ListedWeights:
    """Weights ``w(R) = product of theta over R`` on the valid sets of any graph."""

    compatibility: Compatibility
    l: int
    theta: FloatArray

    @classmethod
    def fit(cls, compatibility: Compatibility, l: int, targets: FloatArray) -> ListedWeights | None:
        """Find the weights whose sums over the sets of each value are `targets`; None if there are none.

        Raises
        ------
        UnsupportedError
            When there are more valid sets than can be listed.
        """
        start = cls(compatibility, l, np.ones(len(targets)))
        if bool((np.bincount(start.sets.ravel(), minlength=len(targets)) == 0).any()):
            return None
        model = _Model(start.sets, len(targets))
        size = float(targets.sum())
        logs = calibrate(model.value, model.curvature, targets * (l / size))
        if logs is None:
            return None
        # Calibration fixes ratios only. Each set counts for l values, so the total weight must be size / l.
        logs = logs + (np.log(size / l) - model.value(logs)[0]) / l
        return cls(compatibility, l, np.exp(logs))

    @cached_property
    def sets(self) -> SetArray:
        """All valid sets, in lexicographic order."""
        sets = self.compatibility.enumerate_sets(self.l, SET_LIMIT)
        if sets is None:
            raise UnsupportedError(
                "BalancedSelection",
                f"this distance has neither an order nor blocks at this d, and more than {SET_LIMIT} valid sets of "
                f"{self.l} values",
            ).with_hint(say("Use a smaller l, a larger d, or {}.", Setting("selection", "simple")))
        return sets

    @cached_property
    def weights(self) -> FloatArray:
        """The weight of each listed set."""
        weights: FloatArray = np.prod(self.theta[self.sets], axis=1)
        return weights

    @cached_property
    def marginals(self) -> FloatArray:
        """The sum of the weights of each value's sets."""
        return _sum_by_member(self.sets, self.weights, len(self.theta))

    @cached_property
    def pairs(self) -> FloatArray:
        """The sum of the weights of the sets that hold both of two values, shape (F, F)."""
        return _pair_sums(self.sets, self.weights, len(self.theta))

    def squares(self, rows: FloatArray) -> FloatArray:
        """Return S[j, v]: over the sets with v, the sum of weight times squared sum of ``rows[j]`` over members."""
        summed = np.zeros((len(self.theta), len(rows)))
        for at in range(0, len(self.sets), CHUNK):
            sets, weights = self.sets[at : at + CHUNK], self.weights[at : at + CHUNK]
            of_sets = _incidence(sets, len(self.theta))
            summed += of_sets @ (weights[:, None] * (of_sets.T @ rows.T) ** 2)
        return summed.T

    def lightest(self, costs: FloatArray) -> FloatArray:
        """Return the least sum of `costs` over a set, among the sets of each value."""
        least = np.full(len(costs), np.inf)
        totals = costs[self.sets].sum(axis=1)
        for k in range(self.l):
            np.minimum.at(least, self.sets[:, k], totals)
        return least

    @property
    def words(self) -> int:
        """Random words per record."""
        return 1

    @cached_property
    def sampler(self) -> ListedSampler:
        """The sampler of the sets."""
        return ListedSampler.of(self.sets, self.weights, len(self.theta))


def _incidence(sets: SetArray, n_values: int) -> csr_array:
    """Return which value is in which set, shape (F, sets)."""
    from scipy.sparse import csr_array

    n, l = sets.shape
    where = (sets.ravel(), np.repeat(np.arange(n), l))
    return csr_array((np.ones(n * l), where), shape=(n_values, n))


@dataclass(frozen=True, eq=False)
class _Model:
    sets: SetArray
    n_values: int

    def weigh(self, logs: FloatArray) -> tuple[FloatArray, float]:
        sums = logs[self.sets].sum(axis=1)
        top = float(sums.max())
        weights = np.exp(sums - top)
        total = float(weights.sum())
        return weights / total, float(np.log(total)) + top

    def value(self, logs: FloatArray) -> tuple[float, FloatArray]:
        weights, log_total = self.weigh(logs)
        return log_total, _sum_by_member(self.sets, weights, self.n_values)

    def curvature(self, logs: FloatArray) -> FloatArray:
        pairs = _pair_sums(self.sets, self.weigh(logs)[0], self.n_values)
        memberships = pairs.diagonal()
        return pairs - np.outer(memberships, memberships)


def _sum_by_member(sets: SetArray, weights: FloatArray, n_values: int) -> FloatArray:
    summed = np.zeros(n_values)
    for k in range(sets.shape[1]):
        summed += np.bincount(sets[:, k], weights=weights, minlength=n_values)
    return summed


def _pair_sums(sets: SetArray, weights: FloatArray, n_values: int) -> FloatArray:
    summed = np.zeros(n_values * n_values)
    l = sets.shape[1]
    for a in range(l):
        for b in range(a + 1, l):
            cell = sets[:, a].astype(np.int64) * n_values + sets[:, b]
            summed += np.bincount(cell, weights=weights, minlength=n_values * n_values)
    square = summed.reshape(n_values, n_values)
    square = square + square.T
    square[np.diag_indices(n_values)] = _sum_by_member(sets, weights, n_values)
    return square
