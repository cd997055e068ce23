"""``ldiversity epsilons``: what several releases together spend on one person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ldiversity.base.numbers import number
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.evaluation.audit import EpsilonSum

__all__ = ["command"]


@click.command("epsilons", cls=Command, short_help="What several releases spend on a person.")
@click.argument("releases", metavar="RELEASE...", type=READ, nargs=-1, required=True)
@json_option
def command(releases: tuple[Path, ...], *, as_json: bool) -> None:
    """Add up the epsilons of every sensitive column of each RELEASE about the same people.

    The sum is for a person with one record in each. Who has several rows in a release spends its epsilons once for each
    of them: name the folder as often.

    \b
    ldiversity epsilons 2025 2026
    ldiversity epsilons visits visits visits
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld

    read = {folder: ld.load_release(folder) for folder in dict.fromkeys(releases)}
    found = ld.add_epsilons(*(read[folder] for folder in releases))
    show(found, partial(_render, releases=releases), as_json=as_json)


def _render(found: EpsilonSum, page: Page, *, releases: Sequence[Path]) -> None:
    page.title(f"Together: {'no epsilon' if found.total is None else f'epsilon {number(found.total)}'}")
    page.text(found.verdict)
    rows = [
        [str(one.release), str(releases[one.release - 1]), one.attribute, number(one.epsilon)] for one in found.spent
    ]
    page.table(["", "release", "column", "epsilon"], rows, right={0, 3})
