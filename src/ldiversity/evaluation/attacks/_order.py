"""Order: what the order of published rows or values tells someone who knows the order of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.evaluation.attacks._matching import Matches, match_classes, match_rows
from ldiversity.evaluation.attacks._posterior import class_shares
from ldiversity.release import ClassRelease, Release, SetRelease

__all__ = ["OrderLinkage"]

_ODDS: Final = 0.5
"""How likely he takes it to be, before he looks, that the order was kept."""


@dataclass(frozen=True)
class OrderLinkage(Attack):
    """Link the k-th of several people who look alike to the k-th of the published rows that may be theirs.

    The people of a class (or with the same quasi-identifiers) are taken in the order of the source, the rows in that
    of the publication. Where rows, classes or members of sets keep an order of the source, this finds the true value.
    The details give the rank correlations of the source's order with that of published rows and of class numbers.

    Examples
    --------
    >>> OrderLinkage().name
    'order'
    """

    name: ClassVar[str] = "order"
    extra: ClassVar[str | None] = "the order"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return (
            "He knows the quasi-identifiers of everyone in the original table, and the order in which they stand there."
        )

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs the order of the source."""
        return None if targets.place is not None else "it needs the order of the original table"

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What the row says that order links to the target; he takes any where none is linked."""
        people = targets.everyone
        place = people.place if people.place is not None else np.arange(people.n)
        if isinstance(release, ClassRelease):
            linked = _linked_classes(release, people, attribute, place)
        elif isinstance(release, SetRelease):
            linked = _linked_sets(release, people, place)
        else:  # pragma: no cover - there are two families
            raise TypeError(type(release).__name__)
        row = targets.of_everyone(linked.row)
        without = Homogeneity().beliefs(release, targets, attribute)
        base = without.probability[without.of_target]
        if isinstance(release, ClassRelease):
            classes = release.class_of(attribute)[row]
            row = np.where(classes < 0, -1, row)
            own = np.asarray(class_shares(release.classes(attribute))[np.maximum(classes, 0)].toarray())
            told = _one_hot(release.values(attribute), row, own.shape[1]) if release.layout == "generalized" else own
        elif release.layout == "exploded":
            own, told = base, _one_hot(release.members(attribute), row, base.shape[1])
        else:
            own, told = _told_by_sets(release.sets(attribute), row, base.shape[1])
        trust = max(_ODDS, linked.by_row**2)
        mixed = np.where(row[:, None] >= 0, (1 - trust) * own + trust * told, base)
        found = (row >= 0) | without.found
        details = {"row_order_correlation": linked.by_row}
        if linked.by_class is not None:
            details["class_order_correlation"] = linked.by_class
        return Beliefs(mixed, np.where(found, np.arange(targets.n), -1), details=details, without=(without,))


@dataclass(frozen=True, eq=False)
class _Linked:
    """The row that order links to each person, -1 when there is none; and how far rows and classes keep the order."""

    row: NDArray[np.int64]
    by_row: float
    by_class: float | None = None


def _linked_classes(release: ClassRelease, people: Targets, attribute: str, place: NDArray[np.int64]) -> _Linked:
    likeliest = _likeliest(match_classes(release, people, attribute))
    if release.layout == "generalized":
        row, group = _link(likeliest, release.class_of(attribute), place), likeliest
    else:  # the values of a class are not in rows; the row only says which class it is
        rows = match_rows(release, people)
        row, group = _link(rows.of_target, _row_groups(rows), place), rows.of_target
    by_row = _correlation(place, row.astype(float), np.where(row < 0, -1, group))
    return _Linked(row, by_row, _correlation(place, likeliest.astype(float), likeliest))


def _linked_sets(release: SetRelease, people: Targets, place: NDArray[np.int64]) -> _Linked:
    rows = match_rows(release, people)
    row = _link(rows.of_target, _row_groups(rows), place, first=release.layout == "exploded")
    return _Linked(row, _correlation(place, row.astype(float), np.where(row < 0, -1, rows.of_target)))


def _likeliest(matches: Matches) -> NDArray[np.int64]:
    """Shape (n,): the likeliest candidate of each target; -1 when there is none."""
    best = np.asarray(matches.weights.argmax(axis=1)).reshape(-1)
    return np.where(matches.of_target >= 0, best[matches.of_target], -1)


def _row_groups(matches: Matches) -> NDArray[np.int64]:
    """Shape (rows,): the group of each row; -1 when no target is like it."""
    group = np.full(matches.weights.shape[1], -1, dtype=np.int64)
    row, column = matches.weights.tocoo().coords
    group[column] = row
    return group


def _link(
    of_target: NDArray[np.int64], of_row: NDArray[np.integer], place: NDArray[np.int64], *, first: bool = False
) -> NDArray[np.int64]:
    """Shape (n,): the row for each target: k-th to k-th within each group, by shares where numbers differ; -1 if none.

    Where a person has several rows, it is the middle one of them, or the first.

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


def _one_hot(values: NDArray[np.int32], row: NDArray[np.int64], n_values: int) -> FloatArray:
    told = np.zeros((len(row), n_values))
    told[np.arange(len(row)), values[np.maximum(row, 0)]] = 1.0
    return told


def _told_by_sets(sets: SetArray, row: NDArray[np.int64], n_values: int) -> tuple[FloatArray, FloatArray]:
    """The members of the linked set evenly; and the one that stands first, unless sets are in ascending order."""
    mine = sets[np.maximum(row, 0)]
    own = np.zeros((len(mine), n_values))
    own[np.arange(len(mine))[:, None], mine] = 1.0 / mine.shape[1]
    if bool((np.diff(sets, axis=1) < 0).any()):
        return own, _one_hot(mine[:, 0], np.arange(len(mine)), n_values)
    return own, own


def _correlation(place: NDArray[np.int64], published: FloatArray, group: NDArray[np.int64]) -> float:
    """Spearman's correlation of the mean places of groups in the source and in the publication.

    Within a group rows were linked by their order, so only groups can tell whether it was kept.
    """
    from scipy.stats import rankdata

    found = group >= 0
    n = np.bincount(group[found])
    kept = n > 0
    if np.count_nonzero(kept) < 3:  # noqa: PLR2004 - two points always lie on a line
        return 0.0
    means = [rankdata((np.bincount(group[found], x[found])[kept]) / n[kept]) for x in (place.astype(float), published)]
    if any(float(part.std()) == 0 for part in means):
        return 0.0
    return float(np.corrcoef(means[0], means[1])[0, 1])
