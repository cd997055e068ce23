"""What attacks on a release achieved, as facts and in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.base.numbers import percent
from ldiversity.evaluation.attacks._base import AttackResult
from ldiversity.tables import to_native

__all__ = ["AttackReport", "Skipped"]

_IN_ORDER: Final = 0.9
_ENOUGH: Final = 30
"""Of fewer people the order may look kept by chance."""

VERSION: Final = 1
"""Of what `AttackReport.to_dict` gives; changes when a name or a meaning does."""


@dataclass(frozen=True)
class Skipped:
    """An attack that was not run, and why."""

    attack: str
    attribute: str
    reason: str


@dataclass(frozen=True)
class AttackReport(ShownInNotebooks):
    """How attacks on a release went.

    Attributes
    ----------
    results
        One for each attack and attribute.
    skipped
        Attacks that do not apply here, and why.
    """

    results: tuple[AttackResult, ...]
    skipped: tuple[Skipped, ...] = ()
    frame_kind: str = "arrow"

    @property
    def broken(self) -> bool:
        """Whether an attack beats the claim beyond chance."""
        return any(result.broken for result in self.results)

    @property
    def verdict(self) -> tuple[str, ...]:
        """One sentence on every attack, the successful first, and one on what they mean together."""
        ordered = sorted(self.results, key=lambda result: (not result.broken, -result.success))
        return (_summary(self.results), *(_sentence(result) for result in ordered))

    def to_dict(self) -> dict[str, Any]:
        """The report in JSON's types.

        ``version`` is 1; ``broken`` and ``verdict`` (sentences) sum up; ``results`` has the fields of `AttackResult`;
        ``skipped`` says which attacks were not run, and why.
        """
        return {
            "version": VERSION,
            "broken": self.broken,
            "verdict": list(self.verdict),
            "results": [result.to_dict() for result in self.results],
            "skipped": [
                {"attack": one.attack, "attribute": one.attribute, "reason": one.reason} for one in self.skipped
            ],
        }

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame of the release
        """One row an attack, without details."""
        names = ("attack", "attribute", "targets", "found", "success", "certain", "certain_success", "mean_belief")
        columns: dict[str, list[Any]] = {name: [getattr(result, name) for result in self.results] for name in names}
        bounds = [result.interval or (None, None) for result in self.results]
        columns["low"], columns["high"] = [low for low, _ in bounds], [high for _, high in bounds]
        for name in ("claim", "baseline", "reference", "scored", "broken"):
            columns[name] = [getattr(result, name) for result in self.results]
        return to_native(pa.table(columns), self.frame_kind)

    def __str__(self) -> str:
        return "\n".join(self.verdict)


def _summary(results: tuple[AttackResult, ...]) -> str:
    broken = sum(result.broken for result in results)
    if not results:
        return "No attack applies to this release."
    if not all(result.scored for result in results) and not broken:
        return "Without the original nothing is scored: these are the attackers' own expectations."
    if broken:
        verb = "beats" if broken == 1 else "beat"
        return f"{broken} of {len(results)} attacks {verb} what the release promises."
    better = sum(_does_better(result) for result in results)
    if better:
        verb = "is" if better == 1 else "are"
        return (
            f"No attack beats what the release promises beyond chance. {better} of {len(results)} {verb} right more "
            "often than promised, which chance explains for so many people and classes."
        )
    return "No attack beats what the release promises; that is no proof that none can."


def _does_better(result: AttackResult) -> bool:
    """Whether an attacker was right more often than is promised, than guessing and than without his knowledge."""
    others = (result.claim or 0.0, result.baseline, result.reference or 0.0)
    return result.claim is not None and result.success > max(others)


def _sentence(result: AttackResult) -> str:
    rate = percent(result.success)
    if result.interval is not None:
        low, high = result.interval
        rate += f" ({percent(low)} to {percent(high)})"
    verb = "names" if result.scored else "expects to name"
    promised = (
        "nothing is promised against him"
        if result.claim is None
        else f"the release promises at most {percent(result.claim)}"
    )
    sure = ""
    if result.certain > 0 and result.certain_success is not None:
        right = f", and right about {percent(result.certain_success)} of those" if result.scored else ""
        of = "" if not several(result) else " of them, taking what fits for theirs"
        sure = f" He is sure of {percent(result.certain)}{of}{right}."
    mark = "Broken: " if result.broken else ""
    people = "1 person" if result.found == 1 else f"{result.found:,} people"
    without = (
        ""
        if result.reference is None
        else f", and he without {result.extra or 'this knowledge'} {percent(result.reference)}"
    )
    also = "," if without else ", and"
    line = (
        f"{mark}{result.attack} on {result.attribute!r} {verb} {rate} of {people} rightly; {promised}{also} guessing "
        f"from the marginal alone reaches {percent(result.baseline)}{without}.{sure}"
    )
    return " ".join([line, *_remarks(result)])


def several(result: AttackResult) -> int:
    """For how many of the people several records or classes fit, so that one of them was taken without a reason."""
    return int(result.details.get("several_records_fit", result.details.get("several_classes_fit", 0)))


def _remarks(result: AttackResult) -> list[str]:
    found = []
    if several(result):
        noun = "records" if "several_records_fit" in result.details else "classes"
        found.append(f"For {several(result):,} of them several {noun} fit, and he takes one for theirs.")
    if result.scored and result.left_out and result.claim is not None:
        left = "1 record was" if result.left_out == 1 else f"{result.left_out:,} records were"
        found.append(f"{left} left out of the release, which promises nothing about them.")
    against = result.details.get("classes_against_the_claim", 0)
    if against:
        contradict = "1 published class contradicts" if against == 1 else f"{against:,} published classes contradict"
        found.append(f"{contradict} the claim.")
    if result.found >= _ENOUGH and abs(result.details.get("row_order_correlation") or 0.0) > _IN_ORDER:
        found.append("The rows were published in the order of the original.")
    if result.caution is not None:
        found.append(result.caution)
    return found
