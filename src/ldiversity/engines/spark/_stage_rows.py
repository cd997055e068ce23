"""Writing a table that is staged on workers: one file for each task, sealed, and none of an attempt that failed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldiversity.base.memory import lacks_memory
from ldiversity.base.randomness import row_identities
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.engines.spark._wire import WIRE, Note, Piece, Traveled, wired, with_places
from ldiversity.errors import StorageError

__all__ = ["NumberedRows", "StageRows", "StagedFile", "not_shared"]


@dataclass(frozen=True)
class StagedFile:
    """What a task tells about the file that it wrote.

    Examples
    --------
    >>> StagedFile.from_bytes(StagedFile("part-7f.parquet", 3).to_bytes())
    StagedFile(name='part-7f.parquet', rows=3)
    """

    name: str
    rows: int

    def to_bytes(self) -> bytes:
        """The same as a note."""
        return f"{self.rows} {self.name}".encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> StagedFile:
        """What `to_bytes` made a note of."""
        rows, name = text.decode().split(" ", 1)
        return cls(name, int(rows))


@dataclass(frozen=True)
class StageRows:
    """Gives the rows of a task identities, and writes them into a file whose name no other attempt has.

    Identities are a random number for the task, and the place in it. Where Spark does a task again, its rows get
    others; only the file of one attempt is taken. Workers write by themselves, because Java would make a folder that it
    does not find: an executor that does not see the shared one would keep its rows, and nobody would miss them.
    """

    folder: Path
    envelope: Envelope

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """One note: the file, and how many rows it has."""
        import pyarrow.parquet as pq

        seal, name = Seal(self.envelope.open().job), f"part-{secrets.token_hex(16)}.parquet"
        batches = (piece.cells for piece in pieces if isinstance(piece, Piece))
        numbered = NumberedRows(batches, file=secrets.randbits(32), above=secrets.randbits(24) << 40)
        with ExitStack() as opened:
            with self._writing():
                descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                file = opened.enter_context(os.fdopen(descriptor, "wb"))
                sink = opened.enter_context(pq.ParquetWriter(file, WIRE, compression="none"))
            for batch in wired(seal, numbered):  # where reading fails, the folder is not to blame
                with self._writing():
                    sink.write_batch(batch)
            with self._writing():
                opened.close()
        yield Note(0, StagedFile(name, numbered.n_rows).to_bytes())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            if lacks_memory(error):
                raise
            raise not_shared(self.folder.parent.parent) from None


class NumberedRows:
    """Rows with identities, of a file of this number and with these bits above it; a note of how many come last."""

    def __init__(self, batches: Iterable[pa.RecordBatch], *, file: int, above: int = 0) -> None:
        self._batches, self._file, self._above, self.n_rows = batches, file, np.uint64(above), 0

    def __iter__(self) -> Iterator[Traveled]:
        for batch in self._batches:
            if batch.num_rows:
                places = row_identities(self._file, self.n_rows, batch.num_rows)
                places[:, 0] |= self._above
                self.n_rows += batch.num_rows
                yield Piece(with_places(Piece(batch, places)))
        yield Note(0, str(self.n_rows).encode())


def not_shared(folder: Path) -> StorageError:
    """The error about a folder for staged tables that a worker does not see, or cannot write."""
    return StorageError(
        "SparkEngine", "scratch", f"folder {str(folder)!r} must be one that this machine and all workers can write"
    ).with_hint("Choose a folder on a file system that all of them share, and that has room.")
