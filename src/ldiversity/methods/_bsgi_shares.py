"""BSGI's last step where columns have levels of their own: what counts is each value's share of a class, not slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.methods._base import Partition
from ldiversity.methods._coded import CodedTable

__all__ = ["place_by_shares"]

_SAMPLE: Final = 1 << 15
"""Rows of classes with which one that is left may change places."""


def place_by_shares(
    points: NDArray[np.float32], table: CodedTable, levels: Sequence[int], partition: Partition, kept: BoolArray
) -> Partition:
    """Place the kept rows that have no class.

    They change places with rows of classes until each value has its share among them, and form a class of their own. If
    that does not suffice, each joins the nearest class in which its values then still have their shares, and the rest
    forms a class with the rows of some others: two classes in which each value has its share have that together, too,
    and all rows have it. Where people have several rows, rows may find no class.
    """
    shares = _Shares(table, tuple(levels), partition.class_of.copy(), partition.n_classes)
    left = np.flatnonzero(kept & (partition.class_of < 0))
    if table.several is None:
        left = shares.exchange(left)
    if table.several is not None or not shares.hold(left):
        left = np.array([row for row in left.tolist() if not shares.join(points, row)], dtype=np.int64)
    if not len(left) or table.several is not None:
        return Partition(shares.class_of, shares.n_classes)
    return shares.gather(left)


@dataclass(eq=False)
class _Shares:
    table: CodedTable
    levels: tuple[int, ...]
    class_of: CodeArray
    n_classes: int

    def __post_init__(self) -> None:
        placed = self.class_of >= 0
        self.sizes = np.bincount(self.class_of[placed], minlength=self.n_classes).astype(np.int64)
        self.counts = []
        for column in self.table.sensitive:
            counts = np.zeros((self.n_classes, len(column.domain)), dtype=np.int32)
            np.add.at(counts, (self.class_of[placed], column.codes[placed]), 1)
            self.counts.append(counts)

    def hold(self, rows: NDArray[np.int64]) -> bool:
        """Whether each value has at most its share of some rows."""
        own = [np.bincount(column.codes[rows], minlength=len(column.domain)) for column in self.table.sensitive]
        return self._too_frequent(own, len(rows))[0] < 0

    def join(self, points: NDArray[np.float32], row: int) -> bool:
        """Let a row join the nearest class that has room for it; return whether there is one."""
        room = np.ones(self.n_classes, dtype=np.bool_)
        for counts, column, l in zip(self.counts, self.table.sensitive, self.levels, strict=True):
            room &= (counts[:, column.codes[row]] + 1) * l <= self.sizes + 1
        person = self.table.several
        if person is not None:
            met = self.class_of[person == person[row]]
            room[met[met >= 0]] = False
        classes = np.flatnonzero(room)
        if not len(classes):
            return False
        among = np.flatnonzero(room[self.class_of] & (self.class_of >= 0))
        away = np.minimum(np.abs(points[among] - points[row]), 1).sum(axis=1)
        nearest = int(self.class_of[among[int(np.argmin(away))]])
        self.class_of[row] = nearest
        self.sizes[nearest] += 1
        for counts, column in zip(self.counts, self.table.sensitive, strict=True):
            counts[nearest, column.codes[row]] += 1
        return True

    def exchange(self, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Let rows with values that are too frequent among those left change places with others; return who is left."""
        columns = self.table.sensitive
        # Rows come in a random order: the first ones are a fair sample.
        placed = np.flatnonzero(self.class_of >= 0)[:_SAMPLE]
        for _ in range(len(left)):
            own = [np.bincount(column.codes[left], minlength=len(column.domain)) for column in columns]
            worst, value = self._too_frequent(own, len(left))
            if worst < 0:
                break
            out = np.flatnonzero(columns[worst].codes[left] == value)
            class_of, found = self.class_of[placed], False
            for place in out.tolist():
                row = left[place]
                fits = columns[worst].codes[placed] != value
                burden = np.zeros(len(placed))
                for counts, column, l, among in zip(self.counts, columns, self.levels, own, strict=True):
                    code = column.codes[row]
                    has_room = (counts[class_of, code] + 1) * l <= self.sizes[class_of]
                    fits &= has_room | (column.codes[placed] == code)
                    burden = np.maximum(burden, among[column.codes[placed]] * l)
                if fits.any():
                    other = int(np.argmin(np.where(fits, burden, np.inf)))
                    self._swap(row, int(placed[other]))
                    left[place], placed[other], found = placed[other], row, True
                    break
            if not found:
                break
        return left

    def _too_frequent(self, own: Sequence[NDArray[np.int64]], n_rows: int) -> tuple[int, int]:
        """The column and the value that exceeds its share of some rows most; -1 when none does."""
        over = [int(counts.max()) * l - n_rows for counts, l in zip(own, self.levels, strict=True)]
        worst = int(np.argmax(over))
        return (worst, int(own[worst].argmax())) if over[worst] > 0 else (-1, -1)

    def _swap(self, row: int, other: int) -> None:
        own = int(self.class_of[other])
        self.class_of[row], self.class_of[other] = own, -1
        for counts, column in zip(self.counts, self.table.sensitive, strict=True):
            counts[own, column.codes[row]] += 1
            counts[own, column.codes[other]] -= 1

    def gather(self, left: NDArray[np.int64]) -> Partition:
        """Make one class of the rows that are left, with classes that lack what they have too much of."""
        own = [np.bincount(column.codes[left], minlength=len(column.domain)) for column in self.table.sensitive]
        n_rows, free = len(left), np.ones(self.n_classes, dtype=np.bool_)
        while True:
            worst, value = self._too_frequent(own, n_rows)
            if worst < 0:
                break
            if not free.any():
                return Partition(self.class_of, self.n_classes)  # not all rows together leave each value its share
            l = self.levels[worst]
            spare = np.where(free, self.sizes - l * self.counts[worst][:, value], -np.inf)
            chosen = int(np.argmax(spare / np.maximum(self.sizes, 1)))
            free[chosen] = False
            n_rows += int(self.sizes[chosen])
            own = [counts + theirs[chosen] for counts, theirs in zip(own, self.counts, strict=True)]
        last = int(free.sum())
        # The last entry is for rows without a class.
        number = np.append(np.where(free, np.cumsum(free) - 1, last), -1)
        class_of = number[self.class_of].astype(np.int32)
        class_of[left] = last
        return Partition(class_of, last + 1)
