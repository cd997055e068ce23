"""Options about the machines that a command runs on."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ldiversity.base.numbers import in_bytes
from ldiversity.errors import LDiversityWarning

if TYPE_CHECKING:
    from ldiversity.engines import Engine

__all__ = [
    "ENGINE_OPTIONS",
    "chosen_engine",
    "closing_engine",
    "engine_options",
    "location",
    "machine_words",
    "memory_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])


def _noted(_: click.Context, __: click.Parameter, size: str | None) -> str | None:
    """Say so where a limit limits nothing, because the machine has less."""
    from ldiversity.base.budget import Budget

    there = _memory_of_machine()
    if size is not None and there is not None and Budget(size).bytes > there:
        rule = f"--memory is more than the {in_bytes(there)} that this machine has, so it limits nothing"
        warnings.warn(LDiversityWarning(rule), stacklevel=2)
    return size


def _memory_of_machine() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return None


memory_option: Final = click.option(
    "--memory",
    metavar="SIZE",
    callback=_noted,
    help="How much memory the command may take, such as 500MB or 2GiB; what does not fit waits in encrypted files.",
)
"""For every command that can work within a limit; it takes `memory` as a text, which `Budget` reads."""

ENGINE_OPTIONS: Final = ("engine", "master", "remote")
"""What `engine_options` adds to a command."""

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+):/(?!/)")


def engine_options(command: Command) -> Command:
    """Add the options that say where rows are worked on."""
    for option in (
        click.option("--remote", metavar="URL", help="With --engine spark: a Spark Connect server, such as sc://host."),
        click.option("--master", metavar="URL", help="With --engine spark: a cluster, such as spark://host:7077."),
        click.option(
            "--engine",
            type=click.Choice(["local", "spark"]),
            help="Where rows are worked on: this machine (the default), or Apache Spark, which needs Java 17.",
        ),
    ):
        command = option(command)
    return command


def chosen_engine(given: Mapping[str, Any]) -> Engine | str | None:
    """The engine that the options name; None where there are none."""
    name, master, remote = (given[option] for option in ENGINE_OPTIONS)
    if (master or remote) and name != "spark":
        raise click.UsageError(f"--{'master' if master else 'remote'} must come with --engine spark.")
    if master and remote:
        raise click.UsageError("--remote must be left out with --master.")
    if name != "spark":
        return None if name is None else str(name)
    if given["memory"] is not None:
        raise click.UsageError(
            "--memory must be left out with --engine spark, which has settings of its own: spark.executor.memory."
        )
    from ldiversity.engines.spark import SparkEngine

    return SparkEngine(master=master, remote=remote)


def machine_words(given: Mapping[str, str | None]) -> list[str]:
    """The options about machines that were given, as words of a command.

    Examples
    --------
    >>> machine_words({"engine": "spark", "master": "local[2]", "remote": None, "memory": None})
    ['--engine', 'spark', '--master', 'local[2]']
    """
    named = ((option, given[option]) for option in (*ENGINE_OPTIONS, "memory"))
    return [word for option, value in named if value is not None for word in (f"--{option}", value)]


@contextmanager
def closing_engine(engine: Engine | str | None) -> Iterator[Engine | str | None]:
    """Remove what an engine kept when the command is done."""
    try:
        yield engine
    finally:
        if engine is not None and not isinstance(engine, str):
            engine.close()


def location(table: Path | None) -> Path | str | None:
    """A path, or the address of a folder of another system such as ``s3a://bucket/table``, as it was typed.

    Examples
    --------
    >>> location(Path("s3a://bucket/table"))
    's3a://bucket/table'
    """
    text = str(table)
    found = _SCHEME.match(text)
    if found is None:
        return table
    slashes = "///" if found[1] == "file" else "//"  # paths have one slash where several were typed
    return f"{found[1]}:{slashes}{text[found.end() :]}"
