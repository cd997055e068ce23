"""What published sets and classes say about the value of one record, before any cleverness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
from ldiversity.estimation import estimate
from ldiversity.evaluation.attacks._base import Beliefs, Targets
from ldiversity.evaluation.attacks._matching import Matches, match_classes, match_rows, pick_one, turns
from ldiversity.models import ClassCounts
from ldiversity.release import ClassRelease, Release, SetRelease

__all__ = ["class_shares", "marginal_of", "pick_sets", "plain_beliefs", "set_posteriors"]


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


@dataclass(frozen=True, eq=False)
class PickedSets:
    """The set that each target is taken to have.

    Parameters
    ----------
    sets
        Shape (m, l): sets that were picked, each once.
    of_target
        Shape (n,): which of them each target is taken to have; -1 when the target was not found.
    several
        How many targets had several records to pick from.
    """

    sets: SetArray
    of_target: NDArray[np.int64]
    several: int


def pick_sets(release: SetRelease, targets: Targets, attribute: str) -> PickedSets:
    """Choose a record that each target may be, without a reason to choose, and take its set.

    Exploded rows do not say which of them are one record's. Then rows of people like the target are gone through in a
    random order until l different values were seen: for someone alone with his quasi-identifiers that is his set.
    """
    matches = match_rows(release, targets)
    found = matches.of_target >= 0
    rows = np.diff(matches.weights.indptr)[matches.of_target[found]]
    of_target = np.full(targets.n, -1, dtype=np.int64)
    if release.layout == "exploded":
        sets = _different_members(matches, release.members(attribute), release.mechanism(attribute).l)
        of_target[found] = np.arange(len(sets))
        return PickedSets(sets, of_target, int(np.count_nonzero(rows > sets.shape[1])))
    used, of_target[found] = np.unique(pick_one(matches)[found], return_inverse=True)
    return PickedSets(release.sets(attribute)[used], of_target, int(np.count_nonzero(rows > 1)))


def _different_members(matches: Matches, members: CodeArray, l: int) -> SetArray:
    """Shape (found, l): different values among the rows of people like each target."""
    starts, rows = matches.weights.indptr, matches.weights.indices
    sizes = np.diff(starts)
    rng = np.random.default_rng(0)
    shuffled = np.lexsort((rng.random(len(rows)), np.repeat(np.arange(len(sizes)), sizes)))
    values = members[rows[shuffled]]
    group = matches.of_target[matches.of_target >= 0]
    place = turns(group, rng) * l
    chosen = np.full((len(group), l), -1, dtype=np.int32)
    filled = np.zeros(len(group), dtype=np.int64)
    active = np.arange(len(group))
    for step in range(int(sizes.max(initial=0))):
        seen = values[starts[group[active]] + (place[active] + step) % sizes[group[active]]]
        new = ~(chosen[active] == seen[:, None]).any(axis=1)
        who = active[new]
        chosen[who, filled[who]] = seen[new]
        filled[who] += 1
        active = active[filled[active] < l]
        if not len(active):
            break
    # Rows that were taken out by hand may leave fewer values; the first stands for the missing ones.
    return np.sort(np.where(chosen < 0, chosen[:, :1], chosen), axis=1)


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
    n_values = len(release.domain(attribute))
    if release.layout == "exploded":
        return _exploded_beliefs(match_rows(release, targets), release.members(attribute), n_values, prior)
    sets = release.sets(attribute)
    weights = np.ones(sets.shape) if prior is None else prior[sets]
    return match_rows(release, targets).beliefs(set_posteriors(sets, weights, n_values))


def _exploded_beliefs(matches: Matches, members: CodeArray, n_values: int, prior: FloatArray | None) -> Beliefs:
    """Shares among all rows of people like the target, weighted by a prior."""
    found = matches.beliefs(set_posteriors(members[:, None], np.ones((len(members), 1)), n_values))
    if prior is None:
        return found
    weighted = found.probability * prior
    totals = weighted.sum(axis=1, keepdims=True)
    return Beliefs(np.divide(weighted, totals, out=found.probability, where=totals > 0), found.of_target)
