"""The homogeneity attack: read a person's value off the class or set that must be theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._posterior import belief_matrix, pick_evidence
from ldiversity.release import Release

__all__ = ["Homogeneity"]


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Find the target by their quasi-identifiers, and name the most frequent value there.

    In a grouped release the attacker takes a class that may hold the target, by how likely it does; in a release of
    sets a record that fits, and every member of its set for equally likely. This is the attacker of whom the claim
    speaks; what all classes or sets of people like the target tell together is used by `Skewness`.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-Diversity, ICDE 2006.

    Examples
    --------
    >>> Homogeneity().knowledge
    'They know the quasi-identifiers of the target, and that the target is in the table.'
    """

    name: ClassVar[str] = "homogeneity"
    compared: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of the target, and that the target is in the table."

    def contradictions(self, release: Release, attribute: str) -> int:
        """How many classes break the rule that is claimed: what they hold is published, and no matter of chance."""
        return release.contradictions(attribute)

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of values in the class, or among the members of the set."""
        picked = pick_evidence(release, targets, attribute)
        shown = picked.evidence
        details = {f"several_{'classes' if shown.counted else 'records'}_fit": picked.several}
        probability = belief_matrix(shown.candidates, shown.shares()).toarray()
        return Beliefs(np.asarray(probability), picked.of_target, details=details)
