"""One row of a comparison: what a method with its options promised, gave away, kept and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Final, Literal, TypeAlias

from ldiversity.base.answers import Scalar, fact
from ldiversity.evaluation.attacks import CERTAIN
from ldiversity.evaluation.measures import Kept

__all__ = ["LEARNERS", "NOT_RUN", "ComparedAttack", "ComparedRun", "run_from_document"]

OptionValue: TypeAlias = Scalar | Mapping[str, float]

NOT_RUN: Final = "Not run: the attack"
"""How a note of a run begins that says which attack failed."""

LEARNERS: Final = ("definetti",)
"""Attacks that learn how values depend on quasi-identifiers, and may be sure without being right."""


@dataclass(frozen=True)
class ComparedAttack:
    """What an attack achieved on one run.

    Attributes
    ----------
    attack, attribute
        Which attack, on which sensitive attribute.
    success, baseline
        The share of people whose value it names correctly, and the share that guessing from the true shares does. The
        baseline is the same for all runs, except those that leave people out: there it is about the people found.
    low, high
        The 95 % interval of the success; None when there is none.
    claim
        The promise against this attacker; None when there is none.
    certain, certain_success
        The share of people whose value the attacker is sure of, and how often they are right about those.
    broken
        Whether it beats the promise beyond chance.
    found
        How many people were found in the release.
    reference
        What it achieves without the knowledge that it is about, such as a person's other rows; None when it uses only
        what the release says about each record.
    """

    attack: str
    attribute: str
    success: float
    baseline: float
    low: float | None = None
    high: float | None = None
    claim: float | None = None
    certain: float = 0.0
    certain_success: float | None = None
    broken: bool = False
    found: int = 0
    reference: float | None = None

    @property
    def gives_away(self) -> float:
        """The share of people whose value it is sure of and right about; 0 when its being sure means nothing.

        That is so when it is right less often than it is sure to be. What an attacker takes for granted beyond the
        release may be wrong, such as that all rows of a person have one value, and then some of what they are sure of
        is right by chance: they must also beat the promise.
        """
        right = self.certain_success or 0.0
        trusted = self.reference is None or self.broken
        return self.certain * right if right >= CERTAIN and trusted else 0.0

    @property
    def gain(self) -> float:
        """What it gains over guessing."""
        return self.success - self.baseline

    def end(self, name: Literal["low", "high"]) -> float:
        """One end of the interval of the gain."""
        limit: float | None = getattr(self, name)
        return (self.success if limit is None else limit) - self.baseline


@dataclass(frozen=True)
class ComparedRun:
    """A method with its options, run on the holder's table and measured; or the reason why it could not run.

    Attributes
    ----------
    label, method
        Name and options for people, and only the name.
    options
        The options as texts and numbers.
    words
        The words of the command line that ask for it; None when an option has no text form.
    reason, hint
        Why it could not run; None when it did.
    layout, claim, promised
        How it publishes, and what it promises: in words, and the greatest probability of a value; 1 is no promise.
    records, uniques
        How many records it publishes, and how many of them are unique in their quasi-identifiers as published.
    models
        What the audit of the release found, by the names of `Audit.models`: all figures that are one number.
    audit_passed
        Whether the audit found the claim kept.
    attacks
        What each attack achieved.
    ncp, suppression
        Detail of quasi-identifiers lost, and share of the table's records left out; 0 to 1.
    recognized, records_at_risk
        How likely someone who searches the population links a record, at worst, and how many records they link with a
        greater probability than the threshold.
    relative_error, estimator
        The median relative error of the queries, and the estimator that reaches it.
    error_low, error_high
        The 95 % interval of that median: another draw of queries would lie within it.
    distribution_mse
        Mean squared error of the distribution given each quasi-identifier.
    conditional, coefficients
        Errors of distributions within small cells, and of coefficients of logistic regressions, beside those of someone
        who knows only how frequent values are: `conditional_error` and `coefficient_error` of the worst attribute.
    classifier
        How often a classifier is right about other people that was trained on a release of a sample of the table,
        beside one trained on that sample and the most frequent value: `classifier_accuracy` of the worst attribute.
    classifier_tested
        On how many records; see `classifier_error`.
    judged_by
        Which error the map and the recommendation use: that of the ``queries``, or what is lost of the ``association``
        of values with quasi-identifiers, where queries say little.
    cpu_seconds
        The time for publishing, without measuring.
    notes
        What else to know, including warnings.
    reused
        Whether an earlier comparison had run it.
    for_comparison
        Whether the method is kept to compare others with, and not meant for publishing.
    """

    label: str
    method: str
    options: Mapping[str, OptionValue]
    words: tuple[str, ...] | None = None
    reason: str | None = None
    hint: str | None = None
    layout: str | None = None
    claim: str | None = None
    promised: float | None = None
    records: int | None = None
    uniques: int | None = None
    models: Mapping[str, float | None] = field(default_factory=dict)
    audit_passed: bool | None = None
    attacks: tuple[ComparedAttack, ...] = ()
    ncp: float | None = None
    suppression: float | None = None
    relative_error: float | None = None
    estimator: str | None = None
    distribution_mse: float | None = None
    cpu_seconds: float | None = None
    notes: tuple[str, ...] = ()
    reused: bool = False
    recognized: float | None = None
    records_at_risk: int | None = None
    error_low: float | None = None
    error_high: float | None = None
    for_comparison: bool = False
    conditional: Kept | None = None
    coefficients: Kept | None = None
    classifier: Kept | None = None
    judged_by: Literal["queries", "association"] = "queries"
    classifier_tested: int | None = None

    @property
    def failed(self) -> bool:
        """Whether nothing was published."""
        return self.reason is not None

    @fact
    def best_attack(self) -> ComparedAttack | None:
        """The attack that gained most over guessing; None when none was run."""
        return max(self.attacks, key=lambda one: one.gain, default=None)

    @fact
    def risk(self) -> float | None:
        """What the best attack gains over guessing: the share of people it names correctly, beyond the baseline."""
        best = self.best_attack
        return None if best is None else max(0.0, best.gain)

    @fact
    def risk_high(self) -> float | None:
        """The upper end of the interval of the risk: the greatest of all attacks."""
        ends = [one.end("high") for one in self.attacks]
        return max(0.0, *ends) if ends else None

    @fact
    def disclosed(self) -> float | None:
        """The share of people whose value an attacker is sure of and right about who knows no more than is covered."""
        surest = self.surest
        return None if surest is None else surest.gives_away

    @property
    def surest(self) -> ComparedAttack | None:
        """The attack that gives most values away for certain, of those that the promise covers."""
        covered = (one for one in self.attacks if not self.knows_more(one))
        return max(covered, key=lambda one: one.gives_away, default=None)

    def knows_more(self, attack: ComparedAttack) -> bool:
        """Whether an attacker learns, or knows shares of values, which the promise does not cover."""
        promises = self.promised is None or self.promised < 1
        return attack.attack in LEARNERS or (promises and attack.claim is None)

    @property
    def all_alike(self) -> bool:
        """Whether the audit found records that certainly have one value."""
        return (self.models.get("frequency") or 0.0) >= 1

    @property
    def error(self) -> float | None:
        """The error that the map shows: of queries, or what is lost of the association."""
        return self.relative_error if self.judged_by == "queries" else self.association_lost

    @fact
    def association_lost(self) -> float | None:
        """What is lost within small cells: 0 is nothing; at 1, how frequent values are overall says as much."""
        lost = None if self.conditional is None else self.conditional.lost
        return None if lost is None or lost != lost else lost  # noqa: PLR0124 - NaN

    @fact
    def classifier_error(self) -> float | None:
        """The standard error of `classifier.release`, by the draw of the records that it was tested on (binomial).

        Another sample to train on would add to it.

        Examples
        --------
        >>> kept = Kept(release=0.5, original=0.6, baseline=0.4)
        >>> ComparedRun("bsgi l=3", "bsgi", {}, classifier=kept, classifier_tested=2_500).classifier_error
        0.01
        """
        return None if self.classifier is None else self.tested_error(self.classifier.release)

    def tested_error(self, share: float) -> float | None:
        """The standard error of a share of the records that classifiers were tested on."""
        return sqrt(share * (1 - share) / self.classifier_tested) if self.classifier_tested else None

    @fact
    def broken(self) -> tuple[str, ...]:
        """The attacks that beat the claim beyond chance, except those that learn.

        Sets promise nothing against attackers who learn, so counting these attacks only for classes would favor sets.
        They count in the risk of all runs.
        """
        found = (one.attack for one in self.attacks if one.broken and one.attack not in LEARNERS)
        return tuple(dict.fromkeys(found))

    @property
    def outlearned(self) -> tuple[ComparedAttack, ...]:
        """Attacks that learn, and are right more often, beyond chance, than the promise allows for other attackers."""
        promised = 1.0 if self.promised is None else self.promised
        return tuple(one for one in self.attacks if one.attack in LEARNERS and (one.low or 0.0) > promised)

    def like(self, other: ComparedRun) -> bool:
        """Whether two measured runs cannot be told apart: their intervals of risk overlap, and those of error too."""
        return _overlap(self._risk_ends, other._risk_ends) and _overlap(self._error_ends, other._error_ends)

    @property
    def _risk_ends(self) -> tuple[float, float]:
        best = self.best_attack
        return (0.0, 0.0) if best is None else (max(0.0, best.end("low")), max(0.0, best.end("high")))

    @property
    def _error_ends(self) -> tuple[float, float]:
        error = self.error or 0.0
        if self.judged_by == "association":
            return error, error
        return (
            error if self.error_low is None else self.error_low,
            error if self.error_high is None else self.error_high,
        )

    @property
    def measured(self) -> bool:
        """Whether it has a place on the map, and keeps its claim."""
        return not self.failed and self.audit_passed is not False and self.risk is not None and self.error is not None


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def run_from_document(described: object) -> ComparedRun | None:
    """Read the document of a run; None when it is anything else.

    Examples
    --------
    >>> from ldiversity.base.answers import document_of
    >>> run_from_document(document_of(ComparedRun("tp l=2", "tp", {"l": 2}))).label
    'tp l=2'
    >>> run_from_document({"label": 3}) is None
    True
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return replace(TypeAdapter(ComparedRun).validate_python(described), reused=True)
    except ValidationError:
        return None
