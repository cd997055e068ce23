"""What attacks on a release achieved, as facts and in plain words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.answers import HIDDEN, Answer, fact, fit_screen
from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.base.numbers import counted, number, percent, percent_at_most, percent_between
from ldiversity.evaluation.attacks._base import AttackResult
from ldiversity.evaluation.attacks._risk import PrivacyRisk
from ldiversity.tables import to_native

__all__ = ["AttackReport", "Skipped"]

_IN_ORDER: Final = 0.9
_ENOUGH: Final = 30
"""With fewer people, the order may look kept by chance."""


@dataclass(frozen=True)
class Skipped:
    """An attack that was not run, and why; the attribute is None where it is about all columns."""

    attack: str
    attribute: str | None
    reason: str

    def __str__(self) -> str:
        on = "" if self.attribute is None else f" on {self.attribute!r}"
        return f"{self.attack}{on}: {self.reason}."


@dataclass(frozen=True, repr=False)
class AttackReport(ShownInNotebooks, Answer, schema="attack", version=1):
    """What attacks on a release achieved.

    Attributes
    ----------
    results
        One result per attack and attribute.
    skipped
        Attacks that do not apply here, and why.
    risks
        What attacks achieve on people of the table, and on others: singling out, linkability, inference and
        downcoding. No release promises anything against them, so they break no promise.
    release
        The name of the release, where it was read from a folder.
    """

    results: tuple[AttackResult, ...]
    skipped: tuple[Skipped, ...] = ()
    risks: tuple[PrivacyRisk, ...] = ()
    frame_kind: str = field(default="arrow", repr=False, metadata=HIDDEN)
    release: str | None = None

    @fact
    def broken(self) -> bool:
        """Whether an attack beats the claim beyond chance."""
        return any(result.broken for result in self.results)

    @property
    def ordered(self) -> tuple[AttackResult, ...]:
        """The results that beat the promise, then the others; each by success."""
        return tuple(sorted(self.results, key=lambda result: (not result.broken, -result.success)))

    @property
    def knowledge(self) -> dict[str, str]:
        """What each attacker is assumed to know, by the name of the attack."""
        of_risks = {one.attack: one.knowledge for one in self.risks}
        return {**{result.attack: result.knowledge for result in self.results}, **of_risks}

    @fact
    def verdict(self) -> tuple[str, ...]:
        """What the attacks mean together, then one sentence about each, in the order of `ordered`, then each risk."""
        first = _summary_of_risks(self.risks) if self.risks and not self.results else _summary(self.results)
        return (first, *(text for _, text in self.sentences), *(risk.sentence for risk in self.risks))

    @property
    def sentences(self) -> tuple[tuple[AttackResult, str], ...]:
        """Each result with its sentence, in the order of `ordered`."""
        return tuple((result, _sentence(result)) for result in self.ordered)

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame of the release
        """One row per attack, without details."""
        names = ("attack", "attribute", "targets", "found", "success", "certain", "certain_success", "mean_belief")
        columns: dict[str, list[Any]] = {name: [getattr(result, name) for result in self.results] for name in names}
        bounds = [result.interval or (None, None) for result in self.results]
        columns["low"], columns["high"] = [low for low, _ in bounds], [high for _, high in bounds]
        for name in ("claim", "baseline", "reference", "scored", "broken"):
            columns[name] = [getattr(result, name) for result in self.results]
        return to_native(pa.table(columns), self.frame_kind)

    def __str__(self) -> str:
        return fit_screen(list(self.verdict))


def _summary(results: tuple[AttackResult, ...]) -> str:
    broken = sum(result.broken for result in results)
    if not results:
        return "No attack applies to this release."
    if not all(result.scored for result in results) and not broken:
        return "Without the original, nothing is scored: these are the attackers' own expectations."
    if broken:
        verb = "beats" if broken == 1 else "beat"
        return f"{broken} of {len(results)} attacks {verb} what the release promises."
    better = sum(_does_better(result) for result in results)
    if better:
        verb = "is" if better == 1 else "are"
        return (
            f"No attack beats what the release promises beyond chance. {better} of {len(results)} {verb} right more "
            "often than promised, which chance explains for so many records and classes."
        )
    return "No attack beats what the release promises. This does not prove that none can."


def _summary_of_risks(risks: tuple[PrivacyRisk, ...]) -> str:
    if all(one.control is None for one in risks):
        return "Without a control table, nothing says how much of this holds for people outside the table."
    found = sum(one.beyond_chance for one in risks)
    if not found:
        return (
            "No attack does better on people of the table than on others beyond chance. This does not prove that none "
            "can."
        )
    verb = "does" if found == 1 else "do"
    return f"{found} of {len(risks)} attacks {verb} better on people of the table than on others, beyond chance."


def _does_better(result: AttackResult) -> bool:
    """Whether an attacker was right more often than promised, than guessing and than without this knowledge."""
    others = (result.claim or 0.0, result.baseline, result.reference or 0.0)
    return result.claim is not None and result.success > max(others)


def _sentence(result: AttackResult) -> str:
    rate = percent(result.success) + percent_between(*(result.interval or (None, None)))
    verb = "names" if result.scored else "expects to name"
    promised = (
        "nothing is promised against them"
        if result.claim is None
        else f"the release promises at most {percent_at_most(result.claim)}"
    )
    sure = ""
    if result.certain > 0 and result.certain_success is not None:
        right = f", and right about {percent(result.certain_success)} of those" if result.scored else ""
        of = "" if not several(result) else " of them, taking what fits for theirs"
        sure = f" They are sure of {percent(result.certain)}{of}{right}."
    mark = "Broken: " if result.broken else ""
    records = counted(result.found, "record")
    without = (
        ""
        if result.reference is None
        else f", and the same attacker without {result.extra or 'this knowledge'} {percent(result.reference)}"
    )
    also = "," if without else ", and"
    line = (
        f"{mark}{result.attack} on {result.attribute!r} {verb} the value of {rate} of {records} rightly; "
        f"{promised}{also} guessing from the marginal alone reaches {percent(result.baseline)}{without}.{sure}"
    )
    return " ".join([line, *_remarks(result)])


def several(result: AttackResult) -> int:
    """For how many people several records or classes fit, so that one of them was drawn."""
    return _count(result, "several_records_fit") or _count(result, "several_classes_fit")


def _count(result: AttackResult, name: str) -> int:
    found = result.details.get(name)
    return found if isinstance(found, int) else 0


def _remarks(result: AttackResult) -> list[str]:
    found = []
    if several(result):
        noun = "records" if "several_records_fit" in result.details else "classes"
        found.append(
            f"For {number(several(result))} of them several {noun} fit, and the attacker takes one for theirs."
        )
    if result.scored and result.left_out and result.claim is not None:
        left = counted(result.left_out, "record was", "records were")
        found.append(f"{left} left out of the release, which promises nothing about them.")
    against = _count(result, "classes_against_the_claim")
    if against:
        contradict = (
            "1 published class contradicts" if against == 1 else f"{number(against)} published classes contradict"
        )
        found.append(f"{contradict} the claim.")
    kept = result.details.get("row_order_correlation")
    if result.found >= _ENOUGH and isinstance(kept, float) and abs(kept) > _IN_ORDER:
        found.append("The rows were published in the order of the original.")
    found += _isolation(result)
    if result.caution is not None:
        found.append(result.caution)
    return found


def _isolation(result: AttackResult) -> list[str]:
    """What ends of intervals tell, from the details of ``extremes``."""
    said = result.details
    verbatim, alone, column = (said.get(name) for name in ("verbatim", "isolated_by_end", "isolating_column"))
    if not isinstance(verbatim, float) or not isinstance(alone, float):
        return []
    low, high = (said.get(name) for name in ("isolated_low", "isolated_high"))
    between = percent_between(low, high) if isinstance(low, float) and isinstance(high, float) else ""
    begin = f"{percent(verbatim)} of the intervals begin at the exact cell of somebody in their region."
    only = f"For {percent(alone)}{between} of the records, exactly one person of the table lies in the region and has"
    return [begin, f"{only} the {column!r} at which it begins."]
