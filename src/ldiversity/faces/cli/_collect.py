"""``ldiversity collect``: surveys whose answers are hidden before they leave the device."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from ldiversity.faces.cli._lazy import LazyGroup

__all__ = ["command"]

_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "new": "_collect_new",
        "invite": "_collect_invite",
        "serve": "_collect_serve",
        "status": "_collect_status",
        "close": "_collect_close",
        "export": "_collect_export",
    }
)
"""Each command and the module that holds it, in the order in which they are used."""


@click.group("collect", cls=LazyGroup, modules=_MODULES, short_help="Ask people, and never see a true answer.")
def command() -> None:
    """Ask people by a survey. Each device hides its owner's answers before it sends them."""
