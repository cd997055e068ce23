"""``ldiversity anonymize``: publish a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ldiversity.base.typed import join_names
from ldiversity.faces.cli._holder import asked_policy, holder_options, policy_option
from ldiversity.faces.cli._input import opened_if_given, read_as_option
from ldiversity.faces.cli._machine import (
    ENGINE_OPTIONS,
    chosen_engine,
    closing_engine,
    engine_options,
    location,
    memory_option,
)
from ldiversity.faces.cli._method import MethodCommand
from ldiversity.faces.cli._paths import READ, TABLE, WRITTEN
from ldiversity.faces.cli._progress import progress_bar
from ldiversity.faces.cli._show import json_option, show
from ldiversity.faces.cli._text import shell_line

if TYPE_CHECKING:
    from ldiversity.publish import Policy
    from ldiversity.release import Release

__all__ = ["command"]

_OF_ONE_RUN: Final = (
    *("table", "read_as", "output", "overwrite", "workers", "chunk_rows", "memory", "insecure_seed"),
    *ENGINE_OPTIONS,
    *("policy", "key", "as_json"),
)
"""What may be given with a policy: it may leave out table, folder and key, and says nothing about the machine."""


@click.command("anonymize", cls=MethodCommand, short_help="Publish a table as a release.")
@click.argument("table", type=TABLE, required=False)
@policy_option("TABLE and -o take precedence over it")
@click.option("-o", "--output", type=WRITTEN, help="The folder of the release; must not exist yet.")
@read_as_option
@holder_options
@click.option("--key", type=READ, help="Your key file: makes publishing again safe.")
@click.option(
    "--record-id", multiple=True, metavar="COLUMNS",
    help="With --key: columns that tell records apart; --person takes its place.",
)  # fmt: skip
@click.option(
    "--stable-order", is_flag=True,
    help="With --key: the same table gives the same bytes. People who look alike can then be linked between releases.",
)  # fmt: skip
@click.option(
    "--format", "data_format", type=click.Choice(["parquet", "csv"]),
    help="How rows are stored; as the table is by default: csv for CSV and TSV, else parquet.",
)  # fmt: skip
@click.option(
    "--layout", type=click.Choice(["sets", "exploded"]),
    help="One row per record (sets, the default), or one row per member of its set. Methods that group have their own.",
)  # fmt: skip
@click.option(
    "--marginals", is_flag=True,
    help="For methods that generalize: publish how often each value of a quasi-identifier occurs.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a release that is already there.")
@click.option("--workers", type=click.IntRange(min=1), help="Threads; by default one per core.")
@click.option("--chunk-rows", type=click.IntRange(min=1), help="Rows processed at a time; more rows take more memory.")
@memory_option
@engine_options
@click.option(
    "--insecure-seed", type=int, metavar="N", help="FOR TESTS: repeatable draws that anyone can undo. Never publish."
)
@json_option
@click.pass_context
def command(ctx: click.Context, /, policy: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Publish TABLE as a release: each sensitive value hidden in a set of l, or among the records of a class.

    The claim is checked on what was written before the folder gets its name; a failure leaves nothing behind.

    \b
    ldiversity anonymize patients.csv --quasi age,sex,zip --sensitive disease --drop name -l 3 -o release
    ldiversity anonymize patients.csv --quasi age,sex --sensitive disease -l 3 -d 2 --distance tree:diseases.csv -o r
    ldiversity anonymize patients.csv --quasi age,sex,zip --sensitive disease --method bsgi -l 4 -o release
    ldiversity anonymize january.csv --policy policy.toml -o january
    """  # noqa: D301 - click reads the backspace
    if given["insecure_seed"] is not None:
        click.echo(
            "Warning: INSECURE SEED. Anyone who learns or guesses the seed learns every true value. "
            "This release is for tests; never hand it out.",
            err=True,
        )
    from ldiversity.faces.cli._published import render, written

    asked = asked_policy(ctx, policy, given, _OF_ONE_RUN)
    folder = given["output"] or asked.output_folder
    if folder is None:
        named = "" if policy is None else ", as output.folder of the policy does not"
        raise click.UsageError(f"-o must name the folder of the release{named}.")
    release = _publish(asked, folder, given, quiet=as_json)
    keyed = asked.publication.key is not None
    stored = next((file.suffix[1:] for file in folder.glob("data.*")), None)
    answer = written(release, str(folder), _next(release, folder), keyed=keyed, data_format=stored)
    show(answer, render, as_json=as_json)


def _publish(asked: Policy, folder: Path, given: dict[str, Any], *, quiet: bool) -> Release:
    grouping = asked.publication.grouping
    if grouping is not None and given["chunk_rows"]:
        raise click.UsageError(f"--chunk-rows must be left out with {grouping.name}, which groups all records at once.")
    with (
        opened_if_given(given["table"], given["read_as"]) as table,
        progress_bar(wanted=not quiet) as progress,
        _engine(given) as engine,
    ):
        return asked.publish(
            folder,
            table=location(table),
            overwrite=given["overwrite"],
            engine=engine,
            progress=progress,
            insecure_seed=given["insecure_seed"],
        )


@contextmanager
def _engine(given: dict[str, Any]) -> Iterator[Any]:  # an engine or None
    if given["memory"] is not None and given["chunk_rows"] is not None:
        raise click.UsageError("--chunk-rows must be left out with --memory, which decides how many rows fit.")
    chosen = {name: given[name] for name in ("workers", "chunk_rows", "memory") if given[name] is not None}
    named = [*chosen, *(name for name in ENGINE_OPTIONS if given[name] is not None)]
    if named and given["insecure_seed"] is not None:
        raise click.UsageError(f"--{named[0].replace('_', '-')} must be left out with --insecure-seed.")
    if given["engine"] == "spark" and chosen:
        raise click.UsageError(f"--{next(iter(chosen)).replace('_', '-')} must be left out with --engine spark.")
    with closing_engine(chosen_engine(given)) as engine:
        if not chosen:
            yield engine
            return
        from ldiversity.engines import LocalEngine

        yield LocalEngine(**chosen)


def _next(release: Release, folder: Path) -> str:
    if not release.sensitive:
        return shell_line("ldiversity", "audit", folder)
    sensitive = ["--sensitive", join_names(release.sensitive[:1])] if len(release.sensitive) > 1 else []
    return shell_line("ldiversity", "estimate", folder, *_by(release), *sensitive)


def _by(release: Release) -> list[str]:
    """A column to try: the first of texts, which has fewer values than a number."""
    from ldiversity.schema import Role

    quasi = [attribute for attribute in release.schema.attributes if attribute.role is Role.QUASI]
    texts = [attribute.name for attribute in quasi if attribute.type == "string"]
    name = next(iter([*texts, *(attribute.name for attribute in quasi)]), '"')
    if '"' in name:
        return []
    return ["--by", f'"{name}"' if set(name) & set(",:@") else name]
