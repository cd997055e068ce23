"""Order: what the order of published rows or values tells someone who knows the order of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Criterion, Targets
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.evaluation.attacks._matching import Matches, match_evidence, match_rows
from ldiversity.evaluation.attacks._posterior import belief_matrix
from ldiversity.release import Release

__all__ = ["OrderLinkage"]

_ODDS: Final = 0.5
"""The attacker's prior probability that the order was kept."""


@dataclass(frozen=True)
class OrderLinkage(Attack):
    """Link the k-th of several people who look alike to the k-th of the published rows that may be theirs.

    The people of a class (or with the same quasi-identifiers) have the order of the source, the rows that of the
    publication. Where rows, classes or members of sets keep the order of the source, this finds the true value.
    The details give the rank correlations of the source's order with that of published rows and of class numbers.

    Examples
    --------
    >>> OrderLinkage().name
    'order'
    """

    name: ClassVar[str] = "order"
    criterion: ClassVar[Criterion] = "linkability"
    attacker: ClassVar[str] = "An attacker who knows the order of the original table, and looks for it in the release."
    extra: ClassVar[str | None] = "the order"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of everyone in the original table, and their order there."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs the order of the source."""
        return None if targets.place is not None else "it needs the order of the original table"

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What the row that order links to the target says; what any row says where none is linked."""
        people = targets.everyone
        place = people.place if people.place is not None else np.arange(people.n)
        linked = _link_rows(release, people, attribute, place)
        row = targets.of_everyone(linked.row)
        without = Homogeneity().beliefs(release, targets, attribute)
        base = without.probability[without.of_target]
        evidence = release.evidence(attribute)
        piece = evidence.of_row[row]
        row = np.where(piece < 0, -1, row)
        own = belief_matrix(evidence.candidates, evidence.shares())[np.maximum(piece, 0)].toarray()
        own, told = (own, _told(release, attribute, row, own)) if evidence.complete else (base, own)
        trust = max(_ODDS, linked.by_row**2)
        mixed = np.where(row[:, None] >= 0, (1 - trust) * own + trust * told, base)
        found = (row >= 0) | without.found
        details = {"row_order_correlation": linked.by_row}
        if linked.by_class is not None:
            details["class_order_correlation"] = linked.by_class
        return Beliefs(mixed, np.where(found, np.arange(targets.n), -1), details=details, without=(without,))


@dataclass(frozen=True, eq=False)
class _Linked:
    """The row linked to each person, -1 when there is none; and how well rows and classes keep the order."""

    row: NDArray[np.int64]
    by_row: float
    by_class: float | None = None


def _link_rows(release: Release, people: Targets, attribute: str, place: NDArray[np.int64]) -> _Linked:
    evidence = release.evidence(attribute)
    likeliest = _likeliest(match_evidence(release, people, attribute)) if evidence.counted else None
    if likeliest is not None and release.generalized:
        row, group = _link(likeliest, evidence.of_row, place), likeliest
    else:  # where rows do not hold the values of a class, a row only says which class it is
        rows = match_rows(release, people)
        row, group = _link(rows.of_target, _row_groups(rows), place, first=not evidence.complete), rows.of_target
    by_row = _correlation(place, row.astype(float), np.where(row < 0, -1, group))
    by_class = None if likeliest is None else _correlation(place, likeliest.astype(float), likeliest)
    return _Linked(row, by_row, by_class)


def _likeliest(matches: Matches) -> NDArray[np.int64]:
    """Shape (n,): the likeliest candidate of each target; -1 when there is none."""
    best = np.asarray(matches.weights.argmax(axis=1)).reshape(-1)
    return np.where(matches.of_target >= 0, best[matches.of_target], -1)


def _row_groups(matches: Matches) -> NDArray[np.int64]:
    """Shape (rows,): the group of each row; -1 when no target looks like it."""
    group = np.full(matches.weights.shape[1], -1, dtype=np.int64)
    row, column = matches.weights.tocoo().coords
    group[column] = row
    return group


def _link(
    of_target: NDArray[np.int64], of_row: NDArray[np.integer], place: NDArray[np.int64], *, first: bool = False
) -> NDArray[np.int64]:
    """Link the k-th target to the k-th row of each group, in proportion where numbers differ; -1 for no row.

    Where a person has several rows, take the middle one, or the first.

    Examples
    --------
    >>> _link(np.array([0, 1, 0]), np.array([1, 0, 0]), np.array([7, 8, 9])).tolist()
    [1, 0, 2]
    """
    n_groups = int(max(of_target.max(initial=-1), of_row.max(initial=-1))) + 1
    row_order = np.argsort(of_row, kind="stable")
    row_order = row_order[of_row[row_order] >= 0]
    n_rows = np.bincount(of_row[row_order], minlength=n_groups)
    first_row = np.cumsum(n_rows) - n_rows
    order = np.lexsort((place, of_target))
    order = order[of_target[order] >= 0]
    group = of_target[order]
    n_people = np.bincount(group, minlength=n_groups)
    rank = np.arange(len(order)) - (np.cumsum(n_people) - n_people)[group]
    there = n_rows[group] > 0
    step = (2 * rank + (0 if first else 1)) * n_rows[group] // (2 * n_people[group])
    linked = np.full(len(of_target), -1, dtype=np.int64)
    linked[order[there]] = row_order[(first_row[group] + step)[there]]
    return linked


def _told(release: Release, attribute: str, row: NDArray[np.int64], own: FloatArray) -> FloatArray:
    """What the linked row itself says: its value, or the first member of its set unless members are sorted."""
    evidence = release.evidence(attribute)
    if release.generalized:
        return _one_hot(release.values(attribute)[np.maximum(row, 0)], own.shape[1])
    if evidence.counted or not bool((np.diff(evidence.sets, axis=1) < 0).any()):
        return own
    return _one_hot(evidence.sets[evidence.of_row[np.maximum(row, 0)], 0], own.shape[1])


def _one_hot(values: CodeArray, n_values: int) -> FloatArray:
    told = np.zeros((len(values), n_values))
    told[np.arange(len(values)), values] = 1.0
    return told


def _correlation(place: NDArray[np.int64], published: FloatArray, group: NDArray[np.int64]) -> float:
    """Spearman's correlation of the mean places of groups in the source and in the publication.

    Within a group, rows were linked by their order, so only groups can show whether it was kept.
    """
    found = group >= 0
    n = np.bincount(group[found])
    kept = n > 0
    if np.count_nonzero(kept) < 3:  # noqa: PLR2004 - two points always lie on a line
        return 0.0
    means = [_ranks((np.bincount(group[found], x[found])[kept]) / n[kept]) for x in (place.astype(float), published)]
    if any(float(part.std()) == 0 for part in means):
        return 0.0
    return float(np.corrcoef(means[0], means[1])[0, 1])


def _ranks(numbers: FloatArray) -> FloatArray:
    """The rank of each number, from 1; equal ones share the mean of their ranks.

    Examples
    --------
    >>> _ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, times = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(times) - (times - 1) / 2)[place]
    return ranks
