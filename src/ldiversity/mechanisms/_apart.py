"""What all mechanisms share whose sets hold values that are far apart."""

from __future__ import annotations

from ldiversity.distances import Distance
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.schema import Domain

__all__ = ["ApartSelection"]


class ApartSelection(SetMechanism):
    """A mechanism on the sets of `l` values whose members are pairwise at distance `d` or more."""

    def __init__(
        self, domain: Domain, distance: Distance, *, l: int, d: float, compatibility: Compatibility | None = None
    ) -> None:
        self.domain = domain
        self.distance = distance
        self.d = d
        self.compatibility = compatibility or Compatibility.of(distance, domain, d)
        self._l = l

    @property
    def n_values(self) -> int:
        """F, the number of values of the domain."""
        return len(self.domain)

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """How many values a published set has."""
        return self._l
