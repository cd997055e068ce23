"""What the reader of a report needs first: what it is, who may receive it, the worst figures, and one verdict.

The verdict is derived here alone, from every figure of the report: nothing further down is worse than the box says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from ldiversity.base.numbers import counted, percent, percent_at_most
from ldiversity.faces.report._parts import Published

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport, AttackResult, Criterion
    from ldiversity.evaluation.audit import Audit
    from ldiversity.faces.report._committee import Committee

__all__ = ["Found", "Summary", "Verdict", "WorstFigure", "summarize", "worst_figures"]

Verdict: TypeAlias = Literal["stop", "decide", "within"]
"""A promise is broken; a figure is above its limit, or nothing limits it; all figures are within their limits."""

FigureState: TypeAlias = Literal["broken", "above", "not covered", "no limit", "within"]
"""How a figure compares with its limit, the gravest first."""

_ORDER: Final = get_args(FigureState)
_PROMISE: Final = "what is promised"
_LIMIT: Final = "the limit of this report"
_RISKS: Final[dict[Criterion, str]] = {
    "singling-out": "Describing a person so that nobody else fits",
    "linkability": "Joining two lists about a person",
    "inference": "Inferring a value of a person",
}
_ROUNDING: Final = 1e-9
_FIND: Final = "Finding a person's record"
_LEARN: Final = "Learning a person's {}"
_SENTENCES: Final[dict[Verdict, str]] = {
    "stop": "Do not hand out this release: it does not keep its promise.",
    "decide": "The promises hold, but not every figure is within a limit: somebody has to decide whether that is "
    "acceptable for these recipients.",
    "within": "The promises hold, and every figure of this report is within its limit.",
}


@dataclass(frozen=True)
class WorstFigure:
    """The worst figure of one kind.

    Attributes
    ----------
    what
        What may happen.
    value
        How likely it is, at worst; of several figures of this kind, the greatest.
    who
        To whom, in a few words.
    limit, limit_is
        How likely it may be, and what that limit is; None where there is none.
    state
        ``above`` the limit, ``within`` it, ``broken`` where a promise is, ``not covered`` where it is above a promise
        that is not about this attacker, ``no limit`` where there is none.
    """

    what: str
    value: float
    who: str
    limit: float | None
    limit_is: str
    state: FigureState

    @property
    def sentence(self) -> str:
        """The figure in a sentence."""
        held = {
            "broken": f"This breaks {self.limit_is}, at most {percent_at_most(self.limit)}.",
            "above": f"This is above {self.limit_is}, {percent_at_most(self.limit)}.",
            "not covered": f"The promise, at most {percent_at_most(self.limit)}, does not cover this attacker.",
            "within": f"This is within {self.limit_is}, {percent_at_most(self.limit)}.",
            "no limit": "Nothing limits it.",
        }
        return f"{self.what}: at worst {percent(self.value)}, {self.who}. {held[self.state]}"


@dataclass(frozen=True)
class Summary:
    """What the reader of a report needs first.

    Attributes
    ----------
    what
        What was published, in a sentence.
    recipients
        Who may receive it, as the holder says.
    verdict, sentence
        What follows from all figures together, and the same in words.
    reasons
        What the verdict is based on, the gravest first.
    worst
        The worst figure of each kind, the gravest first.
    date
        The day on which the report was made.
    people
        How many people the records of the original belong to, for the holder who named the column; else None.
    release_id, checksum
        The first letters of the checksum, and the checksum: SHA-256 of release.json, which names those of all other
        files. None for a release that was not read from its folder.
    """

    what: str
    recipients: str
    verdict: Verdict
    sentence: str
    reasons: tuple[str, ...]
    worst: tuple[WorstFigure, ...]
    date: str
    people: int | None
    release_id: str | None
    checksum: str | None


@dataclass(frozen=True)
class Found:
    """Everything that the verdict is derived from."""

    published: Published
    audit: Audit
    attacks: AttackReport | None
    committee: Committee | None
    date: str
    checksum: str | None
    promised: Mapping[str, float]

    @property
    def people(self) -> int | None:
        """How many people the records of the original belong to, where the holder named the column."""
        return self.audit.people

    @property
    def adds_up(self) -> bool:
        """Whether people are known to have several records that were hidden as if they were several people's."""
        return self.people is not None and self.people < self.published.records and not self.published.person


def summarize(found: Found) -> Summary:
    """Derive the verdict, and put together what the reader needs first."""
    worst = worst_figures(found)
    reasons = list(_broken(found))
    states = {one.state for one in worst}
    fine = states <= {"within"} and not found.adds_up
    verdict: Verdict = "stop" if reasons or "broken" in states else "within" if fine else "decide"
    reasons += [one.sentence for one in worst]
    if verdict != "stop":
        unit = found.published.unit
        reasons.append(f"The promises were checked on what was published: every {unit} on its own is as promised.")
    return Summary(
        what=_what(found.published),
        recipients=_recipients(found.committee),
        verdict=verdict,
        sentence=_SENTENCES[verdict],
        reasons=(*reasons, *_also(found)),
        worst=worst,
        date=found.date,
        people=found.people,
        release_id=None if found.checksum is None else found.checksum[:12],
        checksum=found.checksum,
    )


def worst_figures(found: Found) -> tuple[WorstFigure, ...]:
    """The worst figure about finding people, about each sensitive attribute, and of the attacks that measure risks."""
    kinds = [list(_finding(found)), *(list(_learning(found, name)) for name in found.audit.attribute_risk)]
    kinds += [list(_risks(found, criterion)) for criterion in _RISKS]
    worst = [max(figures, key=_gravity) for figures in kinds if figures]
    return tuple(sorted(worst, key=lambda one: _ORDER.index(one.state)))


def _gravity(figure: WorstFigure) -> tuple[bool, float]:
    return figure.state == "broken", figure.value


def _finding(found: Found) -> Iterator[WorstFigure]:
    risk, limit = found.audit.risk, found.audit.threshold.limit
    if found.audit.quasi:
        who = "by someone who knows the person's quasi-identifiers and that the person is in the table"
        yield _figure(_FIND, risk.prosecutor.max, who, limit, _LIMIT)
    for one in found.published.confirmed:
        if one.identifies:
            yield _figure(_FIND, 1.0, f"by the published column {one.column!r} alone", limit, _LIMIT)


def _learning(found: Found, attribute: str) -> Iterator[WorstFigure]:
    """Every figure about learning one attribute: of the audit, and of each attack."""
    what, risk = _LEARN.format(repr(attribute)), found.audit.attribute_risk[attribute]
    promise = found.promised.get(attribute, 1.0)
    limit = promise if promise < 1 else None
    unknowing = "by someone without prior knowledge who has found the record"
    yield _figure(what, risk.largest_share, unknowing, limit, _PROMISE)
    if risk.informed is not None:
        knowing = "by someone who has found the record and knows how frequent the values are"
        yield _figure(what, risk.informed.largest_share, knowing, limit, _PROMISE, covered=False)
    for one in found.published.confirmed:
        if one.attribute == attribute:
            who = f"by the published column {one.column!r}, which tells it"
            yield _figure(what, 1.0, who, limit, _PROMISE, covered=False)
    for result in () if found.attacks is None else found.attacks.results:
        if result.attribute == attribute:
            yield _attacked(what, result, limit)


def _risks(found: Found, criterion: Criterion) -> Iterator[WorstFigure]:
    """What attacks achieve on people of the table beyond what they achieve on others."""
    limit = found.audit.threshold.limit
    for one in () if found.attacks is None else found.attacks.risks:
        if one.criterion == criterion:
            beyond = "" if one.control is None else ", beyond what it achieves on people who are not in the table"
            who = f"by the attack {one.attack!r}{beyond}"
            yield _figure(_RISKS[criterion], one.risk, who, limit, _LIMIT)


def _attacked(what: str, result: AttackResult, promise: float | None) -> WorstFigure:
    records = counted(result.found, "record")
    who = f"{'on average' if result.scored else 'expected'} for {records}, by the attack {result.attack!r}"
    limit = promise if result.claim is None else result.claim
    if result.broken and limit is not None:
        return WorstFigure(what, result.success, who, limit, _PROMISE, "broken")
    return _figure(what, result.success, who, limit, _PROMISE, covered=result.claim is not None)


def _figure(
    what: str, value: float, who: str, limit: float | None, limit_is: str, *, covered: bool = True
) -> WorstFigure:
    state: FigureState = "within"
    if limit is None:
        state = "no limit"
    elif value > limit + _ROUNDING:
        state = "above" if covered else "not covered"
    return WorstFigure(what, value, who, limit, limit_is, state)


def _broken(found: Found) -> Iterator[str]:
    """Why the release does not keep its promise."""
    if found.audit.passed is False:
        yield "Checked on what was published: a promise does not hold."
    if found.attacks is not None and found.attacks.broken:
        names = ", ".join(dict.fromkeys(result.attack for result in found.attacks.results if result.broken))
        yield f"An attack beats what the release promises: {names}."


def _also(found: Found) -> Iterator[str]:
    """What else the reader must know before they look at figures."""
    yield _whose(found)
    yield from (f"The publisher warns: {text}" for text in found.published.warnings)
    for one in found.published.confirmed:
        yield f"The holder was warned about the column {one.column!r}, and chose to publish it: {one.does}."
    yield f"Limit for being found: {percent(found.audit.threshold.limit)}. {found.audit.threshold.reason}"
    if found.audit.population.known != "none":
        outside = found.audit.risk.journalist
        yield (
            f"{found.audit.population.meaning} Someone who does not know who is in the table then finds a person with "
            f"at most {percent_at_most(outside.max)}."
        )
    if found.attacks is None:
        yield "Attacks were not run: figures are those of the audit alone."
    elif not all(result.scored for result in found.attacks.results):
        yield "Attacks were run without the original: they say what attackers expect, not what they achieve."
    if found.committee is not None and found.committee.review_date and found.committee.review_date < found.date:
        yield f"The decision had to be looked at again on {found.committee.review_date}. That day has passed."


def _whose(found: Found) -> str:
    """Whether the promises are about people, or about records."""
    counts = "" if found.people is None else f"The records belong to {counted(found.people, 'person', 'people')}. "
    if found.published.person and found.published.overlaps:
        return f"{counts}A person may have several records. {' '.join(found.published.overlaps)}"
    if found.published.person:
        kept = "the sets of one person" if found.published.unit == "set" else "no class holds two of them"
        together = f"{kept} are equal or disjoint" if found.published.unit == "set" else kept
        return f"{counts}A person may have several records: {together}."
    if found.adds_up:
        return (
            f"{counts}They were hidden as if each record were another person's. Someone who knows which records are "
            "one person's learns more than is promised: publish again, and name the column that says whose row it is."
        )
    return f"{counts}The promises are about single records. If a person has several, what they tell adds up."


def _what(published: Published) -> str:
    left = f"; {counted(published.suppressed, 'record was', 'records were')} left out" if published.suppressed else ""
    return f"{counted(published.records, 'record')}{left}. {published.meaning}"


def _recipients(committee: Committee | None) -> str:
    if committee is None:
        return "Not stated: the holder did not say who may receive it."
    access = {
        "public": "Anyone may receive it.",
        "agreement": "Only those who signed an agreement.",
        "secure room": "In a secure room alone: nobody takes a copy away.",
    }
    return f"{committee.recipient}. {access[committee.access]}"
