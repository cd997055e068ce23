"""The pictures of a page and their tables, as many as there is room for below a megabyte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ldiversity.base.html import escape
from ldiversity.faces.report._phrases import short
from ldiversity.faces.report._pictures import pictures
from ldiversity.faces.report._tables import numbers_of
from ldiversity.pictures import svg_source

if TYPE_CHECKING:
    from ldiversity.faces.report._report import Report
    from ldiversity.pictures import Picture

__all__ = ["figures"]

_MOST_BYTES: Final = 950_000
"""All of a page but its head; further pictures and tables are named, and left to the command that writes them."""

_LEAST_BYTES: Final = 10_000
"""No picture is smaller."""

_FIRST: Final = ("risks", "attacks", "classes", "distributions", "contingency")
"""Which parts get room first: there are few pictures of risks, and nothing else says what they say."""


def figures(report: Report, *, taken: int) -> dict[str, str]:
    """The pictures of each part, each with its table, as far as there is room: texts have `taken` so many bytes."""
    drawn = pictures(report)
    order = sorted(range(len(drawn)), key=lambda place: _FIRST.index(drawn[place].part))
    tables, images = dict.fromkeys(order, ""), dict.fromkeys(order, "")
    whole = room = max(_MOST_BYTES - taken, 0)
    # Tables take at most half of the room, so that pictures get the other half.
    for place in order:
        made = numbers_of(drawn[place].title, drawn[place].heads, drawn[place].rows)
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
