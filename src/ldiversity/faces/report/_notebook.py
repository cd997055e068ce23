"""Estimates, releases, audits and attacks as HTML for notebooks: every text escaped, no script, no network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ldiversity.base.html import bullets, escape, table
from ldiversity.base.numbers import level as level_text
from ldiversity.base.numbers import percent
from ldiversity.estimation import Estimate
from ldiversity.evaluation.attacks import AttackReport
from ldiversity.evaluation.audit import Audit
from ldiversity.evaluation.audit import fragment as audit_fragment
from ldiversity.faces.report._estimates import cell_name, draw_estimate, estimate_title, holds_for_certain, value_name
from ldiversity.faces.report._report_phrases import type_words
from ldiversity.faces.report._report_pictures import attack_pictures, gauge_pictures, look_alike_picture
from ldiversity.faces.report._report_risks import gauges
from ldiversity.faces.report._report_tables import paragraph
from ldiversity.faces.report._report_words import not_protected, release_facts
from ldiversity.pictures import embedded_picture, save_figure, shorten
from ldiversity.release import Release

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from ldiversity.pictures import Picture

__all__ = ["fragment", "save"]

_MOST_ROWS: Final = 60
_MOST_LETTERS: Final = 60


def fragment(shown: object) -> str:
    """Give what a notebook shows.

    Parameters
    ----------
    shown
        An `Estimate`, a `Release`, an `Audit` or an `AttackReport`.
    """
    if isinstance(shown, Estimate):
        return _estimate(shown)
    if isinstance(shown, Release):
        return _release(shown)
    if isinstance(shown, AttackReport):
        return _attacks(shown)
    if isinstance(shown, Audit):
        return _audit(shown)
    raise TypeError(type(shown).__name__)


def save(shown: object, path: str | os.PathLike[str]) -> Path:
    """Write the picture that a notebook shows."""
    if not isinstance(shown, Estimate):
        raise TypeError(type(shown).__name__)
    return save_figure(draw_estimate(shown), path)


def _estimate(estimate: Estimate) -> str:
    facts = estimate.to_dict()
    title = estimate_title(estimate)
    if not facts["cells"]:
        return f"<p>{escape(title)}: no records.</p>{bullets(facts['caveats'])}"
    level = "for certain" if holds_for_certain(estimate) else level_text(facts["confidence"])
    heads = ["cell", "records", "value", "count", "share", f"low ({level})", f"high ({level})", "note"]
    rows = [
        [
            _short(cell_name(cell)),
            f"{cell['records']:,.0f}",
            _short(value_name(value)),
            _number(value["count"]),
            percent(value["share"]),
            _number(value["low"]),
            _number(value["high"]),
            cell["note"],
        ]
        for cell in facts["cells"]
        for value in cell["values"]
    ]
    numbers = table(heads, rows[:_MOST_ROWS], {1, 3, 4, 5, 6})
    more = f"<p>The first {_MOST_ROWS} of {len(rows):,} rows; to_frame() has all.</p>" if len(rows) > _MOST_ROWS else ""
    alt = f"{title}: shares with intervals ({level}); the table below has the numbers."
    picture = embedded_picture(draw_estimate(estimate), alt)
    return (
        f"<p><strong>{escape(title)}</strong>, {facts['n_records']:,} records</p>{picture}"
        f"<details><summary>The numbers</summary>{numbers}{more}</details>{bullets(facts['caveats'])}"
    )


def _release(release: Release) -> str:
    facts = release_facts(release, "", release.sensitive)
    left = f"; {facts['suppressed']:,} were left out" if facts["suppressed"] else ""
    warnings = "".join(paragraph("bad", f"The publisher warns: {text}") for text in facts["warnings"])
    columns = [
        [_short(one["name"]), one["role"], type_words(one["type"]), one["published"]] for one in facts["columns"]
    ]
    return (
        f"<p><strong>Release of {facts['records']:,} records{left}.</strong> {escape(facts['meaning'])}</p>{warnings}"
        f"<p>Promised:</p>{bullets(claim['statement'] for claim in facts['claims'])}"
        f"{table(['column', 'role', 'type', 'published'], columns)}"
        f"<details><summary>What is not protected</summary>{bullets(not_protected(release))}</details>"
    )


def _attacks(report: AttackReport) -> str:
    facts = report.to_dict()
    skipped = [f"{one['attack']} on {one['attribute']!r}: {one['reason']}." for one in facts["skipped"]]
    not_run = f"<details><summary>Not run</summary>{bullets(skipped)}</details>" if skipped else ""
    return f"{_drawn(attack_pictures(facts['results']))}{bullets(facts['verdict'])}{not_run}"


def _audit(audit: Audit) -> str:
    facts = audit.to_dict()
    alike = [look_alike_picture(facts["classes"])] if facts["quasi"] else []
    return audit_fragment(facts) + _drawn([*alike, *gauge_pictures(gauges(facts, {}, {}))])


def _drawn(pictures: Iterable[Picture]) -> str:
    return "".join(embedded_picture(picture.draw(), picture.alt) for picture in pictures)


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:,.1f}"


def _short(text: Any) -> str:  # noqa: ANN401 - any label
    return shorten(str(text), _MOST_LETTERS)
