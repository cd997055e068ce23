"""A test of independence for published sets.

Let r_i be the probabilities of the values for record i, given what was published about it and the shares p of the
values in all records: r_ij is proportional to p_j P(R_i | j). The derivative of the likelihood of the sets with respect
to the logarithms of the shares within a cell is the sum of r_i - p over its records. So the score test of "all cells
have the same shares" compares the mean of r between cells.

Under that hypothesis what is published does not depend on the cell, so the r_i are a sample of one distribution,
whatever it is. Its covariance is that of the r_i, and no formula about the mechanism is needed. With x_i the indicators
of the cell (or the r_i of a second hidden attribute), the statistic is

    (n - 1) trace( inverse(S_rr) S_rx inverse(S_xx) S_xr ),

S the matrices of sums of squares and products around the means. Where every set has one value, the r_i are indicators
and this is Pearson's chi-square times (n - 1) / n.

Under the hypothesis every assignment of the x_i to the r_i is equally likely. Over all of them the mean of the
statistic is exactly the degrees of freedom, rank(S_rr) rank(S_xx). Its variance is known, too, and is that of
chi-square, twice as much, only where no record stands out. A record does in a small cell, or with a rare value. So the
p-value is that of the gamma distribution with the exact mean and the exact variance.

Records with weights count with them, and the hypothesis is about the population. The sum of the products of r_i - p and
x_i less its mean is then zero on average, but its covariance V is that of the design (`_design`). In small cells few
records decide V, and its inverse would reject far too often. So the sum is measured by the covariances of all records,
as Rao and Scott do, and V gives the mean of the statistic alone, by its trace. For the variance, records with the
weights and the x_i that they have get any r_i of the population: that pools what all cells say about the r_i.

Where great weights go with rare values, a few records decide both the sum and the trace, and the distribution of their
products is skewed. Let u_i be the weighted product of a record, c the sum of |u_i|^2 u_i, t the trace and
s = |c|^2 / t^3. To the second order (as for Student's t of skewed numbers) skewness adds 2 s to the mean of the
statistic divided by the trace, and 24 c'V c / t^4 to its variance: 12 s times that variance if V is as great along c as
elsewhere. Both are added. For s, the mean of r_i in the cell is subtracted, and not p: under the hypothesis the
difference is noise, which the statistic has, too. Of |c|^2 a part, the sum of |u_i|^6, is there without any skewness.
Without it the estimate would be unbiased, but of few records it leaves out what higher orders add: see `_OWN_PART`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._design import Design

__all__ = ["Tested", "design_test", "independence_test"]

_SMALL: Final = 1e-9
_BLOCK: Final = 1 << 22
_LEAST_ASSIGNED: Final = 4
"""Of fewer records the variance over all assignments is not known."""

_OWN_PART: Final = 0.25
"""How much is subtracted of what single records add to the estimated skewness.

Found by simulation: in ten designs with weights, most of them dependent on the values and up to ten times as great for
some, about .04 to .065 of true nulls are rejected at .05. Without any skewness it is .050 to .083, if nothing is
subtracted .035 to .064, if all is .046 to .075.
"""


@dataclass(frozen=True)
class Tested:
    """A statistic, its degrees of freedom, and how likely it is to be at least as great without an association."""

    statistic: float
    df: int
    pvalue: float


def independence_test(shares: csr_matrix, cells: csr_matrix) -> Tested:
    """Test that rows of `shares` (records, values) do not depend on rows of `cells` (records, cells)."""
    n = shares.shape[0]
    equal = np.full(n, 1.0 / n)
    one, two = _Whitened.of(shares, equal), _Whitened.of(cells, equal)
    df = one.rank * two.rank
    if not df or n < _LEAST_ASSIGNED:
        return Tested(0.0, df, 1.0)
    statistic = float((n - 1) * np.square(_products(one, two, equal, slice(None))).sum())
    return Tested(statistic, df, _gamma_tail(statistic, df, _variance_over_assignments(one, two)))


def design_test(shares: csr_matrix, cells: csr_matrix, design: Design, selected: NDArray[np.int64]) -> Tested:
    """The same with the weights and strata of a sample, of which `selected` are the records of the rows.

    The statistic is the square of the length of the weighted sum, divided by its mean, times the degrees of freedom.
    """
    order = np.argsort(design.stratum_of[selected], kind="stable")
    weights = design.weights[selected][order]
    weights = weights / weights.sum()
    one, two = _Whitened.of(shares[order], weights), _Whitened.of(cells[order], weights)
    df = one.rank * two.rank
    total, mean = _sum_and_trace(one, two, weights, design, design.stratum_of[selected][order])
    if not mean > 0:
        return Tested(0.0, df, 1.0)
    statistic = df * float(np.square(total).sum()) / mean
    skewness = _skewness(one, two, weights, total)
    variance = _relative_variance(one, two, weights) * (1 + 12 * skewness)
    return Tested(statistic, df, _gamma_tail(statistic, df * (1 + 2 * skewness), df**2 * variance))


@dataclass(frozen=True, eq=False)
class _Whitened:
    """Rows less their weighted mean, in coordinates in which their weighted covariance is the identity."""

    given: csr_matrix
    root: FloatArray
    center: FloatArray

    @classmethod
    def of(cls, given: csr_matrix, weights: FloatArray) -> _Whitened:
        mean = given.T @ weights
        root = _root((given.T.multiply(weights) @ given).toarray() - np.outer(mean, mean))
        return cls(given, root, mean @ root)

    @property
    def rank(self) -> int:
        return int(self.root.shape[1])

    def rows(self, chosen: slice) -> FloatArray:
        return np.asarray(self.given[chosen] @ self.root - self.center, dtype=np.float64)

    def squares(self) -> FloatArray:
        """The square of the length of each row: great for one that stands out."""
        found = np.empty(self.given.shape[0])
        for rows in _blocks(len(found), self.rank):
            found[rows] = np.square(self.rows(rows)).sum(axis=1)
        return found

    def spread(self, weights: FloatArray) -> FloatArray:
        """The sum of the products of each row with itself, with other weights than those of the covariance."""
        found = np.zeros((self.rank, self.rank))
        for rows in _blocks(self.given.shape[0], self.rank):
            inside = self.rows(rows)
            found += inside.T @ (inside * weights[rows, None])
        return found


def _variance_over_assignments(one: _Whitened, two: _Whitened) -> float:
    """The variance of the statistic over all assignments of the rows of one side to those of the other.

    The formula is that of Kazi-Aoual, Hitier, Sabatier and Lebreton (1995) for the product of two centered matrices of
    rank a and b that are projections, with the squares of their diagonals, A and B.
    """
    n, (a, b) = one.given.shape[0], (one.rank, two.rank)
    big_a, big_b = (float(np.square(side.squares()).sum()) / n**2 for side in (one, two))
    even = 2 * a * (n - 1 - a) * b * (n - 1 - b) / ((n - 1) ** 2 * (n + 1) * (n - 2))
    outstanding = (n * (n + 1) * big_a - (n - 1) * a * (a + 2)) * (n * (n + 1) * big_b - (n - 1) * b * (b + 2))
    return float((n - 1) ** 2 * (even + outstanding / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))))


def _sum_and_trace(
    one: _Whitened, two: _Whitened, weights: FloatArray, design: Design, stratum_of: NDArray[np.int64]
) -> tuple[FloatArray, float]:
    """The weighted sum of the products, and the trace of its covariance; records are in the order of their strata.

    Of a stratum with n records the trace is n / (n - 1) times the squares of its products, less that of their sum
    divided by n. Records that are not selected count in n.
    """
    squares = np.square(weights) * one.squares() * two.squares()
    starts = np.append(np.flatnonzero(np.diff(stratum_of, prepend=-1)), len(stratum_of))
    sizes = np.bincount(design.stratum_of, minlength=design.n_strata)[stratum_of[starts[:-1]]]
    total, trace = np.zeros((one.rank, two.rank)), 0.0
    for first, last in _together(starts, max(1, _BLOCK // max(total.size, 1))):
        inside = _sums_of_strata(one, two, weights, starts[first : last + 1])
        total += inside.sum(axis=0)
        size = sizes[first:last]
        own = np.add.reduceat(squares[starts[first] : starts[last]], starts[first:last] - starts[first])
        rest = own - np.square(inside).sum(axis=(1, 2)) / size
        trace += float((rest * size / np.maximum(size - 1, 1)).sum())
    return total, trace


def _together(starts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of strata with at most so many records, or of one stratum."""
    first, n_strata = 0, len(starts) - 1
    while first < n_strata:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        yield first, last
        first = last


def _sums_of_strata(one: _Whitened, two: _Whitened, weights: FloatArray, starts: NDArray[np.int64]) -> FloatArray:
    """The weighted sums of the products of neighboring strata, shape (strata, rank, rank)."""
    rows = slice(int(starts[0]), int(starts[-1]))
    if len(starts) == 2:  # noqa: PLR2004 - one stratum, which may be the whole table
        return _products(one, two, weights, rows)[None]
    products = (one.rows(rows) * weights[rows, None])[:, :, None] * two.rows(rows)[:, None, :]
    found: FloatArray = np.add.reduceat(products, starts[:-1] - starts[0], axis=0)
    return found


def _products(one: _Whitened, two: _Whitened, weights: FloatArray, rows: slice) -> FloatArray:
    """The weighted sum of the products of these rows of both sides; what is zero in them is not touched."""
    first, second, each = one.given[rows], two.given[rows], weights[rows]
    whole = one.root.T @ (first.T.multiply(each) @ second).toarray() @ two.root
    left, right = (first.T @ each) @ one.root, (second.T @ each) @ two.root
    both = np.outer(each.sum() * one.center - left, two.center) - np.outer(one.center, right)
    return np.asarray(whole + both, dtype=np.float64)


def _relative_variance(one: _Whitened, two: _Whitened, weights: FloatArray) -> float:
    """The variance of the square of the length divided by its own mean, under the hypothesis.

    With e and z the deviations, this ratio is 1 and the sum of w_i w_j (e_i'e_j) (z_i'z_j) over different records,
    divided by that of w_i w_i |e_i|^2 |z_i|^2. Let the e_i be drawn from the population, which the weights describe.
    """
    lengths, far = one.squares(), np.square(weights) * two.squares()
    itself = np.square(weights)
    alike = (one.rank - itself @ np.square(lengths)) / (1 - itself.sum())
    apart = np.square(two.spread(itself)).sum() - np.square(far).sum()
    spread = weights @ np.square(lengths) - one.rank**2
    below = (far.sum() * one.rank) ** 2 + np.square(far).sum() * spread
    return float(2 * apart * alike / below)


def _skewness(one: _Whitened, two: _Whitened, weights: FloatArray, total: FloatArray) -> float:
    """How skewed the weighted products are: |c|^2 / t^3 with c the sum of |u|^2 u, and t that of |u|^2.

    Most of what the records add to |c|^2 by themselves stays in it.
    """
    lengths = two.squares()
    whole, trace, own = np.zeros((two.given.shape[1] + 1, one.rank)), 0.0, 0.0
    along = two.root @ total.T
    for rows in _blocks(len(weights), one.rank):
        cells = two.given[rows]
        rest = one.rows(rows) - (cells @ along - two.center @ total.T)
        squares = np.square(weights[rows]) * lengths[rows] * np.square(rest).sum(axis=1)
        rest *= (weights[rows] * squares)[:, None]
        whole[:-1] += cells.T @ rest
        whole[-1] += rest.sum(axis=0)
        trace += float(squares.sum())
        own += float((squares**3).sum())
    cubes = two.root.T @ whole[:-1] - np.outer(two.center, whole[-1])
    return max(float(np.square(cubes).sum()) - _OWN_PART * own, 0.0) / trace**3 if trace > 0 else 0.0


def _gamma_tail(statistic: float, mean: float, variance: float) -> float:
    """How likely the gamma distribution of this mean and variance exceeds a statistic; chi-square is one of them."""
    from scipy.special import gammaincc

    if not variance > _SMALL * mean:  # the statistic is the same whatever is true
        return 1.0
    shape = mean * mean / variance
    return float(gammaincc(shape, shape * statistic / mean))


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(width, 1))
    return (slice(first, first + step) for first in range(0, n, step))


def _root(matrix: FloatArray) -> FloatArray:
    """Columns A with A A' the inverse of a matrix, on the space in which it has one."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > max(values[-1], 0.0) * _SMALL
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float64)
