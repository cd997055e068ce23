"""Two groupings of the same people: who can have which value, if the counts of all classes must add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._matching import Matches
from ldiversity.models import ClassCounts

__all__ = ["Cells", "fit_cells", "make_cells", "only_class"]

_ROUNDS: Final = 100
_SCALINGS: Final = 50
_LEAST: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Cells:
    """People by their classes in both groupings.

    `of_person` has the cell of each person, -1 when one of their classes is unknown. Of each cell, `first` and `second`
    have the classes, and `people` the number of people.
    """

    of_person: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    people: NDArray[np.int64]


def only_class(matches: Matches) -> NDArray[np.int64]:
    """Shape (n,): the class of each person, where only one fits; else -1."""
    starts, columns = matches.weights.indptr, matches.weights.indices
    single = np.append(np.diff(starts) == 1, False)  # the last entry is for group -1
    place = np.minimum(starts[:-1], max(0, len(columns) - 1))
    only = np.append(columns[place] if len(columns) else np.full(len(place), -1), -1)
    return np.where(single[matches.of_target], only[matches.of_target], -1).astype(np.int64)


def make_cells(first: NDArray[np.int64], second: NDArray[np.int64]) -> Cells:
    """Number the pairs of classes of people.

    Examples
    --------
    >>> make_cells(np.array([0, 0, 1, -1]), np.array([2, 2, 0, 1])).of_person.tolist()
    [0, 0, 1, -1]
    """
    known = (first >= 0) & (second >= 0)
    width = int(second.max(initial=0)) + 1
    pairs, back, people = np.unique(first[known] * width + second[known], return_inverse=True, return_counts=True)
    of_person = np.full(len(first), -1, dtype=np.int64)
    of_person[known] = back
    return Cells(of_person, pairs // width, pairs % width, people)


def fit_cells(cells: Cells, first: ClassCounts, second: ClassCounts, prior: FloatArray) -> Any | None:  # noqa: ANN401
    """Cells by values, sparse: how likely a person of each cell has each value; None when the counts contradict.

    The number of people of a cell with a value has bounds, which narrow each other: a class must have a person for each
    of its values, and each person must have one value. Within these bounds, the products of the shares of both classes
    over the `prior`, the overall shares, are scaled until people and the values of all classes add up. A class with
    unknown people restricts nobody.
    """
    from scipy.sparse import csr_array

    n_values = len(prior)
    counts = [_sparse(one) for one in (first, second)]
    ours, theirs = counts[0][cells.first], counts[1][cells.second]
    both = csr_array(ours.multiply(theirs)).tocoo()
    cell, value = (np.asarray(part, dtype=np.int64) for part in both.coords)
    if len(np.unique(cell)) < len(cells.people):  # the two classes of somebody share no value
        return None
    sums = [(cell, cells.people[cell].astype(float))]
    for of_cell, table, classes in ((cells.first, counts[0], first), (cells.second, counts[1], second)):
        known = np.bincount(of_cell, cells.people, minlength=classes.n_classes) == classes.sizes
        pair = of_cell[cell] * n_values + value
        asked = np.asarray(table[of_cell[cell], value]).reshape(-1).astype(float)
        # A class with unknown people does not limit its entries.
        _, group = np.unique(np.where(known[of_cell[cell]], pair, -1 - np.arange(len(pair))), return_inverse=True)
        sums.append((group, np.where(known[of_cell[cell]], asked, np.inf)))
        if not _all_have_place(table, known, pair, n_values):
            return None
    high = np.minimum(sums[0][1], both.data)  # a product of two counts is at least as large as either
    bounds = _narrow(high, sums)
    if bounds is None:
        return None
    share = _scale(np.where(bounds > 0, both.data / np.maximum(prior[value], _LEAST), 0.0), sums)
    return csr_array((share / cells.people[cell], (cell, value)), shape=(len(cells.people), n_values))


def _sparse(classes: ClassCounts) -> Any:  # noqa: ANN401 - a sparse matrix
    from scipy.sparse import csr_array

    shape = (classes.n_classes, len(classes.domain))
    return csr_array((classes.counts.astype(float), classes.codes, classes.starts), shape=shape)


def _all_have_place(table: Any, known: NDArray[np.bool_], pair: NDArray[np.int64], n_values: int) -> bool:  # noqa: ANN401
    """Whether somebody can have each value of the known classes."""
    row, column = table.tocoo().coords
    wanted = np.asarray(row, dtype=np.int64)[known[row]] * n_values + np.asarray(column)[known[row]]
    return bool(np.isin(wanted, pair).all())


def _narrow(high: FloatArray, sums: list[tuple[NDArray[np.int64], FloatArray]]) -> FloatArray | None:
    """Upper bounds of whole, non-negative entries with the given sums; None when there are no such entries."""
    low = np.zeros_like(high)
    for _ in range(_ROUNDS):
        before = high.sum() - low.sum()
        for group, total in sums:
            finite = np.isfinite(total)
            others_low = np.bincount(group, low)[group] - low
            others_high = np.bincount(group, high)[group] - high
            high = np.where(finite, np.minimum(high, total - others_low), high)
            low = np.where(finite, np.maximum(low, total - others_high), low)
        if (high < low).any():
            return None
        if high.sum() - low.sum() == before:
            break
    return high


def _scale(share: FloatArray, sums: list[tuple[NDArray[np.int64], FloatArray]]) -> FloatArray:
    """Scale entries until all sums are right; those of people come last, so that they hold exactly."""
    for _ in range(_SCALINGS):
        for group, total in [*sums[1:], sums[0]]:
            reached = np.bincount(group, share)[group]
            fits = np.isfinite(total) & (reached > 0)
            share = np.where(fits, share * np.where(fits, total, 1.0) / np.where(fits, reached, 1.0), share)
    return share
