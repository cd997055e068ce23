"""The rows of a release in parts that workers can read, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ldiversity.errors import UnsupportedError
from ldiversity.release._description import Format
from ldiversity.release._files import DataFile, Listed
from ldiversity.release._parquet import group_rows, parquet_batches

if TYPE_CHECKING:
    from ldiversity.release._base import Release

__all__ = ["ReleaseParts", "RowPart", "in_memory", "row_parts"]


@dataclass(frozen=True)
class RowPart:
    """Row groups of a file, or a whole file; `rows` are those of the part, `of_file` those of the file."""

    file: str
    rows: int
    bytes: int
    of_file: int
    groups: range | None

    def __call__(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Read some columns of the part."""
        if self.groups is None:
            return file.stored(names)
        return parquet_batches(
            file.folder / file.name,
            names,
            n_rows=self.of_file,
            longest=file.longest,
            together=file.together,
            groups=self.groups,
        )


@dataclass(frozen=True, eq=False)
class ReleaseParts:
    """Parts of a release in a folder. Can be pickled; workers must see the folder under the same name.

    Parameters
    ----------
    release
        The release, for readers anywhere.
    parts
        Which rows each part has.
    """

    release: Release
    parts: tuple[RowPart, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, number: int) -> Release:
        """A part as a release, whose `batches` and `class_batches`, or else `value_batches`, can be read."""
        return self.release.of_part(self.parts[number])


def row_parts(folder: Path, files: Sequence[Listed], data_format: Format, most_rows: int) -> tuple[RowPart, ...]:
    """Parts of at most about so many rows; of CSV, whole files."""
    parts = []
    for one in files:
        first = held = 0
        groups = group_rows(folder / one.file) if data_format == "parquet" else []
        for number, n_rows in enumerate(groups):
            if held and held + n_rows > most_rows:
                parts.append(RowPart(one.file, held, one.bytes, one.rows, range(first, number)))
                first, held = number, 0
            held += n_rows
        parts.append(
            RowPart(one.file, held, one.bytes, one.rows, range(first, len(groups)))
            if first
            else RowPart(one.file, one.rows, one.bytes, one.rows, None)
        )
    return tuple(parts)


def in_memory() -> UnsupportedError:
    """The error for a release that workers cannot see."""
    return UnsupportedError("release", "is in memory, but workers need a folder that they see").with_hint(
        "Save it, and give the folder."
    )
