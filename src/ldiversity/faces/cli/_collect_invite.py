"""``ldiversity collect invite``: codes for people who may answer once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import counted
from ldiversity.base.private_files import write_private
from ldiversity.errors import ParameterError, StorageError
from ldiversity.faces.cli._collect_files import (
    SurveyFiles,
    database_option,
    needs_collect,
    opened_store,
    survey_argument,
)
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Page, json_option, show

__all__ = ["Invited", "command"]


@dataclass(frozen=True, repr=False)
class Invited(Answer, schema="collect-invited", version=1):
    """Codes that were written to a file. The database has their hashes only.

    Attributes
    ----------
    survey
        The survey's id.
    file
        Where they are, one on each line.
    codes
        How many.
    links
        Whether the lines are links that have the codes in them.
    mode
        Who can read the file.
    """

    survey: str
    file: str
    codes: int
    links: bool
    mode: str = "0600"


@click.command("invite", cls=Command, short_help="Make codes for people who may answer.")
@click.argument("number", type=click.IntRange(1, 1_000_000))
@survey_argument
@click.option(
    "-o",
    "--output",
    type=WRITTEN,
    default=Path("invitations.txt"),
    show_default=True,
    help="The file to write, readable by its owner only.",
)
@click.option(
    "--url",
    metavar="URL",
    help="The address by which people reach the survey: a link with the code in it is written in place of each code.",
)
@database_option
@json_option
def command(number: int, survey: Path, *, output: Path, url: str | None, database: str | None, as_json: bool) -> None:
    """Write NUMBER codes, with each of which SURVEY (survey.toml) can be answered once.

    Give one to each person, and keep no list of who got which: with it you could see who answered.

    \b
    ldiversity collect invite 500 -o codes.txt
    ldiversity collect invite 500 -o links.txt --url https://survey.example
    """  # noqa: D301 - click reads the backspace
    files = SurveyFiles(survey)
    signed = files.load()
    if signed.survey.tokens == "device":
        raise ParameterError("survey", "has no invitations: every device may answer it").with_hint(
            'Write tokens = "invitation", or tokens = "blind", in its file before anybody answers.'
        )
    with opened_store(files, database, create=True) as (store, _):
        with needs_collect():
            from ldiversity.collection.server import Address, ServerOptions, invitation_hashes, make_invitations
        start = ""
        if url is not None:
            ServerOptions.reached_at(Address.read("127.0.0.1:8000"), url)  # refuses what is no address of a server
            start = f"{url.rstrip('/')}/#k={signed.fingerprint}&i="
        codes = make_invitations(number)
        store.add_survey(signed)
        _write(output, [f"{start}{code}" for code in codes])
        store.add_invitations(signed.id, invitation_hashes(signed, codes))
    show(Invited(signed.id, str(output), number, url is not None), _render, as_json=as_json)


def _write(file: Path, lines: Sequence[str]) -> None:
    try:
        write_private(file, "".join(f"{line}\n" for line in lines).encode("ascii"))
    except FileExistsError:
        raise ParameterError("output", f"file {str(file)!r} must not exist yet", hint="Choose another name.") from None
    except OSError as error:
        raise StorageError("output", f"file {str(file)!r} cannot be written: {error.strerror}") from None


def _render(found: Invited, page: Page) -> None:
    what = counted(found.codes, "link" if found.links else "code")
    page.text(
        f"Wrote {what} to {found.file} (mode {found.mode}: only its owner can read it). "
        "The database has hashes of the codes only."
    )
    page.bullets(
        [
            "Each link answers once. Browsers do not send what follows the #."
            if found.links
            else "Each code answers once. People type it on the page; with --url, links that have it are written.",
            "From now on the survey's file must stay as it is: codes are for this text of it only.",
            "Keep no list of who got which, and remove the file when all are sent.",
        ]
    )
