"""Minimality: what attackers learn from the reasons why records were grouped or left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._matching import match_evidence, number_alike
from ldiversity.evaluation.attacks._phase_one import moved_values
from ldiversity.evaluation.attacks._posterior import belief_matrix, marginal_of
from ldiversity.evaluation.attacks._regions import match_regions
from ldiversity.release import Release
from ldiversity.schema import Role

__all__ = ["Minimality"]

_HIDING: Final = ("anatomy", "bsgi", "llmsu")
_KNOWN: Final = "It knows 'tp' after one phase, and 'anatomy', 'bsgi' and 'llmsu' that left records out"


@dataclass(frozen=True)
class Minimality(Attack):
    """Conclude from what the method did which values it must have seen.

    It applies to methods whose posterior is known, and refuses the others:

    - *Records left out* (`Anatomy` and `BSGI` with ``overflow="suppress"``, `LLMSU`; one sensitive column): only
      records with values that every class already has are left out. Someone who is in the table but in no class, or
      in a group of equal people of whom some are missing, has such a value.
    - *TP* that ended after its first phase: of people with the same quasi-identifiers only the most frequent values
      were moved to the residue, and only while these had more than 1/l. So attackers can restore the original counts
      of the group, in which one value has more than 1/l.

    For methods that cut or merge by sensitive values in other ways (Mondrian, Incognito, BSGI's choice of partners,
    TP's later phases) no posterior is known here. They may still leak.

    References
    ----------
    Wong, Fu, Wang, Pei, Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007.

    Examples
    --------
    >>> Minimality().name
    'minimality'
    """

    name: ClassVar[str] = "minimality"
    row_bytes: ClassVar[int] = 5000
    attacker: ClassVar[str] = "An attacker who concludes from what the method did which values it must have seen."

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of everyone in the original table, and the method and its parameters."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: PLR0911 - one per reason
        """It applies to some methods, and needs everyone's quasi-identifiers."""
        if not release.grouped:
            return "it needs a grouped release; use 'mechanism' for sets"
        method = release.method(attribute)
        if method not in (*_HIDING, "tp"):
            return f"it does not know what the choices of the method {method!r} give away. {_KNOWN}"
        if len(release.sensitive) > 1:
            return "it needs a release with only one sensitive column"
        if release.parameters(attribute).get("merge"):
            return "it does not apply to merged levels"
        if release.person:
            return "it does not know which choices keeping the rows of a person apart leaves"
        if method == "tp" and release.facts(attribute).get("phases") != 1:
            return "TP needed more than its first phase, which mixes groups with what was moved"
        if method != "tp" and not release.suppressed:
            return "no record was left out"
        if targets.population is None:
            return "it needs the quasi-identifiers of the original table"
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Published values, and those that must have been moved or left out, by their numbers of people."""
        if release.method(attribute) == "tp":
            return _of_tp(release, targets, attribute)
        return _of_left_out(release, targets, attribute)


def _group(release: Release, targets: Targets) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Groups of people who look alike: the group of each target, the size of each group, and one person of each."""
    names = release.schema.names(Role.QUASI)
    population = targets.population
    if population is None or not names:
        n = 0 if population is None else population.num_rows
        return np.zeros(targets.n, np.int64), np.array([n]), np.zeros(1, np.int64)
    # People who look alike in the release: a column may be published at a coarser level.
    everyone, of_target = number_alike([release.as_published(one) for one in (population, targets.columns)], names)
    n_groups = int(everyone.max()) + 1
    _, first = np.unique(everyone, return_index=True)
    return of_target, np.bincount(everyone, minlength=n_groups), first


def _of_left_out(release: Release, targets: Targets, attribute: str) -> Beliefs:
    """The missing people of each group have one of the values that every class holds."""
    evidence = release.evidence(attribute)
    classes = evidence.candidates
    held = classes.population.counts
    full = held == classes.n_classes
    prior = np.where(full, 1.0, 0.0) if full.any() else held.astype(float)
    prior /= prior.sum()
    of_target, n_people, first = _group(release, targets)
    someone = _someone(targets, first)
    matches = match_evidence(release, someone, attribute)
    shares = np.zeros((len(first), len(prior)))
    here = matches.of_target >= 0
    told = matches.weights @ belief_matrix(classes, evidence.shares())
    shares[here] = np.asarray(told.toarray())[matches.of_target[here]]
    if not release.generalized:
        names = release.schema.names(Role.QUASI)
        of_row = _published(release, someone, names)[evidence.of_row >= 0]
        shown = np.bincount(of_row[of_row >= 0], minlength=len(first))
        missing = np.clip(1 - shown / n_people, 0.0, 1.0)
    else:
        # Regions overlap, so only people who fit none are known to be missing.
        missing = np.where(here, 0.0, 1.0)
    belief = (1 - missing)[:, None] * shares + missing[:, None] * prior
    left_out = missing[of_target]
    details = {
        "left_out": release.suppressed,
        "values_that_every_class_has": int(np.count_nonzero(full)),
        "targets_known_to_be_left_out": int(np.count_nonzero(left_out >= 1)),
    }
    return Beliefs(belief, of_target, details=details)


def _published(release: Release, someone: Targets, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The group of each published row; -1 when nobody looks like it."""
    if not names:
        return np.zeros(release.n_rows, dtype=np.int64)
    of_row, of_group = number_alike([release.columns(names), release.as_published(someone.columns)], names)
    group = np.full(int(max(of_row.max(), of_group.max())) + 1, -1, dtype=np.int64)
    group[of_group] = np.arange(len(of_group))
    return group[of_row]


def _someone(targets: Targets, first: NDArray[np.int64]) -> Targets:
    population = targets.population if targets.population is not None else targets.columns
    people = population.take(first) if population.num_columns else population
    return Targets(people, len(first))


def _of_tp(release: Release, targets: Targets, attribute: str) -> Beliefs:
    """Published counts of each group, and what phase 1 must have moved."""
    l = int(str(release.parameters(attribute)["l"]))
    counts = release.evidence(attribute).candidates.dense()
    of_target, n_people, first = _group(release, targets)
    matches = match_regions(release, _someone(targets, first), attribute)
    own, residue = _own_class(matches.weights, matches.of_target)
    published = np.where(own[:, None] >= 0, counts[own], 0)
    moved = n_people - published.sum(axis=1)
    original = published.astype(float)
    known = own >= 0
    prior = marginal_of(release, attribute)
    rest = counts[residue].astype(float) if residue >= 0 else np.zeros(counts.shape[1])
    allowed = rest > 0
    for group in np.flatnonzero((own >= 0) & (moved > 0)):
        taken = moved_values(published[group], int(moved[group]), l, prior * allowed)
        known[group] = np.count_nonzero(taken) == 1
        original[group] += taken
        rest -= taken
    # The other groups were moved as a whole; what is left of the residue is theirs.
    share = np.maximum(rest, 0.0)
    share = share / share.sum() if share.sum() > 0 else prior
    for group in np.flatnonzero(own < 0):
        original[group] = moved_values(published[group], int(moved[group]), l, share)
    details = {
        "residue": int(counts[residue].sum()) if residue >= 0 else 0,
        "people_in_groups_whose_counts_are_known": int(n_people[known].sum()),
    }
    return Beliefs(original / original.sum(axis=1, keepdims=True), of_target, details=details)


def _own_class(weights: Any, of_group: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:  # noqa: ANN401
    """The exact class of each group of equal people, -1 when it has none; and the residue, -1 when there is none.

    The residue is the only class that may hold people of different groups.
    """
    used = np.asarray((weights > 0).sum(axis=0)).reshape(-1)
    residue = int(np.argmax(used)) if used.max(initial=0) > 1 else -1
    row, column = weights.tocoo().coords
    exact = column != residue
    place = np.full(weights.shape[0] + 1, -1, dtype=np.int64)  # the last entry is for groups without a class
    place[row[exact]] = column[exact]
    return place[of_group], residue
