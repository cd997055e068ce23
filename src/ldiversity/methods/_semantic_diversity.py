"""(l, d)-semantic diversity: the l values of a set must also be at least d apart (Oishi, Sei, Tahara, Ohsuga)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ldiversity.base.arrays import Scalar
from ldiversity.base.checks import check_choice, check_integer, check_number
from ldiversity.distances import Distance, parse_distance
from ldiversity.errors import ParameterError
from ldiversity.mechanisms import (
    BalancedSelection,
    EpsilonSelection,
    MinMaxSelection,
    RingSelection,
    SetMechanism,
    SimpleSelection,
    check_epsilon,
)
from ldiversity.methods._base import NEEDED, RandomizingMethod
from ldiversity.methods._option_hints import example_of
from ldiversity.schema import MISSING_LABEL, Domain
from ldiversity.sentences import Method, Setting, say

__all__ = ["SemanticDiversity"]


@dataclass(frozen=True)
class SemanticDiversity(RandomizingMethod):
    """Publish every sensitive value among ``l - 1`` others, all pairwise at least `d` apart.

    Stops an attacker who would gain even from knowing that all values of a set are alike.

    Parameters
    ----------
    l
        How many values each record shows, at least 2. With `epsilon` it may be left out: then as many as give the least
        expected error, of those that have sets with values at least `d` apart.
    d
        Least distance between two values of a set.
    distance
        How far apart two values are; an object, or its text form such as ``"tree:diseases.csv"``.
    selection
        ``"balanced"``: every member of a published set explains it equally well, so that the set itself moves no
        odds. ``"minmax"``: the least worst posterior, where alike values are too many for balanced sets.
        ``"simple"``: the published Algorithm 1; its sets favor some members.
        ``"ring"``: the published Algorithm 3; it leaks, and is here for comparison.
    prior
        For ``balanced`` only: a public belief about the values (a mapping, or shares in code order) under which
        no member of a set is likelier than 1/l. Costs accuracy.
    epsilon
        For ``balanced`` without a prior: local differential privacy, as in `RandomizedAddition`. The true value may
        then be missing from its set.

    References
    ----------
    Oishi, Sei, Tahara and Ohsuga, Semantic Diversity, Definition 1 and Algorithms 1 and 3.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> from ldiversity.schema import MISSING_LABEL, Domain
    >>> levels = Domain(values=(1, 2, 3, 4, 5), ordered=True)
    >>> SemanticDiversity(l=2, d=2, distance=OrderedDistance()).fit(levels).worst_posterior()
    0.5
    >>> ages = Domain(values=tuple(range(24)), ordered=True)
    >>> SemanticDiversity(d=2, distance=OrderedDistance(), epsilon=1).fit(ages).l
    5
    """

    name: ClassVar[str] = "semantic"
    strength: ClassVar[str | None] = "l"

    l: int | None = None
    d: float | None = field(default=None, metadata=NEEDED)
    distance: Distance | str | None = field(default=None, metadata=NEEDED)
    selection: Literal["balanced", "minmax", "simple", "ring"] = "balanced"
    prior: Mapping[Scalar, float] | Sequence[float] | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        self._check_given()
        if check_number("SemanticDiversity", "d", self.d, minimum=0) == 0:
            raise ParameterError(
                "SemanticDiversity",
                "d",
                "must be greater than 0",
                got="0",
                hint=say("Use {}.", Method("RandomizedAddition")),
            )
        check_choice("SemanticDiversity", "selection", self.selection, ("balanced", "minmax", "simple", "ring"))
        if isinstance(self.distance, str):
            object.__setattr__(self, "distance", parse_distance(self.distance))
        if not isinstance(self.distance, Distance):
            raise ParameterError(
                "SemanticDiversity", "distance", "must be a distance", hint="For example ld.OrderedDistance()."
            )
        if self.prior is not None and self.selection != "balanced":
            raise ParameterError("SemanticDiversity", "prior", "must be left out unless selection is 'balanced'")
        if self.epsilon is not None:
            self._check_epsilon(self.epsilon)

    def _check_given(self) -> None:
        missing = next((name for name in self.needed() if getattr(self, name) is None), None)
        if missing is not None:
            raise ParameterError("SemanticDiversity", missing, "must be given", hint=example_of(missing).strip())
        if self.l is not None:
            check_integer("SemanticDiversity", "l", self.l, minimum=2)
        elif self.epsilon is None:
            raise ParameterError("SemanticDiversity", "l", "must be given").with_hint(
                say("For example {}, or {} for the l of least error at that.", Setting("l", 3), Setting("epsilon", 2))
            )

    def _check_epsilon(self, epsilon: float) -> None:
        object.__setattr__(self, "epsilon", check_epsilon("SemanticDiversity", epsilon))
        if self.selection != "balanced" or self.prior is not None:
            raise ParameterError(
                "SemanticDiversity", "epsilon", "must be left out unless selection is 'balanced' and there is no prior"
            ).with_hint("Other sets favor some of their members, so that no epsilon is proven for them.")

    def fit(self, domain: Domain) -> SetMechanism:
        """The mechanism of the chosen selection on this domain."""
        distance, d = self.distance, self.d
        if not isinstance(distance, Distance) or d is None:
            raise TypeError(self)
        if self.epsilon is not None:
            return EpsilonSelection.fit_balanced(domain, distance, d, self.epsilon, self.l)
        if self.l is None:
            raise TypeError(self)
        if self.selection == "simple":
            return SimpleSelection.fit(domain, distance, self.l, d)
        if self.selection == "minmax":
            return MinMaxSelection.fit(domain, distance, self.l, d)
        if self.selection == "ring":
            return RingSelection.fit(domain, distance, self.l, d)
        prior = _prior_in_code_order(self.prior, domain)
        return BalancedSelection.fit(domain, distance, self.l, d, prior=prior)


def _prior_in_code_order(
    prior: Mapping[Scalar, float] | Sequence[float] | None, domain: Domain
) -> Sequence[float] | None:
    if not isinstance(prior, Mapping):
        return prior
    # A policy file names values by their texts, whatever their type.
    by_label = {MISSING_LABEL if value is None else str(value): share for value, share in prior.items()}
    if set(by_label) != set(domain.labels) or len(by_label) != len(prior):
        raise ParameterError("SemanticDiversity", "prior", "must name every value of the domain and no other")
    return [by_label[label] for label in domain.labels]
