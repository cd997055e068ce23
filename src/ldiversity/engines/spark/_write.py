"""Writing the files of a release on workers: one for each task, and none of an attempt that failed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ldiversity.base.ending import remove_folder
from ldiversity.engines.spark._wire import Note, Piece, Traveled
from ldiversity.errors import StorageError
from ldiversity.release import PartWriter

__all__ = ["WriteFile", "gather_files"]


@dataclass(frozen=True)
class WriteFile:
    """Writes all rows of a task into a file whose name no other attempt has, and notes what was written."""

    folder: Path
    writer: PartWriter

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """One note."""
        first = next((piece for piece in pieces if isinstance(piece, Piece) and piece.cells.num_rows), None)
        if first is None:
            return

        def tables() -> Iterator[pa.Table]:
            yield pa.Table.from_batches([first.cells])
            for piece in pieces:
                if isinstance(piece, Piece):
                    yield pa.Table.from_batches([piece.cells])

        name = self.writer.file_name(secrets.token_hex(16))
        yield Note(first.part, self.writer(self.folder, name, tables()).to_json().encode())


@dataclass(frozen=True)
class _Inbox:
    """Where attempts write. What they returned moves on; the rest goes with the folder."""

    folder: Path
    target: Path
    called: str

    def take(self, files: Sequence[str]) -> None:
        """Move the files that tasks returned."""
        if len(set(files)) != len(files):
            raise StorageError(self.called, "one of the files was written twice")
        for file in files:
            try:
                (self.folder / file).rename(self.target / file)
            except FileNotFoundError:
                raise StorageError(self.called, "a file that a worker wrote must be there for this machine").with_hint(
                    "Nothing was published. Choose a folder that this machine and all workers share."
                ) from None


@contextmanager
def gather_files(target: Path, *, within: Path, called: str) -> Iterator[_Inbox]:
    """A folder for attempts `within` another one. What tasks returned moves to `target`, which messages name `called`.

    A task that Spark has given up, and that still runs, writes here to the end, and so never into a release.
    """
    within.mkdir(mode=0o700, exist_ok=True)
    inbox = within / secrets.token_hex(8)
    inbox.mkdir(mode=0o700)
    try:
        yield _Inbox(inbox, target, called)
    finally:
        remove_folder(inbox)
