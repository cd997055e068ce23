"""``ldiversity collect export``: the reports of a survey as an ordinary release."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import counted
from ldiversity.collection.results import ExportedRelease
from ldiversity.errors import ParameterError
from ldiversity.faces.cli._collect_files import SurveyFiles, database_option, opened_store, survey_argument
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Page, json_option, show

__all__ = ["Exported", "command"]


@dataclass(frozen=True, repr=False)
class Exported(Answer, schema="collect-exported", version=1):
    """Releases that were written.

    Attributes
    ----------
    survey, title
        The survey's id and its title.
    releases
        Where they are: one for a linked survey, otherwise one for each question.
    """

    survey: str
    title: str
    releases: tuple[ExportedRelease, ...]


@click.command("export", cls=Command, short_help="Write the reports as a release.")
@survey_argument
@click.option("-o", "--output", type=WRITTEN, required=True, help="The folder to write.")
@click.option("--format", "data_format", type=click.Choice(["parquet", "csv"]), default="parquet", show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a release that is there.")
@click.option("--while-open", is_flag=True, help="Also of a survey that is not closed yet.")
@database_option
@json_option
def command(
    survey: Path,
    *,
    output: Path,
    data_format: Literal["parquet", "csv"],
    overwrite: bool,
    while_open: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Write the reports of SURVEY (survey.toml) as a release: estimate, audit, attack and report read it.

    A survey whose questions are not linked becomes one release for each question, in folders with their names. Every
    claim is checked on the written bytes, and the folder gets its name only then.
    """
    from ldiversity.collection.results import export

    files = SurveyFiles(survey)
    signed = files.load()
    with opened_store(files, database) as (store, _):
        if not while_open and not (signed.id in store.surveys() and store.is_closed(signed.id)):
            raise ParameterError("survey", "must be closed before it is exported").with_hint(
                "Run `ldiversity collect close`. With --while-open it is exported now: the difference from a later "
                "export shows who answered in between."
            )
        written = export(store, signed.id, output, data_format=data_format, overwrite=overwrite)
    show(Exported(signed.id, signed.survey.title, written), _render, as_json=as_json)


def _render(found: Exported, page: Page) -> None:
    for one in found.releases:
        page.text(f"Wrote {counted(one.records, 'record')} of {', '.join(one.questions)} to {one.folder}.")
    first = found.releases[0]
    page.text("Every claim was checked on the written files. Next:")
    page.command(f"ldiversity estimate {shlex.quote(first.folder)} --sensitive {first.questions[0]}")
    page.command(f"ldiversity report {shlex.quote(first.folder)} -o report.html")
