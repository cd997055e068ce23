"""``ldiversity collect close``: the end of a survey."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError
from ldiversity.faces.cli._collect_files import SurveyFiles, database_option, opened_store, survey_argument
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._show import Page, json_option, show

__all__ = ["ClosedSurvey", "command"]


@dataclass(frozen=True, repr=False)
class ClosedSurvey(Answer, schema="collect-closed", version=1):
    """A survey that takes no more reports.

    Attributes
    ----------
    survey, title
        Its id and its title.
    reports
        How many reports it has, for the part that has most.
    """

    survey: str
    title: str
    reports: int


@click.command("close", cls=Command, short_help="Close a survey for good.")
@survey_argument
@database_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(survey: Path, *, database: str | None, yes: bool, as_json: bool) -> None:
    """Close SURVEY (survey.toml) for good: no report is taken any more, also by a server that runs.

    The database is written anew, so that nothing in it tells in which order reports came.
    """
    files = SurveyFiles(survey)
    signed = files.load()
    with opened_store(files, database) as (store, _):
        if signed.id not in store.surveys():
            raise ParameterError("survey", "is not in this database").with_hint(
                "Name the database with which it was served."
            )
        if not yes:
            click.confirm(f"Close {signed.survey.title!r} for good?", abort=True, err=True)
        store.close_survey(signed.id)
        reports = max(store.count(signed.id, part) for part in range(len(signed.survey.parts)))
    show(ClosedSurvey(signed.id, signed.survey.title, reports), _render, as_json=as_json)


def _render(found: ClosedSurvey, page: Page) -> None:
    page.text(f"{found.title!r} is closed, with {counted(found.reports, 'report')}.")
    page.command("ldiversity collect export -o release")
