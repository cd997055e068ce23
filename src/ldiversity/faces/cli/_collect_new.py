"""``ldiversity collect new``: a survey from a file, checked and signed."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.numbers import counted, number, percent_at_most, points
from ldiversity.errors import StorageError
from ldiversity.faces.cli._collect_files import (
    SurveyFiles,
    database_option,
    opened_store,
    refuse_answered,
    says_the_same,
)
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.collection.survey import Question, SignedSurvey, Survey

__all__ = ["HiddenQuestion", "NewSurvey", "command"]

_ANSWERS: Final = 1000
_NORMAL: Final = 1.96
"""Half the width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class HiddenQuestion:
    """How a question is hidden, and what can be learned from the answers.

    Attributes
    ----------
    name, values
        The question, and how many answers can be chosen.
    l, d, distance
        How many answers a set has, how far apart they are, and by which distance; None where any answers share a set.
    draw
        How devices draw: ``partition``, ``chain`` or ``listed``.
    divides
        Whether `l` divides the number of values of a question that is drawn by partitions: then sets of one device are
        equal or disjoint, whatever changes.
    overlap
        Otherwise, in how many changes at most the sets of one device differ and share answers; None if it depends on
        the answers.
    error
        The standard error of a share after 1,000 answers, on average, if all answers are equally common.
    answers_for_goal
        About how many answers it takes until 95 % intervals are as narrow as the goal.
    cautions
        What the collector should know.
    """

    name: str
    values: int
    l: int
    d: float | None
    distance: str | None
    draw: str
    divides: bool
    overlap: float | None
    error: float
    answers_for_goal: int
    cautions: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class NewSurvey(Answer, schema="collect-new", version=1):
    """A survey that was checked and signed.

    Attributes
    ----------
    file, signed
        The collector's file, and the signed survey.
    wrote
        The files that were written now.
    survey, fingerprint
        The id of the survey, and the fingerprint of the key that signed it.
    title
        Its title.
    not_hidden, combinations
        What is sent as it is chosen, or as a range, and in how many ways it can be answered together.
    questions
        What is hidden, and how.
    cautions
        What the collector should know.
    """

    file: str
    signed: str
    wrote: tuple[str, ...]
    survey: str
    fingerprint: str
    title: str
    not_hidden: tuple[str, ...]
    combinations: int
    questions: tuple[HiddenQuestion, ...]
    cautions: tuple[str, ...]

    def __str__(self) -> str:
        hidden = ", ".join(f"{one.name} among {one.l} of {one.values}" for one in self.questions)
        return fit_screen([f"{self.title}: {self.survey[:16]}, signed by {self.fingerprint}", f"hidden: {hidden}"])


@click.command("new", cls=Command, short_help="Check a survey and sign it; or write an example.")
@click.argument("survey", type=WRITTEN, default=Path("survey.toml"), required=False)
@database_option
@json_option
def command(survey: Path, *, database: str | None, as_json: bool) -> None:
    """Check SURVEY (survey.toml) and sign it. Where there is no such file, a commented example is written first.

    The key that signs is made when there is none (survey.key). The signed survey is survey.signed.json. A survey that
    somebody has answered is not changed.

    \b
    ldiversity collect new survey.toml
    ldiversity collect serve survey.toml
    """  # noqa: D301 - click reads the backspace
    from ldiversity.collection.survey import draft_survey

    files = SurveyFiles(survey)
    before = {file for file in _own(files) if file.exists()}
    if survey not in before:
        _write_example(survey)
    drafted = draft_survey(survey, new_keys=True)
    signed, anew = _signed(files, drafted, database)
    wrote = tuple(
        str(file) for file in _own(files) if (file.exists() and file not in before) or (file == files.signed and anew)
    )
    show(_facts(files, signed, wrote), _render, as_json=as_json)


def _own(files: SurveyFiles) -> tuple[Path, ...]:
    return files.toml, files.key, files.blind_key, files.signed


def _write_example(file: Path) -> None:
    from ldiversity.collection.survey import EXAMPLE

    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(EXAMPLE)
    except OSError as error:
        raise StorageError("survey", f"file {str(file)!r} cannot be written: {error.strerror}") from None


def _signed(files: SurveyFiles, drafted: Survey, database: str | None) -> tuple[SignedSurvey, bool]:
    """The survey as it was signed if nothing changed; otherwise signed anew (True), unless somebody has answered it."""
    from ldiversity.collection.survey import SignedSurvey, SurveyKey

    if files.signed.exists():
        signed = SignedSurvey.load(files.signed)
        if says_the_same(drafted, signed.survey):
            return signed, False
        if database is not None or files.database_file.exists():
            with opened_store(files, database) as (store, _):
                refuse_answered(files, signed, store)
    if not files.key.exists():
        SurveyKey.new().save(files.key)
    signed = SurveyKey.load(files.key).sign(drafted)
    signed.save(files.signed)
    return signed, True


def _facts(files: SurveyFiles, signed: SignedSurvey, wrote: tuple[str, ...]) -> NewSurvey:
    survey = signed.survey
    return NewSurvey(
        file=str(files.toml),
        signed=str(files.signed),
        wrote=wrote,
        survey=signed.id,
        fingerprint=signed.fingerprint,
        title=survey.title,
        not_hidden=tuple(f"{part.name} ({counted(len(part.labels), part.kind.rstrip('s'))})" for part in survey.quasi),
        combinations=prod(len(part.labels) for part in survey.quasi),
        questions=tuple(_question(question, survey.results.goal) for question in survey.questions),
        cautions=tuple(_cautions(survey)),
    )


def _question(question: Question, goal: float) -> HiddenQuestion:
    from ldiversity.collection.survey import BalancedForm, changed_answer, question_mechanism

    form, mechanism = question.mechanism, question_mechanism(question)
    apart = form if isinstance(form, BalancedForm) else None
    overlap = changed_answer(question).overlap
    variance = mechanism.expected_mse(1)
    return HiddenQuestion(
        name=question.name,
        values=len(question.values),
        l=question.l,
        d=None if apart is None else apart.d,
        distance=None if apart is None else apart.distance.kind,
        draw=question.draw.kind,
        divides=overlap == 0,
        overlap=overlap,
        error=sqrt(variance / _ANSWERS),
        answers_for_goal=ceil(variance * (_NORMAL / goal) ** 2),
        cautions=mechanism.cautions(),
    )


def _cautions(survey: Survey) -> list[str]:
    import tomllib

    from ldiversity.collection.survey import EXAMPLE

    example = tomllib.loads(EXAMPLE)
    same = [name for name in ("title", "collector", "contact") if getattr(survey, name) == example[name]]
    said = [f"Still those of the example: {', '.join(same)}."] if same else []
    if survey.is_over():
        said.append(f"The last day to answer, {survey.closes}, is over.")
    return said


def _render(found: NewSurvey, page: Page) -> None:
    if found.wrote:
        page.text(f"Wrote {', '.join(found.wrote)}.")
    page.title(found.title)
    for caution in found.cautions:
        page.warning(caution)
    page.table(
        ["question", "answers", "l", "d", "off by, at 1,000 answers", "answers for the goal"],
        [
            [
                one.name,
                str(one.values),
                str(one.l),
                "-" if one.d is None else f"{number(one.d)} ({one.distance})",
                f"{points(one.error)} points",
                number(one.answers_for_goal),
            ]
            for one in found.questions
        ],
        right={1, 2, 4, 5},
    )
    alike: dict[str, list[str]] = {}
    for one in found.questions:
        alike.setdefault(_change(one), []).append(one.name)
    page.bullets(f"{', '.join(names)}: {sentence}" for sentence, names in alike.items())
    page.bullets(f"{one.name}: {caution}" for one in found.questions for caution in one.cautions)
    if found.not_hidden:
        together = f", {number(found.combinations)} combinations" if len(found.not_hidden) > 1 else ""
        page.bullet(
            f"Not hidden: {', '.join(found.not_hidden)}{together}. The fewer people say the same, the easier "
            "somebody is found, and the later results are shown."
        )
    page.text(f"Survey:       {found.survey}")
    page.text(f"Fingerprint:  {found.fingerprint}")
    page.text("People compare the fingerprint to know that you signed it. Publish it where they trust it.")
    page.command(f"ldiversity collect serve {found.file}")


def _change(one: HiddenQuestion) -> str:
    if one.divides:
        return f"{one.l} divides {one.values}, so a changed answer tells nothing but that it changed."
    if one.overlap is None:
        return "a changed answer draws another set, and members of both sets become less likely."
    return (
        f"{one.l} does not divide {one.values}, so in up to {percent_at_most(one.overlap, 2)} of changes the two sets "
        "overlap. Another l, or another number of values, of which l is a divisor, avoids it."
    )
