"""Audit a table: all classes at once, or some at a time where they do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.base.limits import MOST_VALUES
from ldiversity.base.spill import Spill
from ldiversity.evaluation.audit._asked import ask
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import CountedTable, Counting, Dropped, check_any, fit_values
from ldiversity.evaluation.audit._found import Found, FoundIn, find, found_together
from ldiversity.evaluation.audit._linking import cells_as_typed
from ldiversity.evaluation.audit._numbering import plain_cells
from ldiversity.evaluation.audit._population import look_outside
from ldiversity.evaluation.audit._tally import DividedTallies, counts_of
from ldiversity.evaluation.audit._views import ClassView, check_cells
from ldiversity.models import ClassCounts, Population, PrivacyModel, SomeClasses
from ldiversity.tables import DEFAULT_CHUNK_ROWS, Coder, Source, fit_coder

__all__ = ["PartOfTable", "audit_table"]

_ROW_BYTES: Final = 2000
"""What a row takes while it is read and dealt, at the most."""

_OF_WAITING: Final = 10
"""Rows that wait to be written take about three tenths of what rows may take."""

_BESIDE_ROWS: Final = 8
"""So many times less than that may wait of what is counted while the rows are still kept."""


@dataclass(frozen=True)
class PartOfTable:
    """Judges some classes of a table, on this machine or another.

    Parameters
    ----------
    counting
        How rows become classes.
    coders, everyone
        Of each sensitive attribute: its values, and how often each occurs in all classes.
    models
        What was asked for.
    threshold, fraction
        The greatest probability of being recognized, and which share of a population is in the table.
    """

    counting: Counting
    coders: Mapping[str, Coder]
    everyone: Mapping[str, Population]
    models: tuple[PrivacyModel, ...]
    threshold: float
    fraction: float | None

    def find(self, cells: Sequence[pa.Table], people: CountedTable | None = None) -> Found:
        """Find what the classes of these cells give away; `people` are those of the population who look like them."""
        counted = self.counting.classes(cells, self.coders)
        seen = self.seen(counted)
        return find(seen, ask(seen, self.models), look_outside(seen, people, self.fraction), self.threshold)

    def seen(self, counted: CountedTable) -> AttackerView:
        """What an attacker sees of some classes."""
        views = {
            name: ClassView(SomeClasses.of(counts, self.everyone[name])) for name, counts in counted.counts.items()
        }
        return AttackerView(
            kind="table",
            name=self.counting.owner,
            quasi=counted.quasi,
            keys=counted.keys,
            sizes=counted.sizes,
            views=views,
            joint=self.counting.joint_knowledge and len(views) > 1,
        )

    def seen_at_all(self) -> AttackerView:
        """What is known of the table without any class."""
        none = {name: _no_classes(coder) for name, coder in self.coders.items()}
        return self.seen(CountedTable(self.counting.quasi, pa.table({}), np.zeros(0, dtype=np.int64), none))


@dataclass(eq=False)
class _Values:
    """How often each value of the sensitive columns occurs, batch by batch."""

    names: Sequence[str]
    counted: dict[str, pa.Table] = field(default_factory=dict)

    def add(self, batch: pa.Table) -> None:
        for name in self.names:
            found = batch.column(name).value_counts()
            parts = pa.table([found.field("values"), found.field("counts")], names=["values", "counts"])
            if name in self.counted:
                joined = pa.concat_tables([self.counted[name], parts]).group_by("values", use_threads=False)
                parts = joined.aggregate([("counts", "sum")]).select(["values", "counts_sum"])
            self.counted[name] = parts.rename_columns(["values", "counts"])

    def are_few(self, name: str) -> bool:
        return name not in self.counted or self.counted[name].num_rows <= MOST_VALUES + 1


def audit_table(
    source: Source,
    counting: Counting,
    models: Sequence[PrivacyModel],
    *,
    threshold: float,
    fraction: float | None = None,
    population: Source | None = None,
    budget: Budget | None = None,
) -> FoundIn:
    """Find what a table gives away.

    Without a budget all different combinations are in memory at once. With one, combinations that do not fit wait on
    disk, dealt by a hash of the quasi-identifiers, so that a class is never divided. What is found is the same.
    """
    with ExitStack() as kept:
        spill = None if budget is None else kept.enter_context(_spill(budget, len(counting.tallied)))
        read = _read(source, counting, budget, spill)
        if population is not None:
            read.add_population(population)
        check_any(source.name, read.n_rows)
        part = read.part(tuple(models), threshold, fraction)
        several: list[Found] = []
        for cells, people in read.parts():
            several.append(part.find(cells, people))
            for name, coder in part.coders.items():
                check_cells(sum(one.attributes[name].sizes.n_classes for one in several), len(coder.domain))
        seen = replace(
            part.seen_at_all(),
            n_dropped=read.dropped.n_dropped,
            n_rows=None if counting.person is None else read.n_rows,
            n_people=None if counting.person is None else read.n_people(),
            person=counting.person,
            frame_kind=source.frame_kind,
        )
        found = found_together(several)
    return FoundIn(seen, found, None if population is None else read.n_population)


def _spill(budget: Budget, n_tallies: int) -> Spill:
    return Spill(waiting_bytes=max(1 << 20, budget.for_rows // (_OF_WAITING * n_tallies)))


def _chunk_rows(budget: Budget | None) -> int:
    return DEFAULT_CHUNK_ROWS if budget is None else min(DEFAULT_CHUNK_ROWS, budget.rows(_ROW_BYTES))


@dataclass(eq=False)
class _Read:
    """The rows of a table, counted in parts, and what is known of all of them."""

    source: Source
    counting: Counting
    budget: Budget | None
    spill: Spill | None
    tallies: DividedTallies
    values: _Values
    dropped: Dropped = field(default_factory=Dropped)
    n_rows: int = 0
    n_population: int | None = None
    _coders: dict[str, Coder] = field(default_factory=dict)

    def add_population(self, population: Source) -> None:
        """Count the people of the population, each in the part of those who look like them."""
        names = list(self.counting.quasi)
        counting = Counting.of(population, quasi=names, missing=self.counting.missing)
        dropped, self.n_population = Dropped(), 0
        kinds = {name: plain_cells(pa.nulls(0, self.source.columns[name])).type for name in names}
        for batch in population.batches(names, chunk_rows=_chunk_rows(self.budget)):
            people = counting.kept(batch, dropped)
            self.n_population += people.num_rows
            self.tallies.add(len(self.counting.tallied), cells_as_typed("population", people, kinds))
        dropped.check(counting)
        check_any(population.name, self.n_population)

    def part(self, models: tuple[PrivacyModel, ...], threshold: float, fraction: float | None) -> PartOfTable:
        """What judges one part: it knows all values of the table, and how often each occurs."""
        counting = self.counting
        for one in counting.sensitive:
            coder = counting.binned.get(one.name)
            if coder is None:
                if not self.values.are_few(one.name):
                    fit_coder(self.source, one)  # raises the error for the whole table
                coder = fit_values(self.source, one, self.values.counted[one.name].column("values"))
            self._coders[one.name] = coder
        part = PartOfTable(counting, self._coders, {}, models, threshold, fraction)
        if counting.person is None:
            return replace(part, everyone={name: self._counted(name, coder) for name, coder in self._coders.items()})
        totals = {name: np.zeros(len(coder.domain), dtype=np.int64) for name, coder in self._coders.items()}
        for cells, _ in self.parts():
            for name, counts in counting.classes(cells, self._coders).counts.items():
                totals[name] += counts.population.counts
        everyone = {name: Population(self._coders[name].domain, total) for name, total in totals.items()}
        return replace(part, everyone=everyone)

    def _counted(self, name: str, coder: Coder) -> Population:
        """How often each value occurs in all rows."""
        counted = self.values.counted[name]
        cells = counted.column("values")
        codes = np.asarray(cells, dtype=np.int32) if name in self.counting.binned else coder.codes(cells)
        totals = np.zeros(len(coder.domain), dtype=np.int64)
        np.add.at(totals, codes, counted.column("counts").to_numpy())
        return Population(coder.domain, totals)

    def parts(self) -> Iterator[tuple[list[pa.Table], CountedTable | None]]:
        """The cells of whole classes, and the people of the population who look like them."""
        n_own = len(self.counting.tallied)
        for cells in self.tallies.parts():
            if not cells[0].num_rows:
                continue  # people of the population who look like nobody here
            people = None
            if self.n_population is not None:
                people = self._people(cells[0], cells[n_own])
            yield cells[:n_own], people

    def _people(self, own: pa.Table, people: pa.Table) -> CountedTable:
        names = list(self.counting.quasi)
        keys = people.select(names) if people.num_rows else own.select(names).slice(0, 0)
        return CountedTable(self.counting.quasi, keys, counts_of(people), {})

    def n_people(self) -> int:
        """How many people the rows belong to."""
        person = self.counting.person
        if person is None:
            return 0
        with ExitStack() as kept:
            # The table's own rows are still there, so less may wait beside them.
            spill = None if self.budget is None else kept.enter_context(_spill(self.budget, _BESIDE_ROWS))
            everybody = DividedTallies([[person]], by=[person], budget=self.budget, spill=spill)
            for cells in self.tallies.cells(0):
                everybody.add(0, cells.select([person]))
            return sum(people.num_rows for (people,) in everybody.parts())


def _read(source: Source, counting: Counting, budget: Budget | None, spill: Spill | None) -> _Read:
    names = [*counting.tallied, list(counting.quasi)]
    tallies = DividedTallies(names, by=counting.quasi, budget=budget, spill=spill)
    read = _Read(source, counting, budget, spill, tallies, _Values(counting.names))
    for batch in source.batches(counting.columns, chunk_rows=_chunk_rows(budget)):
        kept = counting.kept(batch, read.dropped)
        read.n_rows += kept.num_rows
        read.values.add(kept)
        for one in counting.sensitive:
            if one.name not in counting.binned and not read.values.are_few(one.name):
                fit_coder(source, one)  # raises the error for the whole table, before more is read
        for place in range(len(counting.tallied)):
            tallies.add(place, kept)
    read.dropped.check(counting)
    return read


def _no_classes(coder: Coder) -> ClassCounts:
    none = np.zeros(0, dtype=np.int64)
    return ClassCounts(np.zeros(1, dtype=np.int64), none.astype(np.int32), none, coder.domain)
