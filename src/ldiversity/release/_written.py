"""Files of a release, each written, read back and checked by itself, perhaps by workers in other processes."""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.base.progress import stage
from ldiversity.errors import ParameterError
from ldiversity.release._checksums import sha256_of
from ldiversity.release._description import Format
from ldiversity.release._dtypes import ShownCategories
from ldiversity.release._files import DataFile, Reader
from ldiversity.release._sinks import write_tables
from ldiversity.release._survival import Content

__all__ = ["PartWriter", "ReadBack", "Write", "Written", "is_part"]

_PART: Final = re.compile(r"(data|sensitive_[1-9]\d{0,4})(-[0-9a-z]{1,64}|_[1-9]\d{0,5})?\.(parquet|csv)")


def is_part(name: str) -> bool:
    """Whether a file of this name holds rows of a release, or will when it is finished.

    Examples
    --------
    >>> [is_part(name) for name in ("data.csv", "data_12.parquet", "sensitive_1-0a.csv", "data_12.txt")]
    [True, True, True, False]
    """
    return _PART.fullmatch(name) is not None


@dataclass(frozen=True)
class ReadBack:
    """How files are read back before they are a release.

    Parameters
    ----------
    reader
        How an engine reads a file; `DataFile.stored` when None.
    budget
        Within which memory claims are checked that need several files; all rows may be in memory when None.
    scratch
        The folder on whose disk rows wait, encrypted, that do not fit; the system's for temporary files when None.
    """

    reader: Reader | None = None
    budget: Budget | None = None
    scratch: Path | None = None


@dataclass(frozen=True)
class Written:
    """What is known about a file that was written and checked by itself. It is small, and can be sent as JSON.

    Parameters
    ----------
    file, rows, bytes, sha256
        As in ``release.json``.
    columns
        The columns that the rows came with.
    shown
        For each column with ordered categories: those that the rows show.
    first, last
        Of a table of values: the numbers of the first and the last class in it.

    Examples
    --------
    >>> one = Written("data-7f.parquet", 3, 812, "0" * 64, ("stage",), {"stage": ("low",)})
    >>> Written.from_json(one.to_json()) == one
    True
    """

    file: str
    rows: int
    bytes: int
    sha256: str
    columns: tuple[str, ...] = ()
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first: int = 0
    last: int = 0

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Written:
        """What `to_json` made a text of."""
        said = json.loads(text)
        shown = {name: tuple(texts) for name, texts in said["shown"].items()}
        return cls(**{**said, "columns": tuple(said["columns"]), "shown": shown})


@dataclass(frozen=True)
class PartWriter(ABC):
    """Writes rows into one file, reads them back as a stranger would, and checks all that one file can show.

    It can be pickled. An engine calls it once for all rows, or once in each task; every attempt of a task writes a file
    of its own name. The order of the rows is the caller's.
    """

    data_format: Format

    @property
    @abstractmethod
    def stem(self) -> str:
        """What the names of the files begin with."""

    def file_name(self, token: str | None = None) -> str:
        """The name of the only file, or of one of several; a token has up to 64 small letters and digits."""
        return f"{self.stem}{'' if token is None else f'-{token}'}.{self.data_format}"

    def __call__(
        self, folder: Path, name: str, tables: Iterable[pa.Table], *, reader: Reader = DataFile.stored
    ) -> Written:
        """Write tables into a file of the folder, and check what `reader` gives back. Without rows there is no file."""
        token = name.removeprefix(f"{self.stem}-").partition(".")[0]
        if name not in {self.file_name(), self.file_name(token)} or not is_part(name):
            raise ParameterError("PartWriter", "name", f"must be as {self.file_name('TOKEN')}", got=name)
        content, noted = Content(by_bytes=self.data_format == "csv"), self._notes()
        file = folder / name
        rows = write_tables(file, content.watch(self._published(noted.watch(tables))), self.data_format)
        if rows == 0:
            file.unlink(missing_ok=True)
            return Written(name, 0, 0, "0" * 64)
        written = Written(name, rows, file.stat().st_size, "0" * 64, noted.columns, noted.seen())
        with stage("checking what was written"), ThreadPoolExecutor(2) as beside:
            stored = beside.submit(_store, file)
            digest = beside.submit(sha256_of, file)
            checked = self._checked(folder, written, content, reader)
            stored.result()  # a disk that could not take a part says so once only
            return replace(checked, sha256=digest.result())

    @abstractmethod
    def _notes(self) -> ShownCategories:
        """What takes note of categories."""

    @abstractmethod
    def _published(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Rows as they are published, from rows with codes."""

    @abstractmethod
    def _checked(self, folder: Path, written: Written, meant: Content, reader: Reader) -> Written:
        """Read the file back and check it, while its checksum is taken; gives what else is known about it."""


def _store(file: Path) -> None:
    """Let the disk take the file, while it is checked."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


Write: TypeAlias = Callable[[Path, PartWriter, Iterable[pa.RecordBatch]], list[Written]]
"""Writes rows into files of a folder, as an engine does it."""
