"""Groups of commands whose modules are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for.

    Parameters
    ----------
    modules
        Each command and the module that holds it, under the name ``command``, in the order in which they are used.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **attributes: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **attributes)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of the commands, in the order in which they are used."""
        return list(self.modules)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; who is near to a name, or writes that of Python, is told."""
        name = args[0]
        if name in self.modules or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise click.UsageError(f"No such command {name!r}. {_instead(name, self.modules)}".rstrip(), ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command, or None when there is no such command."""
        if cmd_name not in self.modules:
            return None
        command: click.Command = import_module(f"ldiversity.faces.cli.{self.modules[cmd_name]}").command
        return command


def _instead(name: str, commands: Iterable[str]) -> str:
    """The command of a similar name, or that the name is one of Python only."""
    import ldiversity
    from ldiversity.base.checks import did_you_mean

    near = did_you_mean(name.replace("_", "-"), commands)
    if near is not None:
        return near
    if name in dir(ldiversity) and name.islower():
        return f"It is a function of Python only: ldiversity.{name}."
    from ldiversity.release import SetRelease

    return f"It is in Python only: the method {name} of a release." if hasattr(SetRelease, name) else ""
