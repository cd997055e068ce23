"""A table as grouping methods see it: read once, coded compactly, in a random order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.engines import Engine
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CodedTable, NumberColumn, QuasiColumn, SensitiveColumn
from ldiversity.publish._columns_read import CategoryReader, NumberReader, PersonReader, is_number, published_type
from ldiversity.publish._grids import Grids, snapped
from ldiversity.release import PEOPLE, RECORDS, Grid, grid_of, numbers_out
from ldiversity.tables import Coder, Source

__all__ = ["Reading", "read_table"]


@dataclass(frozen=True, eq=False)
class Reading:
    """A coded table with its rows in a uniformly random order, and what is needed to publish it.

    Parameters
    ----------
    types
        The published type of each quasi-identifier.
    originals
        The values behind the labels of each category.
    made
        Columns whose hierarchy was made from the values of the table.
    order
        Shape (n,): which row of the source each row is.
    added_missing
        Columns whose hierarchy has missing values only because some record of the table has one.
    steps
        The step of the public grid of each column that has one.
    """

    table: CodedTable
    types: Mapping[str, pa.DataType]
    originals: Mapping[str, pa.Array]
    plain: pa.Table
    made: frozenset[str] = frozenset()
    order: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    added_missing: frozenset[str] = frozenset()
    steps: Grids = field(default_factory=dict)

    @cached_property
    def grids(self) -> dict[str, Grid]:
        """The public grid of each column that has one."""
        return {name: grid_of(step, self.types[name]) for name, step in self.steps.items()}

    @property
    def grouped(self) -> CodedTable:
        """The table as methods see it, on its grids."""
        return snapped(self.table, self.grids)

    def exact(self, column: QuasiColumn, rows: NDArray[np.integer]) -> pa.Array:
        """The values of some rows as they were."""
        if isinstance(column, NumberColumn):
            missing = None if column.missing is None else column.missing[rows]
            return numbers_out(column.values[rows], missing, self.types[column.name])
        return self.originals[column.name].take(pa.array(column.codes[rows]))


def read_table(  # noqa: PLR0913 - the columns and what becomes of them
    source: Source,
    *,
    engine: Engine,
    quasi: Sequence[str],
    plain: Sequence[str],
    coders: Mapping[str, Coder],
    words: FreshWords,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    person: str | None = None,
    automatic: bool = False,
    made: Collection[str] = (),
    exact: bool = False,
) -> Reading:
    """Read all rows into compact arrays, in a uniformly random order; rows that a coder drops are left out.

    Parameters
    ----------
    automatic
        Give every quasi-identifier without a hierarchy an automatic one.
    made
        Columns whose given hierarchy was made from the values of the table.
    exact
        Quasi-identifiers are published as they are.
    """
    trees = hierarchies or {}
    types = {name: published_type(name, source.columns[name]) for name in (*quasi, *plain)}
    readers: dict[str, NumberReader | CategoryReader] = {}
    for name in quasi:
        if is_number(types[name]) and name not in trees and not automatic:
            readers[name] = NumberReader(name, types[name], exact=exact)
        else:
            readers[name] = CategoryReader(name, types[name], trees.get(name), automatic=automatic, exact=exact)
    people = None if person is None else PersonReader(person)
    secret: dict[str, list[CodeArray]] = {name: [] for name in coders}
    n = 0
    others: list[pa.Table] = []
    needed = {*quasi, *plain, *coders, *([] if person is None else [person])}
    for rows in engine.rows(source, [name for name in source.columns if name in needed]):
        batch = rows.cells
        coded = {name: coder.codes(batch.column(name)) for name, coder in coders.items()}
        kept = np.logical_and.reduce([codes >= 0 for codes in coded.values()]) if coded else np.True_
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            coded = {name: codes[kept] for name, codes in coded.items()}
        n += batch.num_rows
        for name, codes in coded.items():
            secret[name].append(codes)
        for name, reader in readers.items():
            reader.add(batch.column(name).cast(types[name]))
        if people is not None and person is not None:
            people.add(batch.column(person))
        if plain:
            others.append(pa.table({name: batch.column(name).cast(types[name]) for name in plain}))
    order = random_order(n, words).astype(np.int32)
    sensitive = tuple(
        SensitiveColumn(name, np.concatenate(secret.pop(name))[order], coder.domain) for name, coder in coders.items()
    )
    # Without any, records alone are grouped: all of them show the same.
    alone = () if coders else (SensitiveColumn(PEOPLE, np.zeros(n, dtype=np.int32), RECORDS),)
    columns, originals = _finish(readers, order)
    table = CodedTable(tuple(columns), sensitive or alone, None if people is None else people.finish(order))
    kept_plain = pa.concat_tables(others).take(pa.array(order)) if others else pa.table({})
    # Exact quasi-identifiers are published without their hierarchies, so it does not matter what those were made from.
    generalized = () if exact else quasi
    read_off = frozenset(name for name in generalized if name in made or (automatic and name not in trees))
    added = [name for name, reader in readers.items() if isinstance(reader, CategoryReader) and reader.added_missing]
    return Reading(table, types, originals, kept_plain, read_off, order, frozenset([*added, *read_off]))


def _finish(
    readers: dict[str, NumberReader | CategoryReader], order: NDArray[np.int32]
) -> tuple[list[QuasiColumn], dict[str, pa.Array]]:
    columns: list[QuasiColumn] = []
    originals: dict[str, pa.Array] = {}
    for name, reader in readers.items():
        if isinstance(reader, NumberReader):
            columns.append(reader.finish(order))
        else:
            coded = reader.finish(order)
            columns.append(coded.column)
            originals[name] = coded.originals
    return columns, originals
