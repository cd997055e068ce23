"""The likelihood of published sets, and its maximum with or without a prior.

A set R is published with probability ``sum over v of p_v P(R | v)``, where v are its members or, where the true value
may be missing, all values. It tells more than counts of single members.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, log2, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.estimation._admissible import check_likelihood
from ldiversity.estimation._cells import CellData, product_sets
from ldiversity.estimation._threads import over_cells

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, SetArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["MARGINAL_PRIOR", "counted_marginal", "global_marginal", "maximize"]

TOLERANCE: Final = 1e-7
"""A cell has converged when a step moves no share by more; this is far below any sampling error."""

MOST_STEPS: Final = 3_000

MARGINAL_PRIOR: Final = 0.5
"""Records added to each value for the marginal of the whole release, so that no share is zero."""

_KEY_BITS: Final = 62


def maximize(cells: CellData, prior: FloatArray, strength: FloatArray) -> tuple[FloatArray, int]:
    """Give the counts that maximize the likelihood of each cell, and how many cells stopped early.

    The `prior` has positive shares of the F values, which sum to 1. In each cell it counts as `strength` records; 0
    gives the plain maximum.
    """
    sets, weights, starts = _aggregate(cells)
    shares, early = _maximize(cells.mechanisms, sets, weights, starts, prior, strength)
    return shares * cells.records[:, None], early


def global_marginal(mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray]) -> FloatArray:
    """Estimate the shares of the values in a whole release, each of them positive."""
    whole = np.array([0, len(sets[0])], dtype=np.int64)
    aggregated, weights, _ = _unique_sets(mechanisms, sets, whole)
    return counted_marginal(mechanisms, aggregated, weights)


def counted_marginal(mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray], weights: NDArray[Any]) -> FloatArray:
    """Estimate the same from different sets and how often each was published."""
    n_values = prod(mechanism.n_values for mechanism in mechanisms)
    starts = np.array([0, len(weights)], dtype=np.int64)
    flat = np.full(n_values, 1.0 / n_values)
    strength = np.array([MARGINAL_PRIOR * n_values])
    shares, _ = _maximize(mechanisms, sets, weights.astype(np.float64), starts, flat, strength)
    marginal: FloatArray = shares[0]
    return marginal


def _maximize(
    mechanisms: Sequence[SetMechanism],
    sets: Sequence[SetArray],
    weights: FloatArray,
    starts: NDArray[np.int64],
    prior: FloatArray,
    strength: FloatArray,
) -> tuple[FloatArray, int]:
    from ldiversity._kernels.em import em_cells

    combined, likelihood = _explained(mechanisms, sets)
    n_cells = len(starts) - 1
    shares = np.where(strength[:, None] > 0, prior, 1.0 / len(prior))
    steps = np.zeros(n_cells, dtype=np.int64)

    def work(first: int, last: int) -> None:
        em_cells(
            combined, likelihood, weights, starts, prior, strength, TOLERANCE, MOST_STEPS, first, last, shares, steps
        )

    over_cells(work, 100 * np.diff(starts))
    return shares, int(np.count_nonzero(steps >= MOST_STEPS))


def _explained(mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray]) -> tuple[SetArray, FloatArray]:
    # The combinations of values that may be true for each set, and P(set | combination); the latter empty when all
    # members explain the set equally well, and nothing else does.
    sizes = [mechanism.n_values for mechanism in mechanisms]
    if all(mechanism.flat_likelihood for mechanism in mechanisms):
        return product_sets(sets, sizes), np.empty((0, prod(mechanism.l for mechanism in mechanisms)))
    candidates: list[SetArray] = []
    combined = np.ones((len(sets[0]), 1))
    for mechanism, array in zip(mechanisms, sets, strict=True):
        values, own = mechanism.explanations(array)
        candidates.append(values)
        check_likelihood(own)
        # Only ratios within a row matter; scaled so that products stay far from the smallest numbers.
        own = np.asarray(own / own.max(axis=1, keepdims=True), dtype=np.float64)
        combined = (combined[:, :, None] * own[:, None, :]).reshape(len(array), -1)
    return product_sets(candidates, sizes), np.ascontiguousarray(combined)


def _aggregate(cells: CellData) -> tuple[tuple[SetArray, ...], FloatArray, NDArray[np.int64]]:
    if cells.counted is not None:
        return cells.counted.sets, cells.counted.weights.astype(np.float64), cells.counted.starts
    sets = cells.sets
    most = prod(comb(mechanism.n_values, mechanism.l) for mechanism in cells.mechanisms)
    if cells.n_cells * most < len(sets[0]):
        return _unique_sets(cells.mechanisms, sets, cells.starts)
    return sets, np.ones(len(sets[0])), cells.starts


def _unique_sets(
    mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray], starts: NDArray[np.int64]
) -> tuple[tuple[SetArray, ...], FloatArray, NDArray[np.int64]]:
    # Equal sets of a cell become one set with a weight: each set is encoded as one number, and numbers are counted.
    sizes = [m.n_values for m in mechanisms for _ in range(m.l)]
    n_cells = len(starts) - 1
    if log2(max(n_cells, 1)) + sum(map(log2, sizes)) > _KEY_BITS:
        return tuple(sets), np.ones(len(sets[0])), starts
    key = np.repeat(np.arange(n_cells), np.diff(starts))
    members = np.concatenate(list(sets), axis=1)
    for column, size in enumerate(sizes):
        key = key * size + members[:, column]
    counted = pa.array(key).value_counts()
    found, weights = np.asarray(counted.field("values")), np.asarray(counted.field("counts"))
    order = np.argsort(found)
    rest, weights = found[order], weights[order].astype(np.float64)
    unique = np.empty((len(rest), len(sizes)), dtype=np.int32)
    for column in range(len(sizes) - 1, -1, -1):
        rest, unique[:, column] = np.divmod(rest, sizes[column])
    starts = np.searchsorted(rest, np.arange(n_cells + 1)).astype(np.int64)
    parts = np.split(unique, np.cumsum([mechanism.l for mechanism in mechanisms])[:-1], axis=1)
    return tuple(np.ascontiguousarray(part) for part in parts), weights, starts
