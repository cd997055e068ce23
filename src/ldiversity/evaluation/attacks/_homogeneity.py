"""The homogeneity attack: read a person's value off the class or set that must be his."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._matching import match_classes, pick_class
from ldiversity.evaluation.attacks._posterior import class_shares, pick_sets, set_posteriors
from ldiversity.release import ClassRelease, Release, SetRelease

__all__ = ["Homogeneity"]


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Find the target by his quasi-identifiers, and name the most frequent value there.

    In a grouped release the attacker takes a class that may hold the target, by how likely it does; in a release of
    sets a record that fits, and every member of its set for equally likely. This is the attacker of whom the claim
    speaks; what all classes or sets of people like the target tell together is used by `Skewness`.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-Diversity, ICDE 2006.

    Examples
    --------
    >>> Homogeneity().knowledge
    'He knows the quasi-identifiers of the target, and that the target is in the table.'
    """

    name: ClassVar[str] = "homogeneity"
    compared: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "He knows the quasi-identifiers of the target, and that the target is in the table."

    def contradictions(self, release: Release, attribute: str) -> int:
        """How many classes break the rule that is claimed: what they hold is published, and no matter of chance."""
        if not isinstance(release, ClassRelease):
            return 0
        classes = release.classes(attribute)
        broken = [claim.rule.failing(classes) for claim in release.claims_of(attribute)]
        return len(np.unique(np.concatenate(broken)))

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of values in the class, or among the members of the set."""
        if isinstance(release, SetRelease):
            picked_sets = pick_sets(release, targets, attribute)
            sets = picked_sets.sets
            even = set_posteriors(sets, np.ones(sets.shape), len(release.domain(attribute)))
            details = {"several_records_fit": picked_sets.several}
            return Beliefs(np.asarray(even.toarray()), picked_sets.of_target, details=details)
        if not isinstance(release, ClassRelease):  # pragma: no cover - there are two families
            raise TypeError(type(release).__name__)
        picked = pick_class(release, targets, attribute)
        shares = class_shares(release.classes(attribute))
        used, back = np.unique(picked[picked >= 0], return_inverse=True)
        of_target = np.full(targets.n, -1, dtype=np.int64)
        of_target[picked >= 0] = back
        matches = match_classes(release, targets, attribute)
        candidates = np.diff(matches.weights.indptr)[matches.of_target[picked >= 0]]
        details = {"several_classes_fit": int(np.count_nonzero(candidates > 1))}
        return Beliefs(np.asarray(shares[used].toarray()), of_target, details=details)
