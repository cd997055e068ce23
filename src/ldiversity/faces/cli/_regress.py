"""``ldiversity regress``: regression of a sensitive attribute on published columns, from a release alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ldiversity.base.numbers import counted, level, number
from ldiversity.base.typed import split_names
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._csv import write_csv
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import READ, Output
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.estimation import Regression

__all__ = ["command"]


@click.command("regress", cls=Command, short_help="Regression on a release, with errors.")
@click.argument("release", type=READ)
@click.argument("formula")
@click.option(
    "--values",
    multiple=True,
    metavar="VALUES",
    help="Tell these values apart, and all others together; a number takes the most frequent ones.",
)
@click.option("--reference", metavar="VALUE", help="The value to compare with; the most frequent one if not given.")
@click.option(
    "--model",
    type=click.Choice(["logit", "linear"]),
    default="logit",
    show_default=True,
    help="Probabilities of values, or the mean of numbers.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Use some records only: 'zip starts with 130', 'age >= 50'; may be repeated.",
)
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="Records without a predictor.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often intervals hold the truth.")
@click.option("--csv", "csv_file", type=Output(".csv"), help="Also write the coefficients as CSV.")
@overwrite_option
@json_option
def command(release: Path, formula: str, *, as_json: bool, csv_file: Path | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Regress a sensitive attribute on published columns, from the folder RELEASE alone.

    \b
    ldiversity regress release "disease ~ age + C(sex)"
    ldiversity regress release "disease == 'influenza' ~ age" --where 'zip starts with 130'
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld

    fit = ld.regress(
        ld.load_release(release),
        formula,
        values=_values(given["values"]),
        reference=given["reference"],
        model=given["model"],
        where=given["where"],
        missing=given["missing"],
        confidence=given["confidence"],
    )
    if csv_file is not None:
        write_csv(fit.to_arrow(), csv_file)
    show(fit, _render, as_json=as_json)


def _values(given: tuple[str, ...]) -> int | list[str] | None:
    names = split_names(given, "values")
    if len(names) == 1 and names[0].isdecimal():
        return int(names[0])
    return names or None


def _render(fit: Regression, page: Page) -> None:
    chosen = f" where {' and '.join(fit.where)}" if fit.where else ""
    page.title(f"{fit.formula}: {fit.model} regression, {counted(fit.n_records, 'record')}{chosen}")
    if fit.left_out:
        page.text(f"{counted(fit.left_out, 'record')} left out, as a predictor is missing.")
    if fit.reference is not None:
        page.text(f"Outcomes are compared with: {fit.reference}.")
    heads = ["outcome", "term", "coef", "std. error", "z", "P>|z|", f"low ({level(fit.confidence)})", "high"]
    page.table(heads, _rows(fit), right=set(range(2, len(heads))))
    page.bullets(fit.caveats)


def _rows(fit: Regression) -> Iterator[list[str]]:
    """One row per coefficient; only the first of an outcome names it."""
    before = None
    for one in fit.table:
        numbers = (one.coefficient, one.std_error, one.z, one.pvalue, one.low, one.high)
        yield ["" if one.outcome == before else one.outcome, one.term, *map(number, numbers)]
        before = one.outcome
