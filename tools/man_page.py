"""Write the manual page of every command: ``make man``, or ``python tools/man_page.py man/``.

Each page is made from the help of its command, so that nothing is told twice: ``man -l man/ldiversity-plan.1``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ldiversity._version import __version__
from ldiversity.faces.cli import cli

__all__ = ["man_pages", "write_man_pages"]


def man_pages() -> Iterator[tuple[str, str]]:
    """Give the name and the text of each page, the group's own first."""
    yield from _pages(cli, click.Context(cli, info_name="ldiversity"))


def write_man_pages(folder: Path) -> list[Path]:
    """Write all pages into a folder, and give their files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in man_pages():
        file = folder / f"{name}.1"
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    name = context.command_path.replace(" ", "-")
    yield name, _page(name, command, context)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            if inner is not None:
                yield from _pages(inner, click.Context(inner, info_name=child, parent=context))


def _page(name: str, command: click.Command, context: click.Context) -> str:
    lines = [f'.TH "{name.upper()}" "1" "" "ldiversity {__version__}" "ldiversity"', ".SH NAME"]
    lines.append(f"{_roff(name)} \\- {_roff(command.get_short_help_str(limit=200))}")
    lines += [".SH SYNOPSIS", f".B {_roff(context.command_path)}"]
    lines += [" ".join(map(_roff, command.collect_usage_pieces(context)))]
    lines += [".SH DESCRIPTION", *_paragraphs(command.help or "")]
    records = [(param.get_help_record(context), param) for param in command.get_params(context)]
    options = [record for record, _ in records if record is not None]
    if options:
        lines.append(".SH OPTIONS")
        for flag, told in options:
            lines += [".TP", f"\\fB{_roff(flag)}\\fR", _roff(told)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            told = "" if inner is None else inner.get_short_help_str(limit=200)
            lines += [".TP", f"\\fB{_roff(f'{name}-{child}')}\\fR(1)", _roff(told)]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    # A paragraph that begins with click's mark \b is shown as it stands.
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        yield ".PP"
        lines = paragraph.split("\n")
        if lines[0].strip() == "\b":
            yield from [".nf", *map(_roff, lines[1:]), ".fi"]
        else:
            yield _roff(" ".join(line.strip() for line in lines))


def _roff(text: str) -> str:
    # Dashes stay dashes when they are copied, and no line is taken for an order to the formatter.
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown


if __name__ == "__main__":
    for page in write_man_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "man")):
        print(page)
