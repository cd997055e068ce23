"""One row of a comparison: what a method with its options promised, gave away, kept and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

__all__ = ["LEARNERS", "ComparedRun", "run_from_dict"]

LEARNERS: Final = ("definetti",)
"""Attacks that learn which values go with which quasi-identifiers, and may be sure without being right."""


@dataclass(frozen=True)
class ComparedRun:
    """A method with its options, run on the holder's table and measured; or the reason why it could not be.

    Attributes
    ----------
    label, method
        Name and options for people, and the name alone.
    options
        The options as texts and numbers.
    words
        The words of the command line that ask for it; None when it has options that cannot be written.
    reason, hint
        Why it could not be run; None when it was.
    layout, claim, promised
        How it publishes, and what it promises: in words, and the greatest probability of a value; 1 is no promise.
    records, uniques
        How many records it publishes, and how many of them are unique in their quasi-identifiers as published.
    models
        What the audit of the release found, by the names of `Audit.models`: all figures that are one number.
    audit_passed
        Whether the audit found the claim kept.
    attacks
        What each attack achieved: ``attack``, ``attribute``, ``success``, ``low``, ``high`` (its 95 % interval),
        ``claim``, ``baseline``, ``certain`` (the share of whom he is sure), ``certain_success``, ``broken``, ``found``.
        ``baseline`` is that of guessing from the true shares, the same for all runs but those that leave people out,
        where it is that of guessing about those who are found.
    ncp, suppression
        Detail of quasi-identifiers lost, and share of the table's records left out; 0 to 1.
    relative_error, estimator
        The median relative error of the queries, and the estimator that reaches it.
    distribution_mse
        Mean squared error of the distribution given each quasi-identifier.
    cpu_seconds
        What publishing took, without measuring.
    notes
        What else is to be known, warnings included.
    reused
        Whether an earlier comparison had run it.
    """

    label: str
    method: str
    options: Mapping[str, Any]
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
    attacks: tuple[Mapping[str, Any], ...] = ()
    ncp: float | None = None
    suppression: float | None = None
    relative_error: float | None = None
    estimator: str | None = None
    distribution_mse: float | None = None
    cpu_seconds: float | None = None
    notes: tuple[str, ...] = ()
    reused: bool = False

    @property
    def failed(self) -> bool:
        """Whether nothing was published."""
        return self.reason is not None

    @property
    def best_attack(self) -> Mapping[str, Any] | None:
        """The attack that gained most over guessing; None when none was run."""
        return max(self.attacks, key=_gain, default=None)

    @property
    def risk(self) -> float | None:
        """What the best attack gains over guessing: the share of people named rightly, beyond the baseline."""
        best = self.best_attack
        return None if best is None else max(0.0, _gain(best))

    @property
    def risk_high(self) -> float | None:
        """The upper end of the interval of the risk: the greatest of all attacks."""
        ends = [_end(one) - float(one["baseline"]) for one in self.attacks]
        return max(0.0, *ends) if ends else None

    @property
    def disclosed(self) -> float | None:
        """The share of people of whose value attackers are sure who know no more than the promise is about."""
        return max((float(one["certain"]) for one in self.attacks if not self.knows_more(one)), default=None)

    def knows_more(self, attack: Mapping[str, Any]) -> bool:
        """Whether an attacker learns, or knows shares of values, against which nothing is promised."""
        promises = self.promised is None or self.promised < 1
        return attack["attack"] in LEARNERS or (promises and attack["claim"] is None)

    @property
    def all_alike(self) -> bool:
        """Whether the audit found records that certainly have one value."""
        return (self.models.get("frequency") or 0.0) >= 1

    @property
    def error(self) -> float | None:
        """The error that the map shows: of queries."""
        return self.relative_error

    @property
    def broken(self) -> tuple[str, ...]:
        """The attacks that beat the claim beyond chance, but for those that learn.

        Sets promise nothing against attackers who learn, so that counting them for classes alone would favor sets. They
        count in the risk, for all runs alike.
        """
        found = (str(one["attack"]) for one in self.attacks if one["broken"] and one["attack"] not in LEARNERS)
        return tuple(dict.fromkeys(found))

    @property
    def outlearned(self) -> tuple[Mapping[str, Any], ...]:
        """Attacks that learn, and by that are right more often, beyond chance, than a value may be likely."""
        promised = 1.0 if self.promised is None else self.promised
        return tuple(one for one in self.attacks if one["attack"] in LEARNERS and (one["low"] or 0.0) > promised)

    @property
    def measured(self) -> bool:
        """Whether it has a place on the map, and keeps its claim."""
        return not self.failed and self.audit_passed is not False and self.risk is not None and self.error is not None

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON's types; ``risk``, ``risk_high``, ``disclosed``, ``broken`` and ``best_attack`` too."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        best = self.best_attack
        return {
            **plain,
            "options": dict(self.options),
            "words": None if self.words is None else list(self.words),
            "models": dict(self.models),
            "attacks": [dict(one) for one in self.attacks],
            "notes": list(self.notes),
            "risk": self.risk,
            "risk_high": self.risk_high,
            "disclosed": self.disclosed,
            "best_attack": None if best is None else dict(best),
            "broken": list(self.broken),
        }


def _gain(attack: Mapping[str, Any]) -> float:
    return float(attack["success"]) - float(attack["baseline"])


def _end(attack: Mapping[str, Any]) -> float:
    return float(attack["success"] if attack.get("high") is None else attack["high"])


_NUMBER: Final = (int, float)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("label", "method"), (str,)),
    **dict.fromkeys(("reason", "hint", "layout", "claim", "estimator"), (str, type(None))),
    **dict.fromkeys(
        ("promised", "ncp", "suppression", "relative_error", "distribution_mse", "cpu_seconds"), (*_NUMBER, type(None))
    ),
    **dict.fromkeys(("records", "uniques"), (int, type(None))),
    **dict.fromkeys(("options", "models"), (dict,)),
    **dict.fromkeys(("attacks", "notes"), (list,)),
    "words": (list, type(None)),
    "audit_passed": (bool, type(None)),
}
_ATTACK: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("attack", "attribute"), (str,)),
    **dict.fromkeys(("success", "baseline", "certain"), _NUMBER),
    **dict.fromkeys(("low", "high", "claim", "certain_success"), (*_NUMBER, type(None))),
    "broken": (bool,),
    "found": (int,),
}


def run_from_dict(described: Any) -> ComparedRun | None:  # noqa: ANN401 - read from a file
    """Read what `ComparedRun.to_dict` wrote; None when it is anything else.

    Examples
    --------
    >>> run_from_dict(ComparedRun("tp l=2", "tp", {"l": 2}).to_dict()).label
    'tp l=2'
    >>> run_from_dict({"label": 3}) is None
    True
    """
    if not _fits(described, _TYPES) or not all(_fits(one, _ATTACK) for one in described["attacks"]):
        return None
    texts = [*described["notes"], *(described["words"] or [])]
    numbers = described["models"].values()
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(n, (*_NUMBER, type(None))) for n in numbers
    ):
        return None
    own: dict[str, Any] = {name: described[name] for name in _TYPES}
    own["words"] = None if own["words"] is None else tuple(own["words"])
    own["attacks"] = tuple({name: one[name] for name in _ATTACK} for one in own["attacks"])
    own["notes"] = tuple(own["notes"])
    return ComparedRun(**own, reused=True)


def _fits(described: Any, types: Mapping[str, tuple[type, ...]]) -> bool:  # noqa: ANN401 - read from a file
    return isinstance(described, dict) and all(
        name in described and isinstance(described[name], kinds) for name, kinds in types.items()
    )
