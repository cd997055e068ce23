"""Options about how a table was drawn from a population."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

__all__ = ["sample_options"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option(
        "--weights", metavar="COLUMN", help="A column of survey weights: how many people a record stands for."
    ),
    click.option("--strata", metavar="COLUMN", help="A column with the strata of the sample."),
)


def sample_options(command: Decorated) -> Decorated:
    """Add the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
