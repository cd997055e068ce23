"""Parquet files that workers read themselves, without Java, which would turn columns into rows and back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.memory import lacks_memory
from ldiversity.engines.spark._paths import FileState, local_path, size_in, state_of
from ldiversity.errors import StorageError
from ldiversity.tables import plain_type

__all__ = ["Cut", "OwnFiles", "find_own_files", "not_readable"]

_MOST_FILES: Final = 4096
"""Workers are told about every file, in a function that stays small."""

_LEAST_ROWS: Final = 1 << 17
_MOST_ROWS: Final = 1 << 20
_CUTS_PER_WORKER: Final = 4
_BUFFER_BYTES: Final = 1 << 20
_TRAILER_BYTES: Final = 8
"""How long the end is, and the mark of a Parquet file."""

_HASH_BYTES: Final = 8
_OLD_CALENDAR: Final = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


@dataclass(frozen=True)
class Cut:
    """Some groups of rows of a file that follow each other: what one task reads."""

    file: int
    groups: range
    first: int
    """The number of the first row in its file."""


@dataclass(frozen=True)
class OwnFiles:
    """Files that this machine and all workers see under the same paths.

    Attributes
    ----------
    paths
        In the order of their numbers.
    states
        What was known of each when the table was opened. Another machine may number the same files otherwise, so
        workers compare sizes and times of the last writing alone with these, and all with what they saw themselves.
    ends
        A hash of the end of each, where a Parquet file says what it holds; workers compare it, too.
    cuts
        All rows, in pieces for tasks.
    n_rows
        The rows of all files.
    """

    paths: tuple[str, ...]
    states: tuple[FileState, ...]
    ends: tuple[bytes, ...]
    cuts: tuple[Cut, ...]
    n_rows: int

    def is_unchanged(self) -> bool:
        """Whether the files are as they were."""
        try:
            return tuple(map(state_of, self.paths)) == self.states
        except OSError:
            return False

    def read(self, cut: Cut, columns: Sequence[str], chunk_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of a cut, some at a time, each with the number of its first row.

        Raises `StorageError` when the file is not the one that was opened, before the first row or after the last one.
        """
        import pyarrow.parquet as pq

        path, first = self.paths[cut.file], cut.first
        with _as_storage_error(), pa.OSFile(path) as stream:
            before = state_of(path)
            if _as_written(before) != _as_written(self.states[cut.file]) or _hashed_end(stream) != self.ends[cut.file]:
                raise not_readable()
            with pq.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
                for batch in file.iter_batches(
                    batch_size=chunk_rows, row_groups=list(cut.groups), columns=list(columns), use_threads=False
                ):
                    yield first, batch.select(list(columns))
                    first += batch.num_rows
            if state_of(path) != before:
                raise not_readable()


def find_own_files(uris: Sequence[str], schema: pa.Schema, workers: int) -> OwnFiles | None:
    """The files of a table, if reading them gives exactly what Spark reads; else None.

    They must be in a file system of this machine, and every column must have the same name and a plain type that Spark
    and Arrow read alike. Folders that stand for values of a column are left to Spark, as are dates of the old calendar.
    """
    paths = [_path_without_values(uri) for uri in uris]
    if not paths or len(paths) > _MOST_FILES or not all(_is_plain(field.type) for field in schema):
        return None
    known = [path for path in paths if path is not None]
    if len(known) < len(paths):
        return None
    try:
        states = tuple(map(state_of, known))
        groups = [_groups_of(path, schema) for path in known]
        ends = tuple(map(_end_of, known))
    except (OSError, pa.ArrowException):
        return None
    if any(one is None for one in groups):
        return None
    sizes = [one or [] for one in groups]
    n_rows = sum(map(sum, sizes))
    most = max(_LEAST_ROWS, min(_MOST_ROWS, n_rows // (_CUTS_PER_WORKER * workers)))
    cuts = [cut for number, one in enumerate(sizes) for cut in _cuts(number, one, most)]
    return OwnFiles(tuple(known), states, ends, tuple(cuts), n_rows)


def _path_without_values(uri: str) -> str | None:
    path = local_path(uri)
    return None if path is None or any("=" in part for part in Path(path).parts) else path


def _as_written(state: FileState) -> tuple[int, int]:
    return size_in(state), state[3]


def _end_of(path: str) -> bytes:
    with pa.OSFile(path) as stream:
        return _hashed_end(stream)


def _hashed_end(stream: pa.NativeFile) -> bytes:
    """A hash of the end of a Parquet file: what each column of each group of rows takes, and its least and largest."""
    size = stream.size()
    stream.seek(max(0, size - _TRAILER_BYTES))
    trailer = stream.read(_TRAILER_BYTES)
    stream.seek(max(0, size - _TRAILER_BYTES - int.from_bytes(trailer[:4], "little")))
    return hashlib.blake2b(stream.read(), digest_size=_HASH_BYTES).digest()


def _is_plain(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
    )


def _groups_of(path: str, schema: pa.Schema) -> list[int] | None:
    """How many rows each group of a file has; None when Spark would read another table from it."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        found, metadata = file.schema_arrow, file.metadata
        names = [name.lower() for name in found.names]
        if len(set(names)) < len(names) or any(key in (metadata.metadata or {}) for key in _OLD_CALENDAR):
            return None
        for field in schema:
            place = found.get_field_index(field.name)
            if place < 0 or plain_type(found.field(place).type) != field.type:
                return None
        return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _cuts(file: int, groups: Sequence[int], most: int) -> Iterator[Cut]:
    start = first = held = 0
    for number, n_rows in enumerate(groups):
        if held and held + n_rows > most:
            yield Cut(file, range(start, number), first)
            start, first, held = number, first + held, 0
        held += n_rows
    if held:
        yield Cut(file, range(start, len(groups)), first)


def not_readable() -> StorageError:
    """The error for files that are not there, damaged, or not as they were."""
    return StorageError("table", "must be files that every worker can read, and that stay as they are").with_hint(
        "Check that the files are whole, and that nobody writes them meanwhile."
    )


@contextmanager
def _as_storage_error() -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        raise not_readable() from None
