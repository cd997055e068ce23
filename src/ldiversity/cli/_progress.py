"""A bar on stderr while something long is done, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


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
