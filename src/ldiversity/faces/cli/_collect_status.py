"""``ldiversity collect status``: how many answered, and how far the goal is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.numbers import counted, counted_of, level, number, percent
from ldiversity.collection.results import ResultsAnswer
from ldiversity.faces.cli._collect_files import SurveyFiles, database_option, opened_store, survey_argument
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._show import Page, json_option, show

__all__ = ["CollectStatus", "PartStatus", "command"]


@dataclass(frozen=True)
class PartStatus:
    """How many reports there are for questions that are answered together."""

    questions: tuple[str, ...]
    reports: int


@dataclass(frozen=True, repr=False)
class CollectStatus(Answer, schema="collect-status", version=1):
    """A survey as its collector sees it.

    Attributes
    ----------
    survey, title, fingerprint
        Its id, its title, and the fingerprint of the key that signed it.
    closes, closed
        The day on which it ends, if there is one, and whether it was closed for good.
    database
        Where reports are kept, without a password.
    parts
        How many reports there are.
    results
        Estimates from all stored reports, in which the survey's minimum holds for every cell.
    """

    survey: str
    title: str
    fingerprint: str
    closes: str | None
    closed: bool
    database: str
    parts: tuple[PartStatus, ...]
    results: ResultsAnswer

    def __str__(self) -> str:
        reports = ", ".join(f"{', '.join(part.questions)}: {counted(part.reports, 'report')}" for part in self.parts)
        return fit_screen([f"{self.title} ({'closed' if self.closed else 'open'}); {reports}", str(self.results)])


@click.command("status", cls=Command, short_help="How many answered, and how far the goal is.")
@survey_argument
@click.option("--groups", is_flag=True, help="Show each range and choice of what is not hidden, too.")
@database_option
@json_option
def command(survey: Path, *, groups: bool, database: str | None, as_json: bool) -> None:
    """Say how many answered SURVEY (survey.toml), what is known by now, and how far the goal of precision is.

    This is for the collector. It counts all stored reports at once, which the page with results does in steps. Groups
    with too few reports are left out here too.
    """
    from ldiversity.collection.results import LiveResults

    files = SurveyFiles(survey)
    signed = files.load()
    asked = signed.survey
    with opened_store(files, database) as (store, address):
        known = signed.id in store.surveys()
        counts = [store.count(signed.id, part) if known else 0 for part in range(len(asked.parts))]
        live = LiveResults(signed)
        for part, count in enumerate(counts):
            live.add(part, store.bodies(signed.id, part) if count else b"")
        found = CollectStatus(
            survey=signed.id,
            title=asked.title,
            fingerprint=signed.fingerprint,
            closes=asked.closes,
            closed=known and store.is_closed(signed.id),
            database=address,
            parts=tuple(
                PartStatus(tuple(one.name for one in part), count)
                for part, count in zip(asked.parts, counts, strict=True)
            ),
            results=live.snapshot(),
        )
    show(found, lambda said, page: _render(said, page, groups=groups), as_json=as_json)


def _render(found: CollectStatus, page: Page, *, groups: bool) -> None:
    page.title(found.title)
    state = "closed" if found.closed else f"open until {found.closes}" if found.closes else "open"
    page.text(f"The survey is {state}. Reports are in {found.database}.")
    for part in found.parts:
        page.bullet(f"{', '.join(part.questions)}: {counted(part.reports, 'report')}")
    results = found.results
    cells = [cell for question in results.questions for division in question.by for cell in division.cells]
    for question in results.questions:
        if question.overall is None:
            page.text(f"{question.name}: {_why_nothing(found, question.name)}, so nothing is shown yet.")
            continue
        shown = [question.overall, *(cell for division in question.by for cell in division.cells if groups)]
        low, high = f"low ({level(results.confidence)})", f"high ({level(results.confidence)})"
        page.text(f"{question.name}: {question.ask}")
        page.table(
            ["of", "reports", "answer", "share", low, high],
            [
                [cell.label, number(cell.answers), one.value, percent(one.share), percent(one.low), percent(one.high)]
                for cell in shown
                for one in cell.values
            ],
            right={1, 3, 4, 5},
        )
    if results.half_width is not None:
        page.text(
            f"The widest interval is {percent(results.half_width)} either way; the goal is {percent(results.goal)}. "
            + (
                "It is reached."
                if results.reached
                else f"It takes about {counted(results.more_answers or 0, 'more answer')}."
            )
        )
    counted_here = {one.name: one.overall.answers for one in results.questions if one.overall is not None}
    for part in found.parts:
        here = counted_here.get(part.questions[0], part.reports)
        if here < part.reports:
            page.bullet(
                f"{', '.join(part.questions)}: {counted_of(here, part.reports, 'report', 'is', 'are')} counted here. "
                "The others are in groups that are too small to show; the release has them all."
            )
    if cells and not groups:
        page.bullet("Shares in each range and choice of what is not hidden: add --groups.")
    page.bullets(results.notes)


def _why_nothing(found: CollectStatus, question: str) -> str:
    least = max(found.results.minimum, found.results.step)
    reports = next(part.reports for part in found.parts if question in part.questions)
    return f"fewer than {counted(least, 'report')}" if reports < least else "too few reports in each group"
