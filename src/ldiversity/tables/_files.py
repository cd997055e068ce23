"""Open a file by the ending of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.errors import ParameterError
from ldiversity.tables._guard import guarded
from ldiversity.tables._read_options import ReadOptions
from ldiversity.tables._source import Source

__all__ = ["FILE_ENDINGS", "FORMS", "open_file", "understood_by"]

_Opener = Callable[..., Source]

FILE_ENDINGS: Final = Registry[_Opener]("file_endings", ENTRIES["file_endings"])
"""The function that opens a file, by the ending of its name.

It takes the path and the declared types. If its attribute ``understands`` names fields of `ReadOptions`, it takes these
options as well. If its attribute ``holds`` is true as well, it takes `hold` of `open_source`.
"""

FORMS: Final = frozenset({"decimal", "date_format"})
"""The options that are about texts in cells, wherever these come from."""


def open_file(path: Path, types: Mapping[str, str] | None, read: ReadOptions, *, hold: int = 0) -> Source:
    """Open a file as a source, according to the ending of its name; `hold` is as in `open_source`."""
    ending = next((end for end in _endings(path) if end in FILE_ENDINGS), None)
    opener = None if ending is None else FILE_ENDINGS[ending]
    if path.is_dir():
        raise ParameterError("open_source", f"{str(path)!r} must be a file", got="a folder").with_hint(
            "Put its files together into one, so that no row of a person is left out; or, if they are Parquet files, "
            "publish or audit the folder with engine='spark' (--engine spark)."
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
    if opener is None:
        raise ParameterError("open_source", f"{path.name!r} must end in a known way", got=repr(path.suffix)).with_hint(
            f"Known endings are {', '.join(FILE_ENDINGS)}: rename the file if it is one of these."
        )
    understood = understood_by(path)
    read.refuse_others(path.name, f"files that end in {ending}", understood | FORMS)
    with guarded(
        path.name,
        "the file must be a table that can be read",
        got="one that cannot",
        hint="Write or copy the file again.",
    ):
        held = {"hold": hold} if getattr(opener, "holds", False) else {}
        return opener(path, types, read, **held) if understood else opener(path, types)


def understood_by(path: Path) -> frozenset[str]:
    """The options that belong to the kind of a file."""
    opener = next((FILE_ENDINGS[end] for end in _endings(path) if end in FILE_ENDINGS), None)
    understood: frozenset[str] = getattr(opener, "understands", frozenset())
    return understood


def _endings(path: Path) -> list[str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return ["".join(suffixes[-2:]), suffixes[-1]] if suffixes else []
