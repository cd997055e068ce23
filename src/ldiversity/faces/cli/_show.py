"""Showing facts: as JSON, as rich tables on a terminal, as plain text anywhere else."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from textwrap import fill
from typing import Any, Final, TypeVar

import click

from ldiversity.base.answers import Answer, Document
from ldiversity.faces.cli._text import printable

__all__ = ["Page", "json_option", "show"]

Shown = TypeVar("Shown", bound=Answer)

json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")

_PLAIN_WIDTH: Final = 100
_WIDE: Final = {"W", "F"}


@dataclass
class Page:
    """A page of text, made of titles, sentences, tables and commands.

    Examples
    --------
    >>> page = Page()
    >>> page.table(["column", "rows"], [["age", "3"], ["sex", "12"]], right={1})
    >>> print(page.plain())
    column  rows
    ------  ----
    age        3
    sex       12
    """

    _blocks: list[tuple[str, Any]] = field(default_factory=list)

    def title(self, text: str) -> None:
        """Start a new part."""
        self._blocks.append(("title", printable(text)))

    def text(self, text: str) -> None:
        """Add a sentence or more."""
        self._blocks.append(("text", printable(text)))

    def warning(self, text: str) -> None:
        """Add a sentence that must not be overlooked: red on a terminal."""
        self._blocks.append(("warning", printable(text)))

    def bullet(self, text: str) -> None:
        """Add an item of a list."""
        self._blocks.append(("bullet", printable(text)))

    def bullets(self, texts: Iterable[str]) -> None:
        """Add a list."""
        for text in texts:
            self.bullet(text)

    def command(self, line: str) -> None:
        """Add a command to type."""
        self._blocks.append(("command", printable(line)))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> None:
        """Add a table; `right` are the columns of numbers."""
        cells = [[printable(cell) for cell in row] for row in rows]
        self._blocks.append(("table", ([printable(head) for head in heads], cells, frozenset(right))))

    def plain(self) -> str:
        """The page as plain text."""
        parts: list[str] = []
        for position, (kind, content) in enumerate(self._blocks):
            if position and (kind == "title" or (kind == "table") != (self._blocks[position - 1][0] == "table")):
                parts.append("")
            parts.extend(_plain_block(kind, content))
        return "\n".join(parts)

    def print(self) -> None:
        """Print the page on stdout, with color and frames when it is a terminal."""
        if not sys.stdout.isatty():
            _echo(self.plain())
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
        styles = {"title": "bold", "command": "cyan", "text": "", "bullet": "", "warning": "bold red"}
        for position, (kind, content) in enumerate(self._blocks):
            if kind == "table":
                heads, rows, right = content
                table = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
                for number_of, head in enumerate(heads):
                    table.add_column(Text(head), justify="right" if number_of in right else "left", overflow="fold")
                for row in rows:
                    table.add_row(*map(Text, row))
                console.print()
                console.print(table)
                console.print()
                continue
            if kind == "title" and position:
                console.print()
            mark = {"bullet": "- ", "command": "  $ "}.get(kind, "")
            console.print(Text(mark + content, style=styles[kind]), soft_wrap=kind == "command")


def show(answer: Shown, render: Callable[[Shown, Page], None], *, as_json: bool) -> None:
    """Print an answer on stdout: as JSON, or as the page that `render` makes of it."""
    if as_json:
        _echo_json(answer.to_dict())
        return
    page = Page()
    render(answer, page)
    page.print()


def _echo_json(facts: Document) -> None:
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a terminal that does not know the characters, or a strange file name
        text = json.dumps(facts, indent=2, allow_nan=False)
    click.echo(text)


def _echo(text: str) -> None:
    """Print a text; characters that stdout does not know are written as escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding))


def _plain_block(kind: str, content: Any) -> list[str]:  # noqa: ANN401 - a text or a table
    if kind == "table":
        return _plain_table(*content)
    if kind == "title":
        return [content, "=" * _width(content)]
    if kind == "command":
        return [f"  $ {content}"]
    hanging = "  " if kind == "bullet" else ""
    return [
        fill(
            ("- " if kind == "bullet" else "") + content,
            _PLAIN_WIDTH,
            subsequent_indent=hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> list[str]:
    widths = [max(map(_width, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    return [_plain_row(row, widths, right) for row in chain([heads, rule], rows)]


def _plain_row(row: Sequence[str], widths: Sequence[int], right: frozenset[int]) -> str:
    cells = []
    for position, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blanks = " " * (width - _width(cell))
        cells.append(blanks + cell if position in right else cell + blanks)
    return "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """Columns that a text takes on a screen: wide characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in _WIDE else 1 for c in text)
