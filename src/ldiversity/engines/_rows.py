"""Rows that an engine holds, and what is done with them where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyarrow as pa

from ldiversity.base.randomness import Identities, row_identities
from ldiversity.engines._secrets import Secrets

__all__ = ["BatchFunction", "Factory", "NumberedBatch", "Part", "PartFactory", "PartFunction", "Rows"]


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
    places
        Row and file of each row, where they do not follow each other.

    Examples
    --------
    >>> NumberedBatch(pa.record_batch({"age": [41, 50]}), file=0, first=7).identities.tolist()
    [[7, 0], [8, 0]]
    """

    cells: pa.RecordBatch
    file: int = 0
    first: int = 0
    places: Identities | None = None

    @property
    def identities(self) -> Identities:
        """Shape (n, 2): row and file of each row; the same however the table is cut into batches."""
        return row_identities(self.file, self.first, self.cells.num_rows) if self.places is None else self.places


@dataclass(frozen=True, eq=False)
class Part:
    """All rows with one part number.

    Parameters
    ----------
    number
        The number of the part.
    rows
        Its rows, in no particular order.
    workers
        Threads that may work on it.
    """

    number: int
    rows: pa.Table
    workers: int = 1


BatchFunction: TypeAlias = Callable[[NumberedBatch], pa.RecordBatch]
"""Arrow in, Arrow out: the same function serves every engine."""

PartFunction: TypeAlias = Callable[[Part], tuple[pa.Table, bytes]]
"""Takes all rows of a part at once; returns rows, and a note of a few bytes about the part."""


class Factory(Protocol):
    """Makes the function where it will run. It can be pickled; the secrets are handed to it there.

    If it has a method ``together``, an engine whose workers are elsewhere applies that to all batches that a worker
    made, so that fewer travel: it takes an iterator of batches, and gives batches that say the same.
    """

    @property
    def schema(self) -> pa.Schema:
        """The columns of the batches that the function returns."""

    def __call__(self, secrets: Secrets, /) -> BatchFunction:
        """The function of a worker."""


class PartFactory(Protocol):
    """Makes the function of a part where it will run. It can be pickled.

    If its attribute ``keeps_parts`` is true, rows that the function returns still have the number of their part, so
    that rows that were kept need not be dealt again.
    """

    @property
    def schema(self) -> pa.Schema:
        """The columns of the tables that the function returns."""

    def __call__(self, secrets: Secrets, /) -> PartFunction:
        """The function of a worker."""


class Rows(ABC):
    """Rows that an engine holds. They can be read several times, and are the same each time.

    An exception are the rows of `Engine.order`, which can be read once.
    """

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns."""

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, batch by batch. A reader that stops before the end closes the iterator."""

    def notes(self) -> list[bytes]:
        """What was noted about each part, in the order of their numbers, once all rows were read or kept."""
        return []
