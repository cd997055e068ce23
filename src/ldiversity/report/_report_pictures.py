"""The pictures of a report, each with its table and its words for those who do not see it, from the report's facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ldiversity.report import _heat
from ldiversity.report._figures import shorten, style, write_title
from ldiversity.report._grid import Grid
from ldiversity.report._plots import plot_estimate
from ldiversity.report._report_marks import draw_attacks, draw_counts, draw_gauges

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldiversity._types import FloatArray

__all__ = ["Picture", "pictures"]


@dataclass(frozen=True)
class Picture:
    """A picture, its table, and what it shows in words.

    Attributes
    ----------
    part
        The part of the report where it stands: ``"distributions"``, ``"contingency"``, ``"classes"``, ``"risks"`` or
        ``"attacks"``.
    name
        The stem of its files.
    title, alt
        What it shows, and the same in a sentence or two.
    heads, rows
        Its table.
    draw
        Draws it.
    """

    part: str
    name: str
    title: str
    alt: str
    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    draw: Callable[[], Figure]


def pictures(facts: Mapping[str, Any]) -> tuple[Picture, ...]:
    """Give all pictures of a report, in its order; nothing is drawn yet.

    Parameters
    ----------
    facts
        What `Report.to_dict` gives.
    """
    found = [
        *map(_distribution, facts["distributions"]),
        *map(_contingency, facts["contingency"]),
        *_classes(facts),
        *([_gauges(facts["risks"])] if facts["risks"] else []),
        *([_attacks(facts["attacks"])] if facts["attacks"] and facts["attacks"]["results"] else []),
    ]
    return tuple(_numbered(found))


def _numbered(found: Sequence[Picture]) -> Iterator[Picture]:
    for number, picture in enumerate(found, start=1):
        stem = re.sub(r"[^a-z0-9]+", "-", picture.name.lower()).strip("-")[:60]
        yield replace(picture, name=f"{number:02d}-{stem}")


def _distribution(facts: Mapping[str, Any]) -> Picture:
    name, values, level = facts["attribute"], facts["values"], f"{100 * facts['confidence']:g} %"
    holder = bool(values) and "true_share" in values[0]
    top = max(values, key=lambda value: value["share"] or 0.0)
    rest = facts["left_out"]
    alt = (
        f"Bars: the estimated share of each of {len(values)} values of {name!r} among {facts['records']:,} records, "
        f"with {level} intervals{' and the true shares' if holder else ''}. The most frequent is "
        f"{_short(top['value'])!r} with {_percent(top['share'])} ({_percent(top['low'])} to {_percent(top['high'])})."
    )
    if rest["values"]:
        alt += f" {rest['values']:,} further values, together {_percent(rest['share'])}, are not drawn."
    heads = ("value", "estimated count", "estimated share", f"low ({level})", f"high ({level})")
    rows = tuple(
        (
            v["value"],
            v["count"],
            v["share"],
            v["low"],
            v["high"],
            *([v["true_count"], v["true_share"]] if holder else []),
        )
        for v in values
    )
    return Picture(
        "distributions",
        f"distribution-{name}",
        f"{name}: before and after" if holder else f"{name}, estimated from the release",
        alt,
        (*heads, *(("true count", "true share") if holder else ())),
        rows,
        partial(_draw_distribution, facts, holder=holder),
    )


def _draw_distribution(facts: Mapping[str, Any], *, holder: bool) -> Figure:
    values = facts["values"]
    return plot_estimate(
        ["all records"],
        [value["value"] for value in values],
        _array([[value["share"] for value in values]]),
        _array([[value["low"] for value in values]]),
        _array([[value["high"] for value in values]]),
        truth=_array([[value["true_share"] for value in values]]) if holder else None,
        records=[facts["records"]],
        confidence=facts["confidence"],
        title=f"{facts['attribute']}: how often each value occurs",
    )


def _contingency(facts: Mapping[str, Any]) -> Picture:
    name, by, cells = facts["attribute"], " and ".join(facts["by"]), facts["cells"]
    holder = bool(cells) and "true_share" in cells[0]
    alt = (
        f"Heat map: the estimated share of {len(facts['values'])} values of {name!r} (columns) in {len(cells)} cells "
        f"by {by} (rows); darker is more frequent.{' A second map shows the true shares.' if holder else ''}"
    )
    strongest = max(
        ((cell, place) for cell in cells for place, share in enumerate(cell["share"]) if share is not None),
        key=lambda at: at[0]["share"][at[1]],
        default=None,
    )
    if strongest is not None:
        cell, place = strongest
        alt += (
            f" The largest share is that of {_short(facts['values'][place])!r} in {_short(cell['cell'])!r}: "
            f"{_percent(cell['share'][place])}."
        )
    heads = ("cell", "records", "value", "estimated share", "low", "high", *(("true share",) if holder else ()))
    rows = tuple(
        (
            cell["cell"],
            cell["records"],
            value,
            cell["share"][place],
            cell["low"][place],
            cell["high"][place],
            *([cell["true_share"][place]] if holder else []),
        )
        for cell in cells
        for place, value in enumerate(facts["values"])
    )
    return Picture(
        "contingency",
        f"{name}-by-{'-'.join(facts['by'])}",
        f"{name} by {by}",
        alt,
        heads,
        rows,
        partial(_draw_contingency, facts, holder=holder),
    )


def _draw_contingency(facts: Mapping[str, Any], *, holder: bool) -> Figure:
    cells = facts["cells"]
    grid = Grid.of(
        [cell["cell"] for cell in cells],
        facts["values"],
        _array([cell["share"] for cell in cells]),
        low=_array([cell["low"] for cell in cells]),
        high=_array([cell["high"] for cell in cells]),
        truth=_array([cell["true_share"] for cell in cells]) if holder else None,
        marked=[bool(cell["note"]) for cell in cells],
        records=None,
        confidence=facts["confidence"],
    )
    with style():
        figure = _heat.draw(grid)
        write_title(figure, f"{facts['attribute']} by {' and '.join(facts['by'])}")
    return figure


def _classes(facts: Mapping[str, Any]) -> list[Picture]:
    found = []
    alike = facts["audit"]["classes"]
    if facts["audit"]["quasi"]:
        rows = tuple((band, count) for band, count in alike["sizes"].items())
        found.append(
            _sizes(
                "people-who-look-alike",
                "How many people look alike",
                f"groups of people with equal quasi-identifiers; the smallest has {alike['smallest']:,}",
                rows,
            )
        )
    for one in facts["class_sizes"]:
        names = ", ".join(one["attributes"])
        rows = tuple((row["records"], row["classes"]) for row in one["sizes"])
        found.append(
            _sizes(f"classes-of-{names}", f"Classes of {names}, as published", f"{one['classes']:,} classes", rows)
        )
    return found


def _sizes(name: str, title: str, what: str, rows: tuple[tuple[str, int], ...]) -> Picture:
    most = max(rows, key=lambda row: row[1], default=("-", 0))
    alt = f"Bars: {what}, by how many records they have. Most common: {most[0]} records ({most[1]:,} of them)."
    labels, counts = [row[0] for row in rows], [row[1] for row in rows]
    heads = ("records in a class", "classes")
    return Picture("classes", name, title, alt, heads, rows, partial(draw_counts, labels, counts, title=title))


def _gauges(risks: Sequence[Mapping[str, Any]]) -> Picture:
    above = [risk for risk in risks if risk["state"] == "above"]
    alt = f"{len(risks)} gauges from 0 to 100 %, each with its threshold where there is one. " + (
        "Above the threshold: " + "; ".join(f"{_risk_name(risk)} ({_percent(risk['value'])})" for risk in above) + "."
        if above
        else "None is above its threshold."
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
    return Picture("risks", "risks", "Risks and thresholds", alt, heads, rows, partial(draw_gauges, drawn))


_STATES = {
    "above": "above the threshold",
    "within": "within the threshold",
    "compare": "to compare",
    "no threshold": "nothing promised",
}


def _risk_name(risk: Mapping[str, Any]) -> str:
    return str(risk["risk"] if risk["attribute"] is None else f"{risk['attribute']}: {risk['risk']}")


def _risk_words(risk: Mapping[str, Any]) -> str:
    if risk["state"] == "compare":
        return f"{_percent(risk['threshold'])} without the release"
    return _STATES[risk["state"]]


def _attacks(facts: Mapping[str, Any]) -> Picture:
    results = facts["results"]
    scored = all(result["scored"] for result in results)
    best = max(results, key=lambda result: result["success"])
    verb = "names" if scored else "expects to name"
    alt = (
        f"{len(results)} attacks: how many values each {'names' if scored else 'expects to name'} rightly, what the "
        f"release promises, and what guessing reaches. The strongest, {best['attack']} on {best['attribute']!r}, "
        f"{verb} {_percent(best['success'])} rightly."
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
            "broken" if result["broken"] else "not broken" if result["scored"] else "expected",
        )
        for result in results
    )
    heads = ("attack", "attribute", "people", "right", "low (95 %)", "high (95 %)", "promised", "guessing", "outcome")
    return Picture("attacks", "attacks", "Attacks", alt, heads, rows, partial(draw_attacks, results, scored=scored))


def _array(rows: Sequence[Sequence[float | None]]) -> FloatArray:
    return np.array([[np.nan if share is None else share for share in row] for row in rows], dtype=np.float64)


def _short(text: str) -> str:
    return shorten(text, 60)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.3g} %"
