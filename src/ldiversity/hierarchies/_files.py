"""Small text files with separated cells: hierarchies, semilattices, distance matrices."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ldiversity.base.outputs import check_outside_releases
from ldiversity.errors import ParameterError, SchemaError, StorageError
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

__all__ = ["MAX_BYTES", "read_cells", "write_cells"]

MAX_BYTES: Final = 1 << 28
"""Largest file, in bytes after decompression."""

_DELIMITERS: Final = (";", "\t", ",")
_GZIP_MAGIC: Final = b"\x1f\x8b"
_SAMPLE_LINES: Final = 200


def read_cells(
    owner: str,
    path: str | PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | Literal["auto"] = False,
    header_word: str = "",
) -> list[tuple[int, list[str]]]:
    """Read the cells of a CSV file, each line with its number.

    The text is UTF-8 with or without a byte-order mark, gzip-compressed or not. Blanks around cells, empty cells at
    the end of a line, and empty lines are dropped. When `delimiter` is None, it is the one of semicolon, tab and comma
    that separates the most lines; on a tie, the first in this order. A first line that starts with `header_word` is
    skipped, unless `header` says whether the first line is a header.

    Raises
    ------
    ParameterError
        When the file cannot be opened.
    SchemaError
        When it is not UTF-8 text, too large, or empty.
    """
    text = _read_text(owner, Path(path))
    separator = _find_delimiter(text) if delimiter is None else delimiter
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                lines.append((reader.line_num, cells))
    except csv.Error as error:
        raise SchemaError(owner, f"line {reader.line_num} of {str(path)!r} is not CSV ({error})") from error
    if not lines:
        raise SchemaError(owner, f"file {str(path)!r} must have at least one line")
    skip = lines[0][1][0] == header_word if header == "auto" else header
    return lines[1:] if skip else lines


def write_cells(
    owner: str, path: str | PathLike[str], lines: Iterable[Sequence[str]], *, overwrite: bool = False
) -> None:
    """Write cells so that `read_cells` returns them unchanged: semicolons, UTF-8, one line per row.

    Raises
    ------
    SchemaError
        When a cell could not be read back: it is empty, has blanks around it, or has several lines.
    StorageError
        When the file exists and may not be replaced, or cannot be written.
    """
    target = Path(path)
    check_outside_releases(owner, target)
    text = "".join(";".join(_quoted(owner, cell) for cell in line) + "\n" for line in lines).encode()
    packed = gzip.compress(text, mtime=0) if target.suffix.lower() == ".gz" else text
    try:
        with target.open("wb" if overwrite else "xb") as file:
            file.write(packed)
    except FileExistsError as error:
        raise StorageError(
            owner,
            f"file {str(target)!r} already exists",
            hint=say("Choose another name, or use {}.", Setting("overwrite", True)),
        ) from error
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        raise StorageError(owner, f"file {str(target)!r} cannot be written: {reason}") from error


def _quoted(owner: str, cell: str) -> str:
    if not cell or cell != cell.strip() or len(cell.splitlines()) > 1:
        raise SchemaError(owner, "a label in a file must be one line without blanks around it").with_hint(
            "Rename the value in the table first; blanks around labels do not count in files."
        )
    # Quote every delimiter that a reader might guess, not only the one in use.
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in (*_DELIMITERS, '"')) else cell


def _read_text(owner: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            file.seek(0)
            data = gzip.GzipFile(fileobj=file).read(MAX_BYTES + 1) if packed else file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SchemaError(owner, f"file {str(path)!r} is a damaged gzip file") from error
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise ParameterError(owner, f"file {str(path)!r} cannot be opened: {reason}").with_hint(
            "Check the path; a relative one starts at the current folder, or at that of a policy."
        ) from error
    if len(data) > MAX_BYTES:
        raise SchemaError(owner, f"file {str(path)!r} must have at most {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaError(owner, f"file {str(path)!r} must be UTF-8 text", hint="Save it again as UTF-8.") from error


def _find_delimiter(text: str) -> str:
    sample = text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]

    def separated(delimiter: str) -> int:
        return sum(delimiter in line.strip(delimiter + "\r ") for line in sample)

    return max(_DELIMITERS, key=separated)
