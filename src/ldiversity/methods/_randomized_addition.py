"""Randomized addition: hide the true value among l - 1 uniformly drawn dummies (Sei and Ohsuga)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ldiversity.base.checks import check_integer
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.methods._base import RandomizingMethod
from ldiversity.schema import Domain

__all__ = ["RandomizedAddition"]


@dataclass(frozen=True)
class RandomizedAddition(RandomizingMethod):
    """Publish every sensitive value among ``l - 1`` other values of the domain, drawn uniformly.

    Someone who knows that a person is in the table, and all of that person's quasi-identifiers, cannot tell which of
    the `l` values is true: to someone for whom all values were equally likely, each has probability 1/l.
    Does not stop an attacker who gains from similar values; see `SemanticDiversity`.

    Parameters
    ----------
    l
        How many values each record shows, at least 2 and less than the size of the domain. No default: the
        choice is a policy.

    References
    ----------
    Sei and Ohsuga, Randomized Addition of Sensitive Attributes for l-diversity, Algorithm 1.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> RandomizedAddition(l=3).fit(Domain(values=("cold", "cut", "fever", "flu"))).worst_posterior()
    0.3333333333333333
    """

    name: ClassVar[str] = "randomized-addition"
    strength: ClassVar[str | None] = "l"

    l: int

    def __post_init__(self) -> None:
        check_integer("RandomizedAddition", "l", self.l, minimum=2)

    def fit(self, domain: Domain) -> SetMechanism:
        """The uniform mechanism on this domain."""
        return UniformSelection.fit(domain, self.l)
