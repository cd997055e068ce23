"""The class of every command, with the rules that hold for the arguments of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from ldiversity.faces.cli._outputs import check_outputs, written
from ldiversity.faces.cli._words import mark_command

__all__ = ["Command"]


class Command(click.Command):
    """A command that refuses to choose between two values of one option, and to write where something would be lost.

    An option that takes one value would silently keep the last. Options that are meant to be repeated say so
    (``multiple=True``), and a flag that has no opposite says the same thing twice.

    Parameters
    ----------
    owners
        Functions in Python that do what one option asks for, and the name of that option, which messages name instead.
    """

    def __init__(self, *args: Any, owners: Mapping[str, str] | None = None, **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **attributes)
        self.owners = owners or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after the command."""
        mark_command(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for parameter, times in Counter(order).items():
            if times > 1 and _could_disagree(parameter):
                raise click.UsageError(
                    f"{written(parameter)} must be given once, but is given {times} times, and only the last would "
                    "count: leave the others out.",
                    ctx,
                )
        rest = super().parse_args(ctx, args)
        check_outputs(ctx, self.get_params(ctx))
        return rest


def _could_disagree(parameter: click.Parameter) -> bool:
    """Whether two occurrences could say different things, of which only one would count."""
    if not isinstance(parameter, click.Option) or parameter.multiple or parameter.count:
        return False
    return not parameter.is_flag or bool(parameter.secondary_opts)
