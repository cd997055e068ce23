"""The three questions of Opinion 05/2014 of the Article 29 Working Party, and what was measured about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from ldiversity.base.numbers import counted, percent, percent_at_most
from ldiversity.evaluation.attacks import ATTACKS, Criterion

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport
    from ldiversity.evaluation.audit import Audit

__all__ = ["AnsweredCriterion", "answer_criteria"]

_TITLES: Final[dict[Criterion, str]] = {
    "singling-out": "Singling out",
    "linkability": "Linkability",
    "inference": "Inference",
}
_QUESTIONS: Final[dict[Criterion, str]] = {
    "singling-out": "Can somebody pick out the record of one person?",
    "linkability": "Can somebody link two records of one person, here or with another table?",
    "inference": "Can somebody work out a value of one person with a high probability?",
}
_ALWAYS_OPEN: Final[dict[Criterion, str]] = {
    "singling-out": "Someone who knows more about a person than the quasi-identifiers may pick them out more surely.",
    "linkability": "Other tables about the same people, now or later, can be linked with this release. They are not "
    "known here.",
    "inference": "Someone who knows more than the attackers here assume may work out more.",
}


@dataclass(frozen=True)
class AnsweredCriterion:
    """One of the three questions: what was measured, and what stays open.

    Attributes
    ----------
    criterion, title, question
        Its name, and the question in plain words.
    measured
        What was measured, in sentences.
    open
        What was not measured, and why.
    """

    criterion: Criterion
    title: str
    question: str
    measured: tuple[str, ...]
    open: tuple[str, ...]


def answer_criteria(audit: Audit, attacks: AttackReport | None) -> tuple[AnsweredCriterion, ...]:
    """Say what was measured about each question. Attacks are found in their registry, by the question they inform."""
    measured = {"singling-out": _of_records, "linkability": _of_links, "inference": _of_values}
    return tuple(
        AnsweredCriterion(
            one,
            _TITLES[one],
            _QUESTIONS[one],
            (*measured[one](audit), *_achieved(one, attacks)),
            (*_not_run(one, attacks), _ALWAYS_OPEN[one]),
        )
        for one in get_args(Criterion)
    )


def _of_records(audit: Audit) -> Iterator[str]:
    if not audit.quasi:
        yield "No quasi-identifiers are published: all records look alike."
        return
    risk, n = audit.risk, audit.risk.uniques
    alone = "Nobody is" if not n else f"{audit.counting.counted(n)} {'is' if n == 1 else 'are'}"
    known = audit.people is not None and audit.unit != "people"
    whose = f" of {counted(audit.people or 0, 'person', 'people')}" if known else ""
    whole = f"{audit.counting.counted(risk.records)}{whose}"
    yield (
        f"{alone} alone with their published quasi-identifiers, of {whole}. At worst, "
        "somebody who knows these, and that the person is in the table, picks the right record with "
        f"{percent(risk.prosecutor.max)}."
    )


def _of_links(audit: Audit) -> Iterator[str]:
    if not audit.quasi:
        return
    risk = audit.risk
    yield (
        f"Somebody who links every record with a person by the quasi-identifiers is right for "
        f"{percent(risk.marketer.mean)} of the records. {audit.population.meaning}"
    )
    if audit.population.known != "none":
        yield (
            "Somebody who searches the population for one record is right with at most "
            f"{percent_at_most(risk.journalist.max)}."
        )


def _of_values(audit: Audit) -> Iterator[str]:
    for name, risk in audit.attribute_risk.items():
        informed = risk.informed
        yield (
            f"Once the record is found, somebody without prior knowledge can be {percent(risk.largest_share)} sure of "
            f"{name!r} at worst"
            + (
                "."
                if informed is None
                else f"; somebody who knows how frequent its values are can be {percent(informed.largest_share)} sure."
            )
        )


def _achieved(criterion: Criterion, attacks: AttackReport | None) -> Iterator[str]:
    if attacks is not None:
        yield from (text for result, text in attacks.sentences if result.criterion == criterion)
        yield from (risk.sentence for risk in attacks.risks if risk.criterion == criterion)


def _not_run(criterion: Criterion, attacks: AttackReport | None) -> Iterator[str]:
    """Attacks of the registry about this question that were not run, and why."""
    run = set() if attacks is None else {name.partition(" ")[0] for name in attacks.knowledge}
    reasons = {} if attacks is None else {one.attack.partition(" ")[0]: one.reason for one in attacks.skipped}
    for name in ATTACKS:
        if ATTACKS[name].criterion != criterion or name in run:
            continue
        needs = f"it needs {ATTACKS[name].needs}" if ATTACKS[name].needs else "attacks were not asked for"
        yield f"The attack {name!r} was not run: {reasons.get(name, needs).rstrip('.')}."
