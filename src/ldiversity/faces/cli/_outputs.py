"""The one rule for everything that commands write beside what they print.

It holds for every option and argument whose type is `Written`, and is checked before any work begins: nothing is
written into a release, onto a file that the command reads, or into a folder that it reads. A file with results ends as
its format says, and replaces another file only with ``--overwrite``.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from ldiversity.base.outputs import release_around
from ldiversity.faces.cli._paths import Output, PicturesFolder, Written

__all__ = ["check_outputs", "overwrite_option", "written"]

overwrite_option: Final = click.option(
    "--overwrite", is_flag=True, help="Replace files of results that are already there."
)
"""For every command with an `Output`."""

_MARKS: Final = re.compile("[=@:,]")
"""What stands before the name of a file within an option: zip=file.csv, tree:file.csv, zip@file.csv."""


def check_outputs(ctx: click.Context, parameters: list[click.Parameter]) -> None:
    """Refuse what a command must not write, by the parameters that were given to it."""
    paths = [
        (one, value) for one in parameters if isinstance(one.type, Written) and (value := ctx.params.get(str(one.name)))
    ]
    seen: dict[Path, str] = {}
    for parameter, path in paths:
        name = written(parameter)
        _check_place(ctx, name, path, _read_by(ctx, parameters))
        if isinstance(parameter.type, Output):
            _check_file(ctx, name, path, parameter.type)
        elif isinstance(parameter.type, PicturesFolder):
            _check_folder(ctx, name, path)
        first = seen.setdefault(path.resolve(), name)
        if first != name:
            raise click.UsageError(f"{name} must not be the same as {first}: choose another name.", ctx)


def written(parameter: click.Parameter) -> str:
    """A parameter as users write it.

    Examples
    --------
    >>> written(click.Option(["-o", "--output"])), written(click.Argument(["table"]))
    ('--output', 'TABLE')
    """
    return str(parameter.name).upper() if isinstance(parameter, click.Argument) else max(parameter.opts, key=len)


def _check_place(ctx: click.Context, name: str, path: Path, read: list[Path]) -> None:
    if release_around(path) is not None:
        raise click.UsageError(
            f"{name} must not lie in the folder of a release, got {str(path)!r}: a release holds its own files and "
            "nothing else, so choose a place outside it.",
            ctx,
        )
    if any(_same(path, one) for one in read):
        raise click.UsageError(
            f"{name} must not be what the command reads, got {str(path)!r}: choose another name.", ctx
        )
    if any(_same(folder, one) for folder in path.resolve().parents for one in read if one.is_dir()):
        raise click.UsageError(
            f"{name} must not lie in a folder that the command reads, got {str(path)!r}: choose a place outside it.",
            ctx,
        )


def _check_file(ctx: click.Context, name: str, path: Path, kind: Output) -> None:
    if not path.name.lower().endswith(kind.endings):
        *others, last = kind.endings
        ends = f"{', '.join(others)} or {last}" if others else last
        raise click.UsageError(f"{name} must end in {ends}, got {str(path)!r}.", ctx)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            fits = not path.is_dir()
    except OSError:
        fits = False
    if not fits:
        raise click.UsageError(f"{name} must be a file in a folder that can be written, got {str(path)!r}.", ctx)
    if not os.path.lexists(path):
        return
    kept = None if kind.keeps is None else kind.keeps(path, ctx.params)
    if kept is not None:
        raise click.UsageError(f"{name} {kept}", ctx)
    if not ctx.params.get("overwrite"):
        raise click.UsageError(
            f"{name} must be a new file, but {str(path)!r} already exists. Choose another name, or use --overwrite.",
            ctx,
        )


def _check_folder(ctx: click.Context, name: str, path: Path) -> None:
    if release_around(path / "any") is not None:
        raise click.UsageError(f"{name} must not be the folder of a release, got {str(path)!r}: choose another.", ctx)
    if os.path.lexists(path) and not path.is_dir():
        raise click.UsageError(f"{name} must be a folder, but {str(path)!r} is none: choose another name.", ctx)
    if path.is_dir() and any(path.iterdir()) and not ctx.params.get("overwrite"):
        raise click.UsageError(
            f"{name} must be a new or empty folder, but {str(path)!r} holds files. Choose another folder, or use "
            "--overwrite, which replaces files of the same names.",
            ctx,
        )


def _read_by(ctx: click.Context, parameters: list[click.Parameter]) -> list[Path]:
    """The files and folders that parameters name: as a path, or within a text."""
    others = [ctx.params.get(str(one.name)) for one in parameters if not isinstance(one.type, Written)]
    named = [value for value in others if isinstance(value, Path)]
    texts = (text for value in others for text in _texts(value))
    pieces = {
        piece
        for text in texts
        for piece in [text, *_MARKS.split(text), *(text[mark.end() :] for mark in _MARKS.finditer(text))]
    }
    return [*named, *(path for path in map(Path, pieces) if _is_file(path))]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _texts(one)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a text that can be no path
        return False


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
