"""Options about being recognized: among whom attackers search, and how likely being found may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ldiversity.base.numbers import number
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, THRESHOLDS
from ldiversity.faces.cli._paths import READ

if TYPE_CHECKING:
    from ldiversity.evaluation.audit import RecognitionChoices

__all__ = ["recognition_choices", "recognition_options"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_NAMED: Final = ", ".join(f"{name} ({number(one.limit, 2)})" for name, one in THRESHOLDS.items())
_OPTIONS: Final = (
    click.option(
        "--population",
        type=READ,
        help="A table of the people among whom a journalist searches, with the same quasi-identifiers.",
    ),
    click.option(
        "--sample-fraction",
        type=click.FloatRange(0, 1, min_open=True),
        metavar="SHARE",
        help="Instead of --population: which share of the population is in the table, drawn at random, such as 0.1.",
    ),
    click.option(
        "--threshold",
        metavar="LIMIT",
        help="The probability from which being recognized counts as a risk: a number such as 0.1, or "
        f"{_NAMED}. {DEFAULT_THRESHOLD} if left out.",
    ),
    click.option("--rationale", metavar="TEXT", help="Why that limit was chosen; audits and reports show it."),
)


def recognition_options(command: Decorated) -> Decorated:
    """Add the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def recognition_choices(given: Mapping[str, Any]) -> RecognitionChoices:
    """What the options say."""
    chosen: RecognitionChoices = {"population": given["population"], "sample_fraction": given["sample_fraction"]}
    if given["threshold"] is not None:
        chosen["threshold"] = given["threshold"]
    if given["rationale"] is not None:
        chosen["rationale"] = given["rationale"]
    return chosen
