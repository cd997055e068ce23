"""The method and its options on the command line, all of them read from the catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from ldiversity.catalog import CATALOG, LISTED_OPTIONS, OPTIONS, Option, methods_with
from ldiversity.faces.cli._command import Command

__all__ = ["METHOD_OPTIONS", "MethodCommand"]


def _declared(option: Option) -> tuple[list[str], dict[str, Any]]:
    """An option of the catalog as click takes it; left out, it is None or empty."""
    help_text = _help(option)
    flags = [str(option.flag), option.name]
    if option.kind == "switch":
        return flags, {"default": None, "help": help_text}
    if option.kind == "choice":
        return flags, {"type": click.Choice(option.choices), "help": help_text}
    if option.kind == "shares":
        return flags, {"multiple": True, "metavar": "NAME=NUMBER", "help": help_text}
    kinds: dict[str, Any] = {"integer": int, "number": float}
    metavar = {"file": "FILE", "distance": "DISTANCE", "text": option.name.upper(), "model": "MODEL"}.get(option.kind)
    kind = kinds.get(option.kind, str)
    return flags, {"type": kind, "metavar": metavar, "multiple": option.several, "help": help_text}


def _help(option: Option) -> str:
    takers = methods_with(option.name)
    return f"{option.help} For {'every method' if len(takers) == len(CATALOG) else ', '.join(takers)}."


def _click_option(option: Option) -> Callable[[Any], Any]:
    flags, how = _declared(option)
    return click.option(*flags, **how)


METHOD_OPTIONS: Final = (
    click.option("--method", metavar="NAME"),
    *(_click_option(option) for option in LISTED_OPTIONS.values() if option.flag is not None),
)
"""The option that names the method, and the options of all methods of this package."""


class MethodCommand(Command):
    """A command that chooses a method: it also has the options that methods of other packages bring.

    They are looked up when the command is called, because a program may register a method at any time.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, and the options of others."""
        for one in (one for one in self.params if isinstance(one, click.Option)):
            if one.name in LISTED_OPTIONS:
                one.help = _help(LISTED_OPTIONS[one.name])
            elif one.name == "method":
                one.help = f"{', '.join(CATALOG)}. By default semantic with -d, else randomized-addition."
        others = [option for name, option in OPTIONS.items() if name not in LISTED_OPTIONS and option.flag is not None]
        made = [click.Option(flags, **how) for flags, how in map(_declared, others)]
        return [*super().get_params(ctx), *made]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The methods with a line each."""
        self.epilog = _methods_epilog()
        super().format_epilog(ctx, formatter)


def _methods_epilog() -> str:
    r"""The methods with a line each, for the end of a help text; ``\b`` keeps the lines."""
    width = max(map(len, CATALOG))
    lines = [f"  {entry.name:<{width}}  {entry.summary}" for entry in CATALOG.values()]
    return "\b\nMethods:\n" + "\n".join(lines)
