"""What chance did to the values of classes that were formed without looking at quasi-identifiers.

Then every record with value u is equally likely to hold any of the places that value u has in the classes. With m the
counts of values in a class and s its size, a record with value u adds the shares m / s of a random one of these
places to its cell. So the sum N of the shares over the records of a cell has the mean Q' t for true counts t, with

    Q[u, v] = sum over classes of m_u m_v / (s n_u),      n_u = all records with value u,

and R N with R = inverse(Q') has the mean t. The t_u records of a cell with value u draw their places without
replacement from n_u, independently of other values, so with a = R m / s for every class

    Cov(R N) = sum over u of t_u (n_u - t_u) / (n_u - 1) ( sum over classes of m_u / n_u a a' - e_u e_u' ).

This is exact; only t is unknown in it, and the possible counts nearest to R N stand for t.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.estimation._simplex import project

if TYPE_CHECKING:
    from ldiversity._types import FloatArray
    from ldiversity.models import ClassCounts

__all__ = ["MOST_VALUES", "Exchange"]

MOST_VALUES: Final = 2_000
"""Domains with more values have too large a matrix."""

_BLOCK: Final = 1 << 21


@dataclass(frozen=True, eq=False)
class Exchange:
    """The matrix of a grouping that looked at sensitive values alone, and what follows from it.

    Parameters
    ----------
    classes
        The values of every class.

    Examples
    --------
    Two classes, {a, b} and {a, c}. Whoever has b adds 1/2 to a and 1/2 to b:

    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2, Domain(("a", "b", "c")))
    >>> Exchange(classes).mixing[1].tolist()
    [0.5, 0.5, 0.0]
    """

    classes: ClassCounts

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Shape (F,): how many records have each value."""
        return self.classes.population.counts

    @cached_property
    def mixing(self) -> FloatArray:
        """Shape (F, F): Q; the row of a value that does not occur is zero."""
        return self._together / np.maximum(self.totals, 1)[:, None]

    @cached_property
    def condition(self) -> float:
        """How many times the noise may grow when the mixing is undone; infinite when it cannot be."""
        eigenvalues = self._spectrum[0]
        return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf

    @cached_property
    def inverse(self) -> FloatArray:
        """Shape (F, F): R; zero for values that do not occur."""
        present = self.totals > 0
        eigenvalues, vectors = self._spectrum
        root = np.sqrt(self.totals[present])
        inner = (vectors / eigenvalues) @ vectors.T
        whole = np.zeros_like(self._together)
        whole[np.ix_(present, present)] = inner * root[:, None] / root[None, :]
        return whole

    @cached_property
    def factors(self) -> FloatArray:
        """Shape (F, F): by how much a unit of ``t_u (n_u - t_u) / (n_u - 1)`` adds to the variance of each value."""
        squares = np.zeros_like(self._together)
        for shares, counts in self._blocks():
            squares += (counts.T @ np.square(shares @ self.inverse.T)).T
        squares /= np.maximum(self.totals, 1)
        factors: FloatArray = np.maximum(squares - np.diag((self.totals > 0).astype(np.float64)), 0.0)
        return factors

    def undo(self, mixed: FloatArray) -> FloatArray:
        """The unbiased counts, from sums of shares of shape (cells, F)."""
        return np.asarray(mixed @ self.inverse.T, dtype=np.float64)

    def standard_errors(self, counts: FloatArray, records: FloatArray) -> FloatArray:
        """Standard errors of unbiased counts, shape (cells, F)."""
        return np.sqrt(self._growth(counts, records) @ self.factors.T)

    def covariance(self, counts: FloatArray, records: float) -> FloatArray:
        """The covariance matrix of the unbiased counts of one cell, shape (F, F)."""
        growth = self._growth(counts[None, :], np.array([records]))[0]
        weights = growth / np.maximum(self.totals, 1)
        whole = -np.diag(growth)
        for shares, counts_ in self._blocks():
            vectors = shares @ self.inverse.T
            whole += (vectors * (counts_ @ weights)[:, None]).T @ vectors
        return (whole + whole.T) / 2

    def _growth(self, counts: FloatArray, records: FloatArray) -> FloatArray:
        # t (n - t) / (n - 1) at the nearest possible counts.
        possible = np.minimum(project(counts, records), self.totals)
        growth: FloatArray = possible * (self.totals - possible) / np.maximum(self.totals - 1, 1)
        return growth

    @cached_property
    def _together(self) -> FloatArray:
        together = np.zeros((len(self.classes.domain), len(self.classes.domain)))
        for shares, counts in self._blocks(dense=False):
            together += (counts.T @ shares).toarray()
        return together

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray]:
        # Of the symmetric matrix with the same eigenvalues as Q, without the values that do not occur.
        present = self.totals > 0
        root = np.sqrt(self.totals[present])
        eigenvalues, vectors = np.linalg.eigh(self._together[np.ix_(present, present)] / np.outer(root, root))
        return eigenvalues, vectors

    def _blocks(self, *, dense: bool = True) -> Any:  # noqa: ANN401 - pairs of matrices of either kind
        # Shares and counts of some classes after the other.
        from scipy import sparse

        classes, n_values = self.classes, len(self.classes.domain)
        step = max(1, _BLOCK // n_values) if dense else classes.n_classes
        for first in range(0, classes.n_classes, step):
            starts = classes.starts[first : first + step + 1]
            inside = slice(starts[0], starts[-1])
            shape = (len(starts) - 1, n_values)
            sizes = np.repeat(classes.sizes[first : first + step], np.diff(starts))
            counts = classes.counts[inside].astype(np.float64)
            parts = (classes.codes[inside], starts - starts[0])
            yield sparse.csr_array((counts / sizes, *parts), shape), sparse.csr_array((counts, *parts), shape)
