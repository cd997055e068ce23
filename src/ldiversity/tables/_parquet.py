"""Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ldiversity.tables._guard import guarded
from ldiversity.tables._source import Source, check_names, plain_type
from ldiversity.tables._type_names import declared_types

__all__ = ["ParquetSource"]


class ParquetSource(Source):
    """A Parquet file. Only the wanted columns are read, and one batch at a time is held.

    It may say that categories are ordered, but they come back in the order of rows where it was written without
    dictionaries: their order is not taken from it.
    """

    def __init__(self, path: Path, types: Mapping[str, str] | None = None) -> None:
        self._path = path
        with _speaking_of(path.name), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            n_rows = file.metadata.num_rows
        names = check_names(path.name, schema.names)
        columns = {name: plain_type(kind) for name, kind in zip(names, schema.types, strict=True)}
        columns |= declared_types(path.name, types, columns)
        super().__init__(path.name, columns, n_rows=n_rows)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        texts = [name for name in columns if name in encoded and self.columns[name] == pa.string()]
        with (
            _speaking_of(self.name),
            pq.ParquetFile(self._path, read_dictionary=texts, pre_buffer=False) as file,
        ):
            yield from file.iter_batches(batch_size=chunk_rows, columns=columns)


def _speaking_of(owner: str) -> AbstractContextManager[None]:
    return guarded(
        owner,
        "the file must be a complete Parquet file",
        got="one that cannot be read",
        hint="Write or copy the file again.",
    )
