"""The method and its options on the command line, all of them read from the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from ldiversity.base.typed import split_levels
from ldiversity.catalog import CATALOG, LISTED_OPTIONS, OPTIONS, Option, methods_with
from ldiversity.faces.cli._command import Command

__all__ = ["METHOD_OPTIONS", "MethodCommand", "given_options"]

_BROUGHT: Final = "option_of_method_"
"""What stands before the names of options of other packages, so that none is taken for a parameter of a command."""


def _declared(option: Option) -> tuple[list[str], dict[str, Any]]:
    """An option of the catalog as click takes it; left out, it is None or empty."""
    help_text = _help(option)
    flags = [str(option.flag), option.name if option.name in LISTED_OPTIONS else f"{_BROUGHT}{option.name}"]
    if option.kind == "switch":
        return flags, {"default": None, "help": help_text}
    if option.kind == "choice":
        return flags, {"type": click.Choice(option.choices), "help": help_text}
    if option.kind == "shares":
        return flags, {"multiple": True, "metavar": "NAME=NUMBER", "help": help_text}
    kinds: dict[str, Any] = {"integer": int, "number": _OneNumber()}
    if option.kind == "levels":
        return flags, {"metavar": "INTEGER", "callback": _as_levels, "help": help_text}
    metavars = {"file": "FILE", "distance": "DISTANCE", "model": "MODEL"}
    metavar = option.name.upper() if option.kind == "text" else metavars.get(option.kind)
    kind = kinds.get(option.kind, str)
    if option.minimum is not None and option.name not in LISTED_OPTIONS:  # methods of this package say it themselves
        kind = click.IntRange(int(option.minimum)) if kind is int else click.FloatRange(option.minimum)
    return flags, {"type": kind, "metavar": metavar, "multiple": option.several, "help": help_text}


class _OneNumber(click.types.FloatParamType):
    """A number for all columns; who writes one for a column is told where that can be said."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        if isinstance(value, str) and "=" in value:
            self.fail("must be one number for all columns. A policy file can have one for each (--policy).", param, ctx)
        return super().convert(value, param, ctx)


def _as_levels(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | dict[str, int] | None:
    """Read a whole number, or one for each column."""
    if value is None or "=" in value:
        return None if value is None else split_levels(value, str(parameter.name))
    try:
        return int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a valid integer.", ctx, parameter) from None


def given_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of methods among the parameters of a command, by their own names."""
    return {
        name: given.get(name if name in LISTED_OPTIONS else f"{_BROUGHT}{name}")
        for name, option in OPTIONS.items()
        if option.flag is not None
    }


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
        own = super().get_params(ctx)
        taken = {flag for parameter in own for flag in (*parameter.opts, *parameter.secondary_opts)}
        made = [click.Option(flags, **how) for flags, how in map(_declared, others)]
        # A flag of the command keeps its meaning: a method's option of that name is for Python and policies.
        return [*own, *(one for one in made if taken.isdisjoint([*one.opts, *one.secondary_opts]))]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The methods with a line each."""
        self.epilog = _methods_epilog()
        super().format_epilog(ctx, formatter)


def _methods_epilog() -> str:
    r"""The methods with a line each, for the end of a help text; ``\b`` keeps the lines."""
    width = max(map(len, CATALOG))
    lines = [f"  {entry.name:<{width}}  {entry.summary}" for entry in CATALOG.values()]
    return "\b\nMethods:\n" + "\n".join(lines)
