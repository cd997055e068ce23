"""What the command line says when something goes wrong: one line on stderr, never a cell of the source."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

import click

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.typed import point_hint
from ldiversity.errors import LDiversityError, LDiversityWarning
from ldiversity.faces.cli._reword import reword
from ldiversity.faces.cli._text import one_line

__all__ = [
    "EXIT_FAULT",
    "EXIT_INTERRUPTED",
    "EXIT_MEMORY",
    "EXIT_REFUSED",
    "complain",
    "complain_usage",
    "exit_code_of",
    "show_warnings",
]

EXIT_REFUSED: Final = 2
"""Bad input, an infeasible goal, or a file that cannot be read or written."""

EXIT_FAULT: Final = 70
"""A fault of this package."""

EXIT_MEMORY: Final = 71
"""The machine has too little memory: the same command may work on another, or at another time."""

EXIT_INTERRUPTED: Final = 130
"""Ctrl-C."""

DEBUG_VARIABLE: Final = "LDIVERSITY_DEBUG"

_NO_NUMBER: Final = ("is not a valid float.", "is not a valid float range.")
"""How click ends what it says of a text that is no number."""


def exit_code_of(fault: BaseException) -> int:
    """Say what went wrong on stderr, and return the exit code for it."""
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        click.echo("".join(traceback.format_exception(fault)), err=True, nl=False)
    if lacks_memory(fault):
        said = fault if isinstance(fault, LDiversityError) else not_enough_memory("memory")
        complain(said.message, said.hint)
        return EXIT_MEMORY
    if isinstance(fault, LDiversityError):
        complain(fault.message, fault.hint)
        return EXIT_REFUSED
    if isinstance(fault, KeyboardInterrupt):
        click.echo("\nInterrupted. Nothing that was not finished is left behind.", err=True)
        return EXIT_INTERRUPTED
    if isinstance(fault, OSError) and fault.strerror:
        named = f" {os.fspath(fault.filename)!r}" if isinstance(fault.filename, str | os.PathLike) else ""
        complain(f"file{named} cannot be read or written: {fault.strerror}.")
        return EXIT_REFUSED
    # Messages of other packages may quote cells of the source, so only the class is named.
    complain(
        f"internal error ({type(fault).__name__}).",
        f"Please report it with the command, without the data; {DEBUG_VARIABLE}=1 shows the traceback.",
    )
    return EXIT_FAULT


def complain(message: str, hint: str | None = None) -> None:
    """Print one line ``Error: <message> <hint>`` on stderr, in the words of the command line."""
    parts = [reword(part) for part in (message, hint) if part]
    click.echo(f"Error: {one_line(' '.join(parts))}", err=True)


def complain_usage(fault: click.UsageError) -> int:
    """Say on one line what is wrong with the words of a command, and return the exit code for it."""
    path = "ldiversity" if fault.ctx is None else fault.ctx.command_path
    message = fault.format_message().rstrip()
    point = point_hint(message) if message.endswith(_NO_NUMBER) else ""
    ended = message if message.endswith((".", "?", ")")) else f"{message}."
    complain(ended, f"{point} See '{path} --help'.".lstrip())
    return EXIT_REFUSED


@contextmanager
def show_warnings() -> Iterator[None]:
    """Print warnings of this package as lines on stderr, each once; those of other packages may quote cells."""
    shown: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,  # noqa: ARG001
        lineno: int,  # noqa: ARG001
        file: TextIO | None = None,  # noqa: ARG001
        line: str | None = None,  # noqa: ARG001
    ) -> None:
        text = one_line(reword(str(message), settings=False))
        if issubclass(category, LDiversityWarning) and text not in shown:
            shown.add(text)
            click.echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LDiversityWarning)
        warnings.showwarning = show
        yield
