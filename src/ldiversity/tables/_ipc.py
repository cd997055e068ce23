"""Arrow files: the IPC file format (also known as Feather) and the IPC stream format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.ipc

from ldiversity.tables._guard import guarded
from ldiversity.tables._opened import OpenedFile
from ldiversity.tables._source import Source
from ldiversity.tables._type_names import column_types

__all__ = ["IpcSource"]

_FILE_MAGIC: Final = b"ARROW1"


class IpcSource(Source):
    """An Arrow file, read batch by batch as it was written."""

    def __init__(self, path: Path, types: Mapping[str, str] | None = None) -> None:
        self._path, self._opened = path, OpenedFile.at(path)
        with path.open("rb") as file:
            self._seekable = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
        with _without_cells(path.name), self._open(None) as reader:
            schema = reader.schema
        columns = column_types(path.name, schema, types)
        self._positions = {name: position for position, name in enumerate(columns)}
        self._ordered = {field.name for field in schema if pa.types.is_dictionary(field.type) and field.type.ordered}
        super().__init__(path.name, columns)

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,  # noqa: ARG002 - batches as stored
        encoded: frozenset[str],  # noqa: ARG002 - same
    ) -> Iterator[pa.RecordBatch]:
        with _without_cells(self.name), self._open(columns) as reader:
            if self._seekable:
                yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
            else:
                yield from reader

    def _categories(self, column: str) -> Iterator[pa.Array]:
        if column in self._ordered:
            yield from (batch.column(column) for batch in self._read([column], 0, frozenset()))

    @contextmanager
    def _open(
        self, columns: list[str] | None
    ) -> Iterator[pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader]:
        fields = None if columns is None else sorted(self._positions[name] for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        opener = pa.ipc.open_file if self._seekable else pa.ipc.open_stream
        # Not mapped into memory: where somebody shortens a mapped file, the system ends the process that reads on.
        with pa.OSFile(str(self._path)) as file, opener(file, options=options) as reader:
            yield reader


def _without_cells(owner: str) -> AbstractContextManager[None]:
    return guarded(
        owner,
        "the file must be a complete Arrow file",
        got="one that cannot be read",
        hint="Write it again, for example with pyarrow.feather.write_feather.",
    )
