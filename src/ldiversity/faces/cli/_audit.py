"""``ldiversity audit``: what a table or a release gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import click

from ldiversity.base.numbers import level, number, percent
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import column_options, population_option
from ldiversity.faces.cli._input import advised_line, opened_table, read_as_option
from ldiversity.faces.cli._paths import TABLE, WRITTEN
from ldiversity.faces.cli._show import Facts, Page, show

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
    "t-closeness:0.2, beta-likeness:1, delta-disclosure:1, unique:3, semantic:3:2:ordered, level:3:1:<file>; may be "
    "repeated. Of a release, what it claims when left out.",
)
@click.option(
    "--missing-quasi",
    type=click.Choice(["category", "drop", "refuse"]),
    default="category",
    show_default=True,
    help="Whether a missing quasi-identifier is a value like others, leaves the row out, or is refused.",
)
@click.option("--joint-knowledge", is_flag=True, help="An attacker who asks for one sensitive column knows the others.")
@population_option
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="From which probability on a record counts as at risk of being recognized.",
)
@click.option("--html", type=WRITTEN, help="Also write a page for the one who decides.")
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
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
    if not table.exists() and table != Path("-"):
        raise click.UsageError(f"TABLE must be a file, or RELEASE a folder, but {str(table)!r} does not exist.")
    if not table.is_dir() and not columns["quasi"] and not columns["sensitive"]:
        raise click.UsageError("--quasi and --sensitive must name columns of the table.")
    with opened_table(table, given["read_as"]) as path:
        found = ld.audit(
            path,
            **columns,
            models=list(given["models"]),
            missing=given["missing_quasi"],
            joint_knowledge=given["joint_knowledge"],
            population=given["population"],
            threshold=given["threshold"],
        )
    facts = {**found.to_dict(), "name": table.name}
    facts["advice"] = {**facts["advice"], "command": advised_line(found.advice.words, table, given["read_as"])}
    if html is not None:
        _write(html, found, table.name)
    show(facts, _render, as_json=as_json)
    if found.passed is False:
        ctx.exit(EXIT_FAILED)


def _write(file: Path, found: Any, name: str) -> None:  # noqa: ANN401 - an Audit
    from dataclasses import replace

    from ldiversity.errors import StorageError

    try:
        file.write_text(replace(found, name=name).to_html(), encoding="utf-8")
    except OSError as error:
        raise StorageError("html", f"file {str(file)!r} cannot be written: {error.strerror}") from None


def _render(facts: Facts, page: Page) -> None:
    what = "" if facts["kind"] == "table" else f" ({facts['kind']})"
    page.title(f"{facts['name']}{what}: {_looked_at(facts)}")
    for sentence in facts["verdict"]:
        page.bullet(sentence)
    if facts["passed"] is not None:
        if facts["passed"]:
            page.text("What was asked for holds.")
        else:
            page.warning("What was asked for does not hold.")
    page.title("First thing to do")
    page.text(facts["advice"]["text"])
    if facts["advice"]["command"] is not None:
        page.command(facts["advice"]["command"])
    page.title("Models")
    page.table(
        ["model", "reached", "asked", "meaning"],
        [
            [name, _value(one["value"]), {True: "holds", False: "fails", None: ""}[one["passed"]], _meaning(one)]
            for name, one in facts["models"].items()
        ],
        right={1},
    )
    _render_risk(facts, page)
    for name, risk in facts["attribute_risk"].items():
        _render_attribute(name, facts["kind"], risk, page)
    if facts["notes"]:
        page.title("Notes")
        page.bullets(facts["notes"])


def _render_risk(facts: Facts, page: Page) -> None:
    risk, classes = facts["risk"], facts["classes"]
    page.title("Recognizing people")
    page.table(
        ["attacker", "greatest", "mean", f"records above {level(risk['threshold'])}"],
        [
            [name, percent(risk[name].get("max")), percent(risk[name]["mean"]), number(risk[name].get("records_above"))]
            for name in ("prosecutor", "journalist", "marketer")
        ],
        right={1, 2, 3},
    )
    page.text("How many records look alike:")
    page.table(
        ["records in a class", "classes"],
        [[name, number(count)] for name, count in classes["sizes"].items()],
        right={1},
    )


def _render_attribute(name: str, kind: str, risk: Facts, page: Page) -> None:
    from ldiversity.evaluation.audit import learned

    found = learned(kind, risk)
    page.title(f"Learning {name}")
    rows = [[text, *map(number, numbers)] for text, numbers in found.rows]
    page.table(found.heads, rows, right=set(range(1, len(found.heads))))
    page.text(found.sentence)


def _looked_at(facts: Facts) -> str:
    records, classes = facts["records"], facts["classes"]["count"]
    return (
        f"{number(records)} {'record' if records == 1 else 'records'} in "
        f"{number(classes)} {'class' if classes == 1 else 'classes'} of equal quasi-identifiers"
    )


def _value(value: Any) -> str:  # noqa: ANN401 - a number, or numbers by name
    if not isinstance(value, dict):
        return number(value)
    return ", ".join(f"{name}: {number(part)}" for name, part in list(value.items())[:3])


def _meaning(one: Facts) -> str:
    return str(one["why"] if one["value"] is None and one["why"] else one["meaning"])
