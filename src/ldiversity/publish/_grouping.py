"""Grouping records until nothing that becomes public depends on a record that is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ldiversity.base.arrays import BoolArray, different
from ldiversity.base.progress import stage
from ldiversity.base.randomness import FreshWords
from ldiversity.errors import ClaimError, InfeasibleError, InternalError, UnsupportedError
from ldiversity.methods import Grouping, GroupingMethod, GroupingRun, Partition, SensitiveColumn
from ldiversity.publish._coding import Reading
from ldiversity.publish._grids import choose_steps
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._public import keeps_rules, public_column, same_hierarchies

__all__ = ["Grouped", "check_grouping", "group_records"]


@dataclass(frozen=True, eq=False)
class Grouped:
    """Records in classes, with domains and hierarchies that tell nothing about records that were left out."""

    preparation: Preparation
    reading: Reading
    grouping: Grouping
    columns: Mapping[str, SensitiveColumn]
    left_out_before: int

    @property
    def partition_of(self) -> dict[str, Partition]:
        """The partition of each sensitive column."""
        return _partition_of(self.grouping, self.reading)


def group_records(preparation: Preparation, words: FreshWords) -> Grouped:
    """Group the records until all that becomes public depends on the published ones alone.

    When a method leaves records out, domains from the table lose the values that only those records had. Sometimes
    that is not enough: hierarchies or quantiles would be different without these records, or the promise does not hold
    on the smaller domain. Then the remaining records are read as if there were no others, and grouped again.
    """
    n_all = None
    while True:
        with stage("reading", passes=1):
            reading = preparation.read(words)
        n_all = reading.table.n_rows if n_all is None else n_all
        with stage("grouping") as told:
            grouping = preparation.method.group(reading.grouped, GroupingRun(preparation.engine.workers, told))
        check_grouping(grouping, reading, preparation.method)
        partitions = _partition_of(grouping, reading)
        columns = {
            column.name: public_column(column, partitions[column.name].class_of >= 0)
            if column.name in preparation.undeclared
            else column
            for column in reading.table.sensitive
        }
        done = Grouped(preparation, reading, grouping, columns, n_all - reading.table.n_rows)
        kept = np.logical_or.reduce([partition.class_of >= 0 for partition in grouping.partitions])
        _check_hidden_cells(done, kept)
        if kept.all():
            return done
        stay = np.zeros(len(kept), dtype=np.bool_)
        stay[reading.order[kept]] = True
        alone = preparation.only(stay)
        if tells_nothing(done, alone, kept, words):
            return done
        preparation = replace(alone, notes=preparation.notes)


def _check_hidden_cells(done: Grouped, kept: BoolArray) -> None:
    """Refuse bins that depend on hidden values of published records."""
    for name, column in done.columns.items():
        shown = done.partition_of[name].class_of >= 0
        if column.domain.edges is None or name not in done.preparation.undeclared or np.array_equal(shown, kept):
            continue
        stay = np.zeros(len(shown), dtype=np.bool_)
        stay[done.reading.order[shown]] = True
        if done.preparation.only(stay).coders[name].domain.to_dict() != column.domain.to_dict():
            raise UnsupportedError(
                "bins must be declared, because some values are hidden although their records are published",
                column=name,
            ).with_hint("Give edges, or width with low and high.")


def tells_nothing(done: Grouped, alone: Preparation, kept: BoolArray, words: FreshWords) -> bool:
    """Whether all that becomes public would be the same with the published records alone."""
    if alone.levels != done.preparation.levels:
        return False
    for name, column in done.columns.items():
        if name in alone.coders and alone.coders[name].domain.to_dict() != column.domain.to_dict():
            return False
        partition = done.partition_of[name]
        promises = done.preparation.method.promises_of(name, column.domain)
        if not keeps_rules(promises, column, partition.class_of, partition.n_classes):
            return False
    given = done.preparation.grid
    if given is not None and choose_steps(given, done.reading, kept) != done.reading.steps:
        return False
    return not done.reading.made or same_hierarchies(done.reading, kept, alone.read(words))


def _partition_of(grouping: Grouping, reading: Reading) -> dict[str, Partition]:
    several = len(grouping.partitions) > 1
    return {
        column.name: grouping.partitions[place if several else 0]
        for place, column in enumerate(reading.table.sensitive)
    }


def check_grouping(grouping: Grouping, reading: Reading, method: GroupingMethod) -> None:
    """Refuse classes that a method must not form: empty ones, and those with two rows of one person."""
    n, n_sensitive = reading.table.n_rows, len(reading.table.sensitive)
    several = len(grouping.partitions)
    if several not in {1, n_sensitive} or (several > 1 and method.layout == "generalized"):
        raise InternalError(method.name, "there must be one partition, or one for each sensitive column")
    for partition in grouping.partitions:
        if partition.n_classes == 0:
            raise InfeasibleError(method.name, "no class can be formed, so no record can be published").with_hint(
                "Choose a smaller l, or another method."
            )
        if len(partition.class_of) != n or not partition.sizes.all():
            raise InternalError(method.name, "every row must have a class, and every class a row")
        _check_people(partition, reading)


def _check_people(partition: Partition, reading: Reading) -> None:
    person = reading.table.person
    if person is None:
        return
    kept = partition.class_of >= 0
    pairs = partition.class_of[kept] * (np.int64(person.max()) + 1) + person[kept]
    if len(different(pairs)) < len(pairs):
        raise ClaimError("person", "no class may hold two rows of one person", hint="Nothing was published.")
