"""Deal out the values of a class to its records when each record has its own odds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
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
    top = np.zeros(entries.n_rows)
    np.maximum.at(top, entries.row, odds)
    scaled = np.maximum(odds / np.where(top > 0, top, 1.0)[entries.row], _LEAST)
    result = _balance(scaled, entries, classes)
    for rows, codes in _small_classes(class_of, classes):
        _weigh_all_ways(rows, codes, scaled, entries, result, len(classes.domain))
    return result


def _balance(odds: FloatArray, entries: Entries, classes: ClassCounts) -> FloatArray:
    share = odds.copy()
    for _ in range(_ROUNDS):
        totals = np.bincount(entries.pair, share, minlength=len(classes.counts))
        share *= (classes.counts / np.maximum(totals, _LEAST))[entries.pair]
        share /= np.maximum(np.bincount(entries.row, share, minlength=entries.n_rows), _LEAST)[entries.row]
    return share


def _small_classes(class_of: CodeArray, classes: ClassCounts) -> Iterator[tuple[NDArray[np.int64], CodeArray]]:
    """The rows and the values, repeated as often as they occur, of all classes of one size."""
    order = np.argsort(class_of, kind="stable")
    order = order[class_of[order] >= 0]
    sizes = np.bincount(class_of[order], minlength=classes.n_classes)
    first_row = np.cumsum(sizes) - sizes
    slots = np.repeat(classes.codes, classes.counts)
    first_slot = np.cumsum(classes.sizes) - classes.sizes
    for size in range(2, EXACT_SIZE + 1):
        chosen = np.flatnonzero((sizes == size) & (classes.sizes == size))
        if len(chosen):
            within = np.arange(size)
            yield order[first_row[chosen][:, None] + within], slots[first_slot[chosen][:, None] + within]


def _weigh_all_ways(
    rows: NDArray[np.int64], codes: CodeArray, odds: FloatArray, entries: Entries, result: FloatArray, n_values: int
) -> None:
    """Put the exact answer for classes of one size into `result`."""
    size = rows.shape[1]
    keys = entries.row * n_values + entries.code  # ascending, as rows are and codes within them
    place = np.searchsorted(keys, rows[:, :, None] * n_values + codes[:, None, :])
    weight = odds[place]
    likely = np.zeros_like(weight)
    members = np.arange(size)
    for dealt in permutations(range(size)):
        way = weight[:, members, dealt].prod(axis=1)
        likely[:, members, dealt] += way[:, None]
    likely /= likely.sum(axis=2, keepdims=True)
    result[np.unique(place)] = 0.0
    np.add.at(result, place, likely)
