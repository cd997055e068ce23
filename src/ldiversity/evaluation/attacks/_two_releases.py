"""Two releases about the same people: what fits both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Criterion, Knowledge, Targets
from ldiversity.evaluation.attacks._consistent import fit_cells, make_cells, only_class
from ldiversity.evaluation.attacks._matching import match_evidence
from ldiversity.evaluation.attacks._posterior import marginal_of, plain_beliefs
from ldiversity.release import Release
from ldiversity.schema import Role

__all__ = ["Changes", "Composition", "Intersection"]

_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class _TwoReleases(Attack):
    """What both attacks share; `second` is another release about the same people, with the same public values."""

    needs: ClassVar[str] = "a second release"
    criterion: ClassVar[Criterion] = "linkability"
    extra: ClassVar[str | None] = "the other release"
    grouped: ClassVar[bool]
    noun: ClassVar[str]

    second: Release = field(repr=False)

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """The attack with the second release, when there is one."""
        return () if knowledge.second is None else (cls(knowledge.second),)

    def __post_init__(self) -> None:
        if not isinstance(self.second, Release):
            raise ParameterError(type(self).__name__, "second", "must be a release", got=type(self.second).__name__)

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They have two releases about the same people, and know the quasi-identifiers of the target."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:
        """Both releases must have the same form and the same public values."""
        if {release.grouped, self.second.grouped} != {self.grouped}:
            return f"it needs two {self.noun}"
        if attribute not in self.second.sensitive:
            return f"the second release does not publish {attribute!r}"
        if self.second.domain(attribute).values != release.domain(attribute).values:
            return f"the public values of {attribute!r} differ between the releases"
        if release.schema.names(Role.QUASI) != self.second.schema.names(Role.QUASI):
            return "the releases publish different quasi-identifiers"
        if targets.published and release.generalized:
            return "without the original, nothing says which classes of the two releases hold the same person"
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """The product of what both releases say; nothing is gained where they say the same."""
        first = plain_beliefs(release, targets, attribute)
        # The rows of the first release are the people to find in the second.
        others = Targets(targets.columns, targets.n)
        second = plain_beliefs(self.second, others, attribute)
        prior = marginal_of(release, attribute) if release.grouped else None
        both = first.found & second.found
        n_second = len(second.probability)
        pairs, back = np.unique(first.of_target[both] * n_second + second.of_target[both], return_inverse=True)
        ours, theirs = first.probability[pairs // n_second], second.probability[pairs % n_second]
        joined, contradict = self._join(ours, theirs, prior)
        of_target = np.where(first.found, first.of_target + len(pairs), -1)
        of_target[both] = back
        n_both = max(1, int(np.count_nonzero(both)))
        details = {
            "found_in_both": int(np.count_nonzero(both)),
            "mean_values_left": float((joined > _SAME).sum(axis=1)[back].sum() / n_both),
            "mean_values_before": float((ours > _SAME).sum(axis=1)[back].sum() / n_both),
            "contradictions": int(np.count_nonzero(contradict[back])),
        }
        every = np.concatenate([joined, first.probability])
        return Beliefs(every, of_target, details=details, without=(first, second))

    def _join(self, ours: FloatArray, theirs: FloatArray, prior: FloatArray | None) -> tuple[FloatArray, BoolArray]:
        """What both releases say together about people with these beliefs, and where they contradict each other."""
        return _joined(ours, theirs, prior)


@dataclass(frozen=True, eq=False)
class Intersection(_TwoReleases):
    """Intersect the sets of a person in two releases: the true value is in both.

    New dummies rarely repeat, so little else is left: with F values and sets of l, only the true value is left with
    probability C(F-l, l-1) / C(F-1, l-1). Partition draws under a key give the same set again, or a disjoint one if the
    value changed, which counts as a contradiction here: nothing is gained. Where no partitions are known, a changed
    value has an independent set, and what both sets show is no longer certain to hold the value.

    Examples
    --------
    >>> Intersection.name
    'intersection'
    """

    name: ClassVar[str] = "intersection"
    attacker: ClassVar[str] = "An attacker who keeps the values that two releases both allow for a person."
    grouped: ClassVar[bool] = False
    noun: ClassVar[str] = "releases of sets"


@dataclass(frozen=True, eq=False)
class Changes(_TwoReleases):
    """Conclude from two different sets of a person under one key that the value changed.

    Then a value that both sets show cannot be both the old and the new one, and loses odds to values that only one set
    shows. Where a record's draws know its value, this names the old value with probability l / (l*l - k) when the sets
    share k values, not 1/l. Sets of one partition are equal or disjoint, and tell nothing.

    Examples
    --------
    >>> Changes.name
    'changes'
    """

    name: ClassVar[str] = "changes"
    grouped: ClassVar[bool] = False
    noun: ClassVar[str] = "releases of sets"
    attacker: ClassVar[str] = "An attacker who knows that a person whose sets differ has another value than before."

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They have two releases under one key, and know the quasi-identifiers of people whose values changed."

    def _join(self, ours: FloatArray, theirs: FloatArray, prior: FloatArray | None) -> tuple[FloatArray, BoolArray]:  # noqa: ARG002 - sets have none
        """What the first release says, given that the value in the second is another one."""
        weighted = ours * (1.0 - theirs)
        totals = weighted.sum(axis=1)
        kept = _are_same(ours, theirs) | (totals <= 0)
        joined = np.where(kept[:, None], ours, weighted / np.where(kept, 1.0, totals)[:, None])
        return joined, np.zeros(len(ours), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Composition(_TwoReleases):
    """Combine the classes of a person in two grouped releases with different groupings.

    Notes
    -----
    With shares s and t of the two classes and the overall share p, the posterior is proportional to s t / p when the
    groupings are independent given the values. Classes with the same shares count as the same class. Where both classes
    of people are known, these posteriors are fitted: bounds on how many people of each pair of classes have each value
    are narrowed until none changes, which rules values out, and the rest is scaled until all counts are right. Exact
    posteriors would need all ways to deal out the values of all classes at once, so this attacker may be less sure than
    they could be.

    References
    ----------
    Ganta, Kasiviswanathan, Smith, Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008.

    Examples
    --------
    >>> Composition.name
    'composition'
    """

    name: ClassVar[str] = "composition"
    row_bytes: ClassVar[int] = 5000
    attacker: ClassVar[str] = "An attacker who weighs what two releases say about a person."
    grouped: ClassVar[bool] = True
    noun: ClassVar[str] = "grouped releases"

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What fits both classes of a person, where these are known, and all other classes."""
        alone = super().beliefs(release, targets, attribute)
        people = targets.everyone
        found = [
            only_class(match_evidence(one, who, attribute))
            for one, who in ((release, people), (self.second, Targets(people.columns, people.n)))
        ]
        cells = make_cells(found[0], found[1])
        first, second = (one.evidence(attribute).candidates for one in (release, self.second))
        fitted = fit_cells(cells, first, second, marginal_of(release, attribute)) if len(cells.people) else None
        mine = targets.of_everyone(cells.of_person)
        known = mine >= 0
        if fitted is None or not known.any():
            return alone
        used, back = np.unique(mine[known], return_inverse=True)
        of_target = alone.of_target.copy()
        of_target[known] = len(alone.probability) + back
        every = np.concatenate([alone.probability, fitted[used].toarray()])
        left = (every[of_target[known]] > _SAME).sum(axis=1).mean()
        details = {**alone.details, "mean_values_left": float(left), "fitted_together": int(np.count_nonzero(known))}
        return replace(alone, probability=every, of_target=of_target, details=details)


def _are_same(ours: FloatArray, theirs: FloatArray) -> BoolArray:
    same: BoolArray = np.abs(ours - theirs).max(axis=1, initial=0.0) <= _SAME
    return same


def _joined(ours: FloatArray, theirs: FloatArray, prior: FloatArray | None) -> tuple[FloatArray, BoolArray]:
    """The product of two beliefs over the prior, and where they contradict each other."""
    product = ours * theirs
    if prior is not None:
        product /= np.where(prior > 0, prior, 1.0)
    same = _are_same(ours, theirs)
    totals = product.sum(axis=1)
    contradict = totals <= 0
    kept = same | contradict
    joined = np.where(kept[:, None], ours, product / np.where(kept, 1.0, totals)[:, None])
    return joined, contradict
