"""The first screen of a page: the summary box, and one section for each of the three questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ldiversity.base.html import bullets, escape
from ldiversity.base.numbers import percent

if TYPE_CHECKING:
    from ldiversity.faces.report._criteria import AnsweredCriterion
    from ldiversity.faces.report._report import Report
    from ldiversity.faces.report._summary import Verdict, WorstFigure

__all__ = ["box", "conditions", "criterion"]

_COLORS: Final[dict[Verdict, tuple[str, str, str]]] = {
    "stop": ("#a40000", "#fff1f1", "Do not hand out"),
    "decide": ("#8a5a00", "#fff8e6", "To be decided"),
    "within": ("#1a5e1a", "#f0f8f0", "Within all limits"),
}
"""The color of the frame, of the ground, and the verdict in a word. Written beside each text, for notebooks."""
_FIGURES: Final = {"broken": "#a40000", "above": "#a40000", "within": "#1a5e1a"}


def box(report: Report) -> str:
    """Give the summary box: what, for whom, the verdict, the worst figures, and how to recognize the release."""
    found = report.summary
    color, ground, word = _COLORS[found.verdict]
    known = "not read from its folder" if found.checksum is None else f"{found.release_id} (SHA-256 {found.checksum})"
    facts = [
        ("What", found.what),
        ("Who may receive it", found.recipients),
        ("Date of this report", f"{found.date}, made with ldiversity {report.package}"),
        ("Release", known),
    ]
    rows = "".join(f"<dt><strong>{escape(head)}</strong></dt><dd>{escape(text)}</dd>" for head, text in facts)
    return (
        f'<section id="summary" class="box" style="border:3px solid {color};background:{ground};color:#1b1b1b;'
        'padding:.5rem 1.25rem;margin:1rem 0">'
        f'<p style="color:{color};font-size:1.3rem;font-weight:700;margin:.5rem 0">'
        f"{escape(word)}</p><p><strong>{escape(found.sentence)}</strong></p>{_figures(found.worst)}"
        f"{bullets(_others(report))}<dl>{rows}</dl></section>"
    )


def criterion(one: AnsweredCriterion) -> str:
    """Give the section of one question."""
    return (
        f"<p><strong>{escape(one.question)}</strong></p><p>Measured:</p>"
        f"{bullets(one.measured or ['Nothing.'])}<p>Still open:</p>{bullets(one.open)}"
    )


def conditions(report: Report) -> str:
    """Give what the holder says about recipients and agreements."""
    said = report.committee
    if said is None:
        return (
            "<p>The holder did not say who may receive the release, or under which conditions; "
            "<code>--committee FILE</code> adds it.</p>"
        )
    facts: list[tuple[str, Iterable[str]]] = [
        ("Recipient", [said.recipient]),
        ("Access", [report.summary.recipients.removeprefix(f"{said.recipient}. ")]),
        ("Purpose", [said.purpose]),
        ("Agreements", said.agreements),
        ("Safeguards", said.safeguards),
        ("Decided by", [said.decided_by]),
        ("Contact", [said.contact]),
        ("To be looked at again on", [said.review_date]),
    ]
    rows = [(head, [text for text in texts if text]) for head, texts in facts]
    written = "".join(
        f"<dt><strong>{escape(head)}</strong></dt>" + "".join(f"<dd>{escape(text)}</dd>" for text in texts)
        for head, texts in rows
        if texts
    )
    return f"<p>In the holder's words; nothing of it was checked.</p><dl>{written}</dl>"


def _figures(worst: Iterable[WorstFigure]) -> str:
    """The worst figures as large numbers, each with its limit."""
    parts = []
    for one in worst:
        color = _FIGURES.get(one.state, "#8a5a00")
        parts.append(
            f'<li style="margin:.4rem 0"><span style="color:{color};font-size:1.3rem;font-weight:700">'
            f"{escape(percent(one.value))}</span> {escape(one.sentence)}</li>"
        )
    return f'<ul style="list-style:none;padding-left:0">{"".join(parts)}</ul>'


def _others(report: Report) -> list[str]:
    """The reasons that no figure of the box says already."""
    said = {one.sentence for one in report.summary.worst}
    return [text for text in report.summary.reasons if text not in said]
