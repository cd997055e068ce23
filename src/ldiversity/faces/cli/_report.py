"""``ldiversity report``: all about a release on one page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ldiversity.base.numbers import counted, percent
from ldiversity.base.typed import split_names
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import reading_options
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import READ, Output, PicturesFolder
from ldiversity.faces.cli._recognition import recognition_choices, recognition_options
from ldiversity.faces.cli._show import Page, show

if TYPE_CHECKING:
    from ldiversity.faces.report import Report, ReportChoices

__all__ = ["command"]


def _print_template(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    if value:
        from ldiversity.faces.report import COMMITTEE_TEMPLATE

        click.echo(COMMITTEE_TEMPLATE, nl=False)
        ctx.exit()


def _for_others(file: Path, given: Mapping[str, Any]) -> str | None:
    """Nobody who expects the report for one audience may get that for the other."""
    from ldiversity.faces.report import audience_of

    audience = "user" if given.get("original") is None else "holder"
    other = audience_of(file)
    if other in {None, audience}:
        return None
    return (
        f"must not name the report for the {other}, which {str(file)!r} is; this one is for the {audience}. "
        "Choose another name, or delete that file first."
    )


@click.command(
    "report",
    cls=Command,
    owners={"Report.save": "output", "Report.pictures": "pictures"},
    short_help="All about a release on one page.",
)
@click.argument("release", type=READ)
@click.option("-o", "--output", type=Output(".html", ".htm", keeps=_for_others), help="The .html file to write.")
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMNS",
    help="Columns that make the cells, as for estimate: sex,age:10. Two quasi-identifiers on their own by default.",
)
@click.option("--sensitive", multiple=True, metavar="COLUMNS", help="The attributes to show; all by default.")
@click.option(
    "--original",
    type=READ,
    help="The table that the release was made from: a report for its holder alone, with true counts.",
)
@click.option(
    "--person",
    metavar="COLUMN",
    help="With --original: its column that says whose row it is, if a person may have several.",
)
@recognition_options
@click.option("--attacks", is_flag=True, help="Also run attacks; with --original they are scored.")
@click.option(
    "--committee",
    type=READ,
    metavar="FILE",
    help="A TOML file that says who may receive the release, under which agreements, and until when.",
)
@click.option(
    "--committee-template",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_template,
    help="Print such a file to begin with, and end.",
)
@click.option(
    "--pictures",
    type=PicturesFolder(),
    help="Also write every picture as PNG, SVG and PDF, and its table as CSV, into this folder.",
)
@reading_options
@overwrite_option
@click.option("--json", "as_json", is_flag=True, help="Print the facts of the page as JSON.")
def command(
    release: Path,
    *,
    output: Path | None,
    pictures: Path | None,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - options by name
) -> None:
    """Report on the folder RELEASE: what was published, what it promises, estimates, risks, and what is not protected.

    One HTML file that needs no network. Without --original it tells nothing that the release does not tell, and may be
    handed out; with it, it is for the data holder alone.

    \b
    ldiversity report release -o report.html --by sex,age:10
    ldiversity report release -o holder-report.html --original patients.csv --attacks
    """  # noqa: D301 - click reads the backspace
    if output is None and pictures is None and not as_json:
        raise click.UsageError("one of --output, --pictures and --json must be given.")
    made = _made(release, **given)
    if output is not None:
        made.save(output)
    written = [] if pictures is None else made.pictures(pictures, formats=("png", "svg", "pdf"))

    def render(report: Report, page: Page) -> None:
        page.title(f"{release.name}: {counted(report.release.records, 'record')}, {report.release.layout}")
        _render(report, page)
        if output is not None:
            page.text(f"Written: {output}.")
        if written:
            page.text(f"{counted(len(written), 'file')} of pictures and their tables: in {pictures}.")

    show(made, render, as_json=as_json)


def _made(release: Path, **given: Any) -> Report:  # noqa: ANN401 - options by name
    import ldiversity as ld
    from ldiversity.tables import ReadingTexts, read_reading

    reading = read_reading(cast("ReadingTexts", given))
    asked: ReportChoices = {
        **recognition_choices(given),
        "by": ",".join(given["by"]) or None,
        "sensitive": split_names(given["sensitive"], "sensitive") or None,
        "attacks": given["attacks"],
        **reading,
        "committee": given["committee"],
        "person": given["person"],
    }
    if given["original"] is not None:
        return ld.holder_report(release, given["original"], **asked)
    told = ["--type"] if reading["types"] else reading["read"].words
    if told and given["population"] is None:
        raise click.UsageError(f"{told[0]} must be left out without --original or --population, which it is about.")
    return ld.user_report(release, **asked)


def _render(report: Report, page: Page) -> None:
    if report.audience == "holder":
        page.warning("Made with the original: for the data holder alone, not to be handed out.")
    summary = report.summary
    (page.text if summary.verdict == "within" else page.warning)(summary.sentence)
    page.bullets(summary.reasons)
    page.text(f"Who may receive it: {summary.recipients}")
    page.title("Promised")
    page.bullets(claim.statement for claim in report.release.claims)
    rows = [[risk.name, percent(risk.value), percent(risk.threshold), risk.state] for risk in report.risks]
    page.table(["risk", "value", "threshold", "state"], rows, right={1, 2})
    for text in report.skipped:
        page.warning(text)
