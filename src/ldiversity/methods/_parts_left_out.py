"""How many rows of each value are left out of a table, decided by the counts of all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._parts_moves import Moves, spread_over

__all__ = ["leave_out"]


def leave_out(counts: NDArray[np.int64], l: int, cells: CodeArray | None = None) -> Moves:
    """The fewest rows to leave out, so that no value has more than 1/l of those that stay.

    The rule is that of tables in one piece: at most k rows of each value stay, for the greatest k with
    ``sum(min(count, k)) >= k * l``; with several keys, key by key until none is too frequent. Then rows of a value are
    left out of its cells in proportion to their size.

    Parameters
    ----------
    counts
        Shape (values,), or (cells,) if there are several keys.
    l
        At least 2.
    cells
        Shape (cells, keys): the values of each cell, for several sensitive columns and for people. -1 where a value
        cannot be too frequent, as with people who have few rows.

    Returns
    -------
    Moves from part 0, which is the whole table, to -1.

    Examples
    --------
    >>> moves = leave_out(np.array([6, 2, 2]), 2)
    >>> moves.value.tolist(), moves.target.tolist(), moves.number.tolist()
    ([0], [-1], [2])
    """
    keys = np.arange(len(counts), dtype=np.int32).reshape(-1, 1) if cells is None else cells
    kept = np.array(counts, dtype=np.int64)
    before = -1
    while before != int(kept.sum()):
        before = int(kept.sum())
        for codes in keys.T:
            _keep_eligible(kept, codes, l)
    gone = np.asarray(counts) - kept
    return Moves.of({(0, cell, -1): int(gone[cell]) for cell in np.flatnonzero(gone).tolist()})


def _keep_eligible(kept: NDArray[np.int64], codes: CodeArray, l: int) -> None:
    """Lower the counts of the cells whose value is too frequent."""
    known = np.flatnonzero(codes >= 0)
    totals = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(totals, codes[known], kept[known])
    most = most_classes(totals, l, besides=int(kept.sum() - totals.sum()))
    for value in np.flatnonzero(totals > most).tolist():
        own = known[codes[known] == value]
        kept[own] -= spread_over(kept[own], int(totals[value]) - most)
