"""Open a file by the ending of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.errors import ParameterError
from ldiversity.tables._guard import guarded
from ldiversity.tables._source import Source

__all__ = ["FILE_ENDINGS", "open_file"]

_Opener = Callable[[Path, Mapping[str, str] | None], Source]

FILE_ENDINGS: Final = Registry[_Opener]("file_endings", ENTRIES["file_endings"])
"""The function that opens a file, by the ending of its name."""


def open_file(path: Path, types: Mapping[str, str] | None = None) -> Source:
    """Open a file as a source, according to the ending of its name."""
    opener = next((FILE_ENDINGS[end] for end in _endings(path) if end in FILE_ENDINGS), None)
    if path.is_dir():
        raise ParameterError(
            "open_source", f"{str(path)!r} must be a file", got="a folder", hint="Name one file of the folder."
        )
    if opener is None:
        raise ParameterError("open_source", f"{path.name!r} must end in a known way", got=repr(path.suffix)).with_hint(
            f"Known endings are {', '.join(FILE_ENDINGS)}."
        )
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise ParameterError("open_source", f"file {str(path)!r} does not exist").with_hint(
            "Check the path; a relative one starts at the current folder."
        ) from None
    except OSError as error:
        raise ParameterError("open_source", f"file {str(path)!r} cannot be read ({error.strerror})") from None
    with guarded(
        path.name,
        "the file must be a table that can be read",
        got="one that cannot",
        hint="Write or copy the file again.",
    ):
        return opener(path, types)


def _endings(path: Path) -> list[str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return ["".join(suffixes[-2:]), suffixes[-1]] if suffixes else []
