"""Folders that this machine and all workers see: for tables that are not files, and for releases."""

from __future__ import annotations

import os
import secrets
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ldiversity.base.ending import remove_folder
from ldiversity.base.memory import lacks_memory
from ldiversity.engines.spark._files import (
    InputFiles,
    count_rows,
    keeps_names,
    list_files,
    listed_paths,
    reads_files_alone,
)
from ldiversity.engines.spark._own_files import OwnFiles, find_own_files
from ldiversity.engines.spark._paths import pattern_of
from ldiversity.engines.spark._program import FromColumns
from ldiversity.engines.spark._run import without_traceback
from ldiversity.engines.spark._session import Frame, Session
from ldiversity.engines.spark._source import SparkSource, arrow_columns, quoted
from ldiversity.engines.spark._stage_rows import NumberedRows, StagedFile, StageRows, not_shared
from ldiversity.engines.spark._unread import why_not_read
from ldiversity.engines.spark._wire import WIRE, WIRE_DDL, Note, Traveled, wired
from ldiversity.engines.spark._write import gather_files
from ldiversity.errors import LDiversityError, ParameterError, StorageError, UnsupportedError
from ldiversity.tables import Source, check_names, is_spark_frame

if TYPE_CHECKING:
    from ldiversity.engines.spark._engine import SparkEngine

__all__ = ["Scratch", "open_input", "probe", "stage_source"]

_PROBE: Final = "probe"


class Scratch:
    """A private folder for tables that must be staged, made when it is first needed."""

    def __init__(self, session: Session, parent: Path | None) -> None:
        self._parent = parent if parent is not None or not _on_this_machine(session) else Path(tempfile.gettempdir())
        self._folder: Path | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def folder(self) -> Path:
        """The folder, which only its owner can read."""
        if self._parent is None:
            raise UnsupportedError(
                "table", "must be Parquet files that Spark reads as they are, so that its rows can be told apart"
            ).with_hint(
                "Write the frame to Parquet and pass that; or name a folder that all workers share, as in "
                "SparkEngine(session, scratch='/shared/tmp')."
            )
        if self._folder is None:
            with _writable(self._parent):
                self._folder = Path(tempfile.mkdtemp(prefix="ldiversity-", dir=self._parent))
            self._finalizer = weakref.finalize(self, remove_folder, self._folder)
        return self._folder

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        if self._finalizer is not None:
            self._finalizer()
        self._folder = None


def _on_this_machine(session: Session) -> bool:
    master = session.conf.get("spark.master", "") or ""
    return bool(master.startswith("local"))


def is_parquet(data: Any) -> bool:  # noqa: ANN401 - any frame or path
    """Whether something is the path of a Parquet file or of a folder, here or where Spark looks."""
    if not isinstance(data, str | os.PathLike):
        return False
    path = str(data)
    return path.endswith(".parquet") or "://" in path or Path(path).is_dir()


def open_input(engine: SparkEngine, data: Any, *, types: Mapping[str, str] | None) -> SparkSource:  # noqa: ANN401 - a frame or a path
    """Open a frame, or Parquet files. What is more than columns of files is staged."""
    if is_spark_frame(data):
        frame, called = data, "table"
    else:
        frame, called = _read(engine, data), Path(str(data)).name
    with without_traceback(engine.seal):
        check_names(called, frame.columns, from_file=not is_spark_frame(data))
        schema = arrow_columns(frame, called)
    files = _files(engine, frame, schema, whole=not is_spark_frame(data))
    if files is not None:
        return SparkSource(engine, frame, schema, name=called, files=files, n_rows=files.n_rows, types=types)
    names = tuple(frame.columns)
    with without_traceback(engine.seal):
        chosen = frame.select(*(quoted(one).alias(f"c{place}") for place, one in enumerate(names)))
    folder = _new_folder(engine)
    with _writable(folder.parent), gather_files(folder, within=folder.parent, called="scratch") as inbox:
        stage = StageRows(inbox.folder, engine.envelope)
        made = engine.program(chosen, FromColumns(None, names, names), stage)
        staged = [StagedFile.from_bytes(text) for text in engine.notes_in(made, foreign=True)]
        inbox.take([one.name for one in staged])
        if not staged:  # Spark has no task for a table without rows
            import pyarrow.parquet as pq

            pq.write_table(WIRE.empty_table(), folder / "table.parquet")
    return _staged(engine, folder, schema, called, types, n_rows=sum(one.rows for one in staged))


def _files(engine: SparkEngine, frame: Frame, schema: pa.Schema, *, whole: bool) -> InputFiles | OwnFiles | None:
    """The files of a frame, if file and row tell its rows apart; `whole` is one that reads each file once."""
    if not reads_files_alone(frame):
        return None
    if keeps_names(frame):
        with without_traceback(engine.seal):
            uris = listed_paths(frame)
        own = find_own_files(uris, schema, engine.workers)
        if own is not None and (whole or engine.run(lambda: count_rows(frame)) == own.n_rows):
            return own
    files: InputFiles | None = engine.run(lambda: list_files(frame))
    return files


def _read(engine: SparkEngine, data: Any) -> Frame:  # noqa: ANN401 - a path, as text or not
    path = pattern = str(data)
    if "://" not in path:
        if not Path(path).exists():
            raise ParameterError("open_source", f"file {path!r} does not exist").with_hint(
                "Check the path; a relative one starts at the current folder."
            )
        pattern = pattern_of(Path(path))
    try:
        with without_traceback(engine.seal):
            frame = engine.session.read.parquet(pattern)
            frame.columns  # noqa: B018 - Spark Connect looks at the files no sooner
            return frame
    except LDiversityError:
        raise why_not_read(Path(path)) from None


def stage_source(engine: SparkEngine, source: Source) -> SparkSource:
    """Put a table of this machine where workers see it; rows have the identities that they have here."""
    import pyarrow.parquet as pq

    folder = _new_folder(engine)
    schema = pa.schema(list(source.columns.items()))
    rows = NumberedRows(source.batches(), file=0)
    with _writable(folder), pq.ParquetWriter(folder / "table.parquet", WIRE, compression="none") as sink:
        for batch in wired(engine.seal, rows):
            sink.write_batch(batch)
    return _staged(engine, folder, schema, source.name, None, n_rows=rows.n_rows)


def _new_folder(engine: SparkEngine) -> Path:
    folder = engine.scratch_folder() / secrets.token_hex(8)
    with _writable(folder.parent):
        folder.mkdir(mode=0o700)
    return folder


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """Say which folder it is, where this machine cannot write into it."""
    try:
        yield
    except OSError as error:
        if isinstance(error, LDiversityError) or lacks_memory(error):
            raise
        said = f"folder {str(folder)!r} cannot be written: {error.strerror}"
        raise StorageError("SparkEngine", said) from None


def _staged(
    engine: SparkEngine, folder: Path, schema: pa.Schema, name: str, types: Mapping[str, str] | None, *, n_rows: int
) -> SparkSource:
    """The table that is in a folder, after a look at whether workers find there what was written."""
    with without_traceback(engine.seal):
        frame = engine.session.read.schema(WIRE_DDL).parquet(pattern_of(folder))
    try:
        found = sum(int(text) for text in engine.notes_in(frame))
    except StorageError:
        raise not_shared(folder.parent.parent) from None
    if found != n_rows:
        raise not_shared(folder.parent.parent)
    return SparkSource(engine, frame, schema, name=name, files=None, n_rows=n_rows, types=types)


@dataclass(frozen=True)
class _Probe:
    """Writes a file where the driver looks for it."""

    file: Path
    text: bytes

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """Nothing but a note."""
        for _piece in pieces:
            pass
        try:
            self.file.write_bytes(self.text)
        except OSError:
            yield Note(0, b"")
        else:
            yield Note(0, self.text)


def probe(engine: SparkEngine, folder: Path) -> None:
    """Raise `StorageError` unless a worker can write into the folder, and this machine sees it."""
    text = secrets.token_hex(8).encode()
    scratch = folder / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    file = scratch / _PROBE
    with without_traceback(engine.seal):
        one = engine.session.range(1, numPartitions=1)
    frame = engine.program(one, FromColumns(None, ("id",), ("id",)), _Probe(file, text))
    noted = engine.notes_in(frame)
    if noted != (text,) or not file.is_file() or file.read_bytes() != text:
        raise StorageError(
            "output", f"folder {str(folder.parent)!r} must be one that this machine and all workers can write"
        ).with_hint("Choose a folder on a file system that all of them share.")
    file.unlink()
    scratch.rmdir()
