"""``ldiversity trend``: the same question to several releases, and how the answer changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ldiversity.base.numbers import level, number
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.estimation import Trend

__all__ = ["command"]


@click.command("trend", cls=Command, owners={"trend": "releases"}, short_help="How a figure changed between releases.")
@click.argument("releases", metavar="RELEASE RELEASE...", type=READ, nargs=-1)
@click.option(
    "--value",
    multiple=True,
    metavar="VALUE",
    help="The sensitive value whose share is asked for; if repeated, shares are added up. Without it, the mean.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Use some records only: 'age >= 50'; may be repeated.",
)
@click.option("--sensitive", metavar="COLUMN", help="The sensitive column.")
@click.option(
    "--samples", is_flag=True, help="The tables are samples: ask for changes of the populations they were drawn from."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often intervals hold the truth.")
@json_option
def command(
    releases: tuple[Path, ...],
    *,
    value: tuple[str, ...],
    where: tuple[str, ...],
    sensitive: str | None,
    samples: bool,
    confidence: float,
    as_json: bool,
) -> None:
    """Say how the share of a value, or a mean, changed from one RELEASE to the next, in the order of time.

    \b
    ldiversity trend 2024 2025 2026 --sensitive disease --value 'R21 asthma'
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld

    found = ld.trend(
        dict(zip(_names(releases), releases, strict=True)),
        value or None,
        sensitive=sensitive,
        where=where,
        confidence=confidence,
        population=samples,
    )
    show(found, _render, as_json=as_json)


def _names(releases: Sequence[Path]) -> list[str]:
    """The names of the folders, or their paths where names occur twice."""
    names = [one.name for one in releases]
    if len(set(names)) == len(names):
        return names
    paths = [str(one) for one in releases]
    if len(set(paths)) < len(paths):
        raise click.UsageError("RELEASE must be another folder each time.")
    return paths


def _render(found: Trend, page: Page) -> None:
    page.title(found.name)
    heads = ["std. error", f"low ({level(found.confidence)})", "high"]
    points = [(one.release, number(one.records), one.value, one.std_error, one.low, one.high) for one in found.points]
    page.table(["release", "records", "value", *heads], list(map(_row, points)), right=range(1, 6))
    page.title("Changes")
    changes = [(one.earlier, one.later, one.value, one.std_error, one.low, one.high) for one in found.changes]
    rows = [[*_row(told), number(one.pvalue, 3)] for told, one in zip(changes, found.changes, strict=True)]
    page.table(["from", "to", "change", *heads, "p-value"], rows, right=range(2, 7))
    page.text("The p-value is how likely a change is to come out so great if nothing changed.")
    page.bullets(found.caveats)


def _row(told: Sequence[str | float]) -> list[str]:
    return [one if isinstance(one, str) else number(one) for one in told]
