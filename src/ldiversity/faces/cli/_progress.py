"""What is shown on stderr while something long is done, on a terminal only: a bar, or that loops are compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ldiversity._kernels.compiling import COMPILING, hear_of_compiling

__all__ = ["compiling_notice", "progress_bar"]


@contextmanager
def progress_bar(*, wanted: bool = True) -> Iterator[Callable[[float, str], None] | None]:
    """Give a function that takes the share that is done and a word for what is being done; None without a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=1.0)

        def report(share: float, what: str) -> None:
            progress.update(task, completed=min(max(share, 0.0), 1.0), description=what)

        yield report


@contextmanager
def compiling_notice() -> Iterator[None]:
    """Say that loops are compiled, while they are, where no bar says it."""

    def listener(begins: bool) -> None:  # noqa: FBT001 - one plain fact
        click.echo(f"{COMPILING}\r" if begins else f"{' ' * len(COMPILING)}\r", nl=False, err=True)

    if not sys.stderr.isatty():
        yield
        return
    with hear_of_compiling(listener):
        yield
