"""Run the attacks that measure risks, on what is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.attacks._matching import number_people
from ldiversity.evaluation.attacks._outside import FaultyAttackError, run_by_itself
from ldiversity.evaluation.attacks._report import Skipped
from ldiversity.evaluation.attacks._risk import PrivacyRisk
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._risk_choices import RiskQuestion
from ldiversity.evaluation.attacks._shown import People, Shown
from ldiversity.evaluation.measures import read_columns

if TYPE_CHECKING:
    from ldiversity.tables import Source

__all__ = ["measure_risks"]

_ATTACKS: Final = 500
"""How many attacks are made of each kind; Giomi et al. find 500 to be enough."""


def measure_risks(
    attacks: Sequence[RiskAttack],
    show: Callable[[], Shown],
    source: Source | None,
    question: RiskQuestion,
    *,
    by_name: bool,
) -> tuple[tuple[PrivacyRisk, ...], tuple[Skipped, ...]]:
    """The risks, and the attacks that do not apply; an attack that was asked for by name is refused instead.

    `show` reads what is published, which is not done in vain. `source` is the original.
    """
    other, person = question.open_control(), question.person
    if not attacks:
        return (), ()
    shown = show()
    cannot = _unusable(shown, source)
    reasons = {one: cannot or _why_not(one, shown) for one in attacks}
    for one, reason in reasons.items():
        if reason is not None and by_name:
            raise UnsupportedError("attack", f"{one.label!r} cannot be run: {reason}")
    skipped = tuple(Skipped(one.label, None, reason) for one, reason in reasons.items() if reason is not None)
    wanted = [one for one, reason in reasons.items() if reason is None]
    if source is None or not wanted:
        return (), skipped
    original = _people(shown, source, "original", person)
    control = None if other is None else _people(shown, other, "control", person)
    found = []
    for one in wanted:
        try:
            found.append(
                run_by_itself(one, partial(one.measure, shown, original, control, question.targets or _ATTACKS))
            )
        except FaultyAttackError as fault:
            if by_name:
                raise
            skipped += (Skipped(one.label, None, fault.why),)
    if person is not None:
        found = [replace(one, details={**one.details, "people": original.n_people}) for one in found]
    return tuple(found), skipped


def _why_not(attack: RiskAttack, shown: Shown) -> str | None:
    try:
        return run_by_itself(attack, lambda: attack.why_not(shown))
    except FaultyAttackError as fault:
        return fault.why


def _unusable(shown: Shown, original: Source | None) -> str | None:
    """Why no risk can be measured with this original; None when it can."""
    if original is None:
        return "it needs the original table"
    lacking = _lacking(shown, original)
    return None if lacking is None else f"the original table lacks the published column {lacking!r}"


def _lacking(shown: Shown, source: Source) -> str | None:
    return next((name for name in shown.names if name not in source.columns), None)


def _people(shown: Shown, source: Source, parameter: str, person: str | None) -> People:
    lacking = _lacking(shown, source)
    if lacking is not None:
        raise ParameterError("attack", parameter, f"must have the published column {lacking!r}").with_hint(
            "Give a table with all columns of the one that the release was made from."
        )
    if person is not None and person not in source.columns:
        raise ParameterError("attack", parameter, f"must have the column {person!r}, which says whose row it is")
    names = shown.names if person is None or person in shown.columns else (*shown.names, person)
    table = read_columns("attack", source, names)
    people = shown.people(table)
    if person is not None:
        people = replace(people, whose=number_people(table.column(person), person))
    if not people.n:
        raise ParameterError("attack", parameter, "must have people", got="none")
    return people
