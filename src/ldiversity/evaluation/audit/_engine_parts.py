"""What workers do with parts of a table that is audited: they deal rows, keep whole classes, and judge them."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.limits import MOST_VALUES
from ldiversity.engines import BatchFunction, NumberedBatch, Part, PartFunction, Secrets
from ldiversity.evaluation.audit._classes import Counting
from ldiversity.evaluation.audit._hashes import bucket_numbers, row_hashes
from ldiversity.evaluation.audit._sums import SizeCounts
from ldiversity.evaluation.audit._tables import PartOfTable
from ldiversity.evaluation.audit._tally import Tally, counts_of, renamed_count
from ldiversity.tables import COUNT, Coder

__all__ = [
    "LACKING",
    "LEFT_OUT",
    "CountDifferent",
    "CountPeople",
    "CountSizes",
    "DealRows",
    "JudgeParts",
    "KeepParts",
    "Names",
    "PartKnown",
    "if_few",
    "summed",
]

LACKING: Final = 1
LEFT_OUT: Final = 2
"""What a row is, added up: it lacks a quasi-identifier; it is left out."""

_HELD_ROWS: Final = 1 << 20
"""Combinations that a worker holds before it sends them."""

_NOTHING: Final = pa.schema([("nothing", pa.int8())])


@dataclass(frozen=True)
class Names:
    """Names of columns that no column of the table has: how many rows, what they are, and their part."""

    rows: str
    state: str
    part: str

    @classmethod
    def beside(cls, taken: Sequence[str]) -> Names:
        """Unused names."""
        return cls(*(_unused(name, taken) for name in ("rows", "state", "part")))


@dataclass(frozen=True)
class DealRows:
    """Makes the function that groups the rows of a batch, and says in which part each combination is judged."""

    counting: Counting
    by: tuple[str, ...]
    n_parts: int
    names: Names
    types: pa.Schema

    @property
    def schema(self) -> pa.Schema:
        """All columns, what a row is, how many rows are alike, and the part."""
        return dealt_schema(self.types, self.names)

    def __call__(self, secrets: Secrets, /) -> BatchFunction:
        """The function of a worker."""
        del secrets
        return self._deal

    def _deal(self, batch: NumberedBatch) -> pa.RecordBatch:
        cells, lacking, left_out = self.counting.looked_at(batch.cells)
        states = (left_out * LEFT_OUT + lacking * LACKING).astype(np.int8)
        tally = Tally([*self.counting.columns, self.names.state])
        tally.add(cells.append_column(self.names.state, pa.array(states)))
        counted = renamed_count(tally.result(), self.names.rows)
        numbers = bucket_numbers(row_hashes(counted, self.by), self.n_parts).astype(np.int32)
        return _as_batch(counted.append_column(self.names.part, pa.array(numbers)).cast(self.schema))

    def together(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same combinations, each once for some batches."""
        names = [name for name in self.schema.names if name != self.names.rows]
        tally, n_held = Tally(names), 0
        for batch in batches:
            cells = pa.Table.from_batches([batch]).select([*names, self.names.rows])
            tally.add_counted(renamed_count(cells, None), repeated=False)
            n_held += batch.num_rows
            if n_held >= _HELD_ROWS:
                yield self._counted(tally)
                tally, n_held = Tally(names), 0
        if n_held:
            yield self._counted(tally)

    def _counted(self, tally: Tally) -> pa.RecordBatch:
        return _as_batch(renamed_count(tally.result(), self.names.rows).select(self.schema.names).cast(self.schema))


@dataclass(frozen=True)
class PartKnown:
    """What is noted of a part: how many rows are what, and how often each value occurs (None when there are many)."""

    states: dict[int, int]
    values: dict[str, pa.Table | None]


@dataclass(frozen=True)
class KeepParts:
    """Keeps each combination of a part once, and notes which values occur."""

    counting: Counting
    names: Names
    types: pa.Schema

    keeps_parts: ClassVar[bool] = True

    @property
    def schema(self) -> pa.Schema:
        """As that of `DealRows`."""
        return dealt_schema(self.types, self.names)

    def __call__(self, secrets: Secrets, /) -> PartFunction:
        """The function of a worker."""
        del secrets
        return self._keep

    def _keep(self, part: Part) -> tuple[pa.Table, bytes]:
        names = [name for name in self.schema.names if name != self.names.rows]
        tally = Tally(names)
        tally.add_counted(renamed_count(part.rows.select([*names, self.names.rows]), None), repeated=True)
        rows = renamed_count(tally.result(), self.names.rows).select(self.schema.names).cast(self.schema)
        states = summed(rows, self.names.state, self.names.rows)
        counts = dict(zip(states.column(0).to_pylist(), states.column(COUNT).to_pylist(), strict=True))
        judged = _judged(rows, self.names)
        values = {name: if_few(summed(judged, name, self.names.rows)) for name in self.counting.names}
        return rows, pickle.dumps(PartKnown(counts, values))


@dataclass(frozen=True)
class _OfParts(ABC):
    """What factories of parts share: they return no rows, only a note."""

    @property
    def schema(self) -> pa.Schema:
        """Nothing."""
        return _NOTHING

    def __call__(self, secrets: Secrets, /) -> PartFunction:
        """The function of a worker."""
        del secrets
        return self._noted

    def _noted(self, part: Part) -> tuple[pa.Table, bytes]:
        return _NOTHING.empty_table(), self.note(part.rows)

    @abstractmethod
    def note(self, rows: pa.Table) -> bytes:
        """What is noted of the rows of a part."""


@dataclass(frozen=True)
class JudgeParts(_OfParts):
    """Judges whole classes."""

    part: PartOfTable
    names: Names

    def note(self, rows: pa.Table) -> bytes:
        """What was found."""
        return pickle.dumps(self.part.find(_tallied(self.part.counting, rows, self.names)))


@dataclass(frozen=True)
class CountPeople(_OfParts):
    """Counts with which values people count."""

    counting: Counting
    coders: dict[str, Coder]
    names: Names

    def note(self, rows: pa.Table) -> bytes:
        """The counts of each attribute."""
        counted = self.counting.classes(_tallied(self.counting, rows, self.names), self.coders)
        return pickle.dumps({name: counts.population.counts for name, counts in counted.counts.items()})


@dataclass(frozen=True)
class CountDifferent(_OfParts):
    """Counts the different cells of a column."""

    column: str
    names: Names

    def note(self, rows: pa.Table) -> bytes:
        """Their number."""
        return str(len(_judged(rows, self.names).column(self.column).unique())).encode()


@dataclass(frozen=True)
class CountSizes(_OfParts):
    """Counts how many rows the different cells of a column have."""

    counting: Counting
    names: Names

    def note(self, rows: pa.Table) -> bytes:
        """How many cells have so many rows."""
        return pickle.dumps(SizeCounts.of(counts_of(_tallied(self.counting, rows, self.names)[0])))


def dealt_schema(types: pa.Schema, names: Names) -> pa.Schema:
    """All columns, what a row is, how many rows are alike, and the part."""
    return pa.schema([*types, (names.state, pa.int8()), (names.rows, pa.int64()), (names.part, pa.int32())])


def _judged(rows: pa.Table, names: Names) -> pa.Table:
    """The rows that are not left out."""
    left = np.asarray(rows.column(names.state)) < LEFT_OUT
    return rows if left.all() else rows.filter(pa.array(left))


def _tallied(counting: Counting, rows: pa.Table, names: Names) -> list[pa.Table]:
    """The cells of each tally, from rows of all columns with their counts."""
    found, judged = [], _judged(rows, names)
    for some in counting.tallied:
        tally = Tally(some)
        tally.add_counted(renamed_count(judged.select([*some, names.rows]), None), repeated=True)
        found.append(tally.result())
    return found


def summed(rows: pa.Table, name: str, counts: str) -> pa.Table:
    """How many rows have each cell of a column, from rows with their counts."""
    found = rows.select([name, counts]).group_by(name, use_threads=False).aggregate([(counts, "sum")])
    return found.select([name, f"{counts}_sum"]).rename_columns([name, COUNT])


def if_few(values: pa.Table) -> pa.Table | None:
    """Values with their counts; None when there are more than a column may have."""
    return values if values.num_rows <= MOST_VALUES + 1 else None


def _as_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _unused(name: str, taken: Sequence[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name
