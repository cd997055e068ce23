"""What published sets and classes say about the value of one record without further inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.estimation import estimate
from ldiversity.evaluation.attacks._base import Beliefs, Targets
from ldiversity.evaluation.attacks._matching import (
    Matches,
    match_evidence,
    match_rows,
    match_shown_rows,
    pick_one,
    pick_piece,
    turns,
)
from ldiversity.models import ClassCounts
from ldiversity.release import Evidence, Release

__all__ = ["Picked", "belief_matrix", "marginal_of", "pick_evidence", "plain_beliefs", "row_matrix"]


_MARGINALS: Final[WeakKeyDictionary[Release, dict[str, FloatArray]]] = WeakKeyDictionary()


def marginal_of(release: Release, attribute: str) -> FloatArray:
    """Shape (F,): the overall distribution by the release itself, counted or estimated; computed once."""
    known = _MARGINALS.setdefault(release, {})
    if attribute not in known:
        counted = release.evidence(attribute).marginal
        known[attribute] = _estimated(release, attribute) if counted is None else counted
    return known[attribute]


def _estimated(release: Release, attribute: str) -> FloatArray:
    shares = np.maximum(estimate(release, sensitive=attribute).share[0], 0.0)
    return np.asarray(shares / shares.sum())


def belief_matrix(candidates: ClassCounts, weights: FloatArray) -> Any:  # noqa: ANN401 - a sparse matrix
    """Pieces of evidence by values: the weight of each candidate."""
    from scipy.sparse import csr_array

    shape = (candidates.n_classes, len(candidates.domain))
    return csr_array((weights, candidates.codes.astype(np.int64), candidates.starts), shape=shape)


def row_matrix(evidence: Evidence, weights: FloatArray) -> Any:  # noqa: ANN401 - a sparse matrix
    """Published rows by values: the weights of the candidates of each row; none for a row that shows nothing."""
    from scipy.sparse import csr_array

    of_row = evidence.of_row
    shown = np.flatnonzero(of_row >= 0)
    pick = csr_array((np.ones(len(shown)), (shown, of_row[shown])), shape=(len(of_row), evidence.n_pieces))
    return csr_array(pick @ belief_matrix(evidence.candidates, weights))


@dataclass(frozen=True, eq=False)
class Picked:
    """The pieces of evidence that were picked, and the piece of each target, -1 when the target was not found.

    `several` says how many targets had several pieces to pick from.
    """

    evidence: Evidence
    of_target: NDArray[np.int64]
    several: int


def pick_evidence(release: Release, targets: Targets, attribute: str) -> Picked:
    """Draw a record, or a class, that may be each target's, and take what it shows.

    Exploded rows do not say which of them form one record. So rows of people like the target are read in a random order
    until l different values are found. For someone with unique quasi-identifiers, these are their set.
    """
    evidence = release.evidence(attribute)
    if not evidence.complete:
        return _pick_members(release, targets, evidence)
    if evidence.counted:
        matches = match_evidence(release, targets, attribute)
        picked = pick_piece(release, targets, attribute)
    else:
        matches = match_shown_rows(release, targets, attribute)
        picked = pick_one(matches)
    found = picked >= 0
    # Records with equal sets stay apart, because each set was drawn on its own.
    used, back = np.unique(picked[found], return_inverse=True)
    of_target = np.full(targets.n, -1, dtype=np.int64)
    of_target[found] = back
    fitting = np.diff(matches.weights.indptr)[matches.of_target[found]]
    pieces = used if evidence.counted else evidence.of_row[used]
    return Picked(evidence.take(pieces), of_target, int(np.count_nonzero(fitting > 1)))


def _pick_members(release: Release, targets: Targets, evidence: Evidence) -> Picked:
    matches, l = match_rows(release, targets), release.rows_per_record
    found = matches.of_target >= 0
    sets = _different_members(matches, evidence.of_row, l)
    of_target = np.full(targets.n, -1, dtype=np.int64)
    of_target[found] = np.arange(len(sets))
    rows = np.diff(matches.weights.indptr)[matches.of_target[found]]
    return Picked(evidence.of_sets(sets), of_target, int(np.count_nonzero(rows > l)))


def _different_members(matches: Matches, members: CodeArray, l: int) -> CodeArray:
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
    # If someone removed rows, there may be fewer values; then the first one fills the gaps.
    return np.sort(np.where(chosen < 0, chosen[:, :1], chosen), axis=1)


def plain_beliefs(release: Release, targets: Targets, attribute: str, prior: FloatArray | None = None) -> Beliefs:
    """Shares of the classes that a target may be in, or of members of the sets that may be theirs, by a prior.

    Where the true value may be missing from its set, everybody knows how likely that is.
    """
    evidence = release.evidence(attribute)
    matches = match_evidence(release, targets, attribute)
    if evidence.complete or prior is None:
        shares = evidence.shares(prior, aware=evidence.shown is not None)
        return matches.beliefs(belief_matrix(evidence.candidates, shares))
    found = matches.beliefs(belief_matrix(evidence.candidates, evidence.shares()))
    weighted = found.probability * prior
    totals = weighted.sum(axis=1, keepdims=True)
    return Beliefs(np.divide(weighted, totals, out=found.probability, where=totals > 0), found.of_target)
