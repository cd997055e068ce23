"""Standard errors of estimates that are linear in the published counts.

With a_i = M 1_R for the published set R of record i, an estimate M W has the covariance estimate
``sum of a_i a_i' - B diag(V) B'``, where B = M Q' and V is the unbiased estimate. For the unbiased estimate
itself B is the identity. The noise is that of the mechanism: the true counts are taken as fixed.

That estimate is noisy itself. Write a = 1 + e for the records that have a value: their part of the variance is the sum
of a**2 - a = e + e**2, whose mean is that of e**2, but whose noise is that of e. In cells where nearly all records have
the value, e is small, noise dominates, and half of all variances come out below zero. So a standard error is at least
the one that the mechanism gives to the possible counts nearest to V. That one is never below zero and differs from the
truth only by the errors of V.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.products import multiply
from ldiversity.errors import UnsupportedError
from ldiversity.estimation._cells import CellData, product_sets
from ldiversity.estimation._projection import project
from ldiversity.estimation._threads import over_cells

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["COVARIANCE_LIMIT", "covariance", "dummy_range", "greatest_errors", "standard_errors"]

COVARIANCE_LIMIT: Final = 4_000
"""The most values, or combinations of values, for which a full covariance matrix is given."""

_EQUAL: Final = 1e-12
_BLOCK: Final = 1 << 22


def standard_errors(cells: CellData, matrices: Sequence[FloatArray]) -> FloatArray:
    """Standard errors of ``transform(matrices, counts)``, shape (cells, F); see the module for their lower limit.

    NaN where there is no formula: single members do not give the errors of every matrix.
    """
    if len(cells.mechanisms) == 1 and _is_uniform_linear(cells.mechanisms[0], matrices[0]):
        mechanism = cells.mechanisms[0]
        factor = (mechanism.l - 1) / (mechanism.n_values - mechanism.l)
        # No count exceeds the records, so neither does an estimate.
        return np.sqrt(np.maximum(cells.records[:, None] - cells.linear, 0.0) * factor)
    expected = _is_expected(cells, matrices)
    if not cells.has_sets and not expected:
        return np.full(cells.counts.shape, np.nan)
    if cells.has_sets:
        variance = _square_sums(cells, matrices) - cells.transform(_spread(cells, matrices), cells.linear)
    else:
        variance = _expected(cells, matrices, cells.linear)
    if not expected:
        return np.sqrt(np.maximum(variance, 0.0))
    possible = project(cells.linear, cells.records.astype(np.float64))
    return np.sqrt(np.maximum(variance, _expected(cells, matrices, possible)))


def covariance(cells: CellData, matrices: Sequence[FloatArray], cell: int) -> FloatArray:
    """The covariance matrix of one cell's ``transform(matrices, counts)``, shape (F, F)."""
    if not cells.has_sets:
        raise UnsupportedError(
            "Estimate", "covariance needs published sets, but this release has single members"
        ).with_hint("The standard errors of single counts are in std_error.")
    if cells.n_values > COVARIANCE_LIMIT:
        raise UnsupportedError(
            "Estimate", f"covariance is given for at most {COVARIANCE_LIMIT} values", got=cells.n_values
        )
    pairs = _pairs(cells, cell)
    both = pairs + pairs.T + np.diag(cells.counts[cell])
    whole = _kron(matrices)
    inclusion = _kron([mechanism.inclusion for mechanism in cells.mechanisms])
    expected = (inclusion.T * cells.linear[cell]) @ inclusion
    result: FloatArray = whole @ (both - expected) @ whole.T
    return (result + result.T) / 2


def _pairs(cells: CellData, cell: int) -> FloatArray:
    # How many sets of a cell hold both of two values, the smaller one first.
    from ldiversity._kernels.cells import pair_counts

    n_values, counted = cells.n_values, cells.counted
    if counted is None:
        rows = slice(cells.starts[cell], cells.starts[cell + 1])
        sets = product_sets([array[rows] for array in cells.sets], cells.sizes)
        found = np.zeros((1, n_values**2))
        pair_counts(sets, np.array([0, len(sets)]), 0, 1, np.arange(n_values) * n_values, found)
        return found.reshape(n_values, n_values)
    rows = slice(counted.starts[cell], counted.starts[cell + 1])
    sets, weights = product_sets([array[rows] for array in counted.sets], cells.sizes), counted.weights[rows]
    pairs = np.zeros(n_values**2)
    for k in range(1, sets.shape[1]):
        for j in range(k):
            low, high = np.minimum(sets[:, j], sets[:, k]), np.maximum(sets[:, j], sets[:, k])
            pairs += np.bincount(low.astype(np.int64) * n_values + high, weights=weights, minlength=n_values**2)
    return pairs.reshape(n_values, n_values)


def dummy_range(cells: CellData) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest probability with which each value is published for a record without it."""
    least, most = np.ones(1), np.zeros(1)
    for mechanism in cells.mechanisms:
        own = np.eye(mechanism.n_values, dtype=bool)
        low = np.where(own, np.inf, mechanism.inclusion).min(axis=0)
        high = np.where(own, -np.inf, mechanism.inclusion).max(axis=0)
        # A combination is published by accident when all its parts are, and one of them may be true.
        least = np.multiply.outer(least, low).ravel()
        most = np.maximum.outer(most, high).ravel()
    return np.clip(least, 0.0, 1.0), np.clip(most, 0.0, 1.0)


def greatest_errors(cells: CellData) -> FloatArray:
    """The greatest standard errors that the unbiased estimate has for any true counts, shape (cells, F)."""
    most = np.ones(1)
    for mechanism in cells.mechanisms:
        moments = np.maximum(mechanism.variance_factors, 0.0) + np.eye(mechanism.n_values)
        most = np.multiply.outer(most, moments.max(axis=1)).ravel()
    return np.sqrt(np.multiply.outer(cells.records.astype(np.float64), most))


def _kron(matrices: Sequence[FloatArray]) -> FloatArray:
    whole: FloatArray = np.ones((1, 1))
    for matrix in matrices:
        whole = np.asarray(np.kron(whole, matrix), dtype=np.float64)
    return whole


def _is_uniform_linear(mechanism: SetMechanism, matrix: FloatArray) -> bool:
    # The same dummy probability everywhere: then the sum of squares needs no pairs (see the guide).
    p = (mechanism.l - 1) / (mechanism.n_values - 1)
    own = np.eye(mechanism.n_values, dtype=bool)
    flat = np.abs(np.where(own, p, mechanism.inclusion) - p).max() < _EQUAL
    return bool(flat) and _is_inverse(matrix, mechanism)


def _spread(cells: CellData, matrices: Sequence[FloatArray]) -> list[FloatArray]:
    pairs = zip(matrices, cells.mechanisms, strict=True)
    return [(matrix @ mechanism.inclusion.T) ** 2 for matrix, mechanism in pairs]


def _is_linear(cells: CellData, matrices: Sequence[FloatArray]) -> bool:
    pairs = zip(matrices, cells.mechanisms, strict=True)
    return all(_is_inverse(matrix, mechanism) for matrix, mechanism in pairs)


def _is_inverse(matrix: FloatArray, mechanism: SetMechanism) -> bool:
    return matrix is mechanism.inverse or bool(np.allclose(matrix, mechanism.inverse, rtol=0, atol=_EQUAL * 1e3))


def _own_count_alone(matrix: FloatArray) -> tuple[FloatArray, bool]:
    # Whether the other counts enter only by their fixed sum, and then the factor of the value's own count.
    own = np.eye(len(matrix), dtype=bool)
    low, high = np.where(own, np.inf, matrix).min(axis=1), np.where(own, -np.inf, matrix).max(axis=1)
    return np.diag(matrix) - low, bool((high - low).max() < _EQUAL)


def _is_expected(cells: CellData, matrices: Sequence[FloatArray]) -> bool:
    # Whether `_expected` holds for these matrices.
    return _is_linear(cells, matrices) or (len(matrices) == 1 and _own_count_alone(matrices[0])[1])


def _expected(cells: CellData, matrices: Sequence[FloatArray], counts: FloatArray) -> FloatArray:
    # The variance if `counts` were the true ones: for the unbiased estimate, and where the estimate of a value
    # needs its own count alone.
    if not _is_linear(cells, matrices):
        scale, _ = _own_count_alone(matrices[0])
        inclusion = cells.mechanisms[0].inclusion
        exact: FloatArray = (counts @ (inclusion * (1.0 - inclusion))) * scale**2
        return exact
    # Second moments multiply over attributes. Simulated ones may be slightly below zero.
    moments = [np.maximum(m.variance_factors, 0.0) + np.eye(m.n_values) for m in cells.mechanisms]
    return cells.transform(moments, counts) - counts


def _square_sums(cells: CellData, matrices: Sequence[FloatArray]) -> FloatArray:
    # The sum over the records of a cell of (M 1_R)**2, in the cheaper of two ways.
    if len(matrices) > 1 or cells.counted is not None:
        return _square_sums_joint(cells, matrices)
    n_pairs = cells.n_cells * cells.n_values**2
    if cells.sets[0].size >= n_pairs:
        return _square_sums_by_pairs(cells, matrices[0])
    return _square_sums_by_record(cells, matrices[0])


def _square_sums_by_record(cells: CellData, matrix: FloatArray) -> FloatArray:
    from ldiversity._kernels.cells import square_sums

    (sets,) = cells.sets
    columns = np.ascontiguousarray(matrix.T)
    sums = np.zeros((cells.n_cells, cells.n_values))
    over_cells(lambda a, b: square_sums(columns, sets, cells.starts, a, b, sums), cells.records)
    return sums


def _square_sums_by_pairs(cells: CellData, matrix: FloatArray) -> FloatArray:
    # (sum of a over members)**2 is the sum over members of a**2 plus the sum over pairs of twice their product. Equal
    # pairs of a cell are counted first, which is faster than record by record when a cell has many of them.
    from ldiversity._kernels.cells import pair_counts

    (sets,) = cells.sets
    columns = np.ascontiguousarray(matrix.T)
    lower, higher = np.triu_indices(cells.n_values, 1)
    place = np.searchsorted(lower, np.arange(cells.n_values)) - np.arange(cells.n_values) - 1
    products = 2.0 * columns[lower] * columns[higher]
    sums = multiply(cells.counts.astype(np.float64), columns**2)

    def work(first: int, last: int) -> None:
        pairs = np.zeros((last - first, len(products)))
        pair_counts(sets, cells.starts, first, last, place, pairs)
        sums[first:last] += multiply(pairs, products)

    over_cells(work, cells.records)
    return sums


def _square_sums_joint(cells: CellData, matrices: Sequence[FloatArray]) -> FloatArray:
    # The vector of a record is a product over attributes, and so is its square: no F x F matrix is needed.
    counted = cells.counted
    sets, starts = (cells.sets, cells.starts) if counted is None else (counted.sets, counted.starts)
    sums = np.zeros((cells.n_cells, cells.n_values))
    cell_of = np.repeat(np.arange(cells.n_cells), np.diff(starts))
    step = max(1, _BLOCK // cells.n_values)
    for first in range(0, len(cell_of), step):
        block = np.ones((len(cell_of[first : first + step]), 1))
        for array, matrix in zip(sets, matrices, strict=True):
            square = matrix.T[array[first : first + step]].sum(axis=1) ** 2
            block = (block[:, :, None] * square[:, None, :]).reshape(len(block), -1)
        if counted is not None:
            block *= counted.weights[first : first + step, None]
        found, offsets = np.unique(cell_of[first : first + step], return_index=True)
        sums[found] += np.add.reduceat(block, offsets, axis=0)
    return sums
