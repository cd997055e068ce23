"""What the command line says when something goes wrong: one line on stderr, never a cell of the source.

With ``--json`` the fault is also an object on stdout, where programs look for results.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

import click

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.typed import point_hint
from ldiversity.errors import InternalError, LDiversityError, LDiversityWarning, StorageError
from ldiversity.faces.cli._text import one_line
from ldiversity.faces.cli._words import asks_for_json, in_words

__all__ = ["EXIT_INTERRUPTED", "EXIT_REFUSED", "complain", "exit_code_of", "show_warnings"]

EXIT_REFUSED: Final = LDiversityError.exit_code
"""Bad input, an infeasible goal, or a file that cannot be read or written."""

EXIT_INTERRUPTED: Final = 130
"""Ctrl-C."""

DEBUG_VARIABLE: Final = "LDIVERSITY_DEBUG"

_NO_NUMBER: Final = ("is not a valid float.", "is not a valid float range.")
"""How click ends its message about a text that is not a number."""


def exit_code_of(fault: BaseException) -> int:
    """Say what went wrong, and return the exit code for it."""
    if os.environ.get(DEBUG_VARIABLE) and not isinstance(fault, click.UsageError):
        import traceback

        click.echo("".join(traceback.format_exception(fault)), err=True, nl=False)
    kind, said, code = _told(fault)
    if isinstance(fault, KeyboardInterrupt):
        click.echo(f"\n{said.message}", err=True)
    else:
        complain(said.message, said.hint)
    if asks_for_json():
        from ldiversity.faces.cli._fault_document import fault_text

        click.echo(fault_text(said, kind, code, in_words))
    return code


def _told(fault: BaseException) -> tuple[str, LDiversityError, int]:
    """What is said about an exception: its kind, an error of this package, and the exit code."""
    if isinstance(fault, KeyboardInterrupt):
        return ("Interrupted", LDiversityError("Interrupted. Nothing unfinished is left behind."), EXIT_INTERRUPTED)
    if isinstance(fault, click.UsageError):
        return "UsageError", _usage(fault), EXIT_REFUSED
    if lacks_memory(fault):
        memory = not_enough_memory("memory")
        return type(memory).__name__, fault if isinstance(fault, LDiversityError) else memory, memory.exit_code
    if isinstance(fault, LDiversityError):
        return type(fault).__name__, fault, fault.exit_code
    if isinstance(fault, OSError) and fault.strerror:
        named = f" {os.fspath(fault.filename)!r}" if isinstance(fault.filename, str | os.PathLike) else ""
        said: LDiversityError = StorageError(f"file{named} cannot be read or written: {fault.strerror}")
    else:
        # Messages of other packages may quote cells of the source, so only the class is named.
        said = InternalError(f"internal error ({type(fault).__name__})").with_hint(
            f"Please report it with the command, without the data; {DEBUG_VARIABLE}=1 shows the traceback."
        )
    return type(said).__name__, said, said.exit_code


def _usage(fault: click.UsageError) -> LDiversityError:
    """What is wrong with the arguments of a command."""
    path = "ldiversity" if fault.ctx is None else fault.ctx.command_path
    message = fault.format_message().rstrip()
    point = point_hint(message) if message.endswith(_NO_NUMBER) else ""
    ended = message if message.endswith((".", "?", ")")) else f"{message}."
    said = LDiversityError(ended).with_hint(f"{point} See '{path} --help'.".lstrip())
    parameter = getattr(fault, "param", None)
    said.parameter = None if parameter is None else parameter.name
    return said


def complain(message: str, hint: str | None = None) -> None:
    """Print one line ``Error: <message> <hint>`` on stderr, as the command line spells its options."""
    parts = [in_words(part) for part in (message, hint) if part]
    click.echo(f"Error: {one_line(' '.join(parts))}", err=True)


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
        text = one_line(in_words(message.message if isinstance(message, LDiversityWarning) else str(message)))
        if issubclass(category, LDiversityWarning) and text not in shown:
            shown.add(text)
            click.echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LDiversityWarning)
        warnings.showwarning = show
        yield
