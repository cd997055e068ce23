"""What published sets and classes say about the value of one record, before any cleverness."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from ldiversity._types import FloatArray, SetArray
from ldiversity.attacks._base import Beliefs, Targets
from ldiversity.attacks._matching import match_classes, match_rows
from ldiversity.estimation import estimate
from ldiversity.models import ClassCounts
from ldiversity.release import ClassRelease, Release, SetRelease

__all__ = ["class_shares", "marginal_of", "plain_beliefs", "row_sets", "set_posteriors"]


_MARGINALS: Final[WeakKeyDictionary[Release, dict[str, FloatArray]]] = WeakKeyDictionary()


def marginal_of(release: Release, attribute: str) -> FloatArray:
    """Shape (F,): the overall distribution as the release itself tells it, counted or estimated; computed once."""
    known = _MARGINALS.setdefault(release, {})
    if attribute not in known:
        known[attribute] = _marginal(release, attribute)
    return known[attribute]


def _marginal(release: Release, attribute: str) -> FloatArray:
    if isinstance(release, ClassRelease):
        counts = release.classes(attribute).population.counts.astype(float)
        return np.asarray(counts / counts.sum())
    shares = np.maximum(estimate(release, sensitive=attribute).share[0], 0.0)
    return np.asarray(shares / shares.sum())


def class_shares(classes: ClassCounts) -> Any:  # noqa: ANN401 - a sparse matrix
    """Classes by values: the share of each value in each class."""
    from scipy.sparse import csr_array

    sizes = np.repeat(classes.sizes, np.diff(classes.starts))
    shape = (classes.n_classes, len(classes.domain))
    return csr_array((classes.counts / sizes, classes.codes, classes.starts), shape=shape)


def row_sets(release: SetRelease, attribute: str) -> SetArray:
    """Shape (rows, members): the published set of each row; exploded rows have one member each."""
    if release.layout == "exploded":
        return release.members(attribute)[:, None]
    return release.sets(attribute)


def set_posteriors(sets: SetArray, weights: FloatArray, n_values: int) -> Any:  # noqa: ANN401 - a sparse matrix
    """Rows by values: the weights of the members of each set, made to sum to one; even ones where all are zero.

    Examples
    --------
    >>> set_posteriors(np.array([[0, 2]]), np.array([[3.0, 1.0]]), 3).toarray().tolist()
    [[0.75, 0.0, 0.25]]
    """
    from scipy.sparse import csr_array

    n, l = sets.shape
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.full(weights.shape, 1.0 / l), where=totals > 0)
    starts = np.arange(n + 1, dtype=np.int64) * l
    return csr_array((shares.reshape(-1), sets.reshape(-1).astype(np.int64), starts), shape=(n, n_values))


def plain_beliefs(release: Release, targets: Targets, attribute: str, prior: FloatArray | None = None) -> Beliefs:
    """Shares of the classes a target may be in, or of members of the sets that may be his, weighted by a prior."""
    if isinstance(release, ClassRelease):
        return match_classes(release, targets, attribute).beliefs(class_shares(release.classes(attribute)))
    if not isinstance(release, SetRelease):  # pragma: no cover - there are two families
        raise TypeError(type(release).__name__)
    sets = row_sets(release, attribute)
    weights = np.ones(sets.shape) if prior is None else prior[sets]
    return match_rows(release, targets).beliefs(set_posteriors(sets, weights, len(release.domain(attribute))))
