"""Similarity: a value that is close to the true one counts as right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ldiversity.base.checks import check_number
from ldiversity.base.typed import number_text
from ldiversity.distances import Distance
from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Knowledge, Targets
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.release import Release

__all__ = ["Similarity"]


@dataclass(frozen=True)
class Similarity(Attack):
    """Name a value; it counts as right when the true one is closer to it than `d`.

    Parameters
    ----------
    d
        Values closer than this count as one.
    distance
        The distance of values.

    References
    ----------
    Oishi, Sei, Tahara, Ohsuga, Semantic Diversity (paper 004), section 3.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> Similarity(d=2, distance=OrderedDistance()).label
    'similarity (d=2)'
    """

    name: ClassVar[str] = "similarity"
    row_bytes: ClassVar[int] = 1500
    attacker: ClassVar[str] = "An attacker who is content with a value that is close to the true one."
    needs: ClassVar[str] = "a distance and d"

    d: float
    distance: Distance

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """With the given distance; else with that of the mechanism and half its d."""
        if knowledge.distance is not None and knowledge.d is not None:
            return (cls(knowledge.d, knowledge.distance),)
        mechanism = knowledge.release.mechanism(knowledge.attribute)
        own, apart = getattr(mechanism, "distance", None), getattr(mechanism, "d", None)
        return (cls(float(apart) / 2, own),) if isinstance(own, Distance) and apart else ()

    def __post_init__(self) -> None:
        check_number("Similarity", "d", self.d, minimum=0)
        if not isinstance(self.distance, Distance):
            raise ParameterError("Similarity", "distance", "must be a Distance", got=type(self.distance).__name__)

    @property
    def label(self) -> str:
        """Its name in a report."""
        return f"{self.name} (d={number_text(self.d)})"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return (
            "They know the quasi-identifiers of the target, and accept any value that is closer than "
            f"{number_text(self.d)} to the true one."
        )

    def promise(self, release: Release, attribute: str) -> float | None:
        """The claim, where values are 2 d apart and so cannot both be near one guess; otherwise nothing."""
        apart = max((claim.d for claim in release.claims_of(attribute) if claim.d is not None), default=None)
        same = getattr(release.mechanism(attribute), "distance", None) == self.distance
        if self.d == 0 or (same and apart is not None and apart >= 2 * self.d):
            return super().promise(release, attribute)
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Beliefs as in the homogeneity attack, with close values taken together."""
        before = Homogeneity().beliefs(release, targets, attribute)
        matrix = self.distance.matrix(release.domain(attribute))
        alike = (matrix < self.d) | (matrix == 0)
        return replace(
            before, alike=alike, details={"d": float(self.d), "distance": self.distance.kind, **before.details}
        )
