"""Audit a table where an engine holds it: whole classes come together in parts, and only what is found comes back."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.combinations import Sizes
from ldiversity.base.limits import MOST_VALUES
from ldiversity.engines import BatchFunction, Engine, NumberedBatch, Part, PartFactory, PartFunction, Rows, Secrets
from ldiversity.evaluation.audit._classes import Counting, Dropped, check_any, fit_values
from ldiversity.evaluation.audit._found import FoundIn, found_together
from ldiversity.evaluation.audit._hashes import bucket_numbers, row_hashes
from ldiversity.evaluation.audit._numbering import plain_cells
from ldiversity.evaluation.audit._sums import SizeCounts
from ldiversity.evaluation.audit._tables import PartOfTable
from ldiversity.evaluation.audit._tally import Tally, counts_of, renamed_count
from ldiversity.evaluation.audit._views import check_cells
from ldiversity.models import Population, PrivacyModel
from ldiversity.tables import COUNT, Coder, RowsPerId, Sensitive, Source, fit_coder, rows_per_id

__all__ = ["audit_on", "several_rows_on"]

_PART_ROWS: Final = 250_000
"""Rows of a part; a worker has one part in memory."""

_NOTHING: Final = pa.schema([("nothing", pa.int8())])
_LACKING, _LEFT_OUT = 1, 2
"""What a row is, added up: it lacks a quasi-identifier; it is left out."""


def audit_on(
    engine: Engine,
    source: Source,
    counting: Counting,
    models: Sequence[PrivacyModel],
    *,
    threshold: float,
    fraction: float | None = None,
    secrets: Secrets | None = None,
) -> FoundIn:
    """Find what a table gives away, where an engine holds it; the same as `audit_table` finds.

    Values and how often each occurs are counted first. Then rows come together by a hash of quasi-identifiers, and
    each part is judged where it is.
    """
    work = _Work(engine, source, counting, secrets or Secrets())
    states = work.count_states()
    n_rows = sum(n for state, n in states.items() if state < _LEFT_OUT)
    dropped = Dropped(sum(states.values()) - n_rows, sum(n for state, n in states.items() if state % _LEFT_OUT))
    dropped.check(counting)
    check_any(source.name, n_rows)
    n_parts = -(-n_rows // _PART_ROWS)
    fitted = {one.name: work.fit(one) for one in counting.sensitive}
    coders = {name: coder for name, (coder, _) in fitted.items()}
    everyone = {name: population for name, (_, population) in fitted.items()}
    if counting.person is not None:
        everyone = work.people_of_values(coders, n_parts)
    part = PartOfTable(counting, coders, everyone, tuple(models), threshold, fraction)
    several = []
    for note in work.notes(JudgeParts(part, work.count_name), n_parts, counting.quasi):
        several.append(pickle.loads(note))  # noqa: S301 - from our own workers, as all that an engine maps
        for name, coder in coders.items():
            check_cells(sum(one.attributes[name].sizes.n_classes for one in several), len(coder.domain))
    seen = replace(
        part.seen_at_all(),
        n_dropped=dropped.n_dropped,
        n_rows=None if counting.person is None else n_rows,
        n_people=None if counting.person is None else work.n_people(n_parts),
        person=counting.person,
        frame_kind=source.frame_kind,
    )
    return FoundIn(seen, found_together(several))


def several_rows_on(engine: Engine, source: Source, columns: Sequence[str], n_rows: int) -> RowsPerId | None:
    """The column that looks most like a person's id and has several rows per value."""

    def count(name: str) -> Sizes:
        alone = Counting(source.name, (name,), (), "drop", joint_knowledge=False, person=None, binned={})
        work = _Work(engine, source, alone, Secrets())
        notes = work.notes(CountSizes(alone, work.count_name), max(1, -(-n_rows // _PART_ROWS)), [name])
        sizes = SizeCounts.together([pickle.loads(note) for note in notes])  # noqa: S301 - from our own workers
        return Sizes(sizes.sizes, sizes.classes)

    found = rows_per_id(source, columns, count=count)
    return found[0] if found else None


@dataclass(frozen=True, eq=False)
class _Work:
    """The steps of one audit on an engine."""

    engine: Engine
    source: Source
    counting: Counting
    secrets: Secrets
    looked_at: dict[tuple[str, ...], pa.Table] = field(default_factory=dict)

    @property
    def count_name(self) -> str:
        return _unused("rows", self.counting.columns)

    def count_states(self) -> dict[int, int]:
        """How many rows are kept, lack something, or are left out."""
        counted = self._looked_at(self.counting.names[:1])  # which is needed again
        if not counted.num_rows:
            counted = self._looked_at([])
        states: dict[int, int] = {}
        for state, n in zip(counted.column(0).to_pylist(), counted.column(COUNT).to_pylist(), strict=True):
            states[state] = states.get(state, 0) + n
        return states

    def _looked_at(self, names: Sequence[str]) -> pa.Table:
        if tuple(names) not in self.looked_at:
            self.looked_at[tuple(names)] = self._look_at(names)
        return self.looked_at[tuple(names)]

    def _look_at(self, names: Sequence[str]) -> pa.Table:
        state = _unused("state", self.counting.columns)
        factory = LookAtRows(self.counting, state, _types(self.source, self.counting))
        rows = self.engine.map(factory, self.source, self.counting.columns, secrets=self.secrets)
        counted = self.engine.count(rows, [state, *names], most=4 * (MOST_VALUES + 1))
        if counted is None:
            return pa.table({state: [], **{name: [] for name in names}, COUNT: []})
        return counted

    def fit(self, one: Sensitive) -> tuple[Coder, Population]:
        """The values of a sensitive column, and how often each occurs in the rows that are kept."""
        counted = self._looked_at([one.name])
        if not counted.num_rows:
            count = partial(_count_on, self.engine)
            fit_coder(self.source, one, count=count)  # raises the error for the whole table
        kept = counted.filter(pa.array(counted.column(0).to_numpy() < _LEFT_OUT))
        cells, coder = kept.column(one.name), self.counting.binned.get(one.name)
        if coder is None:
            coder = fit_values(self.source, one, cells)
            codes = coder.codes(cells)
        else:
            codes = np.asarray(cells, dtype=np.int32)
        totals = np.zeros(len(coder.domain), dtype=np.int64)
        np.add.at(totals, codes, kept.column(COUNT).to_numpy())
        return coder, Population(coder.domain, totals)

    def people_of_values(self, coders: dict[str, Coder], n_parts: int) -> dict[str, Population]:
        """How many people count with each value, in all classes together."""
        totals = {name: np.zeros(len(coder.domain), dtype=np.int64) for name, coder in coders.items()}
        for note in self.notes(CountPeople(self.counting, coders, self.count_name), n_parts, self.counting.quasi):
            for name, some in pickle.loads(note).items():  # noqa: S301 - from our own workers
                totals[name] += some
        return {name: Population(coders[name].domain, total) for name, total in totals.items()}

    def n_people(self, n_parts: int) -> int:
        """How many people the rows belong to."""
        person = self.counting.person
        if person is None:
            return 0
        alone = replace(self.counting, joint_knowledge=True)  # one tally, of all columns
        notes = self.notes(CountDifferent(alone, person, self.count_name), n_parts, [person])
        return sum(int(note) for note in notes)

    def notes(self, factory: PartFactory, n_parts: int, by: Sequence[str]) -> list[bytes]:
        """What is noted of each part, where rows with the same cells in the columns `by` are together."""
        types = _types(self.source, self.counting)
        part = _unused("part", [*self.counting.columns, self.count_name])
        deal = DealRows(self.counting, tuple(by), n_parts, part, self.count_name, types)
        rows: Rows = self.engine.map(deal, self.source, self.counting.columns, secrets=self.secrets)
        parts = self.engine.partition(factory, rows, by=part, n_parts=n_parts, secrets=self.secrets, scratch=None)
        return parts.notes()  # reading the rows too, of which there are none, would do all work twice


@dataclass(frozen=True)
class LookAtRows:
    """Makes the function that says of each row what it is, and shows its sensitive cells."""

    counting: Counting
    state: str
    types: pa.Schema

    @property
    def schema(self) -> pa.Schema:
        """The state, and sensitive columns."""
        return pa.schema([(self.state, pa.int8()), *(self.types.field(name) for name in self.counting.names)])

    def __call__(self, secrets: Secrets, /) -> BatchFunction:
        """The function of a worker."""
        del secrets
        return self._look

    def _look(self, batch: NumberedBatch) -> pa.RecordBatch:
        cells, lacking, left_out = self.counting.looked_at(batch.cells)
        states = (left_out * _LEFT_OUT + lacking * _LACKING).astype(np.int8)
        shown = {self.state: pa.array(states), **{name: cells.column(name) for name in self.counting.names}}
        return _as_batch(pa.table(shown).cast(self.schema))


@dataclass(frozen=True)
class DealRows:
    """Makes the function that groups the rows of a batch, and says in which part each combination is judged."""

    counting: Counting
    by: tuple[str, ...]
    n_parts: int
    part: str
    rows: str
    types: pa.Schema

    @property
    def schema(self) -> pa.Schema:
        """All columns, how many rows have them, and the part."""
        return pa.schema([*self.types, (self.rows, pa.int64()), (self.part, pa.int32())])

    def __call__(self, secrets: Secrets, /) -> BatchFunction:
        """The function of a worker."""
        del secrets
        return self._deal

    def _deal(self, batch: NumberedBatch) -> pa.RecordBatch:
        tally = Tally(self.counting.columns)
        tally.add(self.counting.kept(batch.cells, Dropped()))
        counted = renamed_count(tally.result(), self.rows)
        numbers = bucket_numbers(row_hashes(counted, self.by), self.n_parts).astype(np.int32)
        return _as_batch(counted.append_column(self.part, pa.array(numbers)).cast(self.schema))


@dataclass(frozen=True)
class _OfParts:
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

    def note(self, rows: pa.Table) -> bytes:
        """What is noted of the rows of a part."""
        raise NotImplementedError


@dataclass(frozen=True)
class JudgeParts(_OfParts):
    """Judges whole classes."""

    part: PartOfTable
    rows: str

    def note(self, rows: pa.Table) -> bytes:
        """What was found."""
        return pickle.dumps(self.part.find(_tallied(self.part.counting, rows, self.rows)))


@dataclass(frozen=True)
class CountPeople(_OfParts):
    """Counts with which values people count."""

    counting: Counting
    coders: dict[str, Coder]
    rows: str

    def note(self, rows: pa.Table) -> bytes:
        """The counts of each attribute."""
        counted = self.counting.classes(_tallied(self.counting, rows, self.rows), self.coders)
        return pickle.dumps({name: counts.population.counts for name, counts in counted.counts.items()})


@dataclass(frozen=True)
class CountDifferent(_OfParts):
    """Counts the different cells of a column."""

    counting: Counting
    column: str
    rows: str

    def note(self, rows: pa.Table) -> bytes:
        """Their number."""
        return str(len(rows.column(self.column).unique())).encode()


@dataclass(frozen=True)
class CountSizes(_OfParts):
    """Counts how many rows the different cells of a column have."""

    counting: Counting
    rows: str

    def note(self, rows: pa.Table) -> bytes:
        """How many cells have so many rows."""
        return pickle.dumps(SizeCounts.of(counts_of(_tallied(self.counting, rows, self.rows)[0])))


def _tallied(counting: Counting, rows: pa.Table, count_name: str) -> list[pa.Table]:
    """The cells of each tally, from rows of all columns with their counts."""
    found = []
    for names in counting.tallied:
        tally = Tally(names)
        tally.add_counted(renamed_count(rows.select([*names, count_name]), None), repeated=True)
        found.append(tally.result())
    return found


def _types(source: Source, counting: Counting) -> pa.Schema:
    """The types of all columns, as they are compared."""
    kinds = {
        name: pa.int32() if name in counting.binned else plain_cells(pa.nulls(0, source.columns[name])).type
        for name in counting.columns
    }
    return pa.schema(list(kinds.items()))


def _count_on(engine: Engine, source: Source, column: str, most: int) -> pa.Table | None:
    return engine.count(source, [column], most=most)


def _as_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _unused(name: str, taken: Sequence[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name
