"""Audit a table where an engine holds it: whole classes come together in parts, and only what is found comes back."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.combinations import Sizes
from ldiversity.engines import Engine, PartFactory, Rows, Secrets
from ldiversity.errors import InternalError
from ldiversity.evaluation.audit._classes import Counting, Dropped, check_any, fit_values
from ldiversity.evaluation.audit._engine_parts import (
    LEFT_OUT,
    CountDifferent,
    CountPeople,
    CountSizes,
    DealRows,
    JudgeParts,
    KeepParts,
    Names,
    PartKnown,
    if_few,
    summed,
)
from ldiversity.evaluation.audit._found import FoundIn, found_together
from ldiversity.evaluation.audit._numbering import plain_cells
from ldiversity.evaluation.audit._sums import SizeCounts
from ldiversity.evaluation.audit._tables import PartOfTable
from ldiversity.evaluation.audit._views import check_cells
from ldiversity.models import Population, PrivacyModel
from ldiversity.tables import COUNT, Coder, RowsPerId, Sensitive, Source, fit_coder, rows_per_id

__all__ = ["audit_on", "several_rows_on"]

_PART_ROWS: Final = 1_000_000
"""Rows of a part; a worker has one part in memory, whose equal rows are one. Each part costs about 0.1 s."""


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

    The table is read once: different rows come together by a hash of quasi-identifiers, and are kept. What is noted
    of each part tells which values there are, and how often. Then each part is judged where it is.
    """
    work = _Work(engine, source, counting, secrets or Secrets())
    n_parts = work.n_parts()
    kept = work.keep(n_parts)
    known = [pickle.loads(note) for note in kept.notes()]  # noqa: S301 - from our own workers, as all that an engine maps
    states = _states_together(known)
    n_rows = sum(n for state, n in states.items() if state < LEFT_OUT)
    dropped = Dropped(sum(states.values()) - n_rows, sum(n for state, n in states.items() if state % LEFT_OUT))
    dropped.check(counting)
    check_any(source.name, n_rows)
    fitted = {one.name: work.fit(one, known) for one in counting.sensitive}
    coders = {name: coder for name, (coder, _) in fitted.items()}
    everyone = {name: population for name, (_, population) in fitted.items()}
    if counting.person is not None:
        everyone = work.people_of_values(coders, kept, n_parts)
    part = PartOfTable(counting, coders, everyone, tuple(models), threshold, fraction)
    several = []
    for note in work.notes_of(JudgeParts(part, work.names), kept, n_parts):
        several.append(pickle.loads(note))  # noqa: S301 - from our own workers
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
        notes = work.notes(CountSizes(alone, work.names), max(1, -(-n_rows // _PART_ROWS)), [name])
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

    @property
    def names(self) -> Names:
        return Names.beside(self.counting.columns)

    def n_parts(self) -> int:
        """So many that each has about `_PART_ROWS` rows."""
        n_rows = self.source.n_rows
        if n_rows is None:
            counted = self.engine.count(self.source, self.counting.columns[:1])
            n_rows = 0 if counted is None else sum(counted.column(COUNT).to_pylist())
        return max(1, -(-n_rows // _PART_ROWS))

    def keep(self, n_parts: int) -> Rows:
        """The different rows of the table, whole classes in each part, with what is noted of their values."""
        kept = KeepParts(self.counting, self.names, _types(self.source, self.counting))
        return self.engine.keep(self._parts(kept, self._dealt(n_parts, self.counting.quasi), n_parts), scratch=None)

    def fit(self, one: Sensitive, known: Sequence[PartKnown]) -> tuple[Coder, Population]:
        """The values of a sensitive column, and how often each occurs in the rows that are kept."""
        counted = _values_together([part.values[one.name] for part in known])
        if counted is None:
            fit_coder(self.source, one, count=partial(_count_on, self.engine))  # raises the error for the whole table
            raise InternalError("audit", "a column with too many values was fitted")
        cells, coder = counted.column(0), self.counting.binned.get(one.name)
        if coder is None:
            coder = fit_values(self.source, one, cells)
            codes = coder.codes(cells)
        else:
            codes = np.asarray(cells, dtype=np.int32)
        totals = np.zeros(len(coder.domain), dtype=np.int64)
        np.add.at(totals, codes, counted.column(COUNT).to_numpy())
        return coder, Population(coder.domain, totals)

    def people_of_values(self, coders: dict[str, Coder], kept: Rows, n_parts: int) -> dict[str, Population]:
        """How many people count with each value, in all classes together."""
        totals = {name: np.zeros(len(coder.domain), dtype=np.int64) for name, coder in coders.items()}
        for note in self.notes_of(CountPeople(self.counting, coders, self.names), kept, n_parts):
            for name, some in pickle.loads(note).items():  # noqa: S301 - from our own workers
                totals[name] += some
        return {name: Population(coders[name].domain, total) for name, total in totals.items()}

    def n_people(self, n_parts: int) -> int:
        """How many people the rows belong to."""
        person = self.counting.person
        if person is None:
            return 0
        notes = self.notes(CountDifferent(person, self.names), n_parts, [person])
        return sum(int(note) for note in notes)

    def notes(self, factory: PartFactory, n_parts: int, by: Sequence[str]) -> list[bytes]:
        """What is noted of each part, where rows with the same cells in the columns `by` are together."""
        return self.notes_of(factory, self._dealt(n_parts, by), n_parts)

    def notes_of(self, factory: PartFactory, rows: Rows, n_parts: int) -> list[bytes]:
        """What is noted of each part of rows that have the numbers of their parts."""
        return self._parts(factory, rows, n_parts).notes()  # reading the rows too would do all work twice

    def _dealt(self, n_parts: int, by: Sequence[str]) -> Rows:
        deal = DealRows(self.counting, tuple(by), n_parts, self.names, _types(self.source, self.counting))
        return self.engine.map(deal, self.source, self.counting.columns, secrets=self.secrets)

    def _parts(self, factory: PartFactory, rows: Rows, n_parts: int) -> Rows:
        return self.engine.partition(
            factory, rows, by=self.names.part, n_parts=n_parts, secrets=self.secrets, scratch=None
        )


def _states_together(known: Sequence[PartKnown]) -> dict[int, int]:
    states: dict[int, int] = {}
    for part in known:
        for state, n in part.states.items():
            states[state] = states.get(state, 0) + n
    return states


def _values_together(several: Sequence[pa.Table | None]) -> pa.Table | None:
    found = [one for one in several if one is not None]
    if len(found) < len(several):
        return None
    joined = pa.concat_tables(found)
    return if_few(summed(joined, joined.column_names[0], COUNT))


def _types(source: Source, counting: Counting) -> pa.Schema:
    """The types of all columns, as they are compared."""
    kinds = {
        name: pa.int32() if name in counting.binned else plain_cells(pa.nulls(0, source.columns[name])).type
        for name in counting.columns
    }
    return pa.schema(list(kinds.items()))


def _count_on(engine: Engine, source: Source, column: str, most: int) -> pa.Table | None:
    return engine.count(source, [column], most=most)
