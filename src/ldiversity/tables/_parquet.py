"""Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.tables._guard import guarded
from ldiversity.tables._opened import OpenedFile
from ldiversity.tables._source import Source
from ldiversity.tables._type_names import column_types

__all__ = ["ParquetSource"]

_BUFFER_BYTES: Final = 1 << 20


class ParquetSource(Source):
    """A Parquet file. Only the wanted columns are read, and memory holds one batch at a time.

    The order of categories is not taken from it: if the file was written without dictionaries, they come back in the
    order of rows, even if the file marks them as ordered.
    """

    def __init__(self, path: Path, types: Mapping[str, str] | None = None) -> None:
        import pyarrow.parquet as pq

        self._path, self._opened = path, OpenedFile.at(path)
        with _without_cells(path.name), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            n_rows = file.metadata.num_rows
        super().__init__(path.name, column_types(path.name, schema, types), n_rows=n_rows)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        texts = [name for name in columns if name in encoded and self.columns[name] == pa.string()]
        with (
            _without_cells(self.name),
            # Page by page: a file may be one group of rows.
            pq.ParquetFile(self._path, read_dictionary=texts, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file,
        ):
            yield from file.iter_batches(batch_size=chunk_rows, columns=columns)


def _without_cells(owner: str) -> AbstractContextManager[None]:
    return guarded(
        owner,
        "the file must be a complete Parquet file",
        got="one that cannot be read",
        hint="Write or copy the file again.",
    )
