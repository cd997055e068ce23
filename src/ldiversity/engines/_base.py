"""What an engine is: the place where the rows of a table are read, computed, ordered and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.engines._rows import Factory, NumberedBatch, PartFactory, Rows
from ldiversity.engines._secrets import Secrets
from ldiversity.release import DataFile, PartWriter, Written
from ldiversity.tables import GivenReadOptions, Source, open_source

__all__ = ["Engine"]


class Engine(ABC):
    """Reads, maps, orders and writes rows; knows nothing about privacy.

    An engine may repeat work, with other batches, threads or workers, and must get the same result. So a function that
    it maps may depend only on the cells, the identities and the secrets.

    Where there is a `scratch` folder, rows that do not fit in memory are kept there, encrypted. Without one they stay
    in memory.
    """

    name: ClassVar[str]
    """As in `Method.engines`."""

    orders_by_key: ClassVar[bool] = False
    """Whether a random order must come from a column of random keys, so that work that is done again gives the same
    order."""

    workers: int
    """How many threads or processes compute at the same time."""

    chunk_rows: int = 1 << 18
    """About how many rows are worked on at once."""

    memory: Budget | None = None
    """How much memory this process may take; None when there is no limit."""

    holds: bool = False
    """Whether some hundred megabytes may stay in memory to save time, since nobody said how much may be taken."""

    def open(self, data: Any, *, types: Mapping[str, str] | None = None, read: GivenReadOptions = None) -> Source:  # noqa: ANN401 - any frame
        """Open a file or a frame as a table that this engine reads; as `open_source` does, unless it says otherwise."""
        return open_source(data, types=types, read=read)

    def close(self) -> None:  # noqa: B027 - most engines keep nothing
        """Remove what was kept for later readings."""

    def check_unchanged(self, source: Source) -> None:
        """Raise `SchemaError` if a table is in files that changed since it was opened."""
        source.refuse_changes()

    def numbers(self, column: str, n: int) -> Source | Rows:
        """The numbers below `n` in a column of this name, for work that is told to workers by numbers alone."""
        return open_source(pa.table({column: pa.array(range(n), pa.int64())}))

    @abstractmethod
    def rows(self, source: Source, columns: Sequence[str]) -> Iterator[NumberedBatch]:
        """The rows of a table in their order, for steps that need all of them in one place."""

    @abstractmethod
    def count(
        self, source: Source | Rows, by: Sequence[str], *, times: str | None = None, most: int | None = None
    ) -> pa.Table | None:
        """How many rows have each combination of values: the columns `by`, and `COUNT`; in no particular order.

        None when there are more than `most` combinations, which would fill the memory. A missing value counts as a
        value. `times` is the column that says how many rows a row stands for, where rows were counted before.
        """

    @abstractmethod
    def sample(self, source: Source, columns: Sequence[str], n_rows: int, *, secrets: Secrets) -> pa.Table:
        """So many rows, drawn uniformly by the key of the job, in a random order; all rows where there are fewer."""

    @abstractmethod
    def map(self, factory: Factory, source: Source | Rows, columns: Sequence[str], *, secrets: Secrets) -> Rows:
        """Apply the function that `factory` makes to every batch; the batches come back in their order.

        Nothing is computed before the rows are read. Rows that are no table of their own have no identities.
        """

    @abstractmethod
    def partition(
        self, factory: PartFactory, rows: Rows, *, by: str, n_parts: int, secrets: Secrets, scratch: Path | None
    ) -> Rows:
        """Bring the rows of each part together, and apply the function that `factory` makes to every part.

        `by` is a column of part numbers from 0 to `n_parts`; parts without rows are left out. Nothing is computed
        before the rows are read. A part must fit in memory.
        """

    @abstractmethod
    def keep(self, rows: Rows, *, scratch: Path | None) -> Rows:
        """The same rows, computed now, and kept so that they can be read several times at little cost."""

    @abstractmethod
    def order(
        self,
        rows: Iterable[pa.RecordBatch],
        *,
        n_rows: int,
        scratch: Path | None,
        secrets: Secrets | None = None,
        by: str | None = None,
    ) -> Rows:
        """All rows in a uniformly random order, or ascending by a column of 128-bit keys, which is taken off.

        When this returns, every batch has been read, where the engine reads them on this machine.
        """

    @abstractmethod
    def write(self, folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
        """Write rows, in their order, into one or several files of a staging folder; each is checked by its writer."""

    @abstractmethod
    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Some columns of a file that was written, a batch of rows at a time: claims are checked on them."""

    @abstractmethod
    def staging(self, target: Path, *, overwrite: bool) -> AbstractContextManager[Path]:
        """A private folder to write into and to read back from; it becomes `target` when the block ends well.

        Otherwise nothing is left of it, and a release that was at `target` is untouched.
        """
