"""The decisions of a data holder, as options of every command that reads a table; other rooms parse their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click
from click.core import ParameterSource

from ldiversity.faces.cli._method import METHOD_OPTIONS, given_options
from ldiversity.faces.cli._outputs import written
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._words import mark_policy

if TYPE_CHECKING:
    from ldiversity.publish import Policy, TypedPublication

__all__ = [
    "asked_policy",
    "column_options",
    "grouping_options",
    "holder_options",
    "policy_option",
    "reading_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_NAMES: Final = "names separated by commas, or the option again"

_READING_OPTIONS: Final = (
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Read a column as text, integer, number, boolean or date, if another type would be inferred.",
    ),
    click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook, by name or by number from 1."),
    click.option(
        "--encoding", metavar="NAME", help="The encoding of a text file, such as cp1252, latin-1 or utf-16; else UTF-8."
    ),
    click.option("--decimal", metavar="MARK", help="What stands before decimals in texts: a point, or a comma."),
    click.option(
        "--date-format", metavar="FORM", help="How dates are written, if not as 2020-01-31: dmy, mdy, ymd or %d.%m.%Y."
    ),
    click.option("--skip-rows", type=click.IntRange(min=0), metavar="N", help="Lines or rows above the column names."),
)
"""How a table is read: the same options for every command that reads one."""

counted_person_option: Final = click.option(
    "--person",
    metavar="COLUMN",
    help="Says whose row it is, if a person may have several rows: people are then counted, and not rows.",
)

_COLUMN_OPTIONS: Final = (
    click.option(
        "--quasi",
        multiple=True,
        metavar="COLUMNS",
        help="Columns by which people might be recognized: published as they are, or generalized by methods that "
        f"group ({_NAMES}).",
    ),
    click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Columns that nobody may learn about a person."),
    click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns that name people; never published."),
    click.option(
        "--plain",
        multiple=True,
        metavar="COLUMNS",
        help="Columns published as they are; you vouch that they give nothing away.",
    ),
    click.option(
        "--domain",
        "domains",
        multiple=True,
        metavar="COLUMN=VALUES",
        help="The public values of a sensitive column, in order: v1,v2,... or @file with one per line.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="HOW",
        help="What happens to rows whose sensitive value is missing: refuse (the default), category or drop; "
        "COLUMN=HOW for one column; may be repeated.",
    ),
    click.option(
        "--bins",
        multiple=True,
        metavar="COLUMN=BINS",
        help="Cut numbers: width:10, width:10,low:0,high:100, edges:0/10/20 or quantiles:5.",
    ),
    *_READING_OPTIONS,
)
"""What the holder says about the columns of a table: the same options for every command that reads it."""

_GROUPING_OPTIONS: Final = (
    click.option(
        "--hierarchy",
        "hierarchies",
        multiple=True,
        metavar="COLUMN=HIERARCHY",
        help="For methods that group: how a quasi-identifier is generalized, by a hierarchy file, or auto, date, "
        "prefix, width:5/10/20 or quantiles:16/4, which are made from its values.",
    ),
    click.option(
        "--publish",
        "levels",
        multiple=True,
        metavar="COLUMN=LEVEL",
        help="How coarsely a quasi-identifier is published, and from where methods generalize further, as width:5, "
        "prefix:3, year, quarter, month, decade, file.csv:2, bottom:18, top:90, or width:5,bottom:20,top:90.",
    ),
    click.option(
        "--grid",
        multiple=True,
        metavar="COLUMN=STEP",
        help="For methods that publish intervals: round their ends outward to multiples of a number, or to day, week, "
        "month, quarter, year, decade or century; exact, or COLUMN=exact, leaves them as they are. Without it, the "
        "step is about 1 % of the range; may be repeated.",
    ),
    click.option(
        "--person",
        metavar="COLUMN",
        help="Says whose row it is, if a person may have several rows; never published.",
    ),
)


confirm_option: Final = click.option(
    "--confirm",
    multiple=True,
    metavar="COLUMNS",
    help="Columns to publish although they name people, or give a sensitive value away; refused otherwise.",
)


def policy_option(others: str) -> Callable[[Decorated], Decorated]:
    """The option that names a policy file; `others` says what may be given with it."""
    help_text = f"A reviewed file that replaces the options below; {others}."
    return click.option("--policy", type=READ, help=help_text)


def asked_policy(
    ctx: click.Context, file: Path | None, given: Mapping[str, Any], run_options: Collection[str]
) -> Policy:
    """What to publish: as a policy file says, with which only `run_options` may be given, or as the options say."""
    from ldiversity.publish import Policy, typed_publication

    if file is None:
        if ctx.params["table"] is None:
            raise click.UsageError("TABLE must be given, or --policy.")
        return Policy(typed_publication(cast("TypedPublication", {**given, "options": given_options(given)})))
    mark_policy(ctx, {*run_options} - {"key"})  # a policy may name the key
    for parameter in ctx.command.get_params(ctx):
        name = parameter.name or ""
        if name not in run_options and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{written(parameter)} must be left out with --policy: the policy says it.")
    policy, key = Policy.read(file), given.get("key")
    if key is None:
        return policy
    if policy.publication.key is not None:
        raise click.UsageError("--key must be left out with --policy: the policy says it.")
    return replace(policy, publication=replace(policy.publication, key=key))


def reading_options(command: Decorated) -> Decorated:
    """Add the options that say how a table is read."""
    return _add(command, _READING_OPTIONS)


def column_options(command: Decorated) -> Decorated:
    """Add the options that say what the columns of a table are."""
    return _add(command, _COLUMN_OPTIONS)


def grouping_options(command: Decorated) -> Decorated:
    """Add the options that only methods that group records have."""
    return _add(command, _GROUPING_OPTIONS)


def holder_options(command: Decorated) -> Decorated:
    """Add the options that describe the table's columns and the method."""
    return _add(command, (*_COLUMN_OPTIONS, confirm_option, *METHOD_OPTIONS, *_GROUPING_OPTIONS))


def _add(command: Decorated, options: Sequence[Callable[[Decorated], Decorated]]) -> Decorated:
    for option in reversed(options):
        command = option(command)
    return command
