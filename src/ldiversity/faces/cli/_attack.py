"""``ldiversity attack``: what attackers achieve on a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ldiversity.base.numbers import number, percent
from ldiversity.base.registry import registered
from ldiversity.base.typed import split_names
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import reading_options
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport, AttackResult

__all__ = ["EXIT_BROKEN", "command"]

EXIT_BROKEN: Final = 1
"""An attack beats what the release promises."""

_HEADS: Final = (
    "attack",
    "attribute",
    "people",
    "right",
    "low (95 %)",
    "high",
    "sure of",
    "promised",
    "guessing",
    "without",
)
"""The last one is what attackers reach without the knowledge that the attack is about."""


@click.command("attack", cls=Command, short_help="What attackers achieve on a release.")
@click.argument("release", type=READ)
@click.option(
    "--original",
    type=READ,
    help="The table that the release was made from, to score the attackers; without it, they say what they expect.",
)
@click.option("--sensitive", multiple=True, metavar="COLUMNS", help="The attributes to attack; all by default.")
@click.option(
    "--attacks", multiple=True, metavar="NAMES", help=f"{', '.join(registered('attacks'))}; all that apply by default."
)
@click.option("--second", type=READ, help="Another release about the same people.")
@click.option(
    "--exclude",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="J",
    help="How many values the attacker of background can rule out.",
)
@click.option(
    "--distance",
    metavar="KIND",
    help="For similarity: ordered, numeric:<unit>, discrete; tree:, semilattice: or matrix:<file>.",
)
@click.option("-d", "d", type=float, help="For similarity: values closer than this count as one.")
@click.option("--known", type=READ, help="For joint: a table that tells how the sensitive columns go together.")
@click.option(
    "--targets",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many people are attacked, drawn at random; all by default.",
)
@reading_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    release: Path,
    *,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - options by name
) -> None:
    """Attack the folder RELEASE, and compare what attackers achieve with its claim and with guessing.

    With --original it is for the data holder. Exit code 0 when no attack beats the claim beyond chance, 1 when one
    does, 2 when something is wrong with the options or files. To beat the claim, attackers must also do better than
    guessing, and better than without their additional knowledge ("without": the order, the other release).

    \b
    ldiversity attack release
    ldiversity attack release --original patients.csv --attacks homogeneity,definetti
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.distances import parse_distance
    from ldiversity.tables import ReadingTexts, read_reading

    report = ld.attack(
        ld.load_release(release),
        given["original"],
        sensitive=split_names(given["sensitive"], "sensitive") or None,
        attacks=split_names(given["attacks"], "attacks") or None,
        second=None if given["second"] is None else ld.load_release(given["second"]),
        exclude=given["exclude"],
        distance=None if given["distance"] is None else parse_distance(given["distance"]),
        d=given["d"],
        known=given["known"],
        targets=given["targets"],
        **read_reading(cast("ReadingTexts", given)),
    )
    show(replace(report, release=release.name), _render, as_json=as_json)
    if report.broken:
        context.exit(EXIT_BROKEN)


def _render(report: AttackReport, page: Page) -> None:
    page.title(f"{report.release}: attacks")
    if report.results:
        page.table([*_HEADS, ""], map(_row, report.results), right=range(2, len(_HEADS)))
    first, *sentences = report.verdict
    page.text(first)
    for result, sentence in zip(report.ordered, sentences, strict=True):
        (page.warning if result.broken else page.bullet)(sentence)
    if report.results:
        page.title("What they know")
        page.bullets(f"{attack}: {known}" for attack, known in report.knowledge.items())
    if report.skipped:
        page.title("Not run")
        page.bullets(map(str, report.skipped))


def _row(result: AttackResult) -> list[str]:
    low, high = result.interval or (None, None)
    return [
        result.attack,
        result.attribute,
        number(result.found),
        percent(result.success),
        percent(low),
        percent(high),
        percent(result.certain),
        percent(result.claim),
        percent(result.baseline),
        percent(result.reference),
        "broken" if result.broken else "" if result.scored else "expected",
    ]
