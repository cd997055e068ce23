"""The function that Spark runs on a worker: Arrow in, Arrow out, and no exception that quotes a cell."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity._version import __version__
from ldiversity.base.arrays import IntArray
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.randomness import row_identities
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.engines.spark._host import prepare_host, spare_modules
from ldiversity.engines.spark._own_files import OwnFiles
from ldiversity.engines.spark._steps import Step
from ldiversity.engines.spark._wire import Piece, Traveled, fault_row, fault_text, places_of, received, wired
from ldiversity.errors import InternalError, LDiversityError, StorageError, UnsupportedError
from ldiversity.schema import Dtype
from ldiversity.tables import Source

__all__ = [
    "OTHER_VERSION",
    "ColumnsOut",
    "FromColumns",
    "FromFiles",
    "FromPieces",
    "Input",
    "Program",
    "WorkerTable",
    "as_closure",
    "needed_values",
    "worker_table",
]

_MOST_BYTES: Final = 900_000
"""Spark writes functions above 1 MiB to disk; this leaves room for what it adds."""

OTHER_VERSION: Final = "ldiversity on the driver is of version"
"""How the error of a worker with another version of this package begins."""

_CHUNK_ROWS: Final = 1 << 18
_ROW_BITS: Final = np.uint64(40)
_FILE_BITS: Final = np.uint64(32)
_LOW: Final = np.uint64((1 << 24) - 1)

_present: ContextVar[pa.RecordBatch | None] = ContextVar("present", default=None)


class WorkerTable(Source):
    """What a table on a cluster becomes on a worker: the rows that the worker has at hand.

    A table that shows another one, such as one with coarse columns, travels with its own code, and reads from here.
    """

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        batch = _present.get()
        if batch is not None:
            yield batch.select(columns)


class Input(Protocol):
    """Turns what Spark hands to a worker into pieces. It can be pickled."""

    def __call__(self, batches: Iterator[pa.RecordBatch], seal: Seal, /) -> Iterator[Traveled]:
        """The pieces."""


@dataclass(frozen=True)
class FromColumns:
    """Rows that Spark read: each column under a number, then the row, and the file where there are several.

    Attributes
    ----------
    table
        The table that shows these rows, whose innermost part is a `WorkerTable`; None for the rows as they are.
    columns
        The columns to show.
    read
        The columns that Spark gives, which may be more.
    """

    table: Source | None
    columns: tuple[str, ...]
    read: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch], _: Seal, /) -> Iterator[Traveled]:
        """The rows as the table shows them, with their identities."""
        n = len(self.read)
        for batch in batches:
            if batch.num_rows:
                cells = pa.RecordBatch.from_arrays(batch.columns[:n], names=list(self.read))
                places = _places(batch.columns[n:]) if batch.num_columns > n else None
                yield _shown(self.table, self.columns, Piece(cells, places))


@dataclass(frozen=True)
class FromFiles:
    """Rows of files that the worker reads itself; Spark hands it the numbers of cuts.

    Attributes
    ----------
    table, columns, read
        As in `FromColumns`.
    files
        The files.
    """

    table: Source
    columns: tuple[str, ...]
    read: tuple[str, ...]
    files: OwnFiles

    def __call__(self, batches: Iterator[pa.RecordBatch], _: Seal, /) -> Iterator[Traveled]:
        """The rows as the table shows them, with their identities."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                cut = self.files.cuts[number]
                for first, cells in self.files.read(cut, self.read, _CHUNK_ROWS):
                    places = row_identities(cut.file, first, cells.num_rows)
                    yield _shown(self.table, self.columns, Piece(cells, places))


@dataclass(frozen=True)
class FromPieces:
    """Rows that other workers sent, or that were kept.

    Attributes
    ----------
    table, columns
        As in `FromColumns`, for a table that was staged; its rows have their identities with them.
    """

    table: Source | None = None
    columns: tuple[str, ...] = ()

    def __call__(self, batches: Iterator[pa.RecordBatch], seal: Seal, /) -> Iterator[Traveled]:
        """The pieces."""
        for one in received(seal, batches):
            if self.table is None or not isinstance(one, Piece):
                yield one
                continue
            yield _shown(self.table, self.columns, places_of(one.cells))


def needed_values(table: Source) -> tuple[str, ...]:
    """The columns without which a table leaves out a row of the one that it shows."""
    own = table.needs_values
    return own if table.shows is None else tuple(dict.fromkeys([*own, *needed_values(table.shows)]))


def _shown(table: Source | None, columns: tuple[str, ...], piece: Piece) -> Piece:
    """Rows at hand as a table shows them, without those that it leaves out."""
    if table is None:
        return piece
    needed = needed_values(table)
    if needed:
        base = table
        while base.shows is not None:
            base = base.shows
        (values,) = _read_at_hand(base, needed, piece.cells)
        known = [np.asarray(pc.is_null(column, nan_is_null=True)) for column in values.columns]
        missing = np.logical_or.reduce(known)
        if missing.any():
            kept = np.flatnonzero(~missing)
            piece = Piece(piece.cells.take(pa.array(kept)), None if piece.places is None else piece.places[kept])
    if not piece.cells.num_rows:
        types = pa.schema([(name, table.columns[name]) for name in columns])
        return replace(piece, cells=pa.RecordBatch.from_pylist([], schema=types))
    shown = _read_at_hand(table, columns, piece.cells)
    if [batch.num_rows for batch in shown] != [piece.cells.num_rows]:
        raise InternalError("spark", "a table that is read on workers must show every row")
    return replace(piece, cells=shown[0])


def _read_at_hand(table: Source, columns: tuple[str, ...], cells: pa.RecordBatch) -> list[pa.RecordBatch]:
    token = _present.set(cells)
    try:
        return list(table.batches(list(columns), chunk_rows=cells.num_rows))
    finally:
        _present.reset(token)


def _places(columns: list[pa.Array]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    rows = columns[0].to_numpy().astype(np.uint64)
    places = np.zeros((len(rows), 2), dtype=np.uint64)
    places[:, 0] = rows
    if len(columns) > 1:
        # The low half of the second number is left for counting words, so a part of the hash stands above the row.
        files = columns[1].to_numpy().view(np.uint64)
        places[:, 0] |= (files & _LOW) << _ROW_BITS
        places[:, 1] = (files >> _FILE_BITS) << _FILE_BITS
    return places


@dataclass(frozen=True)
class Program:
    """What a worker does with its rows.

    Attributes
    ----------
    envelope
        The key under which pieces are sealed.
    first, steps
        How rows come, and what is done with them.
    job
        A name for what is done, to compile its loops once per machine.
    goals
        Where Spark sends each part; None where pieces stay.
    output
        How pieces become columns that Spark works with; None for sealed pieces.
    """

    envelope: Envelope
    first: Input
    steps: tuple[Step, ...]
    job: str
    goals: IntArray | None = None
    output: ColumnsOut | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do it. Errors of this package travel as rows; all others lose their texts, which may quote a cell."""
        prepare_host()
        seal = Seal(self.envelope.open().job)
        try:
            pieces = self.first(batches, seal)
            for step in self.steps:
                pieces = step(pieces, self.job)
            yield from wired(seal, pieces, self.goals) if self.output is None else self.output(pieces)
        except LDiversityError as error:
            if isinstance(error, StorageError):  # it may work when Spark tries again
                raise _WorkerError(fault_text(seal, error)) from None
            yield fault_row(seal, error) if self.output is None else self.output.fault(seal, error)
        except Exception as error:  # noqa: BLE001 - whatever another package raises, in whatever words
            raise _WorkerError(fault_text(seal, _reworded(error))) from None
        finally:
            spare_modules()


class _WorkerError(RuntimeError):
    """Ends a task of Spark; its text is sealed."""


def _reworded(error: Exception) -> LDiversityError:
    if lacks_memory(error):
        return not_enough_memory("spark").with_hint(
            "Give workers more memory with spark.executor.memoryOverhead, or fewer rows at once with "
            "SparkEngine(file_rows=...), or take fewer columns."
        )
    if isinstance(error, OSError) and error.strerror:
        return StorageError("spark", f"a worker cannot read or write: {error.strerror}")
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_qualname}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return InternalError("spark", f"a worker failed with {type(error).__name__} in {place}").with_hint(
        "Its own words are left out, because they may quote a cell."
    )


class ColumnsOut(Protocol):
    """How pieces become columns that Spark works with."""

    def __call__(self, pieces: Iterator[Traveled], /) -> Iterator[pa.RecordBatch]:
        """Batches of these columns."""

    def fault(self, seal: Seal, error: LDiversityError, /) -> pa.RecordBatch:
        """An error as a row of these columns."""


def as_closure(program: Program) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The program as a function for Spark, compressed, so that it stays below the size that Spark writes to disk."""
    packed, made_with = zlib.compress(pickle.dumps(program), 6), __version__
    if len(packed) > _MOST_BYTES:
        raise UnsupportedError(
            "spark",
            f"what workers must know has to fit in {_MOST_BYTES} bytes, so that Spark does not write it to disk",
            got=len(packed),
        ).with_hint("Columns with fewer different values, or shallower hierarchies, need less.")

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_closure(packed, made_with, batches)

    return run


def run_closure(packed: bytes, made_with: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run a program on the worker that it came to."""
    if made_with != __version__:
        raise _WorkerError(f"{OTHER_VERSION} {made_with}, and this is {__version__}")
    program: Program = pickle.loads(zlib.decompress(packed))  # noqa: S301 - the driver's own
    yield from program(batches)


def worker_table(name: str, columns: dict[str, pa.DataType], dtypes: dict[str, Dtype], from_file: bool) -> WorkerTable:  # noqa: FBT001 - what a pickle names
    """What a table on a cluster is pickled as."""
    return WorkerTable(name, columns, dtypes=dtypes, from_file=from_file)
