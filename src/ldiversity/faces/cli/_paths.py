"""Files and folders as words of a command. Only TABLE may be ``-``; anywhere else it would become a file's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

import click

__all__ = [
    "PAGE",
    "PICTURE",
    "READ",
    "TABLE",
    "WRITTEN",
    "Output",
    "PicturesFolder",
    "Written",
    "free_folder",
]

_STDOUT: Final = "Only what a command prints goes to stdout: name a file or folder."


class _NamedPath(click.Path):
    """A path that must have a name of its own.

    Parameters
    ----------
    instead
        What to do instead of naming ``-``; None where it is allowed.
    """

    def __init__(self, instead: str | None) -> None:
        super().__init__(path_type=Path)
        self.instead = instead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        if not str(value).strip():
            self.fail("it must be the name of a file or folder, but is empty.", param, ctx)
        if str(value) == "-" and self.instead is not None:
            self.fail(f"it must be the name of a file or folder, got '-'. {self.instead}", param, ctx)
        return super().convert(value, param, ctx)


class Written(_NamedPath):
    """A file or folder that a command writes. `check_outputs` refuses places where that would destroy something."""

    def __init__(self) -> None:
        super().__init__(_STDOUT)


class Output(Written):
    """A file with results, which replaces another only with ``--overwrite``.

    Parameters
    ----------
    endings
        How its name may end.
    keeps
        Why the file that is there must not be replaced at all, by its path and the parameters of the command; None
        where it may.
    """

    def __init__(self, *endings: str, keeps: Callable[[Path, Mapping[str, Any]], str | None] | None = None) -> None:
        super().__init__()
        self.endings, self.keeps = endings, keeps


class PicturesFolder(Written):
    """A folder that gets files with results. One that holds anything is written into only with ``--overwrite``."""


TABLE: Final = _NamedPath(None)
"""A table to read; ``-`` is stdin."""

READ: Final = _NamedPath("Only TABLE can come from stdin: save this in a file first.")
"""A file or folder to read."""

WRITTEN: Final = Written()
"""A file or folder to write, about which the command itself decides whether it may exist already."""


PICTURE: Final = Output(".png", ".svg", ".pdf")
"""A picture to write."""

PAGE: Final = Output(".html", ".htm")
"""A page to write."""


def free_folder(name: str) -> str:
    """The name of a folder that is not there yet, for a command that is printed to be run."""
    return next(free for free in chain([name], (f"{name}-{n}" for n in count(2))) if not Path(free).exists())
