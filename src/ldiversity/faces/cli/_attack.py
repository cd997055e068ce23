"""``ldiversity attack``: what attackers achieve on a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ldiversity.base.numbers import number, percent, percent_at_most
from ldiversity.base.registry import registered
from ldiversity.base.typed import split_names
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import reading_options
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks import AttackReport, AttackResult, PrivacyRisk

__all__ = ["EXIT_BROKEN", "command"]

EXIT_BROKEN: Final = 1
"""An attack beats what the release promises."""

_HEADS: Final = (
    "attack",
    "attribute",
    "records",
    "right",
    "low (95 %)",
    "high",
    "sure of",
    "promised",
    "guessing",
    "without",
)
"""The last one is what attackers reach without the knowledge that the attack is about."""

_RISK_HEADS: Final = ("attack", "attacks", "succeed", "on others", "guessing", "risk", "low (95 %)", "high")
"""Others are the people of the control table."""


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
@click.option(
    "--person",
    metavar="COLUMN",
    help="The column of the original, and of the control table, that says whose row it is, if a person may have "
    "several: several-rows, singling-out, linkability and inference then attack people, and not rows.",
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
    help="For similarity: ordered, cyclic, numeric:<unit>, discrete; tree:, semilattice: or matrix:<file>.",
)
@click.option("-d", "d", type=float, help="For similarity: values closer than this count as one.")
@click.option("--known", type=READ, help="For joint: a table that tells how the sensitive columns go together.")
@click.option(
    "--control",
    type=READ,
    help="People like those of the original who were not in it, to see which attacks succeed on anyone.",
)
@click.option(
    "--secret",
    multiple=True,
    metavar="COLUMNS",
    help="For inference: the columns to guess; the sensitive attributes by default.",
)
@click.option(
    "--link",
    multiple=True,
    metavar="COLUMNS",
    help="For linkability, given twice: what each of two sources knows; half of the quasi-identifiers each by default.",
)
@click.option(
    "--targets",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many people are attacked, drawn at random; by default all, and 500 by attacks that measure a risk.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Take no more memory than this, such as 2GB: attackers look at all rows at once, and attacks that take more "
    "are not run.",
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

    singling-out, linkability, inference and downcoding measure risks that no release makes promises about: they need
    --original, and --control to tell what holds for anyone.

    \b
    ldiversity attack release
    ldiversity attack release --original patients.csv --attacks homogeneity,definetti
    ldiversity attack release --original patients.csv --control others.csv --attacks singling-out,inference
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
        memory=given["memory"],
        control=given["control"],
        secret=split_names(given["secret"], "secret") or None,
        link=[split_names([side], "link") for side in given["link"]] or None,
        targets=given["targets"],
        **read_reading(cast("ReadingTexts", given)),
        person=given["person"],
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
    marked = [*(result.broken for result in report.ordered), *(False for _ in report.risks)]
    for bad, sentence in zip(marked, sentences, strict=True):
        (page.warning if bad else page.bullet)(sentence)
    if report.risks:
        page.title("Risks, whatever is promised")
        page.table(_RISK_HEADS, map(_risk_row, report.risks), right=range(1, len(_RISK_HEADS)))
    if report.knowledge:
        page.title("What they know")
        page.bullets(f"{attack}: {known}" for attack, known in report.knowledge.items())
    if report.skipped:
        page.title("Not run")
        page.bullets(map(str, report.skipped))


def _risk_row(risk: PrivacyRisk) -> list[str]:
    return [
        risk.attack,
        number(risk.success.tries),
        percent(risk.success.share),
        percent(None if risk.control is None else risk.control.share),
        percent(risk.baseline.share),
        percent(risk.risk),
        percent(risk.interval[0]),
        percent(risk.interval[1]),
    ]


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
        percent_at_most(result.claim),
        percent(result.baseline),
        percent(result.reference),
        "broken" if result.broken else "" if result.scored else "expected",
    ]
