"""Classes of rows that differ in several columns, from the cells of a grid: the core of MBF and of joint L-LMSU."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.numbers import counted
from ldiversity.errors import InfeasibleError
from ldiversity.methods._anatomy_classes import check_shares, losses, most_classes
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._coded import SensitiveColumn
from ldiversity.methods._column_levels import ColumnLevels, changed_level, levels_of
from ldiversity.methods._parts_rule import PartCounts
from ldiversity.sentences import Setting, say

__all__ = ["Cells", "best_of", "check_columns", "describe", "has_levels"]

_PILOT: Final = 65_536
"""Rows on which powers are chosen, where there are at least four times as many."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by the cells of a grid, one dimension per column.

    Parameters
    ----------
    levels
        Shape (cells, columns): the levels of each cell, numbered across columns.
    n_levels
        The number of levels of all columns together.
    near
        Shape (n_levels, 2): the first and the last level that exclude each; empty where only equal levels do.
    starts
        Shape (cells + 1,): where the rows of each cell begin in `rows`.
    rows
        Shape (n,): rows by cell, in their given order.
    person
        Shape (n,): who a row belongs to; empty when each row belongs to a different person.

    Examples
    --------
    >>> cells = Cells.of([np.array([0, 1, 0]), np.array([2, 0, 2])])
    >>> cells.rows.tolist(), cells.starts.tolist()
    ([0, 2, 1], [0, 2, 3])
    """

    levels: NDArray[np.int64]
    n_levels: int
    near: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: CodeArray
    person: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        columns: Sequence[CodeArray],
        person: NDArray[np.int64] | None = None,
        near: Sequence[NDArray[np.int64] | None] | None = None,
    ) -> Cells:
        """Sort rows into cells; the cell whose first row comes first is the first.

        `near` has, for each column whose levels exclude others too, the first and the last that each excludes.
        """
        key = np.zeros(len(columns[0]), dtype=np.int64)
        levels, n_levels = [], 0
        spans = [np.empty((0, 2), dtype=np.int64)]
        for codes, own in zip(columns, near or [None] * len(columns), strict=True):
            # Numbered anew after each column, so that no product of numbers of values can overflow.
            key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1].ravel()
            levels.append(codes.astype(np.int64) + n_levels)
            size = int(codes.max(initial=-1)) + 1 if own is None else len(own)
            if near is not None and any(one is not None for one in near):
                spans.append(n_levels + (np.column_stack([np.arange(size)] * 2) if own is None else own))
            n_levels += size
        _, firsts, counts = np.unique(key, return_index=True, return_counts=True)
        order = np.argsort(firsts)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return cls(
            levels=np.column_stack([column[firsts[order]] for column in levels]),
            n_levels=n_levels,
            near=np.ascontiguousarray(np.concatenate(spans), dtype=np.int64),
            starts=np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int64),
            rows=np.argsort(rank[key], kind="stable").astype(np.int32),
            person=np.empty(0, dtype=np.int64) if person is None else np.asarray(person, dtype=np.int64),
        )

    def first(self, n_rows: int) -> Cells:
        """The cells of the first rows alone."""
        kept = self.rows < n_rows
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts].astype(np.int64)
        return Cells(self.levels, self.n_levels, self.near, starts, self.rows[kept], self.person[:n_rows])

    def fewest_hidden(self, l: int) -> int:
        """A bound from below: how many rows the worst column alone makes any division hide."""
        sizes = np.diff(self.starts)
        hidden = 0
        for levels in self.levels.T:
            counts = np.bincount(levels, weights=sizes).astype(np.int64)
            hidden = max(hidden, int(np.maximum(counts - most_classes(counts, l), 0).sum()))
        return hidden

    def classes(self, l: int, power: float, run: GroupingRun) -> Partition:
        """Form classes of at least `l` rows that differ in every column; see the kernel for `power`."""
        from ldiversity._kernels.mbf import fill_from_cells

        class_of, n_classes = fill_from_cells(
            self.levels,
            self.n_levels,
            self.near,
            self.starts,
            self.rows.copy(),
            self.person,
            l,
            power,
            lambda share: run.progress(share, "forming classes"),
        )
        return Partition(class_of, n_classes)


def check_columns(
    owner: str, columns: Sequence[SensitiveColumn], counts: Sequence[NDArray[np.int64]], l: ColumnLevels
) -> None:
    """Refuse when a column has fewer than l levels that occur, where it is known how often each does."""
    needed = levels_of(owner, l, [column.name for column in columns])
    for column, own, least in zip(columns, counts, needed, strict=True):
        check_shares(owner, column.name, own, least, overflow="suppress", setting=changed_level(l, column.name))


def has_levels(method: GroupingMethod, part: PartCounts, l: ColumnLevels) -> bool:
    """Whether a class can be formed in a part: it is empty, or has l levels of each column, and l people."""
    levels = [method.part_levels(own.domain, own.counts) for own in part.populations]
    occurring = [len(np.unique(own[counts > 0])) for own, counts in zip(levels, part.values, strict=True)]
    needed = levels_of(method.name, l, part.names or ("",) * len(occurring))
    enough = all(own >= least for own, least in zip(occurring, needed, strict=True))
    return part.n_rows == 0 or (enough and part.most_of_person * max(needed) <= part.n_rows)


def best_of(owner: str, grids: Sequence[Cells], l: int, powers: Sequence[float], run: GroupingRun) -> Partition:
    """The classes that hide the fewest rows, among all grids and all ways to choose cells; the first of equals.

    The search ends at once when the first grid's columns, one by one, show that no fewer can be hidden. In large
    tables powers are chosen on the first rows, which are a random sample, and compared with the first power on all.

    Raises
    ------
    InfeasibleError
        When there is no class.
    """
    best: Partition | None = None
    fewest = grids[0].fewest_hidden(l)
    ways = [(cells, power) for cells in grids for power in _finalists(cells, l, powers, run)]
    of_several = replace(run, progress=lambda share, word: run.progress(share / len(ways), word))
    with ThreadPoolExecutor(max_workers=max(1, min(run.workers, len(ways)))) as pool:
        for done, partition in enumerate(pool.map(lambda way: way[0].classes(l, way[1], of_several), ways), start=1):
            best = partition if best is None or partition.suppressed < best.suppressed else best
            run.progress(done / len(ways), "forming classes")
            if best.suppressed <= fewest:
                pool.shutdown(cancel_futures=True)
                break
    if best is None or best.n_classes == 0:
        fewer = next(
            (fewer for fewer in range(l - 1, 1, -1) if grids[0].classes(fewer, powers[-1], run).n_classes), None
        )
        raise InfeasibleError(
            owner,
            "l",
            "must leave at least one class of records that differ in every sensitive column",
            got=l,
            nearest=[] if fewer is None else [{"l": fewer}],
        ).with_hint(None if fewer is None else say("Use {}, or fewer sensitive columns.", Setting("l", fewer)))
    return best


def _finalists(cells: Cells, l: int, powers: Sequence[float], run: GroupingRun) -> Sequence[float]:
    """The powers to try on all rows: all of them, or the first and the one that hides the fewest of a sample."""
    if len(powers) < 3 or len(cells.rows) < 4 * _PILOT:  # noqa: PLR2004 - nothing to choose
        return powers
    sample = cells.first(_PILOT)
    pilot = replace(run, progress=lambda _, word: run.progress(0.0, word))
    with ThreadPoolExecutor(max_workers=max(1, min(run.workers, len(powers)))) as pool:
        hidden = [partition.suppressed for partition in pool.map(lambda power: sample.classes(l, power, pilot), powers)]
    return list(dict.fromkeys([powers[0], powers[int(np.argmin(hidden))]]))


def describe(partition: Partition, l: int) -> Grouping:
    """The grouping with its public facts; the holder is told what is hidden."""
    facts = losses(partition, l)
    lost = int((partition.class_of < 0).sum())
    hidden = counted(lost, "record fits", "records fit")
    notes = [f"{hidden} into no class, of {len(partition.class_of)}, and will not be published."]
    return Grouping((partition,), facts=facts, notes=tuple(notes) if facts["hidden"] else ())
