"""Answer a survey in a terminal or from a program: ``python -m ldiversity.collection.answer URL``.

Answers are asked for, or read from a file. They are never options: those stand in the history of a shell.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import parse_qs, urlsplit

import click

from ldiversity.collection.device import Device, Preview
from ldiversity.collection.survey import Choice, Question, Ranges, honest_words
from ldiversity.errors import LDiversityError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ldiversity.collection.survey import SignedSurvey, Survey

__all__ = ["command"]

_MOST_BYTES: Final = 1_000_000


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("url")
@click.option("--fingerprint", metavar="LETTERS", help="The fingerprint of the collector's key, if you know it.")
@click.option(
    "--answers",
    type=click.File("rb"),
    metavar="FILE",
    help='Read the answers from a JSON file, {"age": 34, "disease": "flu"}, or from - (standard input).',
)
@click.option(
    "--invitation",
    metavar="CODE",
    help="The code of your invitation, if the link has none; asked for if the survey wants one.",
)
@click.option("--device", type=click.Path(path_type=Path), help="The folder of the device, if not the usual one.")
@click.option("--again", is_flag=True, help="Also answer what may ask for the same fact as a question before.")
@click.option("--yes", is_flag=True, help="Send without asking; only with --answers.")
def command(
    *,
    url: str,
    fingerprint: str | None,
    answers: BinaryIO | None,
    invitation: str | None,
    device: Path | None,
    again: bool,
    yes: bool,
) -> None:
    """Answer the survey at URL. Your answers are hidden here, before anything is sent.

    You see exactly what will be sent, and nothing is sent before you agree.
    """
    try:
        if yes and answers is None:
            raise ParameterError("answer", "--yes is only for answers that come from a file, with --answers")
        signed = Device.fetch(url, fingerprint)
        opened = Device.open(device)
        _introduce(signed)
        invitation = invitation or parse_qs(urlsplit(url).fragment).get("i", [None])[0]
        given = _ask(signed.survey) if answers is None else _read(answers.read(_MOST_BYTES))
        if signed.survey.tokens != "device" and invitation is None and answers is None:
            invitation = click.prompt("The code of your invitation", err=True)
        preview = _hide(opened, signed, given, invitation, url, again=again, may_ask=answers is None)
        _show(preview)
        if not yes:
            click.confirm("Send this?", abort=True, err=True)
        opened.send(preview, url)
    except LDiversityError as error:
        click.echo(f"Error: {' '.join(filter(None, (error.message, error.hint)))}", err=True)
        sys.exit(error.exit_code)
    click.echo("Your answer is stored. Answering again from this device changes nothing.")


def _introduce(signed: SignedSurvey) -> None:
    """What is asked, by whom, and what holds and does not hold."""
    survey = signed.survey
    click.echo(f"{survey.title}\n{survey.collector}, {survey.contact}; key {signed.fingerprint}")
    click.echo(f"Survey {signed.id}\n")
    click.echo(f"{survey.purpose}\n\n{survey.consent}\n")
    words = honest_words(survey, on_page=False)
    for head, said in (("What holds:", words.holds), ("What does not:", words.limits)):
        click.echo(head)
        for sentence in said:
            click.echo(f"- {sentence}")
        click.echo()


def _ask(survey: Survey) -> dict[str, str | int]:
    given: dict[str, str | int] = {}
    sent = honest_words(survey, on_page=False).sent
    for one in (*survey.quasi, *survey.questions):
        click.echo(f"{one.ask}\n{sent[one.name]}")
        given[one.name] = _whole(one) if isinstance(one, Ranges) else _choose(one)
        click.echo()
    return given


def _whole(one: Ranges) -> int:
    number: int = click.prompt(one.name, value_proc=lambda text: _number(text, one.low, one.high), err=True)
    return number


def _number(text: str, low: int | None, high: int | None) -> int:
    """The number that was typed, between two others; click's own words for what is wrong repeat it."""
    bounds = f" from {low} to {high}" if None not in (low, high) else ""
    bounds = bounds or (f" from {low} up" if low is not None else f" up to {high}" if high is not None else "")
    try:
        number = int(text)
    except ValueError:
        raise click.UsageError(f"Enter a whole number{bounds}.") from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise click.UsageError(f"Enter a whole number{bounds}.")
    return number


def _choose(one: Choice | Question) -> str:
    for number, value in enumerate(one.values, 1):
        click.echo(f"  {number}  {value}")
    places = len(one.values)
    chosen: int = click.prompt(f"{one.name}, its number", value_proc=lambda text: _number(text, 1, places), err=True)
    return one.values[chosen - 1]


def _read(content: bytes) -> dict[str, str | int]:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not all(isinstance(answer, str | int) for answer in said.values()):
        raise ParameterError("answer", "--answers must be a JSON object with a text or a whole number for each name")
    return said


def _hide(
    device: Device,
    signed: SignedSurvey,
    given: Mapping[str, str | int],
    invitation: str | None,
    url: str,
    *,
    again: bool,
    may_ask: bool,
) -> Preview:
    asked = () if again else device.repeated(signed)
    for repeated in asked:
        if not may_ask:
            raise ParameterError("answer", repeated.sentence).with_hint("Use --again if you accept that.")
        click.confirm(f"{repeated.sentence} Go on?", abort=True, err=True)
    # What another process answers from here on was not agreed to.
    return device.answer(signed, given, again=again or bool(asked), invitation=invitation, url=url)


def _show(preview: Preview) -> None:
    click.echo("This is all that will be sent:")
    for line in preview.lines:
        click.echo(f"  {line}")
    for report in preview.reports:
        click.echo(f"  {len(report.body)} bytes: {report.body.decode().rstrip()}")


if __name__ == "__main__":
    command(prog_name="python -m ldiversity.collection.answer")
