"""BSGI's effort: records of formed classes change places until little can be won by more of that."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._base import GroupingRun, Partition
from ldiversity.methods._bsgi_space import Keys, Space
from ldiversity.methods._coded import CodedTable
from ldiversity.methods._gaps import Line

if TYPE_CHECKING:
    from ldiversity._kernels.bsgi_anneal import Charge, Limits, Seats
    from ldiversity._kernels.bsgi_loss import Loss

__all__ = ["Valid", "anneal"]

_BLOCK: Final = 16_384
"""About how many records change places among each other; blocks are annealed in threads."""

_TURNS: Final = 2
_FEW_MOVES: Final = 50
"""How often blocks are formed, each time otherwise, so that no border between two of them stays. Fewer moves are not
worth the time of a second turn."""

_ORDERS: Final = 4
_WINDOW: Final = 12
_CANDIDATES: Final = 24
_LEAF: Final = 8
"""Candidates of a record are the nearest of those that stand around it in several orders."""

_HOT: Final = 0.15
_LITTLE: Final = 30
_COOLING: Final = 20.0
"""The first temperature, as a share of what a record adds to the charge of its class (half of it with little effort,
which has no time to cool), and the first over the last one."""

_SPREADS: Final = 1024
_SWEEPS: Final = 64
"""Moves a record in one call of the kernel: about a tenth of a second, after which a run can be stopped."""

_GOLDEN: Final = 0.6180339887498949
_GOLDEN_WORD: Final = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Valid:
    """What makes classes valid, as `Limits` needs it.

    Parameters
    ----------
    codes
        Shape (n, keys).
    reach
        Shape (keys, places).
    levels
        Of each key the l, if a value or interval may have 1/l of a class; 0 if all records of a class differ.
    """

    codes: CodeArray
    reach: NDArray[np.int32]
    levels: tuple[int, ...]

    @classmethod
    def by_keys(cls, keys: Keys) -> Valid:
        """All records of a class differ in every key."""
        n_keys = keys.codes.shape[1]
        return cls(keys.codes, np.full((n_keys, 1), -1, dtype=np.int32), (0,) * n_keys)

    @classmethod
    def by_shares(cls, table: CodedTable, lines: Sequence[Line | None], levels: Sequence[int]) -> Valid:
        """Of each column no value, or no interval shorter than its gap, has more than its share; people differ."""
        codes, every = [], list(levels)
        widest = max(len(line.last) if line is not None else 1 for line in lines)
        reach = np.full((len(lines) + (table.several is not None), widest), -1, dtype=np.int32)
        for k, (column, line) in enumerate(zip(table.sensitive, lines, strict=True)):
            codes.append(column.codes if line is None else line.rank[column.codes])
            if line is not None:
                reach[k, : len(line.last)] = line.last
        if table.several is not None:
            codes.append(table.several)
            every.append(0)
        return cls(np.column_stack(codes).astype(np.int32), reach, tuple(every))

    def limits(self, sizes: NDArray[np.int64]) -> Limits:
        """The limits of classes of these sizes."""
        from ldiversity._kernels.bsgi_anneal import Limits

        most = [np.ones_like(sizes) if level == 0 else sizes // level for level in self.levels]
        return Limits(self.reach, np.column_stack(most).astype(np.int32))


def anneal(space: Space, valid: Valid, partition: Partition, effort: int, run: GroupingRun) -> Partition:
    """Let records of classes change places, `effort` moves a record; sizes of classes stay, rows without one too.

    A pure function of its arguments: moves are drawn from a fixed sequence, and rows come in a random order. Every
    move keeps all classes valid, and a block that would lose more than before stays as it was.
    """
    # All that threads need is loaded before there are any: they wait for an import for as long as it takes.
    from ldiversity._kernels import bsgi_anneal, bsgi_tree  # noqa: F401
    from ldiversity._kernels.regions import order_by_class

    if not effort or partition.n_classes < 2 or not space.points.shape[1]:  # noqa: PLR2004 - two classes
        return partition
    rows, starts = order_by_class(partition.class_of, partition.n_classes)
    work = _Work(space, valid, rows, starts, run, effort)
    with ThreadPoolExecutor(max(1, run.workers)) as pool:
        blocks = work.blocks(0)
        n_turns = 1 if len(blocks) == 1 or effort < _FEW_MOVES else _TURNS
        for turn, temperatures in enumerate(np.array_split(_cooling(effort), n_turns)):
            blocks = work.blocks(turn) if turn else blocks
            words = [_word(turn, number) for number in range(len(blocks))]
            list(pool.map(work.anneal, blocks, words, [temperatures] * len(blocks)))
    class_of = partition.class_of.copy()
    class_of[rows] = np.repeat(np.arange(partition.n_classes, dtype=np.int32), work.sizes)
    return Partition(class_of, partition.n_classes)


def _cooling(effort: int) -> NDArray[np.float64]:
    """One temperature for each move of a record, as shares of what a record adds to its class's charge."""
    hottest = _HOT * effort / (effort + _LITTLE)
    return np.asarray(hottest * _COOLING ** -np.linspace(0, 1, effort), dtype=np.float64)


def _word(turn: int, number: int) -> int:
    """The seed of a block: 64 bits, not 0."""
    return (_GOLDEN_WORD * (2 * (_TURNS * number + turn) + 1)) % 2**64


def _otherwise(turn: int, loss: Loss, points: NDArray[np.float32]) -> tuple[Loss, NDArray[np.float32]]:
    """The space with other weights in each turn, so that trees are cut otherwise; the first has its own."""
    if not turn:
        return loss, points
    n_numbers, n_coordinates = len(loss.caps), points.shape[1]
    evenly = (turn * n_coordinates + np.arange(n_coordinates)) * _GOLDEN % 1.0
    factors = np.exp(3.0 * evenly - 1.5).astype(np.float32)
    moved = points.copy()
    moved[:, :n_numbers] *= factors[:n_numbers]
    of_tree = np.diff(np.append(loss.base, len(loss.cost)))
    cost = loss.cost * np.repeat(factors[n_numbers:], of_tree)
    return loss._replace(caps=loss.caps * factors[:n_numbers], cost=cost), moved


def _tree_order(turn: int, loss: Loss, points: NDArray[np.float32], leaf: int) -> tuple[CodeArray, list[int]]:
    """The points by leaf of a tree, and where each leaf begins."""
    from ldiversity._kernels.bsgi_tree import build_tree

    tree = build_tree(*_otherwise(turn, loss, points), np.zeros((len(points), 1), dtype=np.int32), leaf)
    return tree.rows, sorted(tree.start[tree.left < 0].tolist())


@dataclass(eq=False)
class _Work:
    """The rows of classes, those of class g from ``starts[g]`` on; annealing changes `rows`."""

    space: Space
    valid: Valid
    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    run: GroupingRun
    effort: int

    def __post_init__(self) -> None:
        self._done, self._lock = 0, Lock()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def blocks(self, turn: int) -> list[CodeArray]:
        """The classes of each block, near ones together."""
        most = max(2, _BLOCK * len(self.sizes) // len(self.rows))
        if len(self.sizes) <= most:
            return [np.arange(len(self.sizes), dtype=np.int32)]
        n_numbers = len(self.space.loss.caps)
        centers = self.space.points[self.rows[self.starts[:-1]]]
        for d in range(n_numbers):
            centers[:, d] = np.add.reduceat(self.space.points[self.rows, d], self.starts[:-1]) / self.sizes
        order, begins = _tree_order(turn, self.space.loss, centers, most)
        return np.split(order, begins[1:])

    def anneal(self, classes: CodeArray, word: int, temperatures: NDArray[np.float64]) -> None:
        """Anneal the classes of a block."""
        from ldiversity._kernels.bsgi_anneal import Charge, anneal_classes

        sizes = self.sizes[classes]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        seats_of_rows = np.repeat(self.starts[classes] - starts[:-1], sizes) + np.arange(starts[-1])
        rows = self.rows[seats_of_rows]
        charge = Charge(self.space.loss, self.space.shares)
        points = self.space.points[rows]
        # Records are numbered so that near ones have near numbers, and with them what is read of them.
        first, _ = _tree_order(0, charge.loss, points, _LEAF)
        near = _candidates(charge, points[first])
        seats = self._seats(rows, points, first, starts, classes)
        limits = self.valid.limits(sizes)
        spreads = -np.log((np.arange(_SPREADS) + 0.5) / _SPREADS).astype(np.float32)

        def move(some: NDArray[np.float32], seed: int) -> float:
            anneal_classes(charge, limits, seats, near, some, spreads, np.uint64(seed))
            return float(seats.cost.sum(dtype=np.float64))

        before = after = move(np.zeros(0, dtype=np.float32), 1)
        scale = before / max(1, len(rows) - len(classes))
        for begin in range(0, len(temperatures), _SWEEPS):
            some = (scale * temperatures[begin : begin + _SWEEPS]).astype(np.float32)
            after = move(some, (word + begin) % 2**64 or 1)
            self._tell(len(rows) * len(some))
        if after <= before:
            self.rows[seats_of_rows] = rows[first][seats.who]

    def _seats(
        self,
        rows: NDArray[np.int32],
        points: NDArray[np.float32],
        first: CodeArray,
        starts: NDArray[np.int64],
        classes: CodeArray,
    ) -> Seats:
        from ldiversity._kernels.bsgi_anneal import Seats

        who = np.empty(len(rows), dtype=np.int32)
        who[first] = np.arange(len(rows), dtype=np.int32)
        return Seats(
            starts,
            np.repeat(np.arange(len(classes), dtype=np.int32), np.diff(starts)),
            points,
            self.valid.codes[rows],
            who,
            first.copy(),
            np.empty(len(classes), dtype=np.float32),
        )

    def _tell(self, moves: int) -> None:
        with self._lock:
            self._done += moves
            self.run.progress(self._done / (self.effort * len(self.rows)), "swapping")


def _candidates(charge: Charge, points: NDArray[np.float32]) -> CodeArray:
    """Shape (n, candidates): the nearest of the records around each in several orders; -1 where there are fewer."""
    from ldiversity._kernels.bsgi_anneal import find_near

    n = len(points)
    orders = np.empty((_ORDERS, n), dtype=np.int32)
    where = np.empty((_ORDERS, n), dtype=np.int32)
    for turn in range(_ORDERS):
        orders[turn] = np.arange(n) if turn == 0 else _tree_order(turn, charge.loss, points, _LEAF)[0]
        where[turn, orders[turn]] = np.arange(n)
    near = np.empty((n, _CANDIDATES), dtype=np.int32)
    find_near(charge, points, orders, where, _WINDOW, near, np.empty(_CANDIDATES, dtype=np.float32))
    return near
