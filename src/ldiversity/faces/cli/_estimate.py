"""``ldiversity estimate``: the distribution of sensitive values, from a release alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ldiversity.base.numbers import counted, decimal, level, number, percent
from ldiversity.base.registry import registered
from ldiversity.base.typed import split_names
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._csv import write_csv
from ldiversity.faces.cli._machine import chosen_engine, closing_engine, engine_options, memory_option
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import PICTURE, READ, Output
from ldiversity.faces.cli._sample import sample_options
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.estimation import Estimate, EstimatedCell

__all__ = ["command"]

_OF_RECORDS: Final = (
    "Counts are numbers of records; standard errors and intervals describe the noise that hides the true values."
)


@click.command(
    "estimate",
    cls=Command,
    owners={"save_figure": "plot", "plot_estimate": "plot"},
    short_help="Distributions from a release, with errors.",
)
@click.argument("release", type=READ)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMNS",
    help="Columns that make the cells: sex,age:10 (bins of width 10), age:0/18/65, age:q4, birth:year, zip@zones.csv.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Use some records only: 'zip starts with 130', 'age >= 50', 'job in none,teacher'; may be repeated.",
)
@click.option(
    "--sensitive", multiple=True, metavar="COLUMNS", help="The attribute; several for their joint distribution."
)
@click.option(
    "--estimator",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"{', '.join(registered('estimators'))}. Of grouped releases {', '.join(registered('class_estimators'))}.",
)
@click.option(
    "--spread",
    type=click.Choice(["auto", "uniform", "marginal"]),
    default="auto",
    show_default=True,
    help="How a class lies in its region, if quasi-identifiers were generalized: evenly, by their published "
    "frequencies, or by these if they are published.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often intervals hold the truth.")
@click.option(
    "--min-records",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Mark cells with fewer records, and give them intervals that hold for any number.",
)
@sample_options
@memory_option
@engine_options
@click.option("--csv", "csv_file", type=Output(".csv"), help="Also write the estimates as CSV.")
@click.option("--plot", type=PICTURE, help="Also draw them: a .png, .svg or .pdf file.")
@overwrite_option
@json_option
def command(
    release: Path,
    *,
    as_json: bool,
    csv_file: Path | None,
    plot: Path | None,
    **given: Any,  # noqa: ANN401 - options by name
) -> None:
    """Estimate how often each sensitive value occurs, with standard errors, from the folder RELEASE alone.

    \b
    ldiversity estimate release --by sex,age:10 --where 'zip starts with 130' --plot estimate.png
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.estimation import parse_by

    by = tuple(part for text in given["by"] for part in parse_by(text))
    with closing_engine(chosen_engine(given)) as engine:
        estimate = ld.estimate(
            ld.load_release(release),
            by=by,
            where=given["where"],
            sensitive=split_names(given["sensitive"], "sensitive") or None,
            estimator=given["estimator"],
            confidence=given["confidence"],
            min_records=given["min_records"],
            spread=given["spread"],
            memory=given["memory"],
            engine=engine,
            weights=given["weights"],
            strata=given["strata"],
        )
    if plot is not None:  # first, as it may be refused
        estimate.plot(plot)
    if csv_file is not None:
        write_csv(estimate.to_arrow(), csv_file)
    sampled = given["weights"] is not None or given["strata"] is not None
    show(estimate, partial(_render, sampled=sampled), as_json=as_json)


def _render(estimate: Estimate, page: Page, *, sampled: bool) -> None:
    chosen = f" where {' and '.join(estimate.where)}" if estimate.where else ""
    page.title(f"{', '.join(estimate.sensitive)}: {counted(estimate.n_records, 'record')}{chosen}")
    ends = [f"low ({level(estimate.confidence)})", "high"] + ["share low", "share high"] * estimate.shares_apart
    page.table(
        [*estimate.by, "records", "value", "count", "share", "std. error", *ends, "estimator", "note"],
        [row for cell in estimate.cells for row in _rows(cell, apart=estimate.shares_apart)],
        right={len(estimate.by), *range(len(estimate.by) + 2, len(estimate.by) + 5 + len(ends))},
    )
    if not sampled:  # else the caveats say what counts and errors are about
        page.text(_OF_RECORDS)
    page.bullets(estimate.caveats)


def _rows(cell: EstimatedCell, *, apart: bool) -> Iterator[list[str]]:
    """One row per value; only the first row repeats what is about the cell."""
    from ldiversity.schema import label_text

    once, last = [*map(label_text, cell.by.values()), number(cell.records)], [cell.estimator, cell.note]
    for value in cell.values:
        numbers = [decimal(value.std_error), decimal(value.low), decimal(value.high)]
        numbers += [percent(value.share_low), percent(value.share_high)] if apart else []
        yield [*once, value.name, decimal(value.count), percent(value.share), *numbers, *last]
        once, last = [""] * len(once), [""] * len(last)
