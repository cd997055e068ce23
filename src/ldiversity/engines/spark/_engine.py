"""The engine of a cluster: Apache Spark."""

from __future__ import annotations

import secrets as tokens
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

import pyarrow as pa

from ldiversity.base.ending import orderly_end
from ldiversity.base.progress import stage
from ldiversity.engines._base import Engine
from ldiversity.engines._rows import Factory, NumberedBatch, PartFactory, Rows
from ldiversity.engines._sample import Sampled
from ldiversity.engines._secrets import Secrets
from ldiversity.engines.spark._count import CountOut, add_up, count_columns
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.engines.spark._program import FromColumns, FromPieces, Program, as_closure
from ldiversity.engines.spark._rows import SparkRows
from ldiversity.engines.spark._run import run_job, without_traceback
from ldiversity.engines.spark._session import Frame, Session, is_connect, open_session, with_settings
from ldiversity.engines.spark._source import SparkSource, base_of
from ldiversity.engines.spark._staging import Scratch, is_parquet, open_input, probe, stage_source
from ldiversity.engines.spark._steps import (
    CarryPlaces,
    DealByKey,
    DealByNumber,
    MapParts,
    MapPieces,
    Select,
    SomeRows,
    SortByKey,
)
from ldiversity.engines.spark._wire import WIRE_DDL, Note, Piece, Traveled, batch_of_row, places_of, received, targets
from ldiversity.engines.spark._write import WriteFile, gather_files
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.release import DataFile, PartWriter, Written, staging_folder
from ldiversity.tables import GivenReadOptions, Source, as_read_options, is_spark_frame, open_source

__all__ = ["SparkEngine"]

_CHUNK_ROWS: Final = 1 << 16
_FILE_ROWS: Final = 1 << 21
_LEAST_ROWS: Final = 1 << 17
_SPARE: Final = 1.2
_AT_ONCE: Final = 1 << 26
"""Bytes that come here in one step; what is more comes piece by piece."""


class SparkEngine(Engine):
    """Work on a cluster with Apache Spark, classic or Connect.

    Parameters
    ----------
    session
        The session to work with.
    master
        The address of a cluster, such as ``"spark://host:7077"`` or ``"local[4]"``, to start a session with.
    remote
        The address of a Spark Connect server, such as ``"sc://host"``.
    scratch
        A folder that this machine and all workers see, for tables that are not Parquet files already; only its owner
        can read what is put there, and it is removed. On this machine alone, the system's folder for temporary files.
    file_rows
        About how many rows a file of a release gets; a worker has as many in memory at once.

    Without any of the first three, the active session is used, or one is started on this machine.

    Rows that workers hand to each other are encrypted where Spark writes them to disk. Counts are only where Spark has
    the setting ``spark.io.encryption.enabled``, as one that is started here has. Sets, samples and orders are drawn by
    the key of the job, so work that Spark does again changes nothing.
    """

    name: ClassVar[str] = "spark"
    orders_by_key: ClassVar[bool] = True

    def __init__(
        self,
        session: Session | None = None,
        *,
        master: str | None = None,
        remote: str | None = None,
        scratch: str | Path | None = None,
        file_rows: int = _FILE_ROWS,
    ) -> None:
        self.session = open_session(session, master, remote)
        self.file_rows, self.chunk_rows = file_rows, _CHUNK_ROWS
        self._own = Secrets()
        self.seal, self.envelope = Seal(self._own.job), Envelope.of(self._own)
        self._scratch = Scratch(self.session, None if scratch is None else Path(scratch))
        self._kept: list[Frame] = []
        self._published: dict[int, SparkSource] = {}
        self._staged: dict[int, tuple[Source, SparkSource]] = {}
        self.workers = self._parallel()

    def open(self, data: Any, *, types: Mapping[str, str] | None = None, read: GivenReadOptions = None) -> Source:  # noqa: ANN401 - any frame
        """Open a frame of Spark, or the path of a Parquet file or of a folder with such files, where workers read it.

        Any other table is read on this machine, and staged for workers when they need it.
        """
        if not is_spark_frame(data) and not is_parquet(data):
            return open_source(data, types=types, read=read)
        as_read_options("open_source", read).refuse_others("table", "a frame", frozenset())
        return open_input(self, data, types=types)

    def check_unchanged(self, source: Source) -> None:
        """Raise `SchemaError` if a table is in files that changed since it was opened; a job may look at them."""
        base = base_of(source)
        if base is None:
            source.refuse_changes()
        else:
            base.check_unchanged()

    def numbers(self, column: str, n: int) -> Rows:
        """Spark has numbers of its own, so nothing is staged for them."""
        with without_traceback(self.seal):
            frame = self.session.range(0, n, 1, 1)
        return SparkRows(self, frame, FromColumns(None, (column,), (column,)), (), pa.schema([(column, pa.int64())]))

    def rows(self, source: Source, columns: Sequence[str]) -> Iterator[NumberedBatch]:
        """The rows of a table, brought here a part at a time."""
        table = self._table(source, columns)
        for piece in self.pieces(table.then(CarryPlaces(), columns=table.columns)):
            numbered = places_of(piece.cells)
            yield NumberedBatch(numbered.cells, places=numbered.places)

    def count(
        self, source: Source | Rows, by: Sequence[str], *, times: str | None = None, most: int | None = None
    ) -> pa.Table | None:
        """How many rows have each combination of values, by one grouping on the cluster."""
        names = tuple(by)
        if isinstance(source, SparkSource) and times is None:
            plain = source.plain_frame(list(names))
            if plain is not None:
                types = tuple(source.columns[name] for name in names)
                return self.run(lambda: count_columns(plain, names, types, most))
        rows = self._spark_rows(source, names if times is None else (*names, times))
        out = CountOut(names, tuple(rows.schema.field(name).type for name in names), times)
        frame = self._frame(rows, out=out)
        return self.run(lambda: add_up(frame, out, self.seal, most))

    def sample(self, source: Source, columns: Sequence[str], n_rows: int, *, secrets: Secrets) -> pa.Table:
        """The rows with the least words under the key of the job, in the order of their words."""
        table = self._table(source, columns)
        known = base_of(source)
        total = max(1, n_rows if known is None or known.n_rows is None else known.n_rows)
        share = min(1.0, _SPARE * (n_rows + 5 * n_rows**0.5) / total)
        while True:
            limit = min(2**64 - 1, int(share * 2**64))
            chosen = table.then(SomeRows(Envelope.of(secrets), limit), columns=table.columns)
            sampled, found = Sampled(secrets, n_rows), 0
            for piece in self.pieces(chosen):
                numbered = places_of(piece.cells)
                sampled.add(NumberedBatch(numbered.cells, places=numbered.places))
                found += numbered.cells.num_rows
            if found >= n_rows or share >= 1.0:
                return sampled.result(table.schema)
            share = min(1.0, 2 * share)

    def map(self, factory: Factory, source: Source | Rows, columns: Sequence[str], *, secrets: Secrets) -> Rows:
        """Apply a function to every batch where it is."""
        rows = self._spark_rows(source, columns)
        return rows.then(MapPieces(factory, Envelope.of(secrets)), columns=factory.schema)

    def partition(
        self, factory: PartFactory, rows: Rows, *, by: str, n_parts: int, secrets: Secrets, scratch: Path | None
    ) -> Rows:
        """Bring the rows of each part to one task, and apply a function to it."""
        del scratch  # Spark has its own
        own = self._spark_rows(rows)
        brought = own if own.parted == (by, n_parts) else self._brought(own, DealByNumber(by, n_parts), n_parts)
        made = brought.then(MapParts(factory, Envelope.of(secrets), by), columns=factory.schema)
        return replace(made, parted=(by, n_parts) if getattr(factory, "keeps_parts", False) else None)

    def keep(self, rows: Rows, *, scratch: Path | None) -> Rows:
        """Compute the rows, and keep them encrypted on the disks of workers."""
        del scratch
        own = self._spark_rows(rows)
        with without_traceback(self.seal):
            from pyspark import StorageLevel

            frame = self._frame(own).persist(StorageLevel.DISK_ONLY)
        self._kept.append(frame)
        return SparkRows(self, frame, FromPieces(), (), own.schema, self.notes_in(frame), own.parted)

    def order(
        self,
        rows: Iterable[pa.RecordBatch],
        *,
        n_rows: int,
        scratch: Path | None,
        secrets: Secrets | None = None,
        by: str | None = None,
    ) -> Rows:
        """All rows ascending by a column of 128-bit keys, which is taken off; each task has a range of keys."""
        del scratch, secrets
        if by is None:
            raise ParameterError(
                "SparkEngine", "by", "must name a column of keys, so that work done again changes nothing"
            )
        own = self._spark_rows(rows)
        n_parts = self._n_files(n_rows)
        schema = own.schema.remove(own.schema.get_field_index(by))
        return self._brought(own, DealByKey(by, n_parts), n_parts).then(SortByKey(by), columns=schema)

    def write(self, folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
        """Let each task write one file, read it back and check it; files of attempts that failed are removed.

        Rows of this machine, such as a table of values, become one file.
        """
        if not isinstance(rows, SparkRows):
            return [
                writer(
                    folder,
                    writer.file_name(),
                    (pa.Table.from_batches([batch]) for batch in rows),
                    reader=self.read_back,
                )
            ]
        own = self._spark_rows(rows)
        with gather_files(folder, within=folder / "scratch", called="output") as inbox:
            frame = self._frame(own.then(WriteFile(inbox.folder, writer), columns=own.schema))
            with stage("writing", passes=1):
                noted = self.run(frame.toArrow, pieces=True)
            written = [Written.from_json(text.decode()) for text in self._notes(noted)]
            inbox.take([one.file for one in written])
            return written

    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Read one file of a folder that this machine sees."""
        return file.stored(names)

    @contextmanager
    def staging(self, target: Path, *, overwrite: bool) -> Iterator[Path]:
        """A private folder beside `target`, which workers must see too."""
        with staging_folder(target, overwrite=overwrite) as folder:
            probe(self, folder)
            self._published.clear()
            try:
                yield folder
            except LDiversityError:
                self._check_inputs()  # files that changed explain an error better than what followed from it
                raise
            self._check_inputs()

    def close(self) -> None:
        """Remove what was kept and staged. The session goes on."""
        kept, self._kept = self._kept, []
        self._staged.clear()
        try:
            for frame in kept:
                with without_traceback(self.seal):
                    frame.unpersist()
        finally:  # even where Spark has ended
            self._scratch.remove()

    def _check_inputs(self) -> None:
        """Look at the tables that were read for the release again."""
        for source in self._published.values():
            source.check_unchanged()

    # What tables and rows of this engine ask for.

    def stream(self, source: SparkSource, columns: Sequence[str]) -> Iterator[Piece]:
        """Bring some columns of a table here, a part at a time."""
        return self.pieces(self._table(source, columns))

    def pieces(self, rows: SparkRows) -> Generator[Piece]:
        """Bring rows here, a part at a time."""
        for one in self._traveled(rows):
            if isinstance(one, Piece) and one.cells.num_rows:
                yield one

    def some_rows(self, source: SparkSource, columns: Sequence[str], n_rows: int) -> pa.RecordBatch | None:
        """A few rows of a table, from as few files as possible."""
        frame, program_input = source.input(source, list(columns))
        made = self.program(frame.limit(n_rows if source.files is not None else 2), program_input)
        found = [
            one.cells for one in received(self.seal, self.run(made.toArrow).to_batches()) if isinstance(one, Piece)
        ]
        if not found:
            return None
        batch: pa.RecordBatch = pa.Table.from_batches(found).slice(0, n_rows).combine_chunks().to_batches()[0]
        return batch

    def notes_of(self, rows: SparkRows) -> tuple[bytes, ...]:
        """Compute rows for what is noted about them."""
        return self.notes_in(self._frame(rows))

    def notes_in(self, frame: Frame, *, foreign: bool = False) -> tuple[bytes, ...]:
        """The notes in a frame of pieces, in the order of their parts; a `foreign` one is made of a user's frame."""
        noted = "note is not null or fault is not null"
        return self._notes(self.run(lambda: frame.where(noted).toArrow(), foreign=foreign, pieces=not foreign))

    def scratch_folder(self) -> Path:
        """A private folder that workers see."""
        return self._scratch.folder()

    def run(self, action: Any, *, foreign: bool = False, pieces: bool = False) -> Any:  # noqa: ANN401 - what the action returns
        """Make Spark compute; `foreign` is what computes a frame of the user, `pieces` what only hands them on."""
        with orderly_end(self.close):
            return run_job(self.session, self.seal, action, foreign=foreign, pieces=pieces)

    def program(self, frame: Frame, program_input: Any, *steps: Any, goals: Any = None, out: Any = None) -> Frame:  # noqa: ANN401
        """A frame of Spark that workers make of another one."""
        program = Program(self.envelope, program_input, steps, tokens.token_hex(8), goals, out)
        with without_traceback(self.seal):
            if out is None:
                return frame.mapInArrow(as_closure(program), WIRE_DDL)
            from pyspark.sql.pandas.types import from_arrow_schema

            return frame.mapInArrow(as_closure(program), from_arrow_schema(out.schema))

    def _frame(self, rows: SparkRows, *, goals: Any = None, out: Any = None) -> Frame:  # noqa: ANN401
        if (
            isinstance(rows.input, FromPieces)
            and rows.input.table is None
            and not rows.steps
            and out is None
            and goals is None
        ):
            return rows.frame
        return self.program(rows.frame, rows.input, *rows.steps, goals=goals, out=out)

    def _brought(self, rows: SparkRows, deal: DealByNumber | DealByKey, n_parts: int) -> SparkRows:
        dealt = rows.then(deal, columns=rows.schema)
        frame = self._frame(dealt, goals=targets(n_parts)).repartition(n_parts, "goal")
        return SparkRows(self, frame, FromPieces(), (), rows.schema)

    def _spark_rows(
        self, rows: Source | Rows | Iterable[pa.RecordBatch], columns: Sequence[str] | None = None
    ) -> SparkRows:
        if isinstance(rows, Source):
            return self._table(rows, list(rows.columns) if columns is None else columns)
        if not isinstance(rows, SparkRows):
            raise ParameterError("SparkEngine", "rows", "must be rows of this engine", got=type(rows).__name__)
        if columns is None or list(columns) == rows.schema.names:
            return rows
        chosen = pa.schema([rows.schema.field(name) for name in columns])
        return rows.then(Select(tuple(columns)), columns=chosen)

    def _table(self, source: Source, columns: Sequence[str]) -> SparkRows:
        base = base_of(source)
        if base is None:
            source = base = self._staged_copy(source)
        self._published[id(base)] = base
        frame, program_input = base.input(source, list(columns))
        schema = pa.schema([(name, source.columns[name]) for name in columns])
        return SparkRows(self, frame, program_input, (), schema)

    def _staged_copy(self, source: Source) -> SparkSource:
        """A table of this machine where workers see it; its rows keep their identities."""
        if id(source) not in self._staged:
            self._staged[id(source)] = source, stage_source(self, source)
        return self._staged[id(source)][1]

    def _traveled(self, rows: SparkRows) -> Iterator[Traveled]:
        """What workers made of rows. All of them work at once, and what is much comes here piece by piece."""
        with without_traceback(self.seal), self._computed(self._frame(rows)) as frame:
            if self.run(lambda: _n_bytes(frame), pieces=True) <= _AT_ONCE:
                yield from received(self.seal, self.run(frame.toArrow, pieces=True).to_batches())
                return
            with with_settings(self.session):
                for row in frame.toLocalIterator():
                    yield from received(self.seal, [batch_of_row(row)])

    @contextmanager
    def _computed(self, frame: Frame) -> Iterator[Frame]:
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.DISK_ONLY)
        try:
            yield kept
        finally:
            kept.unpersist()

    def _notes(self, found: pa.Table) -> tuple[bytes, ...]:
        noted = [one for one in received(self.seal, found.to_batches()) if isinstance(one, Note)]
        return tuple(one.text for one in sorted(noted, key=lambda one: one.part))

    def _n_files(self, n_rows: int) -> int:
        least = min(self.workers, n_rows // min(_LEAST_ROWS, self.file_rows))
        return max(1, least, -(-n_rows // self.file_rows))

    def _parallel(self) -> int:
        if is_connect(self.session):
            return int(self.session.conf.get("spark.sql.shuffle.partitions", "2"))
        return int(self.session.sparkContext.defaultParallelism)


def _n_bytes(frame: Frame) -> int:
    """How many bytes the pieces of a frame have together."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return int(frame.agg(F.sum(F.length("cells"))).collect()[0][0] or 0)
