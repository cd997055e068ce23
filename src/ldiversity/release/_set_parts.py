"""The rows of a release of sets in parts that workers can read, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from ldiversity.errors import UnsupportedError
from ldiversity.release._batches import RowBatch
from ldiversity.release._files import DataFile
from ldiversity.release._parquet import group_rows, parquet_batches
from ldiversity.release._read import FolderData
from ldiversity.release._verify import Rows

__all__ = ["SetParts", "set_parts"]


@dataclass(frozen=True)
class _Part:
    # Row groups of a file, or a whole file; `rows` are those of the part, `of_file` those of the file.
    file: str
    rows: int
    bytes: int
    of_file: int
    groups: range | None

    def __call__(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
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


@dataclass(frozen=True)
class SetParts:
    """Parts of the rows of a folder. Can be pickled; workers must see the folder under the same name.

    Parameters
    ----------
    rows
        The folder.
    parts
        Which rows each part has.
    """

    rows: FolderData
    parts: Sequence[_Part]

    def __len__(self) -> int:
        return len(self.parts)

    def batches(self, part: int, names: Sequence[str], attributes: Sequence[str]) -> Iterator[RowBatch]:
        """The rows of a part, some at a time, as `Release.batches` gives them."""
        one = self.parts[part]
        return replace(self.rows, files=[one], reader=one).anywhere().batches(names, attributes)


def set_parts(rows: Rows, most_rows: int) -> SetParts:
    """Parts of at most about so many rows; of CSV, whole files."""
    if not isinstance(rows, FolderData):
        raise UnsupportedError("release", "is in memory, but workers need a folder that they see").with_hint(
            "Save it, and give the folder."
        )
    parts = []
    for one in rows.files:
        first = held = 0
        groups = group_rows(rows.folder / one.file) if rows.data_format == "parquet" else []
        for number, n_rows in enumerate(groups):
            if held and held + n_rows > most_rows:
                parts.append(_Part(one.file, held, one.bytes, one.rows, range(first, number)))
                first, held = number, 0
            held += n_rows
        parts.append(
            _Part(one.file, held, one.bytes, one.rows, range(first, len(groups)))
            if first
            else _Part(one.file, one.rows, one.bytes, one.rows, None)
        )
    return SetParts(rows.anywhere(), tuple(parts))
