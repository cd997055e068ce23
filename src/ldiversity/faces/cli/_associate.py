"""``ldiversity associate``: whether a hidden attribute depends on other columns, from a release alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ldiversity.base.numbers import counted, number
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._sample import sample_options
from ldiversity.faces.cli._show import Page, json_option, show

if TYPE_CHECKING:
    from ldiversity.estimation import Association

__all__ = ["command"]


@click.command(
    "associate", cls=Command, owners={"association": "release"}, short_help="Test whether columns depend on each other."
)
@click.argument("release", type=READ)
@click.option(
    "--by",
    multiple=True,
    required=True,
    metavar="COLUMNS",
    help="Columns on which it may depend, as for estimate: sex,age:10; or one other sensitive column.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Use some records only: 'age >= 50'; may be repeated.",
)
@click.option("--sensitive", metavar="COLUMN", help="The sensitive column that is tested.")
@sample_options
@json_option
def command(
    release: Path,
    *,
    by: tuple[str, ...],
    where: tuple[str, ...],
    sensitive: str | None,
    weights: str | None,
    strata: str | None,
    as_json: bool,
) -> None:
    """Test whether a sensitive column depends on others, from the folder RELEASE alone.

    Ordinary tests on estimated counts take the noise of the dummies for an association; this one knows the noise.

    \b
    ldiversity associate release --by sex,age:10 --sensitive disease
    """  # noqa: D301 - click reads the backspace
    import ldiversity as ld
    from ldiversity.estimation import parse_by

    found = ld.association(
        ld.load_release(release),
        by=tuple(part for text in by for part in parse_by(text)),
        sensitive=sensitive,
        where=where,
        weights=weights,
        strata=strata,
    )
    show(found, _render, as_json=as_json)


def _render(found: Association, page: Page) -> None:
    chosen = f" where {' and '.join(found.where)}" if found.where else ""
    page.title(f"{found.sensitive} by {', '.join(found.by)}: {counted(found.n_records, 'record')}{chosen}")
    page.table(
        ["statistic", "degrees of freedom", "p-value", "cells", "values"],
        [
            [
                number(found.statistic),
                str(found.df),
                number(found.pvalue, 3),
                str(found.n_cells),
                str(found.n_values),
            ]
        ],
        right=range(5),
    )
    page.text(f"The p-value is how likely such a statistic is if there is no association; {found.method}.")
    page.bullets(found.caveats)
