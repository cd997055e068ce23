"""The two sides of a test of independence: what is known of each record, with what is rare put together.

A test compares cells, or the values of another hidden attribute, with the values of the tested one. Its distribution is
known where each group is large enough. With weights a group is as large as the number of records of equal weight that
would tell as much (Kish): the square of the sum of the weights, divided by the sum of their squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.numbers import counted, number
from ldiversity.estimation._cells import CellIndex, index_cells
from ldiversity.estimation._design import effective
from ldiversity.estimation._likelihood import counted_marginal
from ldiversity.sentences import Parameter, Sentence, say

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._by import By
    from ldiversity.release import Release

__all__ = ["Side", "pool", "pool_weighted", "side_of_cells", "side_of_values"]

LEAST_EXPECTED: Final = 5
"""Values are put together until each is expected so often in a cell of average size, as for Pearson's chi-square."""

ENOUGH_OF_VALUE: Final = 50
"""So many records of a value are enough without weights, if it is expected once in a cell of average size: mean and
variance of the statistic are exact then, and in many cells nearly all values would be put together otherwise."""

LEAST_RECORDS: Final = 5
"""Cells with fewer records are put together."""

LEAST_WEIGHTED: Final = 20
"""The same with weights or strata, counted as records of equal weight: few of them do not show their own variance."""


_NAMED: Final = 3
"""So many of the cells that were put together are named: there may be thousands."""


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a test.

    Attributes
    ----------
    rows
        A row for each selected record: the indicators of its cell, or the probabilities of its values.
    least
        How many records each group has at least, if there are several.
    note
        What was put together, as a caveat.
    way_out
        What to do where fewer than two groups are left.
    """

    rows: csr_matrix
    least: float
    note: str = ""
    way_out: str = "Ask for fewer cells: wider bins, or groups; or select more records."

    @property
    def size(self) -> int:
        """The number of groups."""
        return int(self.rows.shape[1])


def side_of_cells(release: Release, by: tuple[By, ...], rows: NDArray[np.int64], weights: FloatArray | None) -> Side:
    """The cell of each record, small cells put together."""
    from scipy.sparse import csr_matrix

    columns = release.columns([part.column for part in by])
    for part in by:
        part.check(columns[part.column])
    chosen = columns.take(rows)
    cells = index_cells([part.encode(chosen[part.column]) for part in by], len(rows))
    least = LEAST_RECORDS if weights is None else LEAST_WEIGHTED
    each = np.ones(len(rows)) if weights is None else weights
    sums, squares = (
        np.bincount(cells.of_row, weights=one, minlength=cells.n_cells).astype(np.float64)
        for one in (each, each * each)
    )
    group_of = pool_weighted(sums, squares, least)
    codes = group_of[cells.of_row]
    made = csr_matrix((np.ones(len(rows)), codes, np.arange(len(rows) + 1)), shape=(len(rows), int(group_of.max()) + 1))
    sizes = np.square(sums) / squares
    return Side(made, least, _small_cells(cells, sizes, least, weights), _fewer_cells(cells, sizes, weights))


def side_of_values(
    release: Release,
    name: str,
    rows: NDArray[np.int64],
    weights: FloatArray | None,
    n_cells: int | None = None,
) -> Side:
    """The probabilities of the values for each record, rare values put together.

    They are compared with so many cells, or with the values of another hidden attribute.
    """
    from scipy.sparse import csr_matrix

    evidence = release.evidence(name)
    pieces = evidence.of_row[rows]
    shown = evidence.candidates
    each = evidence.shares(_prior(release, name, pieces), aware=True)
    whole = csr_matrix((each, shown.codes, shown.starts), shape=(evidence.n_pieces, len(evidence.domain)))
    times = np.bincount(pieces, minlength=evidence.n_pieces).astype(np.float64)
    expected = np.asarray(whole.T @ times)
    n = len(rows)
    equal = n if weights is None else effective(weights)
    least = math.sqrt(LEAST_EXPECTED * equal) if n_cells is None else float(LEAST_EXPECTED * n_cells)
    if n_cells is not None and weights is None:
        least = min(least, float(max(ENOUGH_OF_VALUE, n_cells)))
    group_of = pool(expected * (equal / n), least)
    groups = csr_matrix((np.ones(len(group_of)), group_of, np.arange(len(group_of) + 1)))
    rare = int(np.count_nonzero(np.bincount(group_of)[group_of] > 1))
    note = f"{rare} rare values of {name!r} were put together." if rare else ""
    return Side((whole @ groups).tocsr()[pieces], least, note)


def _small_cells(cells: CellIndex, sizes: FloatArray, least: float, weights: FloatArray | None) -> str:
    """Which cells were put together with others, as a caveat; their labels are published."""
    small = np.flatnonzero(sizes < least)
    if not len(small):
        return ""
    equal = "" if weights is None else ", counted as many of equal weight"
    few = f"{counted(len(small), 'cell has', 'cells have')} fewer than {least} records{equal}"
    named = ", ".join(repr(_label(cells, cell)) for cell in small[:_NAMED].tolist())
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    return f"{few}: put together with others ({named}{more})."


def _fewer_cells(cells: CellIndex, sizes: FloatArray, weights: FloatArray | None) -> Sentence:
    """What to do where all cells had to be put together; names the one that made it so."""
    if cells.n_cells == 1:
        return say("All selected records are in one cell: name a column in {} that divides them.", Parameter("by"))
    least = int(np.argmin(sizes))
    records = int(np.count_nonzero(cells.of_row == least))
    counts = "" if weights is None else f", which its weights make count as {number(sizes[least], 2)}"
    without = say(", leave it out with {}", Parameter("where")) if cells.n_cells > 2 else ""  # noqa: PLR2004
    return say(
        "The smallest cell, {}, has {}{}. Ask for fewer cells: wider bins, or groups{}; or select more records.",
        repr(_label(cells, least)),
        counted(records, "record"),
        counts,
        without,
    )


def _label(cells: CellIndex, cell: int) -> str:
    """A cell by its labels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> _label(CellIndex(np.array([0]), pa.table({"sex": ["f"], "age": ["[0, 10)"]}), 1), 0)
    'sex f, age [0, 10)'
    """
    return ", ".join(
        f"{name} {'missing' if (label := cells.labels[name][cell].as_py()) is None else label}"
        for name in cells.labels.column_names
    )


def _prior(release: Release, name: str, pieces: NDArray[Any]) -> FloatArray | None:
    """The shares of the values among these records; None where classes count them."""
    evidence = release.evidence(name)
    if evidence.counted:
        return None
    times = np.bincount(pieces, minlength=evidence.n_pieces)
    used = times > 0
    return counted_marginal([evidence.drawn_by()], [np.ascontiguousarray(evidence.sets[used])], times[used])


def pool_weighted(sums: FloatArray, squares: FloatArray, least: float) -> NDArray[np.int64]:
    """Put cells together until each group has `least` records of equal weight; gives the group of each cell.

    `sums` and `squares` are those of the weights in each cell. Great weights among small ones make a group smaller than
    its parts, so groups are counted again.

    Examples
    --------
    Five records of weight 1, and one of weight 10 in a cell of its own, count as two of equal weight together. Were its
    weight 1, they would be six:

    >>> pool_weighted(np.array([5.0, 10.0, 8.0]), np.array([5.0, 100.0, 8.0]), least=3).tolist()
    [0, 0, 0]
    >>> pool_weighted(np.array([5.0, 1.0, 8.0]), np.array([5.0, 1.0, 8.0]), least=3).tolist()
    [0, 0, 1]
    """
    group_of = pool(np.square(sums) / squares, least)
    while True:
        size = np.square(np.bincount(group_of, weights=sums)) / np.bincount(group_of, weights=squares)
        if len(size) == 1 or size.min() >= least:
            return group_of
        smallest, next_one = np.argsort(size, kind="stable")[:2]
        group_of = _numbered(np.where(group_of == smallest, next_one, group_of))


def pool(expected: FloatArray, least: float) -> NDArray[np.int64]:
    """Put columns with too few expected records together; gives the group of each column.

    Rare ones are joined, the rarest first, until each group expects `least`; what is left over joins the least group.

    Examples
    --------
    >>> pool(np.array([50.0, 1.0, 4.0, 20.0, 2.0]), least=5).tolist()
    [0, 1, 1, 2, 1]
    """
    group_of = np.full(len(expected), -1, dtype=np.int64)
    kept = expected >= least
    group_of[kept] = np.arange(np.count_nonzero(kept))
    rare = np.flatnonzero(~kept)[np.argsort(expected[~kept], kind="stable")]
    sums = list(expected[kept])
    for column in rare:
        if len(sums) == np.count_nonzero(kept) or sums[-1] >= least:
            sums.append(0.0)
        sums[-1] += expected[column]
        group_of[column] = len(sums) - 1
    if len(rare) and sums[-1] < least and len(sums) > 1:
        group_of[group_of == len(sums) - 1] = int(np.argmin(sums[:-1]))
    return _numbered(group_of)


def _numbered(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered from 0, by their first column."""
    _, first, back = np.unique(group_of, return_index=True, return_inverse=True)
    return np.unique(first[back], return_inverse=True)[1].astype(np.int64)
