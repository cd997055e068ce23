"""Cutting all nodes of a table level by level, while every side satisfies a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.methods._base import GroupingRun, Partition
from ldiversity.methods._coded import SensitiveColumn
from ldiversity.methods._mondrian_ranks import Ranks
from ldiversity.methods._people import Dealer
from ldiversity.methods._rule import Rules

__all__ = ["Cutter"]

_BLOCK_CELLS: Final = 1 << 22
_ROWS_A_THREAD: Final = 1 << 15
_ATTEMPTS: Final = (
    ((0, 1 / 2), (1, 1 / 2), (2, 1 / 2), (1, 3 / 8), (1, 5 / 8), (1, 1 / 4), (1, 3 / 4)),
    *(((1, share),) for share in (1 / 8, 7 / 8, 1 / 16, 15 / 16, 1 / 32, 31 / 32)),
)
"""Kinds of attempts (see the kernel `plan`) and shares of the records on the first side. All of the first tuple are
tried on a column before the next column; each of the others on all columns before the next."""

_ROWS_AT_ONCE: Final = 1 << 15
"""Attempts on nodes of so few rows are made together: one by one, each would take longer to call than to make."""

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Ranges of rows, and the cut of each: column, and what the kernels say of it; kind 0 is no cut."""

    starts: Ints
    ends: Ints
    columns: Ints
    cuts: Ints

    @classmethod
    def between(cls, starts: Ints, ends: Ints) -> _Nodes:
        return cls(starts, ends, np.zeros(len(starts), dtype=np.int64), np.zeros((len(starts), 4), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, chosen: slice | Ints | BoolArray) -> _Nodes:
        return _Nodes(self.starts[chosen], self.ends[chosen], self.columns[chosen], self.cuts[chosen])

    @property
    def sizes(self) -> Ints:
        return self.ends - self.starts

    @property
    def first_sides(self) -> Ints:
        """The number of the first side of each cut, and after the last one the number of all sides."""
        return np.concatenate([[0], np.cumsum(self.cuts[:, 3])])


@dataclass(frozen=True, eq=False)
class _Measured:
    """Of each node and column, shape (nodes, columns): ranks and span; and the columns of each node, widest first."""

    low: Ints
    high: Ints
    spans: NDArray[np.float64]
    order: Ints


@dataclass(frozen=True, eq=False)
class _Threads:
    """Threads that share work on nodes."""

    pool: ThreadPoolExecutor
    workers: int

    def run(self, work: Callable[[slice], None], nodes: _Nodes) -> None:
        """Do the work for runs of nodes of about equal numbers of rows, at the same time."""
        if not len(nodes):
            return
        threads = min(self.workers, int(nodes.sizes.sum()) // _ROWS_A_THREAD)
        if threads <= 1:
            work(slice(0, len(nodes)))
            return
        running = np.cumsum(nodes.sizes)
        inner = np.searchsorted(running, running[-1] * np.arange(1, threads) / threads)
        bounds = [0, *(int(bound) for bound in inner), len(nodes)]
        list(self.pool.map(work, [slice(first, last) for first, last in pairwise(bounds) if first < last]))


@dataclass(frozen=True, eq=False)
class Cutter:
    """Cuts a table.

    Parameters
    ----------
    ranks
        The table.
    sensitive
        Its sensitive columns; every one must satisfy the rules on every side of a cut.
    rules
        What every class must satisfy for each of them; all records together do.
    weights
        How much each quasi-identifier counts.
    strict
        Whether equal values must stay together.
    dealer
        Divides nodes in which a person has several rows: every part must satisfy the rules. None when nobody has.
    """

    ranks: Ranks
    sensitive: tuple[SensitiveColumn, ...]
    rules: Sequence[Rules]
    weights: NDArray[np.float64]
    strict: bool
    dealer: Dealer | None = None

    def partition(self, run: GroupingRun) -> Partition:
        """Cut until no node can be cut."""
        # Cuts keep the order of rows, so that in every node the rows of a person stay together.
        rows = self.ranks.rows if self.dealer is None else self.ranks.rows[self.dealer.by_person]
        n = len(rows)
        class_of = np.empty(n, dtype=np.int32)
        n_classes = 0
        nodes = _Nodes.between(np.zeros(1, dtype=np.int64), np.array([n], dtype=np.int64))
        with ThreadPoolExecutor(max(1, run.workers)) as pool:
            threads = _Threads(pool, max(1, run.workers))
            while len(nodes):
                self._choose(rows, nodes, threads)
                whole = nodes.cuts[:, 0] == 0
                n_classes = self._finish(rows, nodes[whole], class_of, n_classes)
                rows, nodes = self._apply(rows, nodes[~whole], threads)
                run.progress(1 - len(rows) / max(n, 1), "cutting")
        return Partition(class_of, n_classes)

    def _choose(self, rows: CodeArray, nodes: _Nodes, threads: _Threads) -> None:
        """Find the first cut of each node that the rule allows; columns of greatest span first."""
        from ldiversity._kernels import mondrian as kernels

        ranks = self.ranks
        shape = (len(nodes), ranks.n_quasi)
        low, high, spans = np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape)

        def measure(part: slice) -> None:
            kernels.measure(
                rows, nodes.starts[part], nodes.ends[part], ranks.kinds, ranks.sizes, ranks.offsets, ranks.coordinates,
                ranks.leaves, ranks.levels, low[part], high[part], spans[part],
            )  # fmt: skip

        threads.run(measure, nodes)
        spans *= self.weights
        order = np.argsort(-spans, axis=1, kind="stable")
        measured = _Measured(low, high, spans, order)
        least = max(rules.least_records for rules in self.rules)
        pending = np.flatnonzero((nodes.sizes >= 2 * least) & (spans > 0).any(axis=1))
        steps = [
            (place, attempt, share)
            for attempts in _ATTEMPTS
            for place in range(ranks.n_quasi)
            for attempt, share in attempts
        ]
        while steps and len(pending):
            together = max(1, _ROWS_AT_ONCE // int(nodes.sizes[pending].sum()))
            self._try(rows, nodes, pending, measured, steps[:together], threads)
            pending, steps = pending[nodes.cuts[pending, 0] == 0], steps[together:]

    def _try(
        self,
        rows: CodeArray,
        nodes: _Nodes,
        pending: Ints,
        measured: _Measured,
        steps: Sequence[tuple[int, int, float]],
        threads: _Threads,
    ) -> None:
        """Plan the cuts of some nodes that `steps` make, and keep the first of each that the rule allows.

        A step has the place of the column in the node's own order, the kind of the attempt, and its share.
        """
        from ldiversity._kernels import mondrian as kernels

        ranks = self.ranks
        columns = measured.order[pending][:, [place for place, _, _ in steps]].T
        wide = measured.spans[pending, columns] > 0
        some, columns = np.broadcast_to(pending, wide.shape)[wide], columns[wide]
        low, high = measured.low[some, columns], measured.high[some, columns]
        tried = _Nodes(nodes.starts[some], nodes.ends[some], columns, np.zeros((len(some), 4), dtype=np.int64))
        bounds = np.concatenate([[0], np.cumsum(wide.sum(axis=1))]).tolist()
        for (_, attempt, share), first, last in zip(steps, bounds[:-1], bounds[1:], strict=True):
            own = tried[first:last]

            def plan(
                part: slice, own: _Nodes = own, first: int = first, attempt: int = attempt, share: float = share
            ) -> None:
                inside = slice(first + part.start, first + part.stop)
                kernels.plan(
                    rows, own.starts[part], own.ends[part], own.columns[part], low[inside], high[inside], attempt,
                    share, self.strict, ranks.kinds, ranks.sizes, ranks.offsets, ranks.leaves, ranks.levels,
                    ranks.n_leaves, own.cuts[part],
                )  # fmt: skip

            threads.run(plan, own)
        planned = np.flatnonzero(tried.cuts[:, 0] > 0)
        if not len(planned):
            return
        allowed = planned[self._allowed(rows, tried[planned], threads)]
        if self.dealer is not None:
            allowed = allowed[self._can_be_dealt(self.dealer, rows, tried[allowed], threads)]
        allowed = allowed[np.unique(some[allowed], return_index=True)[1]]
        nodes.columns[some[allowed]] = columns[allowed]
        nodes.cuts[some[allowed]] = tried.cuts[allowed]

    def _allowed(self, rows: CodeArray, nodes: _Nodes, threads: _Threads) -> BoolArray:
        """Which cuts leave every side satisfying the rule for every sensitive column."""
        allowed = np.ones(len(nodes), dtype=bool)
        for s, column in enumerate(self.sensitive):
            population = column.population
            for block in _blocks(nodes.cuts[:, 3], len(column.domain)):
                cut = nodes[block]
                firsts = cut.first_sides
                counts = self._count(rows, cut, firsts, s, threads)
                holds = self.rules[s].holds(counts, population)
                allowed[block] &= np.logical_and.reduceat(holds, firsts[:-1])
        return allowed

    def _count(self, rows: CodeArray, nodes: _Nodes, firsts: Ints, s: int, threads: _Threads) -> Ints:
        """Shape (sides, F): the values of a sensitive column on every side of every cut."""
        from ldiversity._kernels import mondrian as kernels

        ranks = self.ranks
        counts = np.zeros((firsts[-1], len(self.sensitive[s].domain)), dtype=np.int64)

        def count(part: slice) -> None:
            kernels.count(
                rows, nodes.starts[part], nodes.ends[part], nodes.columns[part], nodes.cuts[part], firsts[:-1][part],
                ranks.n_quasi + s, ranks.offsets, ranks.leaves, ranks.levels, ranks.n_leaves, counts,
            )  # fmt: skip

        threads.run(count, nodes)
        return counts

    def _apply(self, rows: CodeArray, nodes: _Nodes, threads: _Threads) -> tuple[CodeArray, _Nodes]:
        """Cut: the rows of the sides, one after the other, and their ranges."""
        from ldiversity._kernels import mondrian as kernels

        ranks = self.ranks
        firsts = nodes.first_sides
        places = np.concatenate([[0], np.cumsum(nodes.sizes)])
        parted = np.empty((places[-1], rows.shape[1]), dtype=np.int32)
        ends = np.empty(firsts[-1], dtype=np.int64)

        def cut(part: slice) -> None:
            kernels.cut(
                rows, nodes.starts[part], nodes.ends[part], nodes.columns[part], nodes.cuts[part], firsts[:-1][part],
                places[:-1][part], ranks.offsets, ranks.leaves, ranks.levels, ranks.n_leaves, parted, ends,
            )  # fmt: skip

        threads.run(cut, nodes)
        return parted, _Nodes.between(np.concatenate([[0], ends[:-1]]) if len(ends) else ends, ends)

    def _can_be_dealt(self, dealer: Dealer, rows: CodeArray, nodes: _Nodes, threads: _Threads) -> BoolArray:
        """Which cuts leave sides whose parts, with everybody in them once, satisfy the rules."""
        allowed = np.zeros(len(nodes), dtype=bool)
        # In blocks, so that the copies of rows are bounded.
        for block in _blocks(nodes.sizes, 1):
            parted, sides = self._apply(rows, nodes[block], threads)
            holds = dealer.keeps(parted[:, -1], np.append(sides.starts, len(parted)), self.sensitive, self.rules)
            allowed[block] = np.logical_and.reduceat(holds, nodes[block].first_sides[:-1])
        return allowed

    def _finish(self, rows: CodeArray, nodes: _Nodes, class_of: CodeArray, n_classes: int) -> int:
        """Make each node a class, or its parts, and give the number of classes so far."""
        inside, starts = _inside(nodes)
        own = rows[inside, -1]
        if self.dealer is None:
            parts, part_of = np.ones(len(nodes), dtype=np.int64), np.zeros(len(own), dtype=np.int64)
        else:
            parts, part_of = self.dealer.deal(own, starts)
        firsts = n_classes + np.cumsum(parts) - parts
        class_of[own] = np.repeat(firsts, nodes.sizes) + part_of
        return n_classes + int(parts.sum())


def _inside(nodes: _Nodes) -> tuple[Ints, Ints]:
    """The places of all rows of some nodes, node by node; and where each node begins among them."""
    running = np.concatenate([[0], np.cumsum(nodes.sizes)])
    return np.arange(running[-1]) - np.repeat(running[:-1] - nodes.starts, nodes.sizes), running


def _blocks(sides: Ints, n_values: int) -> Iterator[slice]:
    """Runs of cuts whose sides, with a number for each value, are of bounded size."""
    if int(sides.sum()) * n_values < _BLOCK_CELLS:
        if len(sides):
            yield slice(0, len(sides))
        return
    numbers = np.cumsum(sides) * n_values // _BLOCK_CELLS
    bounds = np.flatnonzero(np.diff(numbers, prepend=-1))
    for first, last in pairwise([*bounds, len(sides)]):
        yield slice(int(first), int(last))
