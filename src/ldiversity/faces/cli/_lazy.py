"""Groups of commands whose modules are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
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

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command, or None when there is no such command."""
        if cmd_name not in self.modules:
            return None
        command: click.Command = import_module(f"ldiversity.faces.cli.{self.modules[cmd_name]}").command
        return command
