"""Randomized addition: hide the true value among l - 1 uniformly drawn dummies (Sei and Ohsuga)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ldiversity.base.checks import check_integer
from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.mechanisms import EpsilonSelection, SetMechanism, UniformSelection, check_epsilon
from ldiversity.methods._base import RandomizingMethod
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["RandomizedAddition"]

_YES_NO: Final = 2


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
        choice is a policy. With `epsilon` at least 1; when None, as many as give the least error.
    epsilon
        Local differential privacy: whatever is true, no set is more than e**epsilon times as likely as for another
        value. The true value may then be missing from its set. With l = 1 this is randomized response, which also
        protects yes/no columns.

    References
    ----------
    Sei and Ohsuga, Randomized Addition of Sensitive Attributes for l-diversity, Algorithm 1.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> RandomizedAddition(l=3).fit(Domain(values=("cold", "cut", "fever", "flu"))).worst_posterior()
    0.3333333333333333
    >>> RandomizedAddition(epsilon=2).fit(Domain(values=("no", "yes"))).l
    1
    """

    name: ClassVar[str] = "randomized-addition"
    strength: ClassVar[str | None] = "l"

    l: int | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", check_epsilon("RandomizedAddition", self.epsilon))
        if self.l is not None:
            self._check_l(self.l)
        elif self.epsilon is None:
            raise ParameterError("RandomizedAddition", "l", "must be given").with_hint(
                say("For example {}, or {} for the l of least error at that.", Setting("l", 3), Setting("epsilon", 2))
            )

    def _check_l(self, l: int) -> None:
        try:
            check_integer("RandomizedAddition", "l", l, minimum=2 if self.epsilon is None else 1)
        except ParameterError as refused:
            if self.epsilon is None and l == 1:
                refused.with_hint(
                    say(
                        "A set of one value hides something only where it may be false: add an epsilon, {}.",
                        Setting("epsilon", 2),
                    )
                )
            raise

    def fit(self, domain: Domain) -> SetMechanism:
        """The uniform mechanism on this domain, with the epsilon if there is one."""
        if self.epsilon is not None:
            return EpsilonSelection.fit(domain, self.epsilon, self.l)
        if self.l is None:
            raise TypeError(self)
        try:
            return UniformSelection.fit(domain, self.l)
        except InfeasibleError as refused:
            if len(domain) != _YES_NO:
                raise
            epsilon = Setting("epsilon", 1), Setting("l", 1)
            raise refused.with_hint(
                say("A column of two values can be hidden with an epsilon, for example {} and {}.", *epsilon)
            ) from None
