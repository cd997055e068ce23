"""How Spark names files of a file system that this machine sees, and what is known of such a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

__all__ = ["FileState", "local_path", "path_to_write", "pattern_of", "pattern_of_uri", "size_in", "state_of"]

FileState = tuple[int, int, int, int, int]
"""Which file it is, how many bytes it has, when it was last written and when anything about it last changed, which
nobody can set back: device, number, size, and two times."""

_SPECIAL: Final = re.compile(r"([\\\[\]{}*?])")


def path_to_write(path: Path) -> str:
    """A path of this machine as Spark names it, whatever its usual file system is. Spark decodes nothing.

    Examples
    --------
    >>> path_to_write(Path("/my data/100%"))
    'file:///my data/100%'
    """
    return f"file://{path.absolute()}"


def pattern_of(path: Path) -> str:
    r"""The pattern that only this path fits: Spark takes what it shall read for a pattern.

    Examples
    --------
    >>> pattern_of(Path("/my data/a[1]"))
    'file:///my data/a\\[1\\]'
    """
    return _SPECIAL.sub(r"\\\1", path_to_write(path))


def pattern_of_uri(uri: str) -> str:
    r"""The pattern that only a file fits which Spark has listed; there it encodes what is special.

    Examples
    --------
    >>> pattern_of_uri("file:///my%20data/a%5B1%5D"), pattern_of_uri("s3a://bucket/a")
    ('file:///my data/a\\[1\\]', 's3a://bucket/a')
    """
    parts = urlsplit(uri)
    path = _SPECIAL.sub(r"\\\1", unquote(parts.path))
    return f"{parts.scheme}://{parts.netloc}{path}"


def local_path(uri: str) -> str | None:
    """The path of a file that Spark has listed, where it is in a file system of the machine.

    Examples
    --------
    >>> local_path("file:///my%20data"), local_path("s3a://bucket/a")
    ('/my data', None)
    """
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and not parts.netloc else None


def state_of(path: str) -> FileState:
    """The state of a file now; raises `OSError` where there is none."""
    found = os.stat(path)  # noqa: PTH116 - a text travels more cheaply than a Path
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def size_in(state: FileState) -> int:
    """How many bytes a file has, as its state says.

    Examples
    --------
    >>> size_in((1, 2, 812, 3, 3))
    812
    """
    return state[2]
