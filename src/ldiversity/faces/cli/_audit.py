"""``ldiversity audit``: what a table or a release gives away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ldiversity.base.numbers import counted, figure, number
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import column_options, counted_person_option
from ldiversity.faces.cli._input import advised_words, opened_table, read_as_option
from ldiversity.faces.cli._machine import (
    chosen_engine,
    closing_engine,
    engine_options,
    location,
    machine_words,
    memory_option,
)
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import PAGE, READ, TABLE
from ldiversity.faces.cli._recognition import recognition_choices, recognition_options
from ldiversity.faces.cli._sample import sample_options
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.evaluation.audit import Audit, Figure

__all__ = ["command"]

EXIT_FAILED: Final = 1
"""A model that was asked for does not hold."""


@click.command("audit", cls=Command, short_help="What a table or release gives away.")
@click.argument("table", metavar="TABLE|RELEASE", type=TABLE)
@read_as_option
@column_options
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="What must hold: k-anonymity:5, distinct:3, entropy:2.5, recursive:3:2, frequency:3, alpha-k:0.5:5, "
    "t-closeness:0.2, beta-likeness:1, delta-disclosure:1, unique:3, gap:3:5000, semantic:3:2:ordered, "
    "level:3:1:<file>; may be repeated. For a release, by default what it claims.",
)
@click.option(
    "--missing-quasi",
    type=click.Choice(["category", "drop", "refuse"]),
    default="category",
    show_default=True,
    help="Whether a missing quasi-identifier is a value like others, leaves the row out, or is refused.",
)
@click.option(
    "--joint-knowledge",
    is_flag=True,
    help="Assume that an attacker who asks for one sensitive column knows the others.",
)
@counted_person_option
@click.option(
    "--original",
    type=READ,
    help="Of a RELEASE with --person: the table that it was made from, which says whose rows it holds.",
)
@recognition_options
@sample_options
@memory_option
@engine_options
@click.option("--html", type=PAGE, help="Also write the audit as a page.")
@overwrite_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    table: Path,
    html: Path | None,
    *,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - options by name
) -> None:
    """Say what TABLE, or the folder RELEASE, gives away: models, risks, and the first thing to do.

    Exit code 0 when the models hold, 1 when one does not, 2 when something is wrong with the input. No cell of the
    table is shown, only numbers of classes and records.

    \b
    ldiversity audit patients.csv --quasi age,sex,zip --sensitive disease
    ldiversity audit patients.csv --quasi age,sex,zip --sensitive disease --model k-anonymity:5 --model distinct:3
    ldiversity audit release --html report.html
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.tables import ColumnTexts, read_roles

    columns = read_roles(cast("ColumnTexts", given))
    if not table.exists() and table != Path("-") and isinstance(location(table), Path):
        raise click.UsageError(f"TABLE must be a file, or RELEASE a folder, but {str(table)!r} does not exist.")
    if not table.is_dir() and not columns["quasi"] and not columns["sensitive"]:
        raise click.UsageError("--quasi and --sensitive must name columns of the table.")
    with opened_table(table, given["read_as"]) as path, closing_engine(chosen_engine(given)) as engine:
        found = ld.audit(
            location(path),
            **columns,
            models=list(given["models"]),
            missing=given["missing_quasi"],
            joint_knowledge=given["joint_knowledge"],
            **recognition_choices(given),
            person=given["person"],
            original=given["original"],
            weights=given["weights"],
            strata=given["strata"],
            memory=given["memory"],
            engine=engine,
        )
    advice = replace(
        found.advice, words=advised_words(found.advice.words, table, given["read_as"], machine_words(given))
    )
    answer = replace(found, name=table.name, advice=advice)
    if html is not None:
        _write(html, answer)
    show(answer, _render, as_json=as_json)
    if answer.passed is False:
        ctx.exit(EXIT_FAILED)


def _write(file: Path, answer: Audit) -> None:
    from ldiversity.errors import StorageError

    try:
        file.write_text(answer.to_html(), encoding="utf-8")
    except OSError as error:
        raise StorageError("html", f"file {str(file)!r} cannot be written: {error.strerror}") from None


def _render(audit: Audit, page: Page) -> None:
    from ldiversity.evaluation.audit import learned, risk_rows, risk_words, sampled_tables

    what = "" if audit.kind == "table" else f" ({audit.kind})"
    records, classes = counted(audit.records, "record"), counted(audit.classes.count, "class", "classes")
    if audit.people is not None:
        records = f"{counted(audit.records, 'row')} of {counted(audit.people, 'person', 'people')}"
    page.title(f"{audit.name}{what}: {records} in {classes} of equal quasi-identifiers")
    page.bullets(audit.verdict)
    if audit.conclusion is not None:
        (page.text if audit.passed and not audit.confirmed else page.warning)(audit.conclusion)
    page.title("First thing to do")
    page.text(audit.advice.text)
    if audit.advice.command is not None:
        page.command(audit.advice.command)
    page.title("Models")
    page.table(
        ["model", "reached", "asked", "meaning"],
        [
            [name, figure(one.value), {True: "holds", False: "fails", None: ""}[one.passed], _meaning(one)]
            for name, one in audit.models.items()
        ],
        right={1},
    )
    page.title("Recognizing people")
    page.table(*risk_rows(audit), right={1, 2, 3})
    for text in risk_words(audit):
        page.text(text)
    page.text(f"How many {audit.in_a_class} look alike:")
    sizes = [[name, number(count)] for name, count in audit.classes.sizes.items()]
    page.table([f"{audit.in_a_class} in a class", "classes"], sizes, right={1})
    for name, risk in audit.attribute_risk.items():
        told = learned(audit.kind, risk, audit.people)
        page.title(f"Learning {name}")
        page.table(told.heads, [[text, *map(number, n)] for text, n in told.rows], right=range(1, len(told.heads)))
        page.text(told.sentence)
    if audit.sampled is not None:
        page.title("The population that the table stands for")
        for about, heads, rows in sampled_tables(audit.sampled, audit.models):
            page.text(about)
            page.table(heads, rows, right=range(1, len(heads)))
    if audit.notes:
        page.title("Notes")
        page.bullets(audit.notes)


def _meaning(one: Figure) -> str:
    return one.why if one.value is None and one.why else one.meaning
