"""``ldiversity collect serve``: pages and endpoints of a survey, until it is told to stop."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import counted
from ldiversity.faces.cli._collect_files import (
    SurveyFiles,
    database_option,
    needs_collect,
    opened_store,
    refuse_answered,
    says_the_same,
    survey_argument,
)
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.collection.store import Store
    from ldiversity.collection.survey import SignedSurvey

__all__ = ["Serving", "command"]


@dataclass(frozen=True, repr=False)
class Serving(Answer, schema="collect-serving", version=1):
    """A survey that is served.

    Attributes
    ----------
    survey, title
        Its id and its title.
    answer_url
        The page to answer, with the fingerprint of the key that signed the survey.
    results_url
        The page with results; None where they are not public.
    database
        Where reports are kept, without a password.
    signed_anew
        Whether its file had changed, and it was signed anew.
    reports
        How many reports there are.
    over
        Whether it was closed or its last day is over, so that it takes no answers.
    """

    survey: str
    title: str
    answer_url: str
    results_url: str | None
    database: str
    signed_anew: bool
    reports: int
    over: bool


@click.command("serve", cls=Command, short_help="Serve the pages of a survey.")
@survey_argument
@database_option
@click.option(
    "--listen", metavar="HOST:PORT", default="127.0.0.1:8000", show_default=True, help="Port 0 is a free one."
)
@click.option(
    "--url",
    metavar="URL",
    help="The https address by which people reach it, behind a proxy that speaks TLS; needed unless only this machine "
    "can reach the server.",
)
@json_option
def command(survey: Path, *, database: str | None, listen: str, url: str | None, as_json: bool) -> None:
    """Serve SURVEY (survey.toml): a page to answer, a page with results, and the endpoints of devices.

    If the file was changed since it was signed, and nobody has answered yet, it is signed anew. A survey that is closed
    takes no answers, and its results can still be seen.

    \b
    ldiversity collect serve survey.toml
    ldiversity collect serve survey.toml --listen 127.0.0.1:8000 --url https://survey.example
    """  # noqa: D301 - click reads the backspace
    files = SurveyFiles(survey)
    signed = files.load()
    with opened_store(files, database, create=True) as (store, address):
        with needs_collect():
            from ldiversity.collection.blind import BlindKey
            from ldiversity.collection.server import serve
        signed, anew = _as_written(files, signed, store)
        store.add_survey(signed)
        found = signed.survey
        over = found.is_over() or store.is_closed(signed.id)
        reports = store.count(signed.id)

        def started(at: str) -> None:
            start = at.rstrip("/")
            results = f"{start}/results" if found.results.public else None
            link = f"{start}/#k={signed.fingerprint}"
            said = Serving(signed.id, found.title, link, results, address, anew, reports, over)
            show(said, _render, as_json=as_json)
            sys.stdout.flush()

        serve(
            store,
            signed,
            listen=listen,
            url=url,
            blind_key=BlindKey.load(files.blind_key) if found.tokens == "blind" else None,
            remembered=files.results,
            on_start=started,
        )


def _as_written(files: SurveyFiles, signed: SignedSurvey, store: Store) -> tuple[SignedSurvey, bool]:
    """The survey as its file is now, signed anew if it was changed and nobody has answered."""
    from ldiversity.collection.survey import SurveyKey, draft_survey

    written = draft_survey(files.toml)
    if says_the_same(written, signed.survey):
        return signed, False
    refuse_answered(files, signed, store)
    again = SurveyKey.load(files.key).sign(written)
    again.save(files.signed)
    return again, True


def _render(found: Serving, page: Page) -> None:
    if found.signed_anew:
        page.warning("The file was changed, and nobody had answered: it was signed anew. Old links are of the old one.")
    if found.over:
        page.warning("The survey is closed, or its last day is over: results are shown, and no answer is taken.")
    page.title(found.title)
    page.text(f"To answer:  {found.answer_url}")
    page.text(f"Results:    {found.results_url or 'not public; see `ldiversity collect status`'}")
    page.text(f"Reports:    {counted(found.reports, 'report')} in {found.database}")
    page.text("Stop it with Ctrl-C: requests under way are answered first.")
