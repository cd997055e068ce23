"""The pictures of a report, each with its table and its words for those who do not see it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from ldiversity.base.numbers import counted, number, percent
from ldiversity.faces.report._parts import Gauge, PublishedClasses
from ldiversity.faces.report._shares import contingency_picture, distribution_picture
from ldiversity.pictures import MOST_GAUGES, Picture, draw_counts, draw_gauges
from ldiversity.pictures import Gauge as DrawnGauge

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport, AttackResult
    from ldiversity.evaluation.audit import Audit
    from ldiversity.faces.report._report import Report

__all__ = ["attack_pictures", "gauge_pictures", "look_alike_picture", "pictures"]

Entry = TypeVar("Entry")

_ROUNDING: Final = 1e-9
_STATES: Final = {
    "above": "above the threshold",
    "within": "within the threshold",
    "compare": "to compare",
    "no threshold": "no promise to compare with",
}


def pictures(report: Report) -> tuple[Picture, ...]:
    """Give all pictures of a report, in its order; nothing is drawn yet.

    Those of the holder have names of their own: no folder mixes them up with what may be handed out.
    """
    found = [
        *map(distribution_picture, report.distributions),
        *map(contingency_picture, report.contingency),
        *([look_alike_picture(report.audit)] if report.audit.quasi else []),
        *map(_classes, report.class_sizes),
        *gauge_pictures(report.risks),
        *([] if report.attacks is None else attack_pictures(report.attacks)),
    ]
    return tuple(_numbered(found, "holder-" if report.audience == "holder" else ""))


def _numbered(found: Sequence[Picture], prefix: str) -> Iterator[Picture]:
    for place, picture in enumerate(found, start=1):
        stem = re.sub(r"[^a-z0-9]+", "-", picture.name.lower()).strip("-")[:60]
        yield replace(picture, name=f"{prefix}{place:02d}-{stem}")


def look_alike_picture(audit: Audit) -> Picture:
    """How many people look alike; records, where no column says whose they are."""
    classes, what = audit.classes, audit.in_a_class
    return _sizes(
        f"{what}-that-look-alike",
        f"Groups of {what} that look alike",
        f"groups of {what} with equal quasi-identifiers, the smallest of {number(classes.smallest)}",
        tuple(classes.sizes.items()),
        (f"{what} that look alike", "groups"),
    )


def _classes(one: PublishedClasses) -> Picture:
    names = ", ".join(one.attributes)
    rows = tuple((row.records, row.classes) for row in one.sizes)
    title, what = f"Classes of {names}, as published", counted(one.classes, "class", "classes")
    return _sizes(f"classes-of-{names}", title, what, rows, ("records in a class", "classes"))


def _sizes(name: str, title: str, what: str, rows: tuple[tuple[str, int], ...], heads: tuple[str, str]) -> Picture:
    band, most = max(rows, key=lambda row: row[1], default=("0", 0))
    records = "1 record" if band == "1" else f"{band} records"
    alt = f"Bars: {what}, by how many records they have. Most common: {records} ({number(most)} of them)."
    labels, counts = [row[0] for row in rows], [row[1] for row in rows]
    drawn = partial(draw_counts, labels, counts, title=title, of=heads)
    return Picture("classes", name, title, alt, heads, rows, drawn)


def gauge_pictures(risks: Sequence[Gauge]) -> list[Picture]:
    """Risks with their thresholds: one picture, or several when there are many."""
    return [_gauges(part, title) for part, title in _cut(risks, "Risks and thresholds")]


def _gauges(risks: Sequence[Gauge], title: str) -> Picture:
    above = [f"{risk.name} ({percent(risk.value)})" for risk in risks if risk.state == "above"]
    alt = f"{counted(len(risks), 'gauge')} from 0 to 100 %, each with its threshold where there is one. " + (
        f"Above the threshold: {'; '.join(above)}." if above else "None is above its threshold."
    )
    rows = tuple((r.name, r.value, r.threshold, r.threshold_is, _STATES[r.state], r.meaning) for r in risks)
    heads = ("risk", "value", "threshold", "threshold is", "state", "meaning")
    drawn = partial(
        draw_gauges,
        [_drawn_risk(risk) for risk in risks],
        title="Risks and their thresholds",
        value="value",
        above="above its threshold",
        threshold="threshold",
    )
    return Picture("risks", "risks", title, alt, heads, rows, drawn)


def _drawn_risk(risk: Gauge) -> DrawnGauge:
    if risk.state == "compare":
        words = f"{percent(risk.threshold)} without the release"
        return DrawnGauge(risk.name, risk.value, guessing=risk.threshold, words=words)
    return DrawnGauge(risk.name, risk.value, risk.threshold, above=risk.state == "above", words=_STATES[risk.state])


def attack_pictures(report: AttackReport) -> list[Picture]:
    """What attackers achieve or expect: one picture, several when there are many, none when there are none."""
    scored = all(result.scored for result in report.results)
    return [_attacks(part, title, scored=scored) for part, title in _cut(report.ordered, "Attacks")]


def _attacks(results: Sequence[AttackResult], title: str, *, scored: bool) -> Picture:
    best = max(results, key=lambda result: result.success)
    verb, each = ("names", "each names") if scored else ("expects to name", "each expects to name")
    alt = (
        f"{counted(len(results), 'attack')}: how many values {each} correctly, what the release promises, and what "
        f"guessing reaches. The strongest, {best.attack} on {best.attribute!r}, {verb} {percent(best.success)} "
        "correctly."
    )
    rows = tuple(
        (
            result.attack,
            result.attribute,
            result.found,
            result.success,
            *(result.interval or (None, None)),
            result.claim,
            result.baseline,
            result.reference,
            "broken" if result.broken else "not broken" if result.scored else "expected",
        )
        for result in results
    )
    heads = (
        *("attack", "attribute", "records", "right", "low (95 %)", "high (95 %)"),
        *("promised", "guessing", "without this knowledge", "outcome"),
    )
    drawn = partial(
        draw_gauges,
        [_drawn_attack(result) for result in results],
        title="What attackers achieve" if scored else "What attackers expect to achieve",
        value="named correctly" if scored else "expected to be named correctly",
        above="beats the promise" if scored else "expects more than is promised",
        threshold="promised at most",
    )
    return Picture("attacks", "attacks", title, alt, heads, rows, drawn)


def _drawn_attack(result: AttackResult) -> DrawnGauge:
    expects_more = not result.scored and result.claim is not None and result.success > result.claim + _ROUNDING
    return DrawnGauge(
        f"{result.attack}: {result.attribute}",
        result.success,
        result.claim,
        guessing=result.baseline,
        interval=result.interval,
        above=result.broken or expects_more,
    )


def _cut(entries: Sequence[Entry], title: str) -> Iterator[tuple[Sequence[Entry], str]]:
    """Parts of as many entries as one picture can show, each with its title."""
    starts = range(0, len(entries), MOST_GAUGES)
    for place, start in enumerate(starts, start=1):
        yield entries[start : start + MOST_GAUGES], title if len(starts) == 1 else f"{title} ({place} of {len(starts)})"
