"""A table of which only some rows are ever in one place: its shape, and the rows in the codes of that shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.randomness import Identities
from ldiversity.methods import CodedTable, QuasiColumn, SensitiveColumn
from ldiversity.publish._coding import Reading
from ldiversity.publish._columns_read import PersonReader
from ldiversity.publish._grids import Grids
from ldiversity.publish._identities import key_column
from ldiversity.publish._shapes import CategoryShape, NumberShape, comparable, read_numbers
from ldiversity.release import PEOPLE, RECORDS
from ldiversity.tables import Coder

__all__ = ["PART", "ROW", "QuasiShape", "TableShape", "code_name", "identities_of", "own_name"]

ROW: Final = "row"
"""The column that says which row of the source a row is."""

PART: Final = "part"
"""The column that says to which part a row belongs."""

QuasiShape: TypeAlias = NumberShape | CategoryShape


def code_name(column: str) -> str:
    """The name under which the codes of a column travel between the steps; no other column has such a name."""
    return f"code {column}"


def own_name(column: str) -> str:
    """The name under which a column travels that is published as it is, or says whose row it is."""
    return f"own {column}"


@dataclass(frozen=True, eq=False)
class TableShape:
    """What is known of all rows, so that some of them can be read alone. It can be pickled.

    Parameters
    ----------
    quasi
        The quasi-identifiers as a method sees them.
    types
        The published type of each column that is not sensitive.
    plain
        Columns that are published as they are: quasi-identifiers too, where records keep them.
    coders
        How each sensitive column is coded.
    person
        The column that says whose row it is.
    person_type
        The type of that column.
    made, added_missing, steps
        As in `Reading`.
    populations
        How often each sensitive value occurs in all rows, once that is known.
    """

    quasi: tuple[QuasiShape, ...]
    types: Mapping[str, pa.DataType]
    plain: tuple[str, ...]
    coders: Mapping[str, Coder]
    person: str | None
    person_type: pa.DataType | None
    made: frozenset[str]
    added_missing: frozenset[str]
    steps: Grids
    populations: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of rows in codes."""
        columns: dict[str, pa.DataType] = {ROW: pa.binary(16)}
        for shape in self.quasi:
            own = np.dtype(shape.dtype if isinstance(shape, NumberShape) else np.int32)
            columns[code_name(shape.name)] = pa.from_numpy_dtype(own)
        columns |= {code_name(name): pa.int32() for name in self.coders}
        columns |= {own_name(name): self.types[name] for name in self.plain}
        if self.person is not None:
            columns.setdefault(own_name(self.person), self.person_type)
        return pa.schema(list(columns.items()))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        own = [shape.name for shape in self.quasi]
        people = [] if self.person is None else [self.person]
        return tuple(dict.fromkeys([*own, *self.plain, *self.coders, *people]))

    def code(self, cells: pa.RecordBatch, identities: Identities) -> pa.RecordBatch:
        """Some rows in codes, with who they are; nothing else of the source travels on."""
        found: dict[str, pa.Array] = {ROW: key_column(identities)}
        for shape in self.quasi:
            own = cells.column(shape.name).cast(self.types[shape.name])
            if isinstance(shape, NumberShape):
                numbers, missing = read_numbers(shape.name, own, exact=shape.name in self.plain)
                known = pa.array(numbers.astype(shape.dtype, copy=False), mask=missing if missing.any() else None)
                found[code_name(shape.name)] = known
            else:
                found[code_name(shape.name)] = pa.array(shape.codes(own))
        for name, coder in self.coders.items():
            found[code_name(name)] = pa.array(coder.codes(cells.column(name)))
        for name in self.plain:
            found[own_name(name)] = self._as_it_is(name, cells.column(name))
        if self.person is not None and self.person not in self.plain:
            found[own_name(self.person)] = cells.column(self.person).cast(self.person_type)
        return pa.RecordBatch.from_arrays(list(found.values()), schema=self.schema)

    def reading(self, rows: pa.Table, *, people: bool = True) -> Reading:
        """Rows in codes as a table that a method sees; they are in the order in which they come."""
        quasi: list[QuasiColumn] = []
        for shape in self.quasi:
            cells = rows.column(code_name(shape.name)).combine_chunks()
            if isinstance(shape, NumberShape):
                missing = np.asarray(cells.is_null())
                quasi.append(shape.column(np.asarray(cells.fill_null(0)), missing))
            else:
                quasi.append(shape.column(np.asarray(cells)))
        sensitive = tuple(
            SensitiveColumn(
                name, np.asarray(rows.column(code_name(name))), coder.domain, whole=self.populations.get(name)
            )
            for name, coder in self.coders.items()
        )
        # Without any, records alone are grouped: all of them show the same.
        alone = () if self.coders else (SensitiveColumn(PEOPLE, np.zeros(rows.num_rows, dtype=np.int32), RECORDS),)
        table = CodedTable(tuple(quasi), sensitive or alone, self._people(rows) if people else None)
        kept = pa.table({name: rows.column(own_name(name)) for name in self.plain})
        order = np.arange(rows.num_rows, dtype=np.int32)
        return Reading(table, self.types, {}, kept, self.made, order, self.added_missing, self.steps)

    def _people(self, rows: pa.Table) -> NDArray[np.int64] | None:
        if self.person is None:
            return None
        people = PersonReader(self.person)
        for chunk in rows.column(own_name(self.person)).chunks:
            people.add(chunk)
        return people.finish(np.arange(rows.num_rows))

    def _as_it_is(self, name: str, cells: pa.Array) -> pa.Array:
        own = cells.cast(self.types[name])
        return comparable(own) if any(name == shape.name for shape in self.quasi) else own


def identities_of(rows: pa.Table | pa.RecordBatch) -> Identities:
    """Which rows of the source they are."""
    column = rows.column(ROW)
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    words = np.frombuffer(cells.buffers()[1], dtype="<u8")[2 * cells.offset : 2 * (cells.offset + len(cells))]
    return words.reshape(-1, 2).astype(np.uint64, copy=False)
