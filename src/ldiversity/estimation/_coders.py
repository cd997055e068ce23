"""How rows are coded by cell, batch by batch, once it is known what their columns hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.estimation._by import BinnedColumn, By, different_values
from ldiversity.estimation._calendar import CalendarColumn
from ldiversity.estimation._seen import are_instants
from ldiversity.tables import COUNT, numbers_of

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray

__all__ = ["Coder", "Lookup", "Ranges", "coder_of"]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Codes of the values that are known to occur.

    Parameters
    ----------
    column
        The name of the column.
    values, codes
        All values that occur, missing included, and the code of each.
    labels
        The labels in code order.
    days
        Whether instants count as their days.
    """

    column: str
    values: pa.Array
    codes: CodeArray
    labels: pa.Array
    days: bool = False

    def encode(self, column: pa.ChunkedArray) -> CodeArray:
        """The code of each row."""
        if self.days and are_instants(column.type):
            column = column.cast(pa.date32(), safe=False)
        indices, different = different_values(self.column, column)
        places = np.asarray(pc.fill_null(pc.index_in(different, value_set=self.values), 0))
        codes: CodeArray = self.codes[places][indices]
        return codes


@dataclass(frozen=True, eq=False)
class Ranges:
    """Codes of numbers in bins with known edges; missing numbers come last."""

    column: str
    edges: tuple[float, ...]
    labels: pa.Array

    def encode(self, column: pa.ChunkedArray) -> CodeArray:
        """The code of each row."""
        numbers, known = numbers_of(column)
        missing = np.int32(len(self.labels) - 1)
        if not self.edges:
            return np.full(len(numbers), missing)
        codes: CodeArray = np.where(known, BinnedColumn.place(numbers, self.edges), missing).astype(np.int32)
        return codes


Coder: TypeAlias = Lookup | Ranges
"""Can be pickled, and needs no more than the rows of a batch."""


def coder_of(part: By, seen: pa.Table) -> Coder:
    """How a column is coded, from what was gathered about it.

    Examples
    --------
    >>> from ldiversity.estimation import bins
    >>> coder = coder_of(bins("age", width=10), pa.table({"value": [21, 47]}))
    >>> coder.labels.take(pa.array(coder.encode(pa.chunked_array([[30, None]])))).to_pylist()
    ['[30, 40)', None]
    """
    values = seen.column(0).combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], seen.schema.field(0).type)
    if isinstance(part, BinnedColumn) and part.rule.quantiles is None:
        edges = part.fit(values) if len(values) else ()
        labels = part.names(edges) if edges else pa.array([], pa.string())
        return Ranges(part.column, edges, pa.concat_arrays([labels, pa.nulls(1, pa.string())]))
    weights = np.asarray(seen[COUNT]) if COUNT in seen.column_names else None
    coded = part.encode(pa.chunked_array([values]), weights)
    return Lookup(part.column, values, coded.codes, coded.labels, isinstance(part, CalendarColumn))
