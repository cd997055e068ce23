"""What must be known of whole columns before rows can be counted by cell, gathered batch by batch.

Each gatherer turns some rows into a small table, and several such tables into one. So rows may be read anywhere and in
any order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._by import BinnedColumn, By, different_values
from ldiversity.estimation._calendar import CalendarColumn
from ldiversity.release import Cells, join_cells
from ldiversity.sentences import Setting, say
from ldiversity.tables import COUNT

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, IntArray
    from ldiversity.estimation._where import Filter

__all__ = [
    "Different",
    "Ends",
    "Gatherer",
    "Matching",
    "Occurring",
    "Regions",
    "are_instants",
    "as_bytes",
    "cells_in",
    "gather",
    "gatherer_of",
    "rows_in",
    "selected_rows",
    "too_many_values",
]

_VALUE: Final = "value"
_SELECTED: Final = "selected"
_WAITING: Final = 1 << 16
"""Tables with fewer rows are put together several at a time."""


class Gatherer(ABC):
    """Gathers one thing about columns."""

    @abstractmethod
    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:
        """What some rows show: columns as they were, which rows match all filters, and generalized columns."""

    @abstractmethod
    def join(self, seen: pa.Table) -> pa.Table:
        """The same from the rows of several such tables."""


@dataclass(frozen=True)
class Matching(Gatherer):
    """How many rows match each filter, and last how many match all of them."""

    filters: tuple[Filter, ...]

    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:  # noqa: ARG002
        """One row of numbers."""
        found = [int(np.count_nonzero(part.mask(columns[part.column]))) for part in self.filters]
        found.append(int(np.count_nonzero(selected)))
        return pa.table({f"filter {place}": [number] for place, number in enumerate(found)})

    def join(self, seen: pa.Table) -> pa.Table:
        """Sums."""
        return pa.table({name: [pc.sum(seen[name]).as_py() or 0] for name in seen.column_names})


@dataclass(frozen=True)
class Occurring(Gatherer):
    """Which of the values that a filter names occur in any row."""

    asked: Filter

    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:  # noqa: ARG002
        """The values that occur."""
        return pa.table({_VALUE: self.asked.occurring(columns[self.asked.column])})

    def join(self, seen: pa.Table) -> pa.Table:
        """Each value once."""
        return pa.table({_VALUE: pc.unique(seen[_VALUE])})


@dataclass(frozen=True)
class Different(Gatherer):
    """The different values of a column, at most so many; with `days`, those of its instants.

    With `of_selected`, only those of the selected rows, and how many have each.
    """

    column: str
    most: int
    days: bool = False
    of_selected: bool = False

    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:  # noqa: ARG002
        """Different values, in the order in which they occur."""
        column = columns[self.column]
        if self.days and are_instants(column.type):
            column = column.cast(pa.date32(), safe=False)
        if self.of_selected:
            column = column.filter(pa.array(selected))
        indices, values = different_values(self.column, column)
        found = np.bincount(indices, minlength=len(values))
        used = np.flatnonzero(found)  # a category need not occur
        seen = pa.table({_VALUE: values.take(pa.array(used)), COUNT: found[used]})
        return self._checked(seen if self.of_selected else seen.select([_VALUE]))

    def join(self, seen: pa.Table) -> pa.Table:
        """Each value once."""
        if self.of_selected:
            counted = seen.group_by(_VALUE, use_threads=False).aggregate([(COUNT, "sum")])
            return self._checked(counted.rename_columns([_VALUE, COUNT]))
        return self._checked(pa.table({_VALUE: pc.unique(seen[_VALUE])}))

    def _checked(self, seen: pa.Table) -> pa.Table:
        if seen.num_rows <= self.most:
            return seen
        raise too_many_values(self.column, self.most, "values")


@dataclass(frozen=True)
class Ends(Gatherer):
    """The least and the greatest number of a column among the selected rows."""

    part: BinnedColumn

    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:  # noqa: ARG002
        """Two numbers, or none."""
        column = columns[self.part.column]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        self.part.check_numbers(column.type)
        return self._ends(column.filter(pa.array(selected)))

    def join(self, seen: pa.Table) -> pa.Table:
        """The ends of ends."""
        return self._ends(seen[_VALUE])

    @staticmethod
    def _ends(numbers: pa.ChunkedArray) -> pa.Table:
        if pa.types.is_floating(numbers.type):
            numbers = pc.filter(numbers, pc.invert(pc.is_nan(numbers)))
        ends = pc.min_max(numbers)
        found = [] if not ends["min"].is_valid else [ends["min"], ends["max"]]
        return pa.table({_VALUE: pa.array([end.as_py() for end in found], numbers.type)})


@dataclass(frozen=True)
class Regions(Gatherer):
    """The different cells of a generalized column, at most so many: how many rows and selected rows have each."""

    column: str
    most: int

    def look(self, columns: pa.Table, selected: BoolArray, cells: Mapping[str, Cells]) -> pa.Table:  # noqa: ARG002
        """Different cells, in the order in which they occur."""
        own = cells[self.column]
        return self._counted(own, np.ones(len(own), dtype=np.int64), selected.astype(np.int64))

    def join(self, seen: pa.Table) -> pa.Table:
        """Each cell once."""
        return self._counted(cells_in(seen), np.asarray(seen[COUNT]), np.asarray(seen[_SELECTED]))

    def _counted(self, cells: Cells, rows: IntArray, selected: IntArray) -> pa.Table:
        encoded = as_bytes(cells).dictionary_encode()
        index, n = np.asarray(encoded.indices), len(encoded.dictionary)
        if n > self.most:
            raise too_many_values(self.column, self.most, "regions")
        first = np.zeros(n, dtype=np.int64)
        first[index[::-1]] = np.arange(len(index))[::-1]
        sums = [np.zeros(n, dtype=np.int64) for _ in range(2)]
        for total, numbers in zip(sums, (rows, selected), strict=True):
            np.add.at(total, index, numbers)
        different = cells.take(first)
        column = pa.LargeListArray.from_arrays(pa.array(different.starts), pa.array(different.flat))
        return pa.table({_VALUE: column, COUNT: sums[0], _SELECTED: sums[1]})


def cells_in(seen: pa.Table) -> Cells:
    """The cells that a `Regions` saw."""
    columns = seen[_VALUE].chunks
    parts = [Cells(np.asarray(one.offsets) - one.offsets[0].as_py(), np.asarray(one.flatten())) for one in columns]
    return parts[0] if len(parts) == 1 else join_cells(parts)


def rows_in(seen: pa.Table) -> tuple[IntArray, IntArray]:
    """How many rows, and how many selected rows, have each cell that a `Regions` saw."""
    return np.asarray(seen[COUNT]), np.asarray(seen[_SELECTED])


def as_bytes(cells: Cells) -> pa.Array:
    """Each cell as its bytes, so that equal ones can be found."""
    flat = np.ascontiguousarray(cells.flat)
    offsets = np.ascontiguousarray(cells.starts.astype(np.int64) * flat.dtype.itemsize)
    return pa.Array.from_buffers(
        pa.large_binary(), len(cells), [None, pa.py_buffer(offsets), pa.py_buffer(flat.tobytes())]
    )


def gatherer_of(part: By, most: int) -> Gatherer:
    """What must be known to code a column."""
    if isinstance(part, BinnedColumn) and part.rule.quantiles is None:
        return Ends(part)
    # A calendar needs days: there may be as many instants as rows.
    return Different(part.column, most, isinstance(part, CalendarColumn), isinstance(part, BinnedColumn))


def too_many_values(name: str, most: int, what: str) -> UnsupportedError:
    """The error about a column that would fill the memory."""
    wider = Setting("by", f"{name}:10", python=f"bins({name!r}, width=10)")
    return UnsupportedError(
        "estimate", f"{name!r} has more than {most} different {what}, which is all that the memory allows"
    ).with_hint(
        say("Use {} if it holds numbers, leave it out, or set more {}.", wider, Setting("memory", "2GB"))
        if what == "values"
        else say("Leave it out, or set more {}.", Setting("memory", "2GB"))
    )


def are_instants(kind: pa.DataType) -> bool:
    """Whether a column has instants or days, of which a calendar needs the days alone."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def selected_rows(columns: pa.Table, filters: Sequence[Filter], n_rows: int) -> BoolArray:
    """Which rows match all filters."""
    everything: BoolArray = np.ones(n_rows, dtype=np.bool_)
    for part in filters:
        everything &= part.mask(columns[part.column])
    return everything


def gather(gatherers: Sequence[Gatherer], looks: Iterable[Sequence[pa.Table]]) -> list[pa.Table]:
    """Put together what gatherers saw in each batch; there is at least one batch."""
    joined: list[pa.Table | None] = [None] * len(gatherers)
    waiting: list[list[pa.Table]] = [[] for _ in gatherers]
    for look in looks:
        for place, (gatherer, seen) in enumerate(zip(gatherers, look, strict=True)):
            known = joined[place]
            waiting[place].append(seen)
            least = max(_WAITING, 0 if known is None else known.num_rows)
            if sum(part.num_rows for part in waiting[place]) > least:
                joined[place] = gatherer.join(pa.concat_tables([*([] if known is None else [known]), *waiting[place]]))
                waiting[place] = []
    return [
        gatherer.join(pa.concat_tables([*([] if known is None else [known]), *rest]))
        for gatherer, known, rest in zip(gatherers, joined, waiting, strict=True)
    ]
