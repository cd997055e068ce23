"""Deal out the values of a class to its records when each record has its own odds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.models import ClassCounts

__all__ = ["EXACT_SIZE", "Entries", "deal_out", "share_out"]

EXACT_SIZE: Final = 6
"""Up to this size, all ways to deal out the values of a class are weighed; larger classes are balanced by scaling."""

_ROUNDS: Final = 30
_LEAST: Final = 1e-12


class Entries:
    """The pairs of a row and a value of its class, row by row; rows of class -1 have none.

    Each entry has its `row`, the `code` of its value, and the position `pair` of the value in the counts of the class.
    The entries of row r begin at ``first[r]``.

    Examples
    --------
    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> of = np.array([0, 0], dtype=np.int32)
    >>> entries = Entries(of, count_classes(of, np.array([0, 2]), 1, Domain(("a", "b", "c"))))
    >>> entries.row.tolist(), entries.code.tolist()
    ([0, 0, 1, 1], [0, 2, 0, 2])
    """

    def __init__(self, class_of: CodeArray, classes: ClassCounts) -> None:
        shown = np.flatnonzero(class_of >= 0)
        of = class_of[shown]
        lengths = np.diff(classes.starts)[of]
        self.row: NDArray[np.int64] = np.repeat(shown, lengths)
        first = np.cumsum(lengths) - lengths
        self.first: NDArray[np.int64] = np.zeros(len(class_of), dtype=np.int64)
        self.first[shown] = first
        self.pair: NDArray[np.int64] = np.repeat(classes.starts[of] - first, lengths) + np.arange(int(lengths.sum()))
        self.code: CodeArray = classes.codes[self.pair]
        self.n_rows = len(class_of)


def share_out(weights: FloatArray, entries: Entries) -> FloatArray:
    """Scale the weights of each row to sum to one; make them equal where all are zero."""
    totals = np.bincount(entries.row, weights, minlength=entries.n_rows)[entries.row]
    even = 1.0 / np.bincount(entries.row, minlength=entries.n_rows)[entries.row]
    return np.divide(weights, totals, out=even, where=totals > 0)


def deal_out(odds: FloatArray, entries: Entries, class_of: CodeArray, classes: ClassCounts) -> FloatArray:
    """How likely each entry is, when the records of a class share its values and their odds are independent.

    The `odds` say how likely each entry is for a record alone, up to a factor per row. The exact answer is a ratio of
    permanents. Classes of at most six records get it, by all ways to deal out their values; in larger classes, odds are
    scaled until both records and values add up.
    """
    scaled = np.maximum(odds / _largest(odds, entries)[entries.row], _LEAST)
    result = np.empty_like(scaled)
    exact = np.zeros(entries.n_rows, dtype=np.bool_)
    for rows, values in _small_classes(class_of, classes):
        _weigh_all_ways(entries.first[rows][:, :, None] + values[:, None, :], scaled, result)
        exact[rows] = True
    others = np.flatnonzero(~exact[entries.row])
    result[others] = _balance(scaled[others], entries.row[others], entries.pair[others], classes)
    return result


def _largest(odds: FloatArray, entries: Entries) -> FloatArray:
    """Shape (rows,): the largest odds of each row; 1 where there are none above 0."""
    top = np.ones(entries.n_rows)
    if len(odds):
        first = np.flatnonzero(np.diff(entries.row, prepend=-1))
        found = np.maximum.reduceat(odds, first)
        top[entries.row[first]] = np.where(found > 0, found, 1.0)
    return top


def _balance(odds: FloatArray, row: NDArray[np.int64], pair: NDArray[np.int64], classes: ClassCounts) -> FloatArray:
    share = odds.copy()
    if not len(share):
        return share
    _, row = np.unique(row, return_inverse=True)
    for _ in range(_ROUNDS):
        totals = np.bincount(pair, share, minlength=len(classes.counts))
        share *= (classes.counts / np.maximum(totals, _LEAST))[pair]
        share /= np.maximum(np.bincount(row, share), _LEAST)[row]
    return share


def _small_classes(class_of: CodeArray, classes: ClassCounts) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The rows of all classes of one size, and which of its values each class has, as often as it has them."""
    order = np.argsort(class_of, kind="stable")
    order = order[class_of[order] >= 0]
    sizes = np.bincount(class_of[order], minlength=classes.n_classes)
    first_row = np.cumsum(sizes) - sizes
    number = np.arange(len(classes.codes)) - np.repeat(classes.starts[:-1], np.diff(classes.starts))
    slots = np.repeat(number, classes.counts)
    first_slot = np.cumsum(classes.sizes) - classes.sizes
    for size in range(2, EXACT_SIZE + 1):
        chosen = np.flatnonzero((sizes == size) & (classes.sizes == size))
        if len(chosen):
            within = np.arange(size)
            yield order[first_row[chosen][:, None] + within], slots[first_slot[chosen][:, None] + within]


def _weigh_all_ways(place: NDArray[np.int64], odds: FloatArray, result: FloatArray) -> None:
    """Put the exact answer for classes of one size into `result`.

    `place`, of shape (classes, size, size), has the entry of each record and each place that the class has for a value.
    """
    likely = _ways_of_each(np.moveaxis(odds[place], 0, -1))
    likely /= likely.sum(axis=1, keepdims=True)
    # A value that a class has twice has two places in its columns, and one entry.
    summed = np.bincount(place.reshape(-1), np.moveaxis(likely, -1, 0).reshape(-1), minlength=len(result))
    used = np.zeros(len(result), dtype=np.bool_)
    used[place] = True
    result[used] = summed[used]


def _ways_of_each(weight: FloatArray) -> FloatArray:
    """Sum the weights of all ways to deal out values in which a record gets a value, for every record and value.

    Shape (size, size, classes), as `weight`. Records take values one after the other. What matters is which values are
    taken, not by whom, so ways are added up by the sets of taken values: from the first record on, and from the last.
    """
    size = len(weight)
    every = (1 << size) - 1
    before = {0: np.ones(weight.shape[2])}
    after = {0: np.ones(weight.shape[2])}
    for taken in range(1, every + 1):
        values = [value for value in range(size) if taken >> value & 1]
        first, last = len(values) - 1, size - len(values)
        before[taken] = np.add.reduce([before[taken ^ 1 << value] * weight[first, value] for value in values])
        after[taken] = np.add.reduce([after[taken ^ 1 << value] * weight[last, value] for value in values])
    likely = np.zeros_like(weight)
    for taken in range(every):
        record = taken.bit_count()
        for value in range(size):
            if not taken >> value & 1:
                likely[record, value] += before[taken] * weight[record, value] * after[every ^ taken ^ 1 << value]
    return likely
