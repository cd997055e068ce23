"""The homogeneity attack: read a person's value off their class or set."""

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

    In a grouped release, the attacker draws a class that may hold the target, by its probability. In a release of sets,
    they draw a record that fits, and take all members of its set as equally likely. The claim of a release is about
    this attacker. `Skewness` combines all classes or sets that may be the target's.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-Diversity, ICDE 2006.

    Examples
    --------
    >>> Homogeneity().knowledge
    'They know the quasi-identifiers of the target, and that the target is in the table.'
    """

    name: ClassVar[str] = "homogeneity"
    row_bytes: ClassVar[int] = 1500
    attacker: ClassVar[str] = (
        "An attacker who finds the place of a person in the release, and names the most frequent value there."
    )
    compared: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of the target, and that the target is in the table."

    def contradictions(self, release: Release, attribute: str) -> int:
        """How many classes break the claimed rule: their values are published, so this is not a matter of chance."""
        return release.contradictions(attribute)

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of values in the class, or among the members of the set."""
        picked = pick_evidence(release, targets, attribute)
        shown = picked.evidence
        details = {f"several_{'classes' if shown.counted else 'records'}_fit": picked.several}
        probability = belief_matrix(shown.candidates, shown.shares()).toarray()
        return Beliefs(np.asarray(probability), picked.of_target, details=details)
