"""How chance mixes values in classes that were formed without looking at quasi-identifiers.

Then every record with value u is equally likely to hold any of the places that value u has in the classes. With m the
counts of values in a class and s its size, a record with value u adds the shares m / s of a random one of these
places to its cell. So the sum N of the shares over the records of a cell has the mean Q' t for true counts t, with

    Q[u, v] = sum over classes of m_u m_v / (s n_u),      n_u = all records with value u,

and R N with R = inverse(Q') has the mean t. The t_u records of a cell with value u draw their places without
replacement from n_u, independently of other values, so with a = R m / s for every class

    Cov(R N) = sum over u of t_u (n_u - t_u) / (n_u - 1) ( sum over classes of m_u / n_u a a' - e_u e_u' ).

This is exact; only t is unknown in it. With g_u = t_u (n_u - t_u) / (n_u - 1), and G[v, u] what a unit of g_u adds to
the variance of value v, the estimate R N in place of t gives g on average too small by its own variance / (n - 1), so

    inverse(1 - diag(1 / (n - 1)) G) g(R N)

has the mean g, which makes the estimate of the covariance unbiased. In tables so small that noise exceeds the signal
(an eigenvalue of diag(1 / (n - 1)) G is 1 or more), the greatest possible g replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.checks import name_some
from ldiversity.estimation._projection import project
from ldiversity.mechanisms import SINGULAR_CONDITION
from ldiversity.sentences import Method, Sentence, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.models import ClassCounts
    from ldiversity.release import Release

__all__ = ["MOST_VALUES", "Exchange", "instead_of_these_classes", "why_not_by_chance"]

MOST_VALUES: Final = 2_000
"""For more values, the matrix would be too large."""

_BLOCK: Final = 1 << 21

_ROUNDING: Final = 1e-9


def why_not_by_chance(release: Release, names: Sequence[str]) -> str:
    """Why it was not chance alone that put records into classes by the values of `names`; "" when it was.

    "" also where there are no classes: then every set was drawn on its own.
    """
    if not release.grouped:
        return ""
    first, *others = names
    sharing = [name for name, column in release.class_columns.items() if column == release.class_columns[first]]
    if release.generalized:
        return "it needs exact quasi-identifiers, but this release has regions"
    if others:
        return "a joint distribution needs values that were counted together, but classes count each attribute alone"
    if not release.blind(first):  # with a person column, whatever else classes were formed by
        how = "so that none holds two records of one person" if release.person else "by quasi-identifiers"
        return f"classes were formed {how}, so it was not chance alone that put records into them"
    if len(sharing) > 1:
        return f"classes were formed by {name_some(sharing)} together, not by {first!r} alone"
    return ""


def instead_of_these_classes(release: Release) -> Sentence:
    """Which releases have what classes lack that chance alone did not form."""
    if release.person:
        return say(
            "A release of sets can. So can one of {} with one sensitive attribute, made of a table with one record per "
            "person, without a person column.",
            Method("Anatomy"),
        )
    return say("A release of sets can, and so can one of {} with one sensitive attribute.", Method("Anatomy"))


@dataclass(frozen=True, eq=False)
class Exchange:
    """The matrix of a grouping that looked only at sensitive values, and what follows from it.

    `times` says how many classes are like each one, where equal ones were counted.

    Examples
    --------
    Two classes, {a, b} and {a, c}. A record with b adds 1/2 to a and 1/2 to b:

    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2, Domain(("a", "b", "c")))
    >>> Exchange(classes).mixing[1].tolist()
    [0.5, 0.5, 0.0]
    """

    classes: ClassCounts
    times: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, classes: ClassCounts) -> Exchange:
        """The one of these classes, made once for all estimates from them."""
        return classes.once("exchange", lambda: cls(classes))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Shape (F,): how many records have each value."""
        if self.times is None:
            return self.classes.population.counts
        totals = np.zeros(len(self.classes.domain), dtype=np.int64)
        np.add.at(totals, self.classes.codes, self.classes.counts * np.repeat(self.times, np.diff(self.classes.starts)))
        return totals

    @cached_property
    def mixing(self) -> FloatArray:
        """Shape (F, F): Q; the row of a value that does not occur is zero."""
        return self._together / np.maximum(self.totals, 1)[:, None]

    @cached_property
    def condition(self) -> float:
        """How many times the noise may grow when the mixing is undone; infinite when that is impossible."""
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
        """Shape (F, F): what a unit of ``t_u (n_u - t_u) / (n_u - 1)`` adds to the variance of each value."""
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
        """Standard errors of unbiased counts, shape (cells, F).

        An unbiased variance may be below zero by chance. So it is at least the variance of the possible counts nearest
        to the estimate, which never is, and at most the greatest variance of possible counts.
        """
        least = self._growth(np.minimum(project(counts, records), self.totals)) @ self.factors.T
        greatest = np.maximum(self._greatest_growth(records) @ self.factors.T, least)
        return np.sqrt(np.clip(self._estimated_growth(counts, records) @ self.factors.T, least, greatest))

    def covariance(self, counts: FloatArray, records: float) -> FloatArray:
        """The covariance matrix of the unbiased counts of one cell, estimated from them without bias, shape (F, F)."""
        return self._spanned(self._estimated_growth(counts[None, :], np.array([records]))[0])

    def covariance_at(self, truth: FloatArray) -> FloatArray:
        """The covariance matrix of the unbiased counts of a cell with these true counts, shape (F, F)."""
        return self._spanned(self._growth(truth))

    def _spanned(self, growth: FloatArray) -> FloatArray:
        weights = growth / np.maximum(self.totals, 1)
        whole = -np.diag(growth)
        for shares, counts in self._blocks():
            vectors = shares @ self.inverse.T
            whole += (vectors * (counts @ weights)[:, None]).T @ vectors
        return (whole + whole.T) / 2

    def _growth(self, counts: FloatArray) -> FloatArray:
        # t (n - t) / (n - 1); a single record with a value has only one place.
        several = self.totals > 1
        growth: FloatArray = np.where(
            several, counts * (self.totals - counts) / np.where(several, self.totals - 1, 1), 0
        )
        return growth

    def _greatest_growth(self, records: FloatArray) -> FloatArray:
        # Half of the records with a value, or as near to that as the size of the cell allows.
        fewest = np.maximum(self.totals + records[:, None] - self.totals.sum(), 0)
        return self._growth(np.clip(self.totals / 2, fewest, np.minimum(self.totals, records[:, None])))

    def _estimated_growth(self, counts: FloatArray, records: FloatArray) -> FloatArray:
        if self._correction is None:
            return self._greatest_growth(records)
        return np.asarray(self._growth(counts) @ self._correction.T, dtype=np.float64)

    @cached_property
    def _correction(self) -> FloatArray | None:
        # Noise makes g look smaller than it is; this matrix undoes that. None where noise exceeds the signal, which is
        # when the inverse has negative entries.
        several = self.totals > 1
        shrunk = np.eye(len(several)) - self.factors * (several / np.where(several, self.totals - 1, 1))[:, None]
        if not np.linalg.cond(shrunk) < SINGULAR_CONDITION:
            return None
        correction: FloatArray = np.linalg.inv(shrunk).astype(np.float64)
        return correction if correction.min() > -_ROUNDING else None

    @cached_property
    def _together(self) -> FloatArray:
        together = np.zeros((len(self.classes.domain), len(self.classes.domain)))
        for shares, counts in self._blocks(dense=False):
            together += (counts.T @ shares).toarray()
        return together

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray]:
        # A symmetric matrix with the same eigenvalues as Q, without the values that do not occur.
        present = self.totals > 0
        root = np.sqrt(self.totals[present])
        eigenvalues, vectors = np.linalg.eigh(self._together[np.ix_(present, present)] / np.outer(root, root))
        return eigenvalues, vectors

    def _blocks(self, *, dense: bool = True) -> Any:  # noqa: ANN401 - pairs of matrices of either kind
        # Shares and counts, some classes at a time, so that dense products fit into memory; what is summed over classes
        # is linear in the second.
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
            shares = counts / sizes
            if self.times is not None:
                counts *= np.repeat(self.times[first : first + step], np.diff(starts))
            yield sparse.csr_array((shares, *parts), shape), sparse.csr_array((counts, *parts), shape)
