"""Tables of a report, with a caption and heads that screen readers understand; every text is escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.base.html import bullets, escape, table
from ldiversity.base.numbers import counted, decimal, number, percent
from ldiversity.faces.report._phrases import short

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport

__all__ = ["data_table", "not_run", "numbers_of", "paragraph"]

_MOST_ROWS: Final = 120
_COUNTS: Final = ("count", "records", "people", "groups", "classes")
_LOOKS: Final = {
    "alarm": "border:4px solid #a40000;background:#fff1f1;color:#a40000;font-weight:700;padding:1rem 1.25rem",
    "bad": "color:#a40000;font-weight:600",
    "good": "color:#1a5e1a;font-weight:600",
    "note": "border-left:4px solid #0072b2;background:#f0f7fc;color:#1b1b1b;padding:.6rem 1rem",
}
"""Written beside each text, because notebooks show a page without its head."""


def paragraph(kind: str, text: str) -> str:
    """Give a paragraph that looks like what it says: ``alarm``, ``bad``, ``good`` or ``note``.

    Examples
    --------
    >>> paragraph("bad", "a < b")
    '<p class="bad" style="color:#a40000;font-weight:600">a &lt; b</p>'
    """
    alert = ' role="alert"' if kind == "alarm" else ""
    return f'<p class="{kind}"{alert} style="{_LOOKS[kind]}">{escape(text)}</p>'


def not_run(report: AttackReport) -> str:
    """Give the attacks that were not run, folded up; nothing when all were."""
    skipped = bullets(map(str, report.skipped))
    return f"<details><summary>Not run</summary>{skipped}</details>" if report.skipped else ""


def data_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()) -> str:
    """Give a table that may be wider than the page; `numbers` are the columns that hold numbers."""
    return f"<div class=scroll>{table(heads, rows, numbers, caption=caption)}</div>"


def numbers_of(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Give the table of a picture, folded up."""
    numbers = {place for place in range(len(heads)) if rows and isinstance(rows[0][place], int | float | None)}
    cells = [[_written(value, head) for value, head in zip(row, heads, strict=True)] for row in rows[:_MOST_ROWS]]
    more = (
        ""
        if len(rows) <= _MOST_ROWS
        else f"<p>The first {_MOST_ROWS} of {number(len(rows))} rows; <code>ldiversity report --pictures "
        "FOLDER</code>, at the end of this page, writes all of them as CSV.</p>"
    )
    return (
        f"<details><summary>The numbers of this picture ({counted(len(rows), 'row')})</summary>"
        f"{data_table(short(title), heads, cells, numbers)}{more}</details>"
    )


def _written(value: object, head: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return short(value)
    counts = any(word in head for word in _COUNTS)
    if isinstance(value, float):
        return decimal(value) if counts else percent(value)
    return number(value) if isinstance(value, int) else str(value)
