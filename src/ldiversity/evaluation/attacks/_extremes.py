"""Extremes: ends of intervals that are somebody's own cells, and what can be told with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.answers import Scalar
from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Criterion, Targets
from ldiversity.evaluation.attacks._clusters import binomial_interval
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.evaluation.attacks._matching import Matches, draw_one, match_evidence, normalized
from ldiversity.evaluation.attacks._posterior import belief_matrix
from ldiversity.evaluation.attacks._regions import people_inside
from ldiversity.release import Release
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.release import Region

__all__ = ["Extremes"]

_MOST_CLASSES: Final = 2_000
_MOST_CHECKS: Final = 400_000_000
"""Classes times people that are compared; of more classes, some are drawn, by their records."""


@dataclass(frozen=True)
class Extremes(Attack):
    """Use that ends of intervals are often the exact cells of people.

    The smallest interval of a class ends at the cells of two of its people. So attackers who know the cells of a
    person prefer classes that end there, and "in this region, with this weight" picks out one person. The details say
    how often:

    - ``verbatim``: the share of intervals, counted once for each of their records, whose low end is the cell of
      somebody in the region; also for each column, as ``verbatim_age``;
    - ``isolated_by_end``: the share of records whose class has a region in which exactly one person has the number at
      the low end, for the column in which that is most often so, ``isolating_column``;
    - ``isolated_by_value``: the share of records whose region and published value fit exactly one person.

    Where there are many classes, some of them are drawn, and ``isolated_low`` and ``isolated_high`` are Clopper and
    Pearson's 95 % interval of ``isolated_by_end``. It counts people of the original, so it is evidence for the holder:
    an attacker does not know whom they singled out, only that there is one. A public grid keeps ends from being cells.

    References
    ----------
    Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques: singling out. Cohen and Nissim, Towards
    formalizing the GDPR's notion of singling out, PNAS 2020.

    Examples
    --------
    >>> Extremes().extra
    'the ends of intervals'
    """

    name: ClassVar[str] = "extremes"
    extra: ClassVar[str | None] = "the ends of intervals"
    criterion: ClassVar[Criterion] = "singling-out"
    attacker: ClassVar[str] = (
        "An attacker who knows that intervals begin and end at the cells of people, and looks for those people."
    )

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of the target, and that intervals end at the cells of people."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs intervals, and the people of the original."""
        if not release.generalized or not _intervals(release):
            return "it needs a release with intervals of numbers"
        if targets.population is None:
            return "it needs the quasi-identifiers of the original table"
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of values in one of the classes that end most often at the target's cells, of those that hold them."""
        matches = match_evidence(release, targets, attribute)
        ending = _end_there(release, targets, matches)
        best = np.maximum.reduceat(np.append(ending, 0), matches.weights.indptr[:-1].clip(max=len(ending)))
        counts = np.diff(matches.weights.indptr)
        kept = matches.weights.copy()
        kept.data = np.where(ending == np.repeat(best, counts), kept.data, 0.0)
        kept.eliminate_zeros()
        picked = draw_one(normalized(matches.of_target, kept))
        evidence = release.evidence(attribute)
        shares = belief_matrix(evidence.candidates, evidence.shares()).toarray()
        without = Homogeneity().beliefs(release, targets, attribute)
        details = _details(_look(release, targets.everyone, attribute))
        return Beliefs(np.asarray(shares), picked, details=details, without=(without,))


def _intervals(release: Release) -> list[str]:
    return [name for name in release.schema.names(Role.QUASI) if release.forms[name].kind == "interval"]


def _tight(region: Region) -> bool:
    """Whether ends may be cells of people: there is no grid, or none that changes an integer."""
    return region.form.grid in {None, 1}


def _end_there(release: Release, targets: Targets, matches: Matches) -> NDArray[np.int64]:
    """For each pair of people who look alike and a class that holds them: in how many columns it ends at their cell."""
    weights = matches.weights
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    someone = np.zeros(weights.shape[0], dtype=np.int64)
    found = np.flatnonzero(matches.of_target >= 0)
    someone[matches.of_target[found]] = found
    ending = np.zeros(len(row), dtype=np.int64)
    for name in _intervals(release):
        region = release.region(name)
        if _tight(region):
            numbers, known = (part[someone[row]] for part in region.numbers(targets.columns.column(name)))
            low, high = (end[weights.indices] for end in (region.intervals.low, region.intervals.high))
            told = known & ~region.intervals.unknown[weights.indices]
            ending += ((numbers == low) | (numbers == high)) & told
    return ending


@dataclass(frozen=True, eq=False)
class _Looked:
    """Some classes, and what their regions and low ends tell about the people of the table.

    `weight` is how many records each stands for. `verbatim` and `alone` say of each column of intervals whether the
    low end is the cell of anybody in the region, and of exactly one person. `by_value` is the share of the records of
    a class whose value only one person in the region has; None where values are not known.
    """

    weight: FloatArray
    verbatim: Mapping[str, BoolArray]
    alone: Mapping[str, BoolArray]
    by_value: FloatArray | None
    drawn: bool


def _look(release: Release, everyone: Targets, attribute: str) -> _Looked:
    evidence = release.evidence(attribute)
    of_row, values, n_classes = evidence.of_row, release.values(attribute), evidence.n_pieces
    sizes = np.bincount(of_row[of_row >= 0], minlength=n_classes)
    most = max(1, min(_MOST_CLASSES, _MOST_CHECKS // max(everyone.n, 1)))
    drawn = n_classes > most
    rng = np.random.default_rng(0)
    classes = rng.choice(n_classes, most, p=sizes / sizes.sum()) if drawn else np.flatnonzero(sizes)
    regions = {name: release.region(name) for name in _intervals(release)}
    numbers = {name: region.numbers(everyone.columns.column(name)) for name, region in regions.items()}
    order = np.argsort(of_row, kind="stable")
    starts = np.searchsorted(of_row[order], np.arange(n_classes + 1))
    fitting = {name: np.zeros(len(classes), dtype=np.int64) for name in regions}
    by_value = np.zeros(len(classes))
    for place, (one, inside) in enumerate(people_inside(release, everyone, classes)):
        for name, region in regions.items():
            cells, known = numbers[name]
            at_end = (cells[inside] == region.intervals.low[one]) & known[inside]
            fitting[name][place] = 0 if region.intervals.unknown[one] else np.count_nonzero(at_end)
        if everyone.truth is not None:
            held = np.bincount(everyone.truth[inside], minlength=len(release.domain(attribute)))
            by_value[place] = np.mean(held[values[order[starts[one] : starts[one + 1]]]] == 1)
    return _Looked(
        weight=np.ones(len(classes)) if drawn else sizes[classes].astype(np.float64),
        verbatim={name: found > 0 for name, found in fitting.items()},
        alone={name: found == 1 for name, found in fitting.items()},
        by_value=None if everyone.truth is None else by_value,
        drawn=drawn,
    )


def _details(looked: _Looked) -> dict[str, Scalar]:
    def share(found: BoolArray | FloatArray) -> float:
        return float(found @ looked.weight / looked.weight.sum())

    verbatim = {name: share(found) for name, found in looked.verbatim.items()}
    worst = max(looked.alone, key=lambda name: share(looked.alone[name]))
    isolated = share(looked.alone[worst])
    details: dict[str, Scalar] = {
        "verbatim": float(np.mean(list(verbatim.values()))),
        **{f"verbatim_{name}": found for name, found in verbatim.items()},
        "isolated_by_end": isolated,
        "isolating_column": worst,
    }
    if looked.drawn:
        n = len(looked.weight)
        details["isolated_low"], details["isolated_high"] = binomial_interval(isolated * n, n)
    if looked.by_value is not None:
        details["isolated_by_value"] = share(looked.by_value)
    return details
