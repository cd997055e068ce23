"""Where the rows of a release are read when only counts of them are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa

from ldiversity.estimation._seen import Gatherer, gather, selected_rows
from ldiversity.estimation._words import Digits, Tally
from ldiversity.release import CodedBatch, RowBatch

if TYPE_CHECKING:
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Cells, Release

__all__ = ["ClassCoder", "Counter", "LocalReader", "Look", "Reader", "in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Counter(Protocol):
    """Counts the rows of a batch. Can be pickled."""

    @property
    def digits(self) -> Digits:
        """What is counted."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns that it needs."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes that it needs."""

    def __call__(self, batch: RowBatch) -> pa.Table:
        """How many rows have each combination of digits."""


@dataclass(frozen=True)
class Look:
    """Gathers what must be known of whole columns. Can be pickled."""

    gatherers: tuple[Gatherer, ...]
    filters: tuple[Filter, ...]
    columns: tuple[str, ...]
    regions: tuple[str, ...] = ()

    def __call__(self, batch: RowBatch | CodedBatch) -> list[pa.Table]:
        """What each gatherer sees in a batch."""
        if isinstance(batch, RowBatch):
            return self._look(batch.columns, batch.n_rows, {})
        return self._look(batch.own, len(batch.classes), batch.cells)

    def _look(self, columns: pa.Table, n_rows: int, cells: Mapping[str, Cells]) -> list[pa.Table]:
        selected = selected_rows(columns, self.filters, n_rows)
        return [gatherer.look(columns, selected, cells) for gatherer in self.gatherers]


class ClassCoder(Protocol):
    """Turns rows of a grouped release into numbers. Can be pickled."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns that it needs as they were."""

    @property
    def regions(self) -> Mapping[str, pa.Array]:
        """The generalized columns that it needs."""

    @property
    def values(self) -> tuple[str, ...]:
        """The attributes whose values it needs."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of its numbers."""

    def __call__(self, batch: CodedBatch) -> pa.RecordBatch:
        """One row of numbers for each row."""


class Reader(ABC):
    """Reads a release, as often as it is asked."""

    @abstractmethod
    def look(self, look: Look) -> list[pa.Table]:
        """What each gatherer saw in all rows."""

    @abstractmethod
    def count(self, counter: Counter, most: int) -> pa.Table | None:
        """How many rows have each combination of digits, ascending; None when there are more than `most`."""

    @abstractmethod
    def code(self, coder: ClassCoder) -> Iterator[pa.RecordBatch]:
        """Rows that have a class as numbers, some at a time, in any order."""


@dataclass(frozen=True)
class LocalReader(Reader):
    """Reads on this machine, a few batches at a time; of grouped releases, rows that have a class of the attribute."""

    release: Release
    attribute: str

    def look(self, look: Look) -> list[pa.Table]:
        """What each gatherer saw in all rows."""
        batches: Iterable[RowBatch | CodedBatch] = (
            self.release.class_batches(self.attribute, own=look.columns, regions=look.regions)
            if self.release.grouped
            else self.release.batches(look.columns)
        )
        return gather(look.gatherers, in_threads(look, batches))

    def count(self, counter: Counter, most: int) -> pa.Table | None:
        """How many rows have each combination of digits."""
        tally = Tally(counter.digits.names, most)
        for counted in in_threads(counter, self.release.batches(counter.columns, counter.attributes)):
            if tally.add(counted):
                return None
        return tally.result()

    def code(self, coder: ClassCoder) -> Iterator[pa.RecordBatch]:
        """Rows that have a class as numbers, in their order."""
        batches = self.release.class_batches(
            self.attribute, own=coder.columns, regions=tuple(coder.regions), values=coder.values
        )
        return map(coder, batches)


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    # Two at a time: while one is worked on, the next is read. More would take more memory.
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                if waiting:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(work, item))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            pa.default_memory_pool().release_unused()  # else what was read last stays beside what comes next
