"""Tables and pictures of a page, as many as fit below a megabyte; every text is escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.base.html import bullets, escape, table
from ldiversity.base.numbers import counted, decimal, number, percent, percent_at_most
from ldiversity.faces.report._phrases import short
from ldiversity.faces.report._pictures import pictures
from ldiversity.pictures import svg_source

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport
    from ldiversity.faces.report._report import Report
    from ldiversity.pictures import Picture

__all__ = ["data_table", "figures", "not_run", "paragraph"]

_MOST_ROWS: Final = 120
_COUNTS: Final = ("count", "records", "people", "groups", "classes")
_LOOKS: Final = {
    "alarm": "border:4px solid #a40000;background:#fff1f1;color:#a40000;font-weight:700;padding:1rem 1.25rem",
    "bad": "color:#a40000;font-weight:600",
    "good": "color:#1a5e1a;font-weight:600",
    "note": "border-left:4px solid #0072b2;background:#f0f7fc;color:#1b1b1b;padding:.6rem 1rem",
}
"""Written beside each text, because notebooks show a page without its head."""

_MOST_BYTES: Final = 950_000
"""All of a page but its head; further pictures and tables are named, and left to the command that writes them."""

_LEAST_BYTES: Final = 10_000
"""No picture is smaller."""

_FIRST: Final = ("risks", "attacks", "classes", "distributions", "contingency")
"""Which parts get room first: there are few pictures of risks, and nothing else says what they say."""


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


_BOUNDS: Final = ("promised", "threshold")
"""Heads of columns of upper bounds, which are rounded up as in texts."""


def data_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()) -> str:
    """Give a table that may be wider than the page; `numbers` are the columns that hold numbers."""
    return f"<div class=scroll>{table(heads, rows, numbers, caption=caption)}</div>"


def _numbers_of(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
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
        return decimal(value) if counts else percent_at_most(value) if head in _BOUNDS else percent(value)
    return number(value) if isinstance(value, int) else str(value)


def figures(report: Report, *, taken: int) -> dict[str, str]:
    """The pictures of each part, each with its table, as far as there is room: texts have `taken` so many bytes."""
    drawn = pictures(report)
    order = sorted(range(len(drawn)), key=lambda place: _FIRST.index(drawn[place].part))
    tables, images = dict.fromkeys(order, ""), dict.fromkeys(order, "")
    whole = room = max(_MOST_BYTES - taken, 0)
    # Tables take at most half of the room, so that pictures get the other half.
    for place in order:
        made = _numbers_of(drawn[place].title, drawn[place].heads, drawn[place].rows)
        if room - _size(made) > whole // 2:
            tables[place] = made
            room -= _size(made)
    for place in order:
        made = _image(drawn[place]) if room > _LEAST_BYTES else ""
        if _size(made) <= room:
            images[place] = made
            room -= _size(made)
    parts: dict[str, str] = {}
    for place, picture in enumerate(drawn):
        parts[picture.part] = parts.get(picture.part, "") + _figure(picture, images[place], tables[place])
    return parts


def _figure(picture: Picture, image: str, table: str) -> str:
    gone = [name for name, made in (("picture", image), ("table", table)) if not made]
    if gone:
        verb, them = ("is", "it") if len(gone) == 1 else ("are", "them")
        image += (
            f"<p>The {' and the '.join(gone)} {verb} left out to keep this page small: "
            f"<code>ldiversity report --pictures FOLDER</code>, at the end of this page, writes {them}.</p>"
        )
    return f"<figure><h3>{escape(short(picture.title))}</h3>{image}{table}</figure>\n"


def _image(picture: Picture) -> str:
    alt = escape(picture.alt)
    return f'<img alt="{alt}" src="{svg_source(picture.draw())}"><figcaption>{alt}</figcaption>'


def _size(made: str) -> int:
    return len(made.encode("utf-8"))
