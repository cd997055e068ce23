"""The likelihood of published sets, and its maximum with or without a prior.

A set R is published with probability ``sum over v of p_v P(R | v)``, where v are its members or, where the true value
may be missing, all values. It tells more than counts of single members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log2, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.estimation._admissible import check_likelihood
from ldiversity.estimation._cells import CellData, product_sets
from ldiversity.estimation._threads import over_cells

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, IntArray, SetArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["MARGINAL_PRIOR", "SetLikelihood", "counted_marginal", "global_marginal", "maximize"]

TOLERANCE: Final = 1e-3
"""A cell has converged when its log likelihood cannot grow by more: counts are then within .045 standard errors."""

MOST_STEPS: Final = 10_000

MARGINAL_PRIOR: Final = 0.5
"""Records added to each value for the marginal of the whole release, so that no share is zero."""

_WORTH_COUNTING: Final = 0.5
"""Equal sets of a cell are counted where that leaves at most this share of them: a set with a weight takes longer."""

_KEY_BITS: Final = 62


@dataclass(frozen=True, eq=False)
class SetLikelihood:
    """The sets of each cell, how often each was published, and how likely each value that may be true makes it.

    Parameters
    ----------
    n_values
        F, the number of values or of combinations of values.
    sets
        Shape (sets, candidates): the values that may be true; sets of a cell stand together.
    likelihood
        Shape (sets, candidates): P(set | value), up to a factor for each set; without rows when all members explain a
        set equally well.
    weights
        Shape (sets,): how many records have them.
    starts
        Shape (cells + 1,): cell c has the sets ``starts[c]:starts[c + 1]``.
    """

    n_values: int
    sets: SetArray
    likelihood: FloatArray
    weights: FloatArray
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, cells: CellData) -> SetLikelihood:
        """The likelihood of counted cells."""
        return cls.made(cells.mechanisms, *_aggregate(cells))

    @classmethod
    def made(
        cls,
        mechanisms: Sequence[SetMechanism],
        sets: Sequence[SetArray],
        weights: FloatArray,
        starts: NDArray[np.int64],
    ) -> SetLikelihood:
        """The likelihood of sets, one array for each attribute."""
        n_values = prod(mechanism.n_values for mechanism in mechanisms)
        return cls(n_values, *_explained(mechanisms, sets), weights, starts)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.starts) - 1

    def take(self, chosen: IntArray) -> SetLikelihood:
        """The likelihood of some cells alone."""
        if len(chosen) == self.n_cells:
            return self
        sizes = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.starts[:-1][chosen] - starts[:-1], sizes) + np.arange(starts[-1])
        likelihood = self.likelihood[rows] if len(self.likelihood) else self.likelihood
        return SetLikelihood(self.n_values, self.sets[rows], likelihood, self.weights[rows], starts)

    def maximize(
        self, prior: FloatArray, strength: FloatArray, start: FloatArray, tolerance: float | None = None
    ) -> tuple[FloatArray, int]:
        """Give the shares that maximize the likelihood of each cell, and how many cells stopped early.

        Parameters
        ----------
        prior
            Shape (1, F) or (cells, F): positive shares, which sum to 1.
        strength
            Shape (cells,): as how many records the prior counts; 0 gives the plain maximum.
        start
            Shape (cells, F): positive shares from which the search starts.
        tolerance
            By how much the logarithm of the objective may still grow.
        """
        from ldiversity._kernels.em import em_cells

        shares, steps = start.copy(), np.zeros(self.n_cells, dtype=np.int64)
        arrays = (self.sets, self.likelihood, self.weights, self.starts, prior, strength)
        tolerance = TOLERANCE if tolerance is None else tolerance

        def work(first: int, last: int) -> None:
            em_cells(*arrays, tolerance, MOST_STEPS, first, last, shares, steps)

        over_cells(work, 100 * np.diff(self.starts))
        return shares, int(np.count_nonzero(steps >= MOST_STEPS))

    def logarithms(self, shares: FloatArray) -> FloatArray:
        """The logarithm of the likelihood of each cell's sets at its positive shares, up to a number of its own."""
        of_set = np.repeat(np.arange(self.n_cells), np.diff(self.starts))
        first, flat, total = of_set * self.n_values, shares.reshape(-1), np.zeros(len(self.weights))
        for place, members in enumerate(self.sets.T):  # members of all sets at once: sums of short rows take longer
            chances = flat.take(first + members)
            total += chances * self.likelihood[:, place] if len(self.likelihood) else chances
        sums = np.bincount(of_set, weights=self.weights * np.log(total), minlength=self.n_cells)
        return np.asarray(sums, dtype=np.float64)

    def information(self, shares: FloatArray, first: int, last: int) -> FloatArray:
        """The sum over records of ``r r'``, shape (last - first, F, F), for cells first..last-1.

        The vector r has the chances that each value is the true one, given the set and the positive shares of the
        cell.
        """
        from ldiversity._kernels.em import information_cells

        size = self.n_values
        found = np.zeros((last - first, size * size))
        information_cells(self.sets, self.likelihood, self.weights, self.starts, shares, first, last, found)
        return found.reshape(-1, size, size)

    def alone(self, sure: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The likeliest count of each value if no other doubtful one had a record, and its variance, by cell.

        `sure` has the shares of the values that are not doubtful, and zero for all others; of sure values, both
        answers are zero, and so they are in cells without one.
        """
        from ldiversity._kernels.em import alone_cells

        total = sure.sum(axis=1, keepdims=True)
        parts = sure / np.where(total > 0, total, 1.0)
        counts, variances = np.zeros_like(sure), np.zeros_like(sure)

        def work(first: int, last: int) -> None:
            alone_cells(self.sets, self.likelihood, self.weights, self.starts, parts, first, last, counts, variances)

        over_cells(work, 10 * np.diff(self.starts))
        known = total > 0
        return np.where(known, counts, 0.0), np.where(known, variances, 0.0)


def maximize(
    cells: CellData, prior: FloatArray, strength: FloatArray, chosen: IntArray | None = None
) -> tuple[FloatArray, int]:
    """Give the counts that maximize the likelihood of each cell, and how many cells stopped early.

    The `prior` has positive shares of the F values, which sum to 1. In each cell it counts as `strength` records; 0
    gives the plain maximum. Only the `chosen` cells are searched, if some are.
    """
    start = np.where(strength[:, None] > 0, prior, 1.0 / len(prior))
    likelihood, records = SetLikelihood.of(cells), cells.records
    if chosen is not None:
        likelihood, records = likelihood.take(chosen), records[chosen]
    shares, early = likelihood.maximize(prior[None, :], strength, start)
    return shares * records[:, None], early


def global_marginal(mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray]) -> FloatArray:
    """Estimate the shares of the values in a whole release, each of them positive."""
    whole = np.array([0, len(sets[0])], dtype=np.int64)
    aggregated, weights, _ = _unique_sets(mechanisms, sets, whole)
    return counted_marginal(mechanisms, aggregated, weights)


def counted_marginal(mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray], weights: NDArray[Any]) -> FloatArray:
    """Estimate the same from different sets and how often each was published."""
    starts = np.array([0, len(weights)], dtype=np.int64)
    whole = SetLikelihood.made(mechanisms, *_in_order(sets, weights.astype(np.float64), starts))
    flat = np.full((1, whole.n_values), 1.0 / whole.n_values)
    shares, _ = whole.maximize(flat, np.array([MARGINAL_PRIOR * whole.n_values]), flat)
    marginal: FloatArray = shares[0]
    return marginal


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
        counted = cells.counted
        return _in_order(counted.sets, counted.weights.astype(np.float64), counted.starts)
    sets = cells.sets
    if not all(mechanism.flat_likelihood for mechanism in cells.mechanisms):
        # Each set then has a likelihood for every value: fewer sets take less memory, and the same sums are rounded in
        # the same way as where sets were counted within a memory setting.
        return _unique_sets(cells.mechanisms, sets, cells.starts)
    most = min(prod(comb(mechanism.n_values, mechanism.l) for mechanism in cells.mechanisms), len(sets[0]))
    if np.minimum(np.diff(cells.starts), most).sum() <= _WORTH_COUNTING * len(sets[0]):
        return _unique_sets(cells.mechanisms, sets, cells.starts)
    return sets, np.ones(len(sets[0])), cells.starts


def _in_order(
    sets: Sequence[SetArray], weights: FloatArray, starts: NDArray[np.int64]
) -> tuple[tuple[SetArray, ...], FloatArray, NDArray[np.int64]]:
    # The search stops a step earlier or later when sums are rounded differently. In the order of `_unique_sets`, sets
    # that were counted elsewhere lead to the same counts.
    columns = [column for array in sets for column in array.T]
    cell_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((*reversed(columns), cell_of))
    return tuple(np.ascontiguousarray(array[order]) for array in sets), weights[order], starts


def _counted_in_order(
    sets: Sequence[SetArray], starts: NDArray[np.int64]
) -> tuple[tuple[SetArray, ...], FloatArray, NDArray[np.int64]]:
    # The same as `_unique_sets`, for sets that are too large for one number.
    sets, _, _ = _in_order(sets, np.ones(len(sets[0])), starts)
    cell_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    begins = np.diff(cell_of, prepend=-1) != 0
    for array in sets:
        begins[1:] |= (array[1:] != array[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    weights = np.diff(first, append=len(cell_of)).astype(np.float64)
    return tuple(array[first] for array in sets), weights, np.searchsorted(first, starts).astype(np.int64)


def _unique_sets(
    mechanisms: Sequence[SetMechanism], sets: Sequence[SetArray], starts: NDArray[np.int64]
) -> tuple[tuple[SetArray, ...], FloatArray, NDArray[np.int64]]:
    # Equal sets of a cell become one set with a weight: each set is encoded as one number, and numbers are counted.
    sizes = [m.n_values for m in mechanisms for _ in range(m.l)]
    n_cells = len(starts) - 1
    if log2(max(n_cells, 1)) + sum(map(log2, sizes)) > _KEY_BITS:
        return _counted_in_order(sets, starts)
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
