"""``ldiversity describe``: look at a table before publishing it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ldiversity.base.numbers import counted, number, percent
from ldiversity.base.typed import join_assignment, join_names
from ldiversity.base.usual_l import usual_l
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import reading_options
from ldiversity.faces.cli._input import opened_table, read_as_option, read_as_words
from ldiversity.faces.cli._paths import TABLE
from ldiversity.faces.cli._show import Page, json_option, show
from ldiversity.faces.cli._text import shell_line
from ldiversity.faces.cli._words import in_words

if TYPE_CHECKING:
    from ldiversity.faces.report import ColumnDescription, Description

__all__ = ["command"]


@click.command("describe", cls=Command, short_help="Columns, suggested roles, the largest l.")
@click.argument("table", type=TABLE)
@read_as_option
@reading_options
@json_option
def command(table: Path, read_as: str | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Show a TABLE's columns, suggested roles, and the largest l each method can reach.

    It shows true frequencies: what it prints is for the data holder.

    \b
    ldiversity describe patients.csv
    gunzip -c patients.dat.gz | ldiversity describe - --read-as tsv
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.tables import ReadingTexts, ReadOptions, read_reading, reading_words

    reading = read_reading(cast("ReadingTexts", given))
    with opened_table(table, read_as) as path:
        description = ld.describe(path, **reading)
    words = [table, *read_as_words(read_as)]
    advised = ReadOptions(**{**description.advised_reading, **reading["read"].given})
    following = _next(words, description, reading_words(reading["types"], advised))
    said = tuple(map(in_words, description.reading))
    answer = replace(description, table=table.name, next=following, reading=said)
    show(answer, _render, as_json=as_json)


def _next(table: list[object], description: Description, reading: Sequence[str]) -> str | None:
    """The plan to make next, or None when no plan could work."""
    from ldiversity.schema import Role

    sensitive = [column for column in description.columns if column.role is Role.SENSITIVE and column.usable]
    if description.problems and not sensitive:
        return None
    words: list[object] = ["ldiversity", "plan", *table]
    for option, role in (("--quasi", Role.QUASI), ("--drop", Role.IDENTIFIER)):
        names = description.names(role)
        words += [option, join_names(names)] if names else []
    words += [] if description.several_rows is None else ["--person", description.several_rows.column]
    words += ["--sensitive", join_names(column.name for column in sensitive) or "COLUMN"]
    for column in sensitive:
        if column.needs_bins:
            words += ["--bins", f"{join_assignment(column.name)}=width:WIDTH,low:LOW,high:HIGH"]
        if column.summary.n_missing:
            words += ["--missing", f"{join_assignment(column.name)}=category"]
    return shell_line(*words, *reading, *_method(description, sensitive))


def _method(description: Description, sensitive: Sequence[ColumnDescription]) -> list[object]:
    """How to publish: sets, unless quasi-identifiers single people out; then they must be generalized."""
    kind = "grouping" if description.singles_out else "randomized-addition"
    reached = [one.l for column in sensitive for one in column.reach if one.method == kind and not column.needs_bins]
    largest = min(reached, default=sys.maxsize)
    if not description.singles_out:
        return ["-l", usual_l(largest)]
    # Mondrian leaves no records out: without an l that all of them allow, only k is promised.
    return ["--method", "mondrian", "--model", "k-anonymity:5", *(["-l", usual_l(largest)] if largest > 1 else [])]


def _render(found: Description, page: Page) -> None:
    from ldiversity.schema import Role

    page.title(f"{found.table}: {counted(found.n_rows, 'row')}, {counted(len(found.columns), 'column')}")
    if found.several_rows is not None:
        whose = found.several_rows
        page.warning(f"{whose.column}: {whose.text} Tell plan and anonymize: --person {shlex.quote(whose.column)}.")
    page.table(
        ["column", "type", "missing", "distinct", "unique", "pairs told apart", "suggested role", "because"],
        [
            [
                column.name,
                column.type,
                number(column.missing),
                f"{'more than ' if column.more_distinct else ''}{number(column.distinct)}",
                percent(column.unique),
                percent(column.separation),
                str(column.role or "none"),
                column.reason,
            ]
            for column in found.columns
        ],
        right={2, 3, 4, 5},
    )
    if found.reading:
        page.title("How it is read")
        page.bullets(found.reading)
    _render_together(found, page)
    for column in found.columns:
        if column.role is Role.SENSITIVE:
            _render_sensitive(column, page)
    if found.problems:
        page.title("Problems")
        page.bullets(found.problems)
    if found.next is not None:
        page.title("Next")
        page.text("The roles are suggestions; the decision is yours. Columns without a role are not published.")
        if found.singles_out:
            page.text(
                "The quasi-identifiers single people out, so they are generalized: at least 5 records look alike."
            )
        if "--missing" in found.next:
            page.text("Rows without a sensitive value get one of their own (category); with drop they are left out.")
        if "=width:WIDTH" in found.next:
            page.text(
                "Replace WIDTH, LOW and HIGH by public numbers: what a code book says, not what this table holds."
            )
        page.command(found.next)


def _render_together(found: Description, page: Page) -> None:
    from ldiversity.faces.report import told_apart

    if found.together is None:
        return
    page.title("Who can be singled out")
    page.text(f"All that look like quasi-identifiers: {told_apart(found.together, found.sampled)}")
    page.bullets(told_apart(one, found.sampled) for one in found.combinations if one != found.together)


def _render_sensitive(column: ColumnDescription, page: Page) -> None:
    if column.frequencies:
        page.title(f"{column.name}: most frequent values")
        page.table(
            ["value", "rows", "share"],
            [[f.value, number(f.count), percent(f.share)] for f in column.frequencies],
            right={1, 2},
        )
    page.title(f"{column.name}: largest l")
    if column.reach:
        page.table(
            ["method", "d", "largest l", "because"],
            [
                [reach.method, number(reach.d), number(reach.l) if reach.l > 1 else "none", reach.rule]
                for reach in column.reach
            ],
            right={1, 2},
        )
    page.bullets(column.advice)
