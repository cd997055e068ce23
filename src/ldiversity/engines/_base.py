"""What an engine is: the place where the rows of a table are read, computed, ordered and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import pyarrow as pa

from ldiversity.base.randomness import FreshWords, Identities, Key, Secret, row_identities
from ldiversity.release import DataFile, Format, Storage
from ldiversity.tables import Source

__all__ = ["BatchFunction", "Engine", "Factory", "NumberedBatch", "PartFunction", "Secrets"]


@dataclass(frozen=True, eq=False)
class NumberedBatch:
    """Some rows of a table, and which ones they are.

    Parameters
    ----------
    cells
        The rows.
    file
        The number of the file that they are from; a table of one file has file 0.
    first
        The number of the first of them in its file; the others follow it.

    Examples
    --------
    >>> NumberedBatch(pa.record_batch({"age": [41, 50]}), file=0, first=7).identities.tolist()
    [[7, 0], [8, 0]]
    """

    cells: pa.RecordBatch
    file: int
    first: int

    @property
    def identities(self) -> Identities:
        """Shape (n, 2): row and file of each row; the same however the table is cut into batches."""
        return row_identities(self.file, self.first, self.cells.num_rows)


class Secrets(Secret):
    """What a worker draws from: the holder's key, if there is one, and the key of the job.

    The key of the job is made for the run and never stored with a release. All workers of a run need the same one, so
    that work that is done again gives the same draws.

    It cannot be pickled. An engine with workers elsewhere makes it there, from key files that they can read:
    ``secrets.job.save`` writes one, which the engine removes after the run. For tests, `insecure_seed` makes a key and
    words that can be repeated.
    """

    __slots__ = ("_insecure", "job", "key")

    def __init__(self, key: Key | None = None, *, job: Key | None = None, insecure_seed: int | None = None) -> None:
        self.key = key
        self._insecure = None if insecure_seed is None else FreshWords.from_insecure_seed(insecure_seed)
        made = Key.new() if insecure_seed is None else Key.from_insecure_seed(insecure_seed)
        self.job = made if job is None else job

    @property
    def of_draws(self) -> Key:
        """The key under which sets are drawn: the holder's, or else that of the job."""
        return self.job if self.key is None else self.key

    def words(self) -> FreshWords:
        """Secure words for the caller alone, for orders and grouping; in tests, the words that can be repeated."""
        return FreshWords() if self._insecure is None else self._insecure


BatchFunction: TypeAlias = Callable[[NumberedBatch], pa.RecordBatch]
"""Arrow in, Arrow out: the same function serves every engine."""

PartFunction: TypeAlias = Callable[[pa.Table], pa.Table]
"""Takes all rows of one or several keys at once."""

Factory: TypeAlias = Callable[[Secrets], BatchFunction]
"""Makes the function where it will run. It can be pickled; the secrets are handed to it there."""


class Engine(ABC):
    """Reads, maps, orders and writes rows; knows nothing about privacy.

    An engine may repeat work, with other batches, threads or workers, and must get the same result. So a function that
    it maps may depend only on the cells, the identities and the secrets.
    """

    name: ClassVar[str]
    """As in `Method.engines`."""

    workers: int
    """How many threads or processes compute at the same time."""

    @abstractmethod
    def rows(self, source: Source, columns: Sequence[str]) -> Iterator[NumberedBatch]:
        """The rows of a table in their order, for steps that need all of them in one place."""

    @abstractmethod
    def count(self, source: Source, by: Sequence[str], *, most: int | None = None) -> pa.Table | None:
        """How many rows have each combination of values: the columns `by`, and `COUNT`; in no particular order.

        None when there are more than `most` combinations, which would fill the memory. A missing value counts as a
        value.
        """

    @abstractmethod
    def map(
        self, factory: Factory, source: Source, columns: Sequence[str], *, secrets: Secrets
    ) -> Generator[pa.RecordBatch]:
        """Apply the function that `factory` makes to every batch of a table; the batches come back in their order.

        A caller that does not read to the end must close it, which ends the threads.
        """

    @abstractmethod
    def partition(
        self, function: PartFunction, batches: Iterable[pa.RecordBatch], *, by: str, n_rows: int, scratch: Path | None
    ) -> Iterator[pa.Table]:
        """Bring rows with the same key together, and apply `function` to parts of all rows.

        `by` is a column of 128-bit keys (``fixed_size_binary[16]``). A part holds about as many rows as are worked on
        at once; parts, but not the rows in them, come in the order of their keys.
        """

    @abstractmethod
    def order(
        self,
        batches: Iterable[pa.RecordBatch],
        *,
        n_rows: int,
        scratch: Path | None,
        secrets: Secrets | None = None,
        by: str | None = None,
    ) -> Iterator[pa.Table]:
        """All rows in a uniformly random order, or ascending by a column of 128-bit keys, which is taken off.

        When this returns, every batch has been read. Rows are kept in memory, or in buckets on disk when there is a
        `scratch` folder.
        """

    @abstractmethod
    def write(self, file: Path, tables: Iterable[pa.Table], data_format: Format) -> int:
        """Write tables of one schema, in their order, into a file of a staging folder; returns the number of rows."""

    @abstractmethod
    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        """Some columns of a file that was written, a batch of rows at a time: claims are checked on them."""

    @property
    def storage(self) -> Storage:
        """Writing and reading back, as a release asks for them."""
        return Storage(self.write, self.read_back)

    @abstractmethod
    def staging(self, target: Path, *, overwrite: bool) -> AbstractContextManager[Path]:
        """A private folder to write into and to read back from; it becomes `target` when the block ends well.

        Otherwise nothing is left of it, and a release that was at `target` is untouched.
        """
