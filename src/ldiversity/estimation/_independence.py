"""A test of independence for published sets.

Let r_i be the probabilities of the values for record i, given what was published about it and the shares p of the
values in all records: r_ij is proportional to p_j P(R_i | j). The derivative of the likelihood of the sets with respect
to the logarithms of the shares within a cell is the sum of r_i - p over its records. So the score test of "all cells
have the same shares" compares the mean of r between cells.

Under that hypothesis what is published does not depend on the cell, so the r_i are a sample of one distribution,
whatever it is. Its covariance is that of the r_i, and no formula about the mechanism is needed. With x_i the indicators
of the cell (or the r_i of a second hidden attribute), the statistic is

    (n - 1) trace( inverse(S_rr) S_rx inverse(S_xx) S_xr ),

S the matrices of sums of squares and products around the means. Over all assignments of the x_i to the r_i its mean is
exactly the degrees of freedom, rank(S_rr) rank(S_xx), and it is close to chi-square. Where every set has one value, the
r_i are indicators and this is Pearson's chi-square times (n - 1) / n.

Records with weights count with them, and the covariance of the products is that of the design (`_design`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._design import Design

__all__ = ["MOST_PRODUCTS", "Tested", "design_test", "independence_test", "pool"]

MOST_PRODUCTS: Final = 2_000
"""The most degrees of freedom of a test with weights: their covariance is a matrix of this size."""

_SMALL: Final = 1e-9
_BLOCK: Final = 1 << 22


@dataclass(frozen=True)
class Tested:
    """A statistic, its degrees of freedom, and how likely it is to be at least as great without an association."""

    statistic: float
    df: int
    pvalue: float


def independence_test(shares: csr_matrix, cells: csr_matrix) -> Tested:
    """Test that rows of `shares` (records, values) do not depend on rows of `cells` (records, cells)."""
    from scipy.special import gammaincc

    n = shares.shape[0]
    mean, inside = _mean(shares), _mean(cells)
    own = (shares.T @ shares).toarray() - n * np.outer(mean, mean)
    other = (cells.T @ cells).toarray() - n * np.outer(inside, inside)
    cross = (shares.T @ cells).toarray() - n * np.outer(mean, inside)
    left, right = _root(own), _root(other)
    df = left.shape[1] * right.shape[1]
    if not df:
        return Tested(0.0, 0, 1.0)
    statistic = float((n - 1) * np.square(left.T @ cross @ right).sum())
    return Tested(statistic, df, float(gammaincc(df / 2, statistic / 2)))


def design_test(shares: csr_matrix, cells: csr_matrix, design: Design, selected: NDArray[np.int64]) -> Tested:
    """The same with the weights and strata of a sample, of which `selected` are the records of the rows.

    Products of deviations from the weighted means are summed; the statistic is compared with the distribution F,
    because their covariance has as many degrees of freedom as there are records less strata.
    """
    from scipy.special import fdtrc

    weights = design.weights[selected] / design.weights[selected].sum()
    mean, inside = shares.T @ weights, cells.T @ weights
    left = _root(((shares.T.multiply(weights)) @ shares).toarray() - np.outer(mean, mean))
    right = _root(((cells.T.multiply(weights)) @ cells).toarray() - np.outer(inside, inside))
    df = left.shape[1] * right.shape[1]
    freedom = design.freedom - df + 1
    if not df or freedom < 1:
        return Tested(0.0, df, 1.0)
    products = np.zeros((len(design.weights), df))
    step = max(1, _BLOCK // df)
    for first in range(0, len(selected), step):
        rows = slice(first, first + step)
        one = (shares[rows] @ left) - mean @ left
        two = (cells[rows] @ right) - inside @ right
        products[selected[rows]] = (one[:, :, None] * two[:, None, :]).reshape(-1, df)
    total = products.T @ design.weights
    statistic = float(total @ np.linalg.pinv(design.covariance(products), hermitian=True) @ total)
    pvalue = float(fdtrc(df, freedom, statistic * freedom / (design.freedom * df)))
    return Tested(statistic, df, pvalue)


def pool(expected: FloatArray, least: float) -> NDArray[np.int64]:
    """Put columns with too few expected records together; gives the group of each column.

    Rare ones are joined, the rarest first, until each group expects `least`; what is left over joins the least group.

    Examples
    --------
    >>> pool(np.array([50.0, 1.0, 4.0, 20.0, 2.0]), least=5).tolist()
    [0, 1, 1, 2, 1]
    """
    group_of = np.full(len(expected), -1, dtype=np.int64)
    kept = expected >= least
    group_of[kept] = np.arange(np.count_nonzero(kept))
    rare = np.flatnonzero(~kept)[np.argsort(expected[~kept], kind="stable")]
    sums = list(expected[kept])
    for column in rare:
        if len(sums) == np.count_nonzero(kept) or sums[-1] >= least:
            sums.append(0.0)
        sums[-1] += expected[column]
        group_of[column] = len(sums) - 1
    if len(rare) and sums[-1] < least and len(sums) > 1:
        group_of[group_of == len(sums) - 1] = int(np.argmin(sums[:-1]))
    return np.unique(_by_first(group_of), return_inverse=True)[1].astype(np.int64)


def _by_first(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered by their first column."""
    _, first, back = np.unique(group_of, return_index=True, return_inverse=True)
    return first[back].astype(np.int64)


def _mean(rows: csr_matrix) -> FloatArray:
    return np.asarray(rows.sum(axis=0), dtype=np.float64).ravel() / rows.shape[0]


def _root(matrix: FloatArray) -> FloatArray:
    """Columns A with A A' the inverse of a matrix, on the space in which it has one."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > max(values[-1], 0.0) * _SMALL
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float64)
