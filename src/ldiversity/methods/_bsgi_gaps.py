"""BSGI for numbers that count as different only beyond a gap: the table is cut while every side keeps the promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._base import GroupingRun, Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._gaps import Line, divide_line
from ldiversity.methods._people import Dealer, not_apart
from ldiversity.methods._rule import Rules

__all__ = ["group_apart", "keep_apart"]

_WITHOUT_GAPS: Final = (
    "Leave the gap out: without gaps, classes are formed record by record. A smaller gap or l may do as well."
)


def keep_apart(
    columns: Sequence[SensitiveColumn], lines: Sequence[Line | None], levels: Sequence[int]
) -> NDArray[np.int64]:
    """The rows that can stay, the first of each value, so that nothing has more than 1/l of them in any column."""
    rows = np.arange(len(columns[0].codes))
    while True:
        before = len(rows)
        for column, line, l in zip(columns, lines, levels, strict=True):
            own = column.codes[rows]
            counts = np.bincount(own, minlength=len(column.domain)).astype(np.int64)
            if line is None:
                kept = np.minimum(counts, most_classes(counts, l))
            else:
                kept = line.kept(counts, line.most_classes(counts, l))[line.rank]
            order = np.argsort(own, kind="stable")
            rank = np.empty(len(rows), dtype=np.int64)
            rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            rows = rows[rank < kept[own]]
        if len(rows) == before:
            return rows


def group_apart(
    table: CodedTable,
    rules: Sequence[Rules],
    lines: Sequence[Line | None],
    levels: Sequence[int],
    weights: Mapping[str, float] | None,
    run: GroupingRun,
) -> Partition:
    """Cut the table while both sides keep the promise; with one column, `divide_line` divides what cannot be cut.

    All rows together keep the promise, so there is always a grouping: at worst the table itself is a class.

    Raises
    ------
    InfeasibleError
        When not even all rows can be divided so that everybody stands in a class once.
    """
    from ldiversity.methods._mondrian_cuts import Cutter
    from ldiversity.methods._mondrian_ranks import rank_table

    given = np.array(list(table.weights("BSGI", weights).values()))
    dealer = Dealer.of(table)
    if dealer is not None and not dealer.keeps_whole(table.sensitive, rules):
        raise not_apart("BSGI", table, _WITHOUT_GAPS)
    found = Cutter(rank_table(table), table.sensitive, rules, given, False, dealer).partition(run)
    if len(lines) > 1 or lines[0] is None or dealer is not None:
        return found
    return _divided(table.sensitive[0], lines[0], levels[0], found)


def _divided(column: SensitiveColumn, line: Line, l: int, partition: Partition) -> Partition:
    """Divide every class into as many as it can be."""
    class_of = np.empty(len(partition.class_of), dtype=np.int32)
    order = np.argsort(partition.class_of, kind="stable")
    ends = np.cumsum(partition.sizes)
    n_classes = 0
    for start, end in zip(ends - partition.sizes, ends, strict=True):
        rows = order[start:end]
        own = divide_line(column.codes[rows], line, l) if len(rows) >= 2 * l else None
        if own is None or own.suppressed or not own.n_classes:
            class_of[rows] = n_classes
            n_classes += 1
        else:
            class_of[rows] = own.class_of + n_classes
            n_classes += own.n_classes
    return Partition(class_of, n_classes)
