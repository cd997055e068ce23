"""Sets counted by cell from rows that are read once, batch by batch: memory grows with the cells, not with the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._admissible import admissible_members, admissible_sets, whole_records
from ldiversity.estimation._by import Coded
from ldiversity.estimation._cells import CellData, CellIndex, CountedSets, index_cells, product_sets
from ldiversity.estimation._likelihood import counted_marginal
from ldiversity.estimation._runs import WIDER, too_many_cells
from ldiversity.estimation._seen import selected_rows
from ldiversity.estimation._where import nothing_selected
from ldiversity.estimation._words import Digits, Tally
from ldiversity.sentences import Setting, say
from ldiversity.tables import COUNT

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
    from ldiversity.estimation._coders import Coder
    from ldiversity.estimation._limits import Limits
    from ldiversity.estimation._readers import Reader
    from ldiversity.estimation._where import Filter
    from ldiversity.mechanisms import SetMechanism
    from ldiversity.release import RowBatch

__all__ = ["CountSets", "count_sets"]


@dataclass(frozen=True, eq=False)
class CountSets:
    """Counts the selected rows of a batch by cell and set. Can be pickled.

    Parameters
    ----------
    coders
        Code the columns that make cells.
    filters
        Select rows.
    attributes
        The sensitive attributes.
    mechanisms
        How each was hidden.
    exploded
        Whether a row shows one member of a set.
    """

    coders: tuple[Coder, ...]
    filters: tuple[Filter, ...]
    attributes: tuple[str, ...]
    mechanisms: tuple[SetMechanism, ...]
    exploded: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns that it needs."""
        return tuple(dict.fromkeys([*(one.column for one in self.coders), *(one.column for one in self.filters)]))

    @cached_property
    def digits(self) -> Digits:
        """The codes of a cell, then the members of each set."""
        members = [one.n_values for one in self.mechanisms for _ in range(1 if self.exploded else one.l)]
        return Digits((*(max(1, len(one.labels)) for one in self.coders), *members))

    def __call__(self, batch: RowBatch) -> pa.Table:
        """How many rows are in each cell with each set."""
        columns, sets = batch.columns, [batch.codes[name] for name in self.attributes]
        if self.filters:
            selected = selected_rows(columns, self.filters, batch.n_rows)
            if not selected.all():
                columns, sets = columns.filter(pa.array(selected)), [array[selected] for array in sets]
        digits: list[NDArray[np.integer]] = [one.encode(columns[one.column]) for one in self.coders]
        for mechanism, array in zip(self.mechanisms, sets, strict=True):
            if self.exploded:
                digits.append(admissible_members(mechanism, array))
            else:
                digits += list(admissible_sets(mechanism, array).T)
        return self.digits.count(digits)


def count_sets(counter: CountSets, reader: Reader, limits: Limits) -> tuple[CellData, CellIndex]:
    """Count a release by cell; the counter has said which columns make cells."""
    table = reader.count(counter, limits.sets)
    if table is None:
        raise _too_many_sets(limits.sets)
    if not table.num_rows:
        raise nothing_selected((), ())
    cells, members = _divided(counter, table)
    weights = np.asarray(table[COUNT])
    coded = [Coded(one.column, codes, one.labels) for one, codes in zip(counter.coders, cells, strict=True)]
    index = index_cells(coded, len(weights))
    n_values = prod(mechanism.n_values for mechanism in counter.mechanisms)
    if index.n_cells * n_values > limits.numbers:
        raise too_many_cells(limits.numbers, index.n_cells * n_values)
    combined = product_sets(members, [mechanism.n_values for mechanism in counter.mechanisms])
    counts = np.zeros((index.n_cells, n_values), dtype=np.int64)
    for place in range(combined.shape[1]):
        np.add.at(counts.reshape(-1), index.of_row * n_values + combined[:, place], weights)
    starts = np.searchsorted(index.of_row, np.arange(index.n_cells + 1)).astype(np.int64)
    rows = np.add.reduceat(weights, starts[:-1])
    whole = partial(_marginal, counter, reader, limits, None if counter.filters else (members, weights))
    records = whole_records(counter.mechanisms[0], rows, counts) if counter.exploded else rows
    published = None if counter.exploded else CountedSets(starts, members, weights, limits.rows)
    nowhere = np.empty(0, dtype=np.int64)
    return CellData(counter.mechanisms, records, counts, nowhere, None, whole, published, index.codes), index


def _divided(counter: CountSets, table: pa.Table) -> tuple[list[CodeArray], tuple[SetArray, ...]]:
    # The codes of the cell of each counted row, and its sets.
    digits = counter.digits.unpack([np.asarray(table[name]) for name in counter.digits.names])
    members, place = [], len(counter.coders)
    for mechanism in counter.mechanisms:
        l = 1 if counter.exploded else mechanism.l
        members.append(np.ascontiguousarray(np.stack(digits[place : place + l], axis=1)))
        place += l
    return digits[: len(counter.coders)], tuple(members)


def _marginal(
    counter: CountSets,
    reader: Reader,
    limits: Limits,
    known: tuple[tuple[SetArray, ...], NDArray[np.int64]] | None,
) -> FloatArray:
    """The shares in the whole release: from all cells, or from the release where filters left rows out."""
    whole = replace(counter, coders=(), filters=())
    if known is None:
        table = reader.count(whole, limits.sets)
    else:
        sets, weights = known
        digits = whole.digits
        words = digits.pack([column for array in sets for column in array.T])
        tally = Tally(digits.names, len(weights))
        tally.add(pa.table({**dict(zip(digits.names, words, strict=True)), COUNT: weights}))
        table = tally.result()
    if table is None:
        raise _too_many_sets(limits.sets)
    _, members = _divided(whole, table)
    return counted_marginal(counter.mechanisms, members, np.asarray(table[COUNT]))


def _too_many_sets(most: int) -> UnsupportedError:
    return UnsupportedError(
        "estimate", f"cells have more than {most} different sets in all, which is all that the memory allows"
    ).with_hint(
        say("Use fewer columns, {} for wider cells, or more memory, such as {}.", WIDER, Setting("memory", "2GB"))
    )
