"""Parts of HTML pages: every text is escaped, nothing is loaded from elsewhere."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Final

__all__ = ["STYLE", "bullets", "document", "escape", "table"]

STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;border-bottom:1px solid #ccc;"
    "text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}.bad{color:#a40000;font-weight:600}"
    ".good{color:#1a5e1a;font-weight:600}tbody th{font-weight:400}code{background:#f2f2f2;padding:.1rem .3rem}"
)
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def escape(text: str) -> str:
    r"""Return a text as HTML in which every character is visible.

    Invisible characters and those that reverse the direction of writing are written as Python's escapes: otherwise
    a column's name could make the command after it appear backwards.

    Examples
    --------
    >>> escape("a < b"), escape("age\u202e --quasi")
    ('a &lt; b', 'age\\u202e --quasi')
    """
    seen = (
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _HIDDEN else character
        for character in text
    )
    return html.escape("".join(seen))


def document(title: str, body: str, *, style: str = STYLE) -> str:
    """Return a whole page that loads nothing; `body` is HTML already.

    Examples
    --------
    >>> "<title>a &lt; b</title>" in document("a < b", "<p>text</p>")
    True
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body><h1>{escape(title)}</h1>\n"
        f"{body}</body></html>\n"
    )


def bullets(texts: Iterable[str]) -> str:
    """Return a list.

    Examples
    --------
    >>> bullets(["<b>"])
    '<ul><li>&lt;b&gt;</li></ul>'
    """
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = (), *, caption: str = ""
) -> str:
    """Give a table with heads that screen readers understand; `numbers` are the columns that hold numbers.

    Examples
    --------
    >>> table(["a", "n"], [["x", "1"]], {1}).partition("<tbody>")[2]
    '<tr><th scope=row>x</th><td class=n>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(_cell(cell, place, numbers) for place, cell in enumerate(row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str, place: int, numbers: Collection[int]) -> str:
    if place == 0:
        return f"<th scope=row>{escape(text)}</th>"
    return f"<td{' class=n' if place in numbers else ''}>{escape(text)}</td>"
