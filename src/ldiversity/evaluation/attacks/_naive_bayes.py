"""Naive Bayes from weighted records, each of which may have several values in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = ["NaiveBayes", "Weighed", "weigh"]

_SMOOTHING: Final = 0.1


@dataclass(frozen=True, eq=False)
class Weighed:
    """All that naive Bayes learns from: how much of each value there is, and how much of it goes with each feature.

    `values` has shape (F,), `features` shape (F, features). Several can be added up, so that records can be left out
    without weighing the others again.
    """

    values: FloatArray
    features: FloatArray

    def __add__(self, other: Weighed) -> Weighed:
        return Weighed(self.values + other.values, self.features + other.features)

    def split(self, parts: int) -> list[Weighed]:
        """Give runs of equally many values, each on its own.

        Examples
        --------
        >>> first, second = Weighed(np.array([1.0, 2.0]), np.array([[1.0], [2.0]])).split(2)
        >>> second.values.tolist(), second.features.tolist()
        ([2.0], [[2.0]])
        """
        values, features = np.split(self.values, parts), np.split(self.features, parts)
        return [Weighed(*both) for both in zip(values, features, strict=True)]


def weigh(
    features: Any,  # noqa: ANN401 - a sparse matrix
    rows: NDArray[np.integer],
    codes: NDArray[np.integer],
    weights: FloatArray,
    n_values: int,
) -> Weighed:
    """Add up the features of entries: a row of `features`, the value that it has in part, and the part.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> found = weigh(csr_array(np.eye(2)), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.5, 0.5, 1.0]), 2)
    >>> found.values.tolist(), found.features.tolist()
    ([0.5, 1.5], [[0.5, 0.0], [0.5, 1.0]])
    """
    from scipy.sparse import csr_array

    parts = csr_array((weights, (codes, rows)), shape=(n_values, features.shape[0]))
    values = np.bincount(codes, weights, minlength=n_values).astype(np.float64)
    return Weighed(values, (parts @ features).toarray())


class NaiveBayes:
    """Multinomial naive Bayes, smoothed by a tenth of a record; values without any weight are never predicted.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> people = csr_array(np.eye(2))
    >>> model = NaiveBayes(weigh(people, np.array([0, 1]), np.array([0, 1]), np.array([1.0, 1.0]), 3))
    >>> model.predict(people).round(3).tolist()
    [[0.917, 0.083, 0.0], [0.083, 0.917, 0.0]]
    """

    def __init__(self, learned: Weighed) -> None:
        self.prior: FloatArray = learned.values / learned.values.sum()
        smoothed = learned.features + _SMOOTHING
        self._features: FloatArray = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            self._values: FloatArray = np.log(self.prior)

    def predict(self, features: Any) -> FloatArray:  # noqa: ANN401 - a sparse matrix
        """Shape (rows, F): how likely each value is."""
        said: FloatArray = features @ self._features.T
        said += self._values
        said -= said.max(axis=1, keepdims=True)
        np.exp(said, out=said)
        said /= said.sum(axis=1, keepdims=True)
        return said
