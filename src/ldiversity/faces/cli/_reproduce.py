"""``ldiversity reproduce``: rerun the papers' evaluations."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Final

import click

from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import READ_FOLDER, WRITTEN
from ldiversity.faces.cli._progress import progress_bar
from ldiversity.faces.cli._show import Facts, Page, show

__all__ = ["command"]

_MOST_WORKERS: Final = 5


@click.command("reproduce", cls=Command, short_help="Rerun the papers' evaluations.")
@click.argument("papers", nargs=-1, metavar="[000|002|003|004|001|all]...")
@click.option("-o", "--output", type=WRITTEN, help="The folder to write; must not exist yet.")
@click.option("--quick", is_flag=True, help="Smaller tables and fewer repetitions: about two minutes for all.")
@click.option(
    "--data", type=READ_FOLDER,
    help="The folder with the public tables; that of LDIVERSITY_DATA unless given.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Makes a rerun repeatable.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier rerun.")
@click.option(
    "--workers", type=click.IntRange(min=1),
    help="Processes that share the papers; as many as there are cores, one for each paper at most, unless given.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print data and verdicts as JSON.")
def command(  # noqa: PLR0913 - each an option
    papers: tuple[str, ...],
    output: Path | None,
    data: Path | None,
    seed: int,
    workers: int | None,
    *,
    quick: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Rerun the evaluations of the papers behind this package, all of them unless some are named.

    For each figure and table: the data, the picture, and a verdict on what the paper says. With -o, a folder with an
    index page; open its index.html.

    \b
    ldiversity reproduce all --quick -o rerun
    ldiversity reproduce 000 003 -o rerun
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld

    chosen = list(papers) or "all"
    with progress_bar() as progress:
        found = ld.reproduce(
            chosen, output, quick=quick, data=data, seed=seed, overwrite=overwrite,
            workers=workers or min(os.cpu_count() or 1, _MOST_WORKERS), progress=progress,
        )  # fmt: skip
    show({"folder": None if output is None else str(output), **found.to_dict()}, _render, as_json=as_json)


def _render(facts: Facts, page: Page) -> None:
    for study in facts["studies"]:
        page.title(f"Paper {study['paper']}: {study['title']}")
        if study["problem"] is not None:
            page.warning(f"Not run: {study['problem']}")
        if study["exhibits"]:
            page.table(
                ["item", "verdict", "what it shows"], [[e["item"], _verdict(e), e["title"]] for e in study["exhibits"]]
            )
        page.bullets(f"{exhibit['item']}: {exhibit['words']}" for exhibit in study["exhibits"])
        page.bullets(
            f"Stand-in data: {text}" for text in dict.fromkeys(e["stand_in"] for e in study["exhibits"]) if text
        )
    counts = Counter(exhibit["outcome"] for study in facts["studies"] for exhibit in study["exhibits"])
    page.text(", ".join(f"{number} {outcome}" for outcome, number in counts.items()) + ".")
    stopped = [study["paper"] for study in facts["studies"] if study["problem"] is not None]
    if stopped:
        page.text(f"Not run, or not to the end: {', '.join(stopped)}.")
    if facts["folder"] is None:
        page.text("Nothing was written; -o FOLDER keeps data, pictures and an index page.")
    else:
        page.text(f"Data, pictures and index.html are in {facts['folder']}.")


def _verdict(exhibit: Facts) -> str:
    return f"{exhibit['outcome']}, stand-in data" if exhibit["stand_in"] else str(exhibit["outcome"])
