"""``ldiversity key``: the holder's secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from ldiversity.base.answers import Answer
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Page, json_option, show

__all__ = ["KeyFile", "command"]


@dataclass(frozen=True, repr=False)
class KeyFile(Answer, schema="key", version=1):
    """A key that was written, and who can read it."""

    file: str
    mode: str = "0600"


@click.group("key", short_help="Make the secret for publishing again.")
def command() -> None:
    """Make the secret with which the same people can be published again safely."""


@command.command("new", cls=Command)
@click.argument("file", type=WRITTEN)
@json_option
def new(file: Path, *, as_json: bool) -> None:
    """Write a new key to FILE, readable by its owner only; an existing file is never overwritten."""
    import ldiversity as ld

    ld.Key.new().save(file)
    show(KeyFile(str(file)), _render, as_json=as_json)


def _render(found: KeyFile, page: Page) -> None:
    page.text(f"Wrote a new key to {found.file} (mode {found.mode}: only its owner can read it).")
    page.bullets(
        [
            "Keep it as safe as the table: anyone who has it and a release can work out true values.",
            "Keep a copy: without it, the same people cannot be published again safely.",
        ]
    )
