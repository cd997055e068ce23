"""A table on a cluster: a frame of Spark, or Parquet files that Spark reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ldiversity.engines.spark._files import InputFiles, changed_files, row_columns
from ldiversity.engines.spark._own_files import OwnFiles
from ldiversity.engines.spark._program import FromColumns, FromFiles, FromPieces, Input, needed_values, worker_table
from ldiversity.engines.spark._quiet import quiet
from ldiversity.engines.spark._session import Frame
from ldiversity.errors import SchemaError
from ldiversity.tables import Source, column_types

if TYPE_CHECKING:
    from ldiversity.engines.spark._engine import SparkEngine

__all__ = ["SparkSource", "arrow_columns", "base_of", "quoted"]


class SparkSource(Source):
    """A table whose rows are on a cluster, and have identities there.

    Reading its `batches` brings the rows to this machine, a part of them at a time.

    Attributes
    ----------
    engine
        The engine that opened it.
    frame
        What Spark reads: the columns of files, or sealed pieces of a table that was staged.
    files
        The files, which Spark reads, or workers themselves; None for a table that was staged.
    """

    def __init__(
        self,
        engine: SparkEngine,
        frame: Frame,
        schema: pa.Schema,
        *,
        name: str,
        files: InputFiles | OwnFiles | None,
        n_rows: int,
        types: Mapping[str, str] | None = None,
    ) -> None:
        columns = column_types(name, schema, types, from_file=files is not None)
        super().__init__(name, columns, n_rows=n_rows, from_file=files is not None)
        self.engine, self.frame, self.files = engine, frame, files
        self.raw_schema = schema

    def plain_frame(self, columns: list[str]) -> Frame | None:
        """The columns as Spark has them, under numbers; None where they must be converted, or are sealed."""
        exact = all(self.columns[name] == self.raw_schema.field(name).type for name in columns)
        if not isinstance(self.files, InputFiles) or not exact or self.forms is not None or self._has_equals(columns):
            return None
        return self._numbered(self.files, columns)

    def _has_equals(self, columns: list[str]) -> bool:
        """Whether Spark takes different texts of a column for equal, such as large and small letters (a collation)."""
        with quiet():
            kinds = {field.name: field.dataType.simpleString() for field in self.frame.schema.fields}
        return any(pa.types.is_string(self.columns[name]) and kinds[name] != "string" for name in columns)

    def input(self, table: Source, columns: list[str]) -> tuple[Frame, Input]:
        """How workers read some columns of `table`, which is this one or shows it."""
        if self.files is None:
            return self.frame, FromPieces(table, tuple(columns))
        read = tuple(dict.fromkeys([*columns, *needed_values(table)]))
        if isinstance(self.files, OwnFiles):
            n_cuts = len(self.files.cuts)
            with quiet():
                tasks = self.engine.session.range(0, n_cuts, 1, max(1, n_cuts))
            return tasks, FromFiles(table, tuple(columns), read, self.files)
        return self._numbered(self.files, read), FromColumns(table, tuple(columns), read)

    def _numbered(self, files: InputFiles, columns: Sequence[str]) -> Frame:
        """Each column under a number, and what tells rows apart."""
        with quiet():
            chosen = [quoted(name).alias(f"c{place}") for place, name in enumerate(columns)]
            return self.frame.select(*chosen, *row_columns(self.frame, files))

    def first(self, columns: Sequence[str], n_rows: int) -> pa.RecordBatch | None:
        """Some rows of the table, of which Spark reads no more than it must."""
        if isinstance(self.files, OwnFiles):
            return super().first(columns, n_rows)
        return self.engine.some_rows(self, columns, n_rows)

    def check_unchanged(self) -> None:
        """Raise `SchemaError` when the files are not as they were."""
        if isinstance(self.files, InputFiles):
            self.files.check_unchanged(self.engine.session, self.name)
        elif self.files is not None and not self.files.is_unchanged():
            raise changed_files(self.name)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - what comes from workers has its size
        if isinstance(self.files, OwnFiles):  # this machine sees them too
            for cut in self.files.cuts:
                yield from (cells for _, cells in self.files.read(cut, columns, chunk_rows))
            return
        for piece in self.engine.stream(self, columns):
            yield piece.cells

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[Any, ...], dict[str, Any]]:
        """Travel as what a worker has of it."""
        return worker_table, (self.name, self.columns, self.dtypes, self.from_file), {"forms": self.forms}


def base_of(source: Source) -> SparkSource | None:
    """The table on the cluster that a source shows row by row; None when its rows are on this machine."""
    while source.shows is not None:
        source = source.shows
    return source if isinstance(source, SparkSource) else None


def quoted(name: str) -> Any:  # noqa: ANN401 - a column of Spark
    """A column by its exact name."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    escaped = name.replace("`", "``")
    return F.col(f"`{escaped}`")


def arrow_columns(frame: Frame, name: str) -> pa.Schema:
    """The columns of a frame with their Arrow types; times with a zone are in UTC.

    Raises `SchemaError` for a column, of a table of this name, that Spark does not hand to others.
    """
    with quiet():
        return pa.schema([_arrow_column(field, name) for field in frame.schema.fields])


def _arrow_column(field: Any, name: str) -> pa.Field:  # noqa: ANN401 - a column of a schema of pyspark
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    alone = StructType([field])
    try:
        try:
            return to_arrow_schema(alone, timezone="UTC").field(0)
        except TypeError as error:
            if isinstance(error, PySparkException):
                raise
            return to_arrow_schema(alone).field(0)  # where every time is in UTC already
    except PySparkException:
        raise SchemaError(
            name, "must have a type that Arrow has, too", column=field.name, got=field.dataType.simpleString()
        ).with_hint("Drop the column from the frame, or cast it to another type, such as text.") from None
