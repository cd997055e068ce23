"""Opening a file by its ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ldiversity.errors import ParameterError
from ldiversity.tables._csv import CsvSource
from ldiversity.tables._excel import open_excel
from ldiversity.tables._guard import guarded
from ldiversity.tables._ipc import IpcSource
from ldiversity.tables._jsonl import JsonLinesSource
from ldiversity.tables._parquet import ParquetSource
from ldiversity.tables._source import Source

__all__ = ["FILE_ENDINGS", "open_file"]

_Opener = Callable[[Path, Mapping[str, str] | None], Source]

FILE_ENDINGS: Final[Mapping[str, _Opener]] = MappingProxyType(
    {
        ".csv": CsvSource,
        ".csv.gz": CsvSource,
        ".tsv": CsvSource,
        ".tsv.gz": CsvSource,
        ".parquet": ParquetSource,
        ".pq": ParquetSource,
        ".arrow": IpcSource,
        ".feather": IpcSource,
        ".ipc": IpcSource,
        ".jsonl": JsonLinesSource,
        ".jsonl.gz": JsonLinesSource,
        ".ndjson": JsonLinesSource,
        ".ndjson.gz": JsonLinesSource,
        ".xlsx": open_excel,
    }
)
"""What opens a file whose name ends so."""


def open_file(path: Path, types: Mapping[str, str] | None = None) -> Source:
    """Open a file as a source; the ending of its name says how."""
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
        f"{path.name}: the file must be a table that can be read, got one that cannot.",
        hint="Write or copy the file again.",
    ):
        return opener(path, types)


def _endings(path: Path) -> list[str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return ["".join(suffixes[-2:]), suffixes[-1]] if suffixes else []
