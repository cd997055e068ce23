"""``ldiversity compare``: several methods on one table, and which one to publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from ldiversity.base.numbers import counted, number, percent
from ldiversity.base.typed import split_names
from ldiversity.catalog import LISTED_OPTIONS, OPTIONS, methods_with
from ldiversity.faces.cli._findings import finding_in_words
from ldiversity.faces.cli._holder import column_options, confirm_option, grouping_options
from ldiversity.faces.cli._input import advised_words, opened_table, read_as_option
from ldiversity.faces.cli._method import METHOD_OPTIONS, MethodCommand, given_options
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import PICTURE, TABLE, WRITTEN, Output
from ldiversity.faces.cli._progress import progress_bar
from ldiversity.faces.cli._recognition import recognition_choices, recognition_options
from ldiversity.faces.cli._show import Page, json_option, show
from ldiversity.faces.cli._words import in_words

if TYPE_CHECKING:
    from ldiversity.evaluation.compare import ComparedRun, Comparison

__all__ = ["command"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_OFFERED: Final = [option for option in LISTED_OPTIONS.values() if option.flag is not None]
_SHARED: Final = {
    option.name: made
    for option, made in zip(_OFFERED, METHOD_OPTIONS[1:], strict=True)
    if option.name not in {"l", "model"}
}
"""Options that go to all methods that have them; l is varied, and a model takes its place."""

EXIT_NOTHING: Final = 1
"""Nothing can be recommended."""

_MOST_LEVELS: Final = 200
_EXPOSURE: Final = (
    "k: the smallest class of equal quasi-identifiers. found at worst: how surely someone finds a person's record, and "
    "how many records are found more surely than the limit. worst belief: the likeliest value of anybody. times "
    "likelier: how much a value gains at most over its overall share. sure of: records whose value an attack that "
    "the promise covers is sure of, and right about."
)


def _method_options(command: Decorated) -> Decorated:
    for made in reversed(_SHARED.values()):
        command = made(command)
    return command


def _no_policy(file: Path, _: Mapping[str, Any]) -> str | None:
    from ldiversity.publish import Policy

    if Policy.is_in(file):
        return None
    return f"must be new or a policy, but {str(file)!r} holds something else. Choose another name, or remove it first."


@click.command("compare", cls=MethodCommand, short_help="Which method to publish with.")
@click.argument("table", type=TABLE)
@read_as_option
@column_options
@confirm_option
@click.option(
    "-l", "diversities", default="2..7", show_default=True, metavar="NUMBERS", help="Values of l: 3, 2,4,6 or 2..7."
)
@click.option("--methods", multiple=True, metavar="NAMES", help="The methods; by default all that fit.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Also run the methods that take a model with this one, such as entropy:3; may be repeated. With 'and' between "
    "several, one run keeps all of them: 'k-anonymity:5 and t-closeness:0.4'.",
)
@_method_options
@grouping_options
@click.option("--queries", type=click.IntRange(min=1), help="How many random counting queries; 300 by default.")
@click.option("--attacks", multiple=True, metavar="NAMES", help="The attacks; those by people who know the release.")
@click.option("--targets", type=click.IntRange(min=1), default=2000, show_default=True, help="Records attacked.")
@click.option(
    "--risk",
    type=click.FloatRange(0, 1),
    help="The greatest acceptable gain of an attacker over guessing, from 0 to 1, chance included; decides what is "
    "recommended.",
)
@recognition_options
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="For large tables: compare on so many records, drawn at random; on those of so many people with --person. Its "
    "figures are not those of the whole table.",
)
@click.option("--folder", type=WRITTEN, help="Keep finished runs here, so that they are not repeated.")
@click.option("--plot", type=PICTURE, help="Also write the map: .png, .svg or .pdf.")
@click.option(
    "--save",
    type=Output(".toml", keeps=_no_policy),
    help="Also write what is recommended as a policy, for anonymize --policy.",
)
@overwrite_option
@click.option("--seed", type=click.IntRange(min=0), help="Makes the figures repeatable; no release is kept.")
@json_option
def command(table: Path, plot: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Run several methods on TABLE, measure risk, error and cost of each, and say which one to publish.

    Computed with the original: what it prints, draws and keeps is for the data holder. No release is kept.
    Exit code 0 when a run is recommended, 1 when none can be, 2 when something is wrong with the input.

    \b
    ldiversity compare patients.csv --quasi age,sex --sensitive disease
    ldiversity compare patients.csv --quasi age,sex --sensitive disease -l 2..4 --methods bsgi,anatomy --plot map.png
    ldiversity compare patients.csv --quasi age,sex --sensitive disease --folder runs --risk 0.2
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.publish import TypedColumns, typed_columns

    diversities = _diversities(given["diversities"])
    names = split_names(given["methods"], "methods") or None
    options = _options(given, names)
    columns = typed_columns(cast("TypedColumns", given))
    with opened_table(table, given["read_as"]) as path, progress_bar(wanted=not as_json) as progress:
        found = ld.compare(
            path,
            **columns,
            **recognition_choices(given),
            confirm=split_names(given["confirm"], "confirm"),
            l=diversities,
            methods=names,
            models=[_together(text) for text in given["models"]],
            options=options,
            queries=given["queries"],
            attacks=split_names(given["attacks"], "attacks") or None,
            targets=given["targets"],
            risk=given["risk"],
            sample=given["sample"],
            folder=given["folder"],
            progress=progress,
            seed=given["seed"],
        )
    answer = replace(
        found,
        table=table.name,
        rows=tuple(map(_in_flags, found.rows)),
        findings=tuple(map(finding_in_words, found.findings)),
        advised=advised_words(found.command, table, given["read_as"]),
    )
    if plot is not None and any(run.measured for run in found.rows):
        answer = replace(answer, plot_file=str(plot))
        answer.plot(plot)
    elif plot is not None:
        answer = replace(answer, notes=(*answer.notes, "There is no map, because no run was measured."))
    if given["save"] is not None and found.publication is not None:
        found.publication.save(given["save"])
        saved = f"What is recommended is in {given['save']}, for anonymize --policy."
        answer = replace(answer, notes=(*answer.notes, saved))
    show(answer, _render, as_json=as_json)
    if found.choice.run is None:
        click.get_current_context().exit(EXIT_NOTHING)


def _options(given: Mapping[str, Any], methods: Sequence[str] | None) -> dict[str, Any]:
    """The options that were given; an option is refused if no method that was named has it."""
    from ldiversity.publish import typed_options

    shared = [*_SHARED, *(name for name in OPTIONS if name not in LISTED_OPTIONS)]
    found = typed_options({name: value for name, value in given_options(given).items() if name in shared})
    asked = [*found, *(["model"] if given["models"] else [])]
    for name in asked if methods is not None else ():
        takers = methods_with(name)
        if not set(takers) & set(methods or ()):
            flag = str(OPTIONS[name].flag).partition("/")[0]
            raise click.UsageError(f"{flag} must be left out: it is an option of {', '.join(takers)}, not run here.")
    return found


def _together(text: str) -> str | list[str]:
    """A model, or several that one run must satisfy together."""
    several = [part.strip() for part in text.split(" and ")]
    return several if len(several) > 1 else text


def _diversities(text: str) -> list[int]:
    """Read ``3``, ``2,4,6``, ``2..7`` or a mixture."""
    found: list[int] = []
    for part in text.split(","):
        low, dots, high = (piece.strip() for piece in part.partition(".."))
        try:
            several = range(int(low), int(high if dots else low) + 1)
        except ValueError:
            several = range(0)
        if not several:
            raise click.UsageError(f"-l must be numbers such as 3, 2,4,6 or 2..7, got {text!r}.")
        if len(several) + len(found) > _MOST_LEVELS:
            raise click.UsageError(
                f"-l must be at most {_MOST_LEVELS} numbers, got {text!r}: l cannot exceed the number of values."
            )
        found += several
    return found


def _in_flags(run: ComparedRun) -> ComparedRun:
    reason, hint = (text and in_words(text) for text in (run.reason, run.hint))
    return replace(run, reason=reason, hint=hint)


def _render(found: Comparison, page: Page) -> None:
    from ldiversity.evaluation.compare import (
        ASSOCIATION,
        LEGEND,
        association_table,
        exposure_table,
        failures,
        figures_table,
    )

    page.warning(found.holder_only)
    records = counted(found.drawn_from or found.records, "record")
    drawn = "" if found.drawn_from is None else f"{number(found.records)} of "
    page.title(f"{found.table}: {counted(len(found.rows), 'run')} on {drawn}{records}")
    whole = "table" if found.drawn_from is None else "sample"
    for name, share in found.unprotected.items():
        page.text(
            f"As it is, the {whole} gives away {name!r} of {percent(share)} of the records to those who know the rest."
        )
    page.text(
        "Someone who knows only how frequent the values of each column are answers the queries with an error of "
        f"{percent(found.uninformed)}."
    )
    if not all(run.failed for run in found.rows):
        shown = (
            (figures_table(found), LEGEND),
            (association_table(found), ASSOCIATION),
            (exposure_table(found), _EXPOSURE),
        )
        for texts, below in shown:
            page.table(texts.heads, texts.rows, right=texts.numbers)
            page.text(below)
    failed = failures(found)
    if failed:
        page.title("Not possible here")
        page.bullets(failed)
    unsound = [f"{one.run.label}: {text}" for one in found.judged for text in one.flaws if not one.recommended]
    if unsound:
        page.title("Not sound")
        page.bullets(unsound)
    page.title("Which one to publish")
    page.text(found.recommendation)
    page.bullets(found.cautions)
    if found.command_line is not None:
        page.command(found.command_line)
    page.title("Notes")
    page.bullets(found.notes)
    if found.plot_file is not None:
        page.bullet(f"The map is in {found.plot_file}. In words: {found.alt}")
