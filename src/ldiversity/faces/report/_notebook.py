"""Estimates, releases, audits and attacks as HTML for notebooks: every text escaped, no script, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.base.html import bullets, escape, table
from ldiversity.base.numbers import counted, decimal, level, number, percent
from ldiversity.estimation import Estimate
from ldiversity.evaluation.attacks import AttackReport
from ldiversity.evaluation.audit import Audit
from ldiversity.evaluation.audit import fragment as audit_fragment
from ldiversity.faces.report._phrases import type_words
from ldiversity.faces.report._pictures import attack_pictures, gauge_pictures, look_alike_picture
from ldiversity.faces.report._published import published
from ldiversity.faces.report._risks import gauges
from ldiversity.faces.report._tables import not_run, paragraph
from ldiversity.pictures import embedded_picture, shorten
from ldiversity.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ldiversity.pictures import Picture

__all__ = ["fragment"]

_MOST_ROWS: Final = 60
_MOST_LETTERS: Final = 60


def fragment(shown: object) -> str:
    """Give what a notebook shows of an `Estimate`, a `Release`, an `Audit` or an `AttackReport`."""
    if isinstance(shown, Estimate):
        return _estimate(shown)
    if isinstance(shown, Release):
        return _release(shown)
    if isinstance(shown, AttackReport):
        return _attacks(shown)
    if isinstance(shown, Audit):
        return _audit(shown)
    raise TypeError(type(shown).__name__)


def _estimate(estimate: Estimate) -> str:
    cells, title, caveats = estimate.cells, estimate.title, bullets(estimate.caveats)
    if not cells:
        return f"<p>{escape(title)}: no records.</p>{caveats}"
    said = "for certain" if estimate.certain else level(estimate.confidence)
    heads = ["cell", "records", "value", "count", "share", f"low ({said})", f"high ({said})", "note"]
    rows = [
        [
            _short(cell.name),
            number(round(cell.records)),
            _short(value.name),
            decimal(value.count),
            percent(value.share),
            decimal(value.low),
            decimal(value.high),
            cell.note,
        ]
        for cell in cells
        for value in cell.values
    ]
    numbers = table(heads, rows[:_MOST_ROWS], {1, 3, 4, 5, 6})
    first = f"<p>The first {_MOST_ROWS} of {number(len(rows))} rows; to_frame() has all.</p>"
    more = first if len(rows) > _MOST_ROWS else ""
    alt = f"{title}: shares with intervals ({said}); the table below has the numbers."
    return (
        f"<p><strong>{escape(title)}</strong>, {counted(estimate.n_records, 'record')}</p>"
        f"{embedded_picture(estimate.figure(), alt)}"
        f"<details><summary>The numbers</summary>{numbers}{more}</details>{caveats}"
    )


def _release(release: Release) -> str:
    told = published(release, "", release.sensitive)
    left = (
        f"; {number(told.suppressed)} {'was' if told.suppressed == 1 else 'were'} left out" if told.suppressed else ""
    )
    warnings = "".join(paragraph("bad", f"The publisher warns: {text}") for text in told.warnings)
    columns = [[_short(one.name), one.role, type_words(one.type), one.published] for one in told.columns]
    return (
        f"<p><strong>Release of {counted(told.records, 'record')}{left}.</strong> {escape(told.meaning)}</p>{warnings}"
        f"<p>Promised:</p>{bullets(claim.statement for claim in told.claims)}"
        f"{table(['column', 'role', 'type', 'published'], columns)}"
        f"<details><summary>What is not protected</summary>{bullets(release.not_protected)}</details>"
    )


def _attacks(report: AttackReport) -> str:
    return f"{_drawn(attack_pictures(report))}{bullets(report.verdict)}{not_run(report)}"


def _audit(audit: Audit) -> str:
    alike = [look_alike_picture(audit)] if audit.quasi else []
    return audit_fragment(audit) + _drawn([*alike, *gauge_pictures(gauges(audit))])


def _drawn(pictures: Iterable[Picture]) -> str:
    return "".join(embedded_picture(picture.draw(), picture.alt) for picture in pictures)


def _short(text: Any) -> str:  # noqa: ANN401 - any label
    return shorten(str(text), _MOST_LETTERS)
