"""Files and folders as words of a command. Only TABLE may be ``-``; anywhere else it would become a file's name."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import Any, Final

import click

__all__ = ["FOLDER", "READ", "TABLE", "WRITTEN", "free_folder"]


class _NamedPath(click.Path):
    """A path that must have a name of its own."""

    def __init__(self, instead: str, **options: Any) -> None:  # noqa: ANN401 - those of click
        super().__init__(path_type=Path, **options)
        self.instead = instead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        if str(value) == "-":
            self.fail(f"it must be the name of a file or folder, got '-'. {self.instead}", param, ctx)
        return super().convert(value, param, ctx)


TABLE: Final = click.Path(path_type=Path)
"""A table to read; ``-`` is stdin."""

READ: Final = _NamedPath("Only TABLE can come from stdin: save this in a file first.")
"""A file or folder to read."""

WRITTEN: Final = _NamedPath("Only what a command prints goes to stdout: name a file or folder.")
"""A file or folder to write."""

FOLDER: Final = _NamedPath(WRITTEN.instead, file_okay=False)
"""A folder to write."""


def free_folder(name: str) -> str:
    """The name of a folder that is not there yet, for a command that is printed to be run."""
    return next(free for free in chain([name], (f"{name}-{n}" for n in count(2))) if not Path(free).exists())
