"""The attacker who knows the algorithm: which values explain a published set best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ldiversity.base.answers import Scalar
from ldiversity.base.arrays import FloatArray
from ldiversity.base.checks import check_choice
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Knowledge, Targets
from ldiversity.evaluation.attacks._matching import match_evidence
from ldiversity.evaluation.attacks._posterior import belief_matrix, marginal_of, pick_evidence
from ldiversity.mechanisms import SetMechanism
from ldiversity.release import Release

__all__ = ["MechanismAware"]


@dataclass(frozen=True)
class MechanismAware(Attack):
    """Weigh each member of a set by its prior probability and by how likely it leads to this set.

    Parameters
    ----------
    prior
        ``"uniform"``: they take all values as equally likely; the claim of a set is about this attacker.
        ``"marginal"``: they know how often each value occurs.

    Notes
    -----
    The posterior of v given the set R is proportional to prior(v) P(R | v). `balanced` selection makes P(R | v) equal
    for all members, so with a uniform prior they gain nothing; `simple` changes the odds, and `ring` can rule members
    out.

    Examples
    --------
    >>> MechanismAware(prior="marginal").label
    'mechanism (marginal prior)'
    """

    name: ClassVar[str] = "mechanism"
    attacker: ClassVar[str] = "An attacker who knows how the sets were drawn and how frequent values are."
    compared: ClassVar[bool] = True

    prior: Literal["uniform", "marginal"] = "uniform"

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """One attacker with a uniform prior, and one who knows how frequent values are."""
        del knowledge
        return cls("uniform"), cls("marginal")

    def __post_init__(self) -> None:
        check_choice("MechanismAware", "prior", self.prior, ("uniform", "marginal"))

    @property
    def label(self) -> str:
        """Its name in a report."""
        return f"{self.name} ({self.prior} prior)"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        if self.prior == "uniform":
            return "They know the quasi-identifiers of the target, and how sets are drawn."
        return (
            "They know the quasi-identifiers of the target, how sets are drawn, and how often each value occurs among "
            "all records."
        )

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs published sets."""
        if release.grouped:
            return "it needs a release of sets; use 'minimality' or 'definetti' for grouped releases"
        return (
            None
            if release.rows_per_record == 1
            else "exploded rows do not say which of them form the set of one record"
        )

    def promise(self, release: Release, attribute: str) -> float | None:
        """The claim of a set covers only attackers without prior knowledge."""
        return super().promise(release, attribute) if self.prior == "uniform" else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Prior times likelihood, for the members of the set."""
        prior = marginal_of(release, attribute) if self.prior == "marginal" else None
        evidence = release.evidence(attribute)
        details = self._details(evidence.drawn_by(), prior)
        if prior is not None:
            believed = belief_matrix(evidence.candidates, evidence.shares(prior, aware=True))
            return match_evidence(release, targets, attribute).beliefs(believed, details=details)
        picked = pick_evidence(release, targets, attribute)
        believed = belief_matrix(picked.evidence.candidates, picked.evidence.shares(aware=True))
        details["several_records_fit"] = picked.several
        return Beliefs(believed.toarray(), picked.of_target, details=details)

    def _details(self, mechanism: SetMechanism, prior: FloatArray | None) -> dict[str, Scalar]:
        exact = bool(getattr(mechanism, "worst_posterior_is_exact", True))
        return {
            "kind": mechanism.kind,
            "one_over_l": 1 / mechanism.l,
            "worst_posterior": float(mechanism.worst_posterior(prior)),
            "worst_posterior_is_exact": exact,
        }
