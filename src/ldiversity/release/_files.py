"""Reading the columns of a file that may come from a stranger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.csv as pa_csv

from ldiversity.base.held import give_back
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.progress import reading
from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.release._damage import damaged
from ldiversity.release._description import Format
from ldiversity.release._parquet import parquet_batches, without_columns

__all__ = ["DataFile", "DataFiles", "Identity", "Listed", "Reader", "gather", "identity_of", "typed"]

_BLOCK_BYTES: Final = 1 << 22
"""No row of a CSV file may be longer."""

_SMALL_BLOCK: Final = 1 << 21
"""Where other threads work beside, reading such blocks takes less time, because they stay in the processor's cache."""

Identity: TypeAlias = tuple[int, int]
"""The device and the number of a file or folder."""

Reader: TypeAlias = "Callable[[DataFile, list[str]], Iterator[pa.Table]]"
"""Reads some columns of a file, a batch of rows at a time."""


class Listed(Protocol):
    """What is known about a file that was written."""

    @property
    def file(self) -> str:
        """Its name."""

    @property
    def rows(self) -> int:
        """How many rows it holds."""

    @property
    def bytes(self) -> int:
        """How long it is."""


@dataclass(frozen=True)
class DataFiles:
    """The rows of one file of a release folder, or of several in their order, read column by column when asked for.

    Parameters
    ----------
    files
        What the manifest says about them.
    csv_types
        The type of every column of a CSV file.
    longest
        How many entries a list may have: a few bytes can stand for a list of any length.
    seen
        Which folder it was when the release was loaded, as `identity_of` tells.
    reader
        How an engine reads a file back before the release has a name; `DataFile.stored` when None.
    compared
        As in `DataFile`.
    """

    folder: Path
    files: Sequence[Listed]
    data_format: Format
    csv_types: Mapping[str, pa.DataType]
    longest: int = 1
    seen: Identity | None = None
    reader: Reader | None = None
    compared: bool = False

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files."""
        return sum(one.rows for one in self.files)

    def batches(self, names: list[str]) -> Iterator[pa.Table]:
        """Some columns, a batch of rows at a time."""
        together, step = sum(one.bytes for one in self.files), reading(self.n_rows)
        for one in self.files:
            if self.seen is not None and identity_of(self.folder) != self.seen:
                raise ReleaseFormatError(
                    "release", "the folder must be the one that was loaded", got="another under its name"
                ).with_hint("The release was replaced; load it again.")
            file = DataFile(
                self.folder,
                one.file,
                self.data_format,
                one.rows,
                one.bytes,
                self.csv_types,
                self.longest,
                together,
                self.compared,
            )
            for table in file.checked(names, self.reader):
                step(table.num_rows)
                yield table


@dataclass(frozen=True)
class DataFile:
    """One file of a release folder.

    Parameters
    ----------
    n_rows, n_bytes
        What the manifest says about it.
    together
        How many bytes all files have that are read with it: they limit what it may unfold to.
    compared
        Whether every byte of the texts of a CSV file is compared with what was meant, which is UTF-8; then that need
        not be looked at a second time.
    """

    folder: Path
    name: str
    data_format: Format
    n_rows: int
    n_bytes: int
    csv_types: Mapping[str, pa.DataType]
    longest: int = 1
    together: int = 0
    compared: bool = False

    def checked(self, names: list[str], reader: Reader | None = None) -> Iterator[pa.Table]:
        """Some columns, a batch of rows at a time, of a file that is as long as it should be."""
        file = self.folder / self.name
        if file.is_symlink() or not file.is_file():
            raise damaged(f"{self.name} must be a regular file of the folder")
        if file.stat().st_size != self.n_bytes:
            raise damaged(f"{self.name} must be {self.n_bytes} bytes long")
        rows = 0
        for table in self.stored(names) if reader is None else reader(self, names):
            rows += table.num_rows
            yield table
            give_back()
        if rows != self.n_rows:
            raise damaged(f"{self.name} must hold {self.n_rows} rows")

    def stored(self, names: list[str], *, workers: int = 1) -> Iterator[pa.Table]:
        """What the file on this machine holds, unchecked but for its form; `workers` groups are read at once."""
        file = self.folder / self.name
        if self.data_format == "csv":
            return self._csv_batches(file, names)
        return parquet_batches(
            file, names, n_rows=self.n_rows, longest=self.longest, together=self.together, workers=workers
        )

    def _csv_batches(self, file: Path, names: list[str]) -> Iterator[pa.Table]:
        types = dict(self.csv_types)
        missing = [name for name in names if name not in types]
        if missing:
            raise damaged(f"column {missing[0]!r} is not part of the release")
        options = pa_csv.ConvertOptions(
            column_types=types,
            include_columns=names or None,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
            check_utf8=not self.compared,
        )
        given = 0
        for size in (_SMALL_BLOCK, _BLOCK_BYTES) if self.compared else (_BLOCK_BYTES,):
            blocks = pa_csv.ReadOptions(block_size=size, use_threads=not self.compared, skip_rows_after_names=given)
            try:
                for table in _parsed(file, blocks, options):
                    given += table.num_rows
                    yield table
            except (pa.ArrowException, OSError, ValueError) as error:
                if isinstance(error, LDiversityError):
                    raise
                if lacks_memory(error):
                    raise not_enough_memory("release") from None
                if "straddling" in str(error) and size < _BLOCK_BYTES:
                    continue  # a row is longer than the block
                raise damaged(f"{self.name} cannot be read as CSV with the declared columns") from None
            return


def _parsed(file: Path, blocks: pa_csv.ReadOptions, options: pa_csv.ConvertOptions) -> Iterator[pa.Table]:
    parse = pa_csv.ParseOptions(newlines_in_values=True)
    with pa_csv.open_csv(file, read_options=blocks, convert_options=options, parse_options=parse) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def identity_of(path: Path) -> Identity | None:
    """Which file or folder has this name now; None when there is none. A new one has another identity."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def gather(batches: Iterator[pa.Table], types: dict[str, pa.DataType], rows: int) -> pa.Table:
    """All batches as one table of these types."""
    if not types:
        return without_columns(rows)
    return pa.concat_tables([pa.schema(list(types.items())).empty_table(), *(typed(batch, types) for batch in batches)])


def typed(batch: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Some columns of a batch, in the types that the manifest names."""
    try:
        # Parquet has fewer types than Arrow: the name of a time zone, for example, is only in the manifest.
        return batch.select(list(types)).cast(pa.schema(list(types.items())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise damaged("columns must have the types that release.json names") from None
