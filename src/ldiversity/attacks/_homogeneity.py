"""The homogeneity attack: read a person's value off the class or set that must be his."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldiversity.attacks._base import Attack, Beliefs, Targets
from ldiversity.attacks._matching import match_rows, pick_one
from ldiversity.attacks._posterior import plain_beliefs, row_sets, set_posteriors
from ldiversity.release import Release, SetRelease

__all__ = ["Homogeneity"]


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Find the target by his quasi-identifiers, and name the most frequent value there.

    In a grouped release every class that may hold the target counts, by how likely it does. In a release of sets the
    attacker takes a record that fits, and every member of its set for equally likely.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-Diversity, ICDE 2006.

    Examples
    --------
    >>> Homogeneity().knowledge
    'He knows the quasi-identifiers of the target, and that the target is in the table.'
    """

    name: ClassVar[str] = "homogeneity"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "He knows the quasi-identifiers of the target, and that the target is in the table."

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of values in the classes, or among the members of the set."""
        if not isinstance(release, SetRelease):
            return plain_beliefs(release, targets, attribute)
        sets = row_sets(release, attribute)
        picked = pick_one(match_rows(release, targets))
        rows, back = np.unique(picked[picked >= 0], return_inverse=True)
        of_target = np.full(targets.n, -1, dtype=np.int64)
        of_target[picked >= 0] = back
        even = set_posteriors(sets[rows], np.ones((len(rows), sets.shape[1])), len(release.domain(attribute)))
        return Beliefs(even.toarray(), of_target)
