"""The pictures of a report, each with its table and its words for those who do not see it, from the report's facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ldiversity.base.numbers import counted, percent
from ldiversity.faces.report._report_marks import (
    MOST_ATTACKS,
    MOST_GAUGES,
    draw_attacks,
    draw_counts,
    draw_gauges,
    sorted_attacks,
)
from ldiversity.faces.report._report_shares import contingency_picture, distribution_picture
from ldiversity.pictures import Picture

__all__ = ["attack_pictures", "gauge_pictures", "look_alike_picture", "pictures"]

_STATES: Final = {
    "above": "above the threshold",
    "within": "within the threshold",
    "compare": "to compare",
    "no threshold": "no promise to compare with",
}


def pictures(facts: Mapping[str, Any]) -> tuple[Picture, ...]:
    """Give all pictures of a report, in its order; nothing is drawn yet.

    Those of the holder have names of their own: no folder mixes them up with what may be handed out.

    Parameters
    ----------
    facts
        What `Report.to_dict` gives.
    """
    found = [
        *map(distribution_picture, facts["distributions"]),
        *map(contingency_picture, facts["contingency"]),
        *([look_alike_picture(facts["audit"]["classes"])] if facts["audit"]["quasi"] else []),
        *map(_classes, facts["class_sizes"]),
        *gauge_pictures(facts["risks"]),
        *(attack_pictures(facts["attacks"]["results"]) if facts["attacks"] else []),
    ]
    return tuple(_numbered(found, "holder-" if facts["audience"] == "holder" else ""))


def _numbered(found: Sequence[Picture], prefix: str) -> Iterator[Picture]:
    for number, picture in enumerate(found, start=1):
        stem = re.sub(r"[^a-z0-9]+", "-", picture.name.lower()).strip("-")[:60]
        yield replace(picture, name=f"{prefix}{number:02d}-{stem}")


def look_alike_picture(classes: Mapping[str, Any]) -> Picture:
    """How many people look alike, from ``Audit.to_dict()["classes"]``."""
    return _sizes(
        "people-who-look-alike",
        "Groups of people who look alike",
        f"groups of people with equal quasi-identifiers, the smallest of {classes['smallest']:,}",
        tuple((band, count) for band, count in classes["sizes"].items()),
        ("people who look alike", "groups"),
    )


def _classes(one: Mapping[str, Any]) -> Picture:
    names = ", ".join(one["attributes"])
    rows = tuple((row["records"], row["classes"]) for row in one["sizes"])
    title, what = f"Classes of {names}, as published", counted(one["classes"], "class", "classes")
    return _sizes(f"classes-of-{names}", title, what, rows, ("records in a class", "classes"))


def _sizes(name: str, title: str, what: str, rows: tuple[tuple[str, int], ...], heads: tuple[str, str]) -> Picture:
    band, number = max(rows, key=lambda row: row[1], default=("0", 0))
    records = "1 record" if band == "1" else f"{band} records"
    alt = f"Bars: {what}, by how many records they have. Most common: {records} ({number:,} of them)."
    labels, counts = [row[0] for row in rows], [row[1] for row in rows]
    drawn = partial(draw_counts, labels, counts, title=title, of=heads)
    return Picture("classes", name, title, alt, heads, rows, drawn)


def gauge_pictures(risks: Sequence[Mapping[str, Any]]) -> list[Picture]:
    """Risks with their thresholds: one picture, or several when there are many."""
    parts = _cut(risks, MOST_GAUGES)
    return [_gauges(part, _numbering(number, len(parts))) for number, part in enumerate(parts, start=1)]


def _gauges(risks: Sequence[Mapping[str, Any]], number: str) -> Picture:
    above = [f"{_risk_name(risk)} ({percent(risk['value'])})" for risk in risks if risk["state"] == "above"]
    alt = f"{counted(len(risks), 'gauge')} from 0 to 100 %, each with its threshold where there is one. " + (
        f"Above the threshold: {'; '.join(above)}." if above else "None is above its threshold."
    )
    rows = tuple(
        (
            _risk_name(risk),
            risk["value"],
            risk["threshold"],
            risk["threshold_is"],
            _STATES[risk["state"]],
            risk["meaning"],
        )
        for risk in risks
    )
    heads = ("risk", "value", "threshold", "threshold is", "state", "meaning")
    drawn = [(_risk_name(risk), risk["value"], risk["threshold"], risk["state"], _risk_words(risk)) for risk in risks]
    return Picture("risks", "risks", f"Risks and thresholds{number}", alt, heads, rows, partial(draw_gauges, drawn))


def _risk_name(risk: Mapping[str, Any]) -> str:
    return str(risk["risk"] if risk["attribute"] is None else f"{risk['attribute']}: {risk['risk']}")


def _risk_words(risk: Mapping[str, Any]) -> str:
    if risk["state"] == "compare":
        return f"{percent(risk['threshold'])} without the release"
    return _STATES[risk["state"]]


def attack_pictures(results: Sequence[Mapping[str, Any]]) -> list[Picture]:
    """What attackers achieve or expect: one picture, several when there are many, none when there are none."""
    scored = all(result["scored"] for result in results)
    parts = _cut(sorted_attacks(results), MOST_ATTACKS)
    return [_attacks(part, _numbering(number, len(parts)), scored=scored) for number, part in enumerate(parts, start=1)]


def _attacks(results: Sequence[Mapping[str, Any]], number: str, *, scored: bool) -> Picture:
    best = max(results, key=lambda result: result["success"])
    verb, each = ("names", "each names") if scored else ("expects to name", "each expects to name")
    alt = (
        f"{counted(len(results), 'attack')}: how many values {each} rightly, what the release promises, and what "
        f"guessing reaches. The strongest, {best['attack']} on {best['attribute']!r}, {verb} "
        f"{percent(best['success'])} rightly."
    )
    rows = tuple(
        (
            result["attack"],
            result["attribute"],
            result["found"],
            result["success"],
            *(result["interval"] or (None, None)),
            result["claim"],
            result["baseline"],
            result["reference"],
            "broken" if result["broken"] else "not broken" if result["scored"] else "expected",
        )
        for result in results
    )
    heads = (
        *("attack", "attribute", "people", "right", "low (95 %)", "high (95 %)"),
        *("promised", "guessing", "without this knowledge", "outcome"),
    )
    return Picture(
        "attacks", "attacks", f"Attacks{number}", alt, heads, rows, partial(draw_attacks, results, scored=scored)
    )


def _cut(entries: Sequence[Mapping[str, Any]], most: int) -> list[Sequence[Mapping[str, Any]]]:
    return [entries[start : start + most] for start in range(0, len(entries), most)]


def _numbering(number: int, of: int) -> str:
    return "" if of == 1 else f" ({number} of {of})"
