"""Several small numbers of a row as few large ones, so that equal rows are counted quickly and sent in few bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.tables import COUNT

__all__ = ["Digits", "Tally", "in_order"]

_MOST: Final = 1 << 62
_FEW: Final = 1 << 16


@dataclass(frozen=True)
class Digits:
    """Digits from 0 to below their `sizes`, packed into words of 62 bits, the first digit highest.

    Examples
    --------
    >>> digits = Digits((10, 10))
    >>> digits.pack([np.array([4, 5]), np.array([2, 0])])[0].tolist()
    [42, 50]
    >>> [digit.tolist() for digit in digits.unpack([np.array([42, 50])])]
    [[4, 5], [2, 0]]
    """

    sizes: tuple[int, ...]

    @cached_property
    def words(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of the digits of each word; at least one word."""
        words: list[list[int]] = [[]]
        reached = 1
        for size in self.sizes:
            if reached * size > _MOST:
                words.append([])
                reached = 1
            words[-1].append(size)
            reached *= size
        return tuple(map(tuple, words))

    @property
    def names(self) -> list[str]:
        """The columns of packed words."""
        return [f"word {number}" for number in range(len(self.words))]

    def pack(self, digits: Sequence[NDArray[np.integer]]) -> list[NDArray[np.int64]]:
        """The words of rows, from the digits of rows."""
        left = iter(digits)
        words = []
        for sizes in self.words:
            word = next(left).astype(np.int64)
            for size in sizes[1:]:
                word *= size
                word += next(left)
            words.append(word)
        return words

    def unpack(self, words: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int32]]:
        """The digits of rows, from their words."""
        digits: list[NDArray[np.int32]] = []
        for word, sizes in zip(words, self.words, strict=True):
            rest, own = word, []
            for size in sizes[:0:-1]:
                rest, digit = np.divmod(rest, size)
                own.append(digit.astype(np.int32))
            digits += [rest.astype(np.int32), *reversed(own)]
        return digits

    def count(self, digits: Sequence[NDArray[np.integer]]) -> pa.Table:
        """How many rows have each combination: the columns `names`, and `COUNT`."""
        words = self.pack(digits)
        if len(words) == 1:
            counted = pa.array(words[0]).value_counts()
            return pa.table({self.names[0]: counted.field("values"), COUNT: counted.field("counts")})
        rows = pa.table(dict(zip(self.names, words, strict=True)))
        return rows.group_by(self.names).aggregate([([], "count_all")]).rename_columns([*self.names, COUNT])


class Tally:
    """Adds up tables of counted rows; memory grows with the different rows, of which there may be `most`.

    Examples
    --------
    >>> tally = Tally(["x"], most=10)
    >>> for values in ([1, 2, 2], [2, 3]):
    ...     full = tally.add(pa.table({"x": values, COUNT: [1] * len(values)}))
    >>> [column.to_pylist() for column in tally.result()]
    [[1, 2, 3], [1, 3, 1]]
    """

    def __init__(self, names: Sequence[str], most: int) -> None:
        self._names, self._most = list(names), most
        self._parts: list[pa.Table] = []
        self._summed = self._waiting = 0

    def add(self, counted: pa.Table) -> bool:
        """Add some rows; whether there are more different ones than there may be."""
        self._parts.append(counted)
        self._waiting += counted.num_rows
        if self._waiting > max(self._summed, _FEW):
            self._sum()
        return self._summed > self._most

    def result(self) -> pa.Table | None:
        """All rows with their counts, ascending; None when there are too many."""
        self._sum()
        if self._summed > self._most:
            return None
        if not self._parts:
            return pa.table({name: pa.array([], pa.int64()) for name in [*self._names, COUNT]})
        return in_order(self._parts[0], self._names)

    def _sum(self) -> None:
        if not self._waiting:
            return
        summed = _summed(pa.concat_tables(self._parts), self._names)
        self._parts = [summed]
        self._summed, self._waiting = summed.num_rows, 0


def _summed(counted: pa.Table, names: Sequence[str]) -> pa.Table:
    # Numbers groups by dictionaries: groups of Arrow load its engine of queries, as its sort does (see below).
    group = np.zeros(counted.num_rows, dtype=np.int64)
    for name in names:
        own = counted[name].combine_chunks().dictionary_encode()
        group *= len(own.dictionary)
        group += np.asarray(own.indices)
        if len(names) > 1:
            group = np.asarray(pa.array(group).dictionary_encode().indices).astype(np.int64)
    counts = np.asarray(counted[COUNT], dtype=np.int64)
    sums = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.add.at(sums, group, counts)
    first = np.empty(len(sums), dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    rows = counted.select(names).take(pa.array(first))
    return rows.append_column(COUNT, pa.array(sums))


def in_order(counted: pa.Table, names: Sequence[str]) -> pa.Table:
    """Counted rows by their words, ascending.

    Examples
    --------
    >>> in_order(pa.table({"x": [2, 1], COUNT: [5, 6]}), ["x"])[COUNT].to_pylist()
    [6, 5]
    """
    # By numpy: a sort of Arrow loads its engine of queries, and a driver of a cluster has little memory to spare.
    order = np.lexsort([counted[name].to_numpy() for name in reversed(names)])
    return counted.take(pa.array(order))
