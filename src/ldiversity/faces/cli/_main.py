"""``ldiversity``: the group of all commands.

Commands are modules that are imported when they are asked for, and import heavy packages in their bodies, so
``ldiversity --help`` loads none of them.
"""

from __future__ import annotations

import signal
from types import FrameType, MappingProxyType
from typing import Any, Final

import click

from ldiversity._version import __version__
from ldiversity.base.ending import end_with, interrupt, put_off
from ldiversity.faces.cli._faults import exit_code_of, show_warnings
from ldiversity.faces.cli._lazy import LazyGroup
from ldiversity.faces.cli._progress import compiling_notice

__all__ = ["cli", "main"]

_MODULES: Final = MappingProxyType(
    {
        "describe": "_describe",
        "hierarchy": "_hierarchy",
        "plan": "_plan",
        "compare": "_compare",
        "anonymize": "_anonymize",
        "estimate": "_estimate",
        "associate": "_associate",
        "contrast": "_contrast",
        "trend": "_trend",
        "regress": "_regress",
        "attack": "_attack",
        "audit": "_audit",
        "epsilons": "_epsilons",
        "report": "_report",
        "key": "_key",
        "collect": "_collect",
        "schema": "_schema",
        "demo": "_demo",
    }
)
"""Each command and the module that holds it, under the name ``command``, in the order in which they are used."""

_HELP_INSTEAD: Final[Any] = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What newer versions of click raise to show the help of a group that was given nothing to do."""


_LEAVE_ON: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
"""Signals that ask a program to end, as far as the system has them."""


class FaultGroup(LazyGroup):
    """The group of all commands, which turns faults into exit codes."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:  # noqa: ANN401 - click's signature
        """Read the words before the command; wrong ones become one line on stderr and an exit code."""
        try:
            return super().make_context(*args, **options)
        except _HELP_INSTEAD:
            raise
        except click.UsageError as fault:
            raise click.exceptions.Exit(exit_code_of(fault)) from None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command; an error becomes one line on stderr and an exit code."""
        try:
            with show_warnings(), compiling_notice():
                return super().invoke(ctx)
        except _HELP_INSTEAD:
            raise
        except click.UsageError as fault:
            ctx.exit(exit_code_of(fault))
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click knows what to do
        except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001 - the last place to catch anything
            ctx.exit(exit_code_of(fault))


@click.group(
    cls=FaultGroup,
    modules=_MODULES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ldiversity", message="%(prog)s %(version)s")
def cli() -> None:
    """Publish tables about people so that nobody learns any one person's sensitive value.

    The data holder runs describe, plan and anonymize; the data user runs estimate. Every command has --help.
    """


def main() -> None:
    """Run the command line."""
    for request in _LEAVE_ON:
        signal.signal(request, _leave)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    cli(prog_name="ldiversity")


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave by an exception, so that what is not finished is removed on the way out; once, undisturbed."""
    if put_off(number, frame):
        return
    for request in _LEAVE_ON:
        signal.signal(request, signal.SIG_IGN)
    end_with(SystemExit(128 + number))
