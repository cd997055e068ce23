"""``ldiversity anonymize``: publish a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ldiversity.base.numbers import number, percent
from ldiversity.base.typed import join_names
from ldiversity.faces.cli._class_pages import class_facts, render_classes, render_promises
from ldiversity.faces.cli._holder import (
    grouping_arguments,
    holder_arguments,
    holder_options,
    policy_option,
    refuse_others,
)
from ldiversity.faces.cli._input import opened_table, read_as_option
from ldiversity.faces.cli._method import MethodCommand, is_grouping, method_name
from ldiversity.faces.cli._paths import READ, TABLE, WRITTEN
from ldiversity.faces.cli._progress import progress_bar
from ldiversity.faces.cli._show import Facts, Page, show
from ldiversity.faces.cli._text import shell_line, split_names
from ldiversity.faces.cli._words import mark_policy

if TYPE_CHECKING:
    from ldiversity.release import Release

__all__ = ["command"]

_PASSED_ON: Final = ("output", "data_format", "overwrite", "insecure_seed")
_WITH_POLICY: Final = {"policy", "output", "overwrite", "insecure_seed", "as_json"}


@click.command("anonymize", cls=MethodCommand, short_help="Publish a table as a release.")
@click.argument("table", type=TABLE, required=False)
@policy_option("only -o, --overwrite and --insecure-seed may stand with it")
@click.option("-o", "--output", type=WRITTEN, help="The folder of the release; must not exist yet.")
@read_as_option
@holder_options
@click.option("--key", type=READ, help="Your key file: makes publishing again safe.")
@click.option("--record-id", multiple=True, metavar="COLUMNS", help="With --key: columns that tell records apart.")
@click.option(
    "--format", "data_format", type=click.Choice(["parquet", "csv"]), default="parquet", show_default=True,
    help="How rows are stored.",
)  # fmt: skip
@click.option(
    "--layout", type=click.Choice(["sets", "exploded"]),
    help="One row a record (sets, the default), or one row a member of its set. Methods that group have their own.",
)  # fmt: skip
@click.option(
    "--marginals", is_flag=True,
    help="For methods that generalize: publish how often each value of a quasi-identifier occurs.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a release that is already there.")
@click.option("--workers", type=click.IntRange(min=1), help="Threads; as many as there are cores unless given.")
@click.option("--chunk-rows", type=click.IntRange(min=1), help="Rows worked on at once; memory grows with it.")
@click.option(
    "--insecure-seed", type=int, metavar="N", help="FOR TESTS: repeatable draws that anyone can undo. Never publish."
)
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
@click.pass_context
def command(ctx: click.Context, /, policy: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Publish TABLE as a release: each sensitive value hidden in a set of l, or among the records of a class.

    The claim is checked on what was written before the folder gets its name; a failure leaves nothing behind.

    \b
    ldiversity anonymize patients.csv --quasi age,sex,zip --sensitive disease --drop name -l 3 -o release
    ldiversity anonymize patients.csv --quasi age,sex --sensitive disease -l 3 -d 2 --distance tree:diseases.csv -o r
    ldiversity anonymize patients.csv --quasi age,sex,zip --sensitive disease --method bsgi -l 4 -o release
    ldiversity anonymize --policy policy.toml
    """  # noqa: D301 - click reads the backspace
    if given["insecure_seed"] is not None:
        click.echo(
            "Warning: INSECURE SEED. Whoever learns or guesses the seed learns every true value. "
            "This release is for tests; never hand it out.",
            err=True,
        )
    if policy is not None:
        mark_policy(ctx)
        refuse_others(ctx, _WITH_POLICY)
        release, folder, keyed = _publish_policy(policy, given, quiet=as_json)
    else:
        release, folder, keyed = _publish(given, quiet=as_json)
    facts = class_facts(release) if release.grouped else _facts(release, keyed=keyed)
    common = {
        "folder": str(folder),
        "records": release.n_rows,
        "layout": release.layout,
        "columns": [{"name": a.name, "role": a.role.value, "type": a.type} for a in release.schema.attributes],
    }
    last = {"notes": list(release.notes), "next": _next(release, folder)}
    show({**common, **facts, **last}, render_classes if release.grouped else _render, as_json=as_json)


def _publish_policy(file: Path, given: dict[str, Any], *, quiet: bool) -> tuple[Release, Path, bool]:
    import ldiversity as ld

    policy = ld.Policy.read(file)
    folder = given["output"] or policy.output_folder
    if folder is None:
        raise click.UsageError("-o must name the folder of the release, as output.folder of the policy does not.")
    choices = {"overwrite": given["overwrite"], "insecure_seed": given["insecure_seed"]}
    with progress_bar(wanted=policy.method is not None and not quiet) as progress:
        release = policy.publish(folder, **choices, progress=progress)
    return release, folder, policy.key is not None


def _publish(given: dict[str, Any], *, quiet: bool) -> tuple[Release, Path, bool]:
    if given["table"] is None:
        raise click.UsageError("TABLE must be given, or --policy.")
    if given["output"] is None:
        raise click.UsageError("-o must name the folder of the release.")
    if (given["key"] is None) != (not given["record_id"]):
        raise click.UsageError("--key and --record-id must be given together.")
    arguments = holder_arguments(given)
    _refuse_misplaced(given)
    import ldiversity as ld

    options: dict[str, Any] = {name: given[name] for name in _PASSED_ON}
    options["key"] = None if given["key"] is None else ld.Key.load(given["key"])
    options["record_id"] = split_names(given["record_id"], "--record-id") or None
    options["engine"] = _engine(given)
    if given["layout"] is not None:
        options["layout"] = given["layout"]
    grouping = is_grouping(given)
    with (
        opened_table(given["table"], given["read_as"]) as table,
        progress_bar(wanted=grouping and not quiet) as progress,
    ):
        arguments |= grouping_arguments(given)
        if grouping:
            options |= {"marginals": given["marginals"], "progress": progress}
        release = ld.anonymize(table, **arguments, **options)
    return release, given["output"], given["key"] is not None


def _refuse_misplaced(given: dict[str, Any]) -> None:
    """Refuse options that mean nothing to the method."""
    grouping, name = is_grouping(given), method_name(given)
    if grouping:
        wrong = [("--key", given["key"]), ("--layout", given["layout"]), ("--chunk-rows", given["chunk_rows"])]
        why = f"with {name}, which groups all records at once"
    else:
        wrong = [("--marginals", given["marginals"])]
        why = f"with {name}, which generalizes nothing"
    for option, value in wrong:
        if value:
            raise click.UsageError(f"{option} must be left out {why}.")


def _engine(given: dict[str, Any]) -> Any:  # noqa: ANN401 - an engine or None
    chosen = {name: given[name] for name in ("workers", "chunk_rows") if given[name] is not None}
    if not chosen:
        return None
    if given["insecure_seed"] is not None:
        raise click.UsageError("--workers and --chunk-rows must be left out with --insecure-seed.")
    from ldiversity.engines import LocalEngine

    return LocalEngine(**chosen)


def _facts(release: Release, *, keyed: bool) -> dict[str, Any]:
    from ldiversity.release import NOT_PROTECTED, USE_A_KEY

    return {
        "claims": [
            {
                "attribute": claim.attribute,
                "model": claim.model,
                "l": claim.l,
                "d": claim.d,
                "posterior": claim.posterior,
                "values": len(release.domain(claim.attribute)),
                "statement": claim.statement,
            }
            for claim in release.claims
        ],
        "keyed": keyed,
        # With a key, the advice to use one would only confuse.
        "not_protected": [text.removesuffix(f" {USE_A_KEY}") if keyed else text for text in NOT_PROTECTED],
    }


def _next(release: Release, folder: Path) -> str:
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


def _render(facts: Facts, page: Page) -> None:
    layout = "one row a record" if facts["layout"] == "sets" else "one row a member of a record's set"
    page.title(f"Published in {facts['folder']}: {number(facts['records'])} records, {layout}")
    page.table(
        ["column", "role", "type"],
        [[column["name"], column["role"], column["type"]] for column in facts["columns"]],
    )
    page.title("Promised, and checked on what was written")
    page.table(
        ["attribute", "model", "l", "d", "of values", "worst posterior"],
        [
            [c["attribute"], c["model"], number(c["l"]), number(c["d"]), number(c["values"]), percent(c["posterior"])]
            for c in facts["claims"]
        ],
        right={2, 3, 4, 5},
    )
    render_promises(facts, page)
