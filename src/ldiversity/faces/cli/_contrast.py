"""``ldiversity contrast``: how two groups of one release differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ldiversity.base.checks import name_some
from ldiversity.base.numbers import level, number
from ldiversity.errors import ParameterError
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._sample import sample_options
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.estimation import Quantity

__all__ = ["command"]


@click.command("contrast", cls=Command, owners={"Estimate": "release"}, short_help="How two groups differ.")
@click.argument("release", type=READ)
@click.option("--by", required=True, multiple=True, metavar="COLUMNS", help="Columns that make the groups: sex,age:50.")
@click.option(
    "--first",
    required=True,
    multiple=True,
    metavar="LABEL",
    help="One group: the label of its cells, or COLUMN=LABEL, repeated for further columns.",
)
@click.option("--second", required=True, multiple=True, metavar="LABEL", help="The other group, in the same way.")
@click.option(
    "--value",
    multiple=True,
    metavar="VALUE",
    help="The sensitive value whose shares are compared; if repeated, shares are added up. Without it, the means.",
)
@click.option("--ratio", is_flag=True, help="Divide the first by the second, instead of taking their difference.")
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Use some records only: 'age >= 50'; may be repeated.",
)
@click.option("--sensitive", metavar="COLUMN", help="The sensitive column.")
@click.option("--estimator", default="auto", show_default=True, metavar="NAME", help="As for estimate.")
@click.option("--samples", is_flag=True, help="The table is a sample: ask for the population that it was drawn from.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often the interval holds.")
@sample_options
@json_option
def command(release: Path, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Say how the share of a value, or a mean, differs between two groups of the folder RELEASE.

    \b
    ldiversity contrast release --by sex --first female --second male --value 'R21 asthma'
    ldiversity contrast release --by sex,age:50 --first sex=female --second sex=male --value 'R21 asthma' --ratio
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.estimation import parse_by

    found = ld.estimate(
        ld.load_release(release),
        by=tuple(part for text in given["by"] for part in parse_by(text)),
        where=given["where"],
        sensitive=given["sensitive"],
        estimator=given["estimator"],
        confidence=given["confidence"],
        weights=given["weights"],
        strata=given["strata"],
    )
    contrast = found.ratio if given["ratio"] else found.difference
    between = (_group("first", given["first"], found.by), _group("second", given["second"], found.by))
    told = contrast(given["value"] or None, between=between, population=given["samples"])
    show(told, _render, as_json=as_json)


def _group(side: str, labels: Sequence[str], by: Sequence[str]) -> object:
    """A group as `Estimate.difference` takes it: labels by column, or one label for each column.

    Examples
    --------
    >>> _group("first", ["sex=f", "age=[0, 50)"], ["sex", "age"]), _group("first", ["a=b"], ["sex"])
    ({'sex': 'f', 'age': '[0, 50)'}, 'a=b')
    """
    named = [(column, label) for column, equals, label in (text.partition("=") for text in labels) if equals]
    columns = [column for column, _ in named if column in by]
    if not columns:
        if len(labels) != len(by):
            every = " ".join(f"--{side} LABEL" for _ in by)
            raise ParameterError(
                "contrast", side, f"must give a label for each of {name_some(by)}", got=len(labels)
            ).with_hint(f"Write {every}, in this order; or --{side} {by[0]}=LABEL for all cells with a label.")
        return labels[0] if len(labels) == 1 else tuple(labels)
    if len(columns) < len(labels):
        raise ParameterError("contrast", side, f"must name columns of the cells as COLUMN=LABEL: {', '.join(by)}")
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ParameterError("contrast", side, "must give one label for each column", got=f"several for {twice!r}")
    return dict(named)


def _render(found: Quantity, page: Page) -> None:
    page.title(found.name)
    page.table(
        ["value", "std. error", f"low ({level(found.confidence)})", "high", "about"],
        [
            [
                *(number(one) for one in (found.value, found.std_error, found.low, found.high)),
                "the population" if found.population else "the table",
            ]
        ],
        right=range(4),
    )
    page.bullets(found.caveats)
