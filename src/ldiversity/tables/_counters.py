"""Count the numbers of a column by bins, chunk by chunk, while the edges may still be unknown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.limits import are_measurable
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.sentences import Setting, say
from ldiversity.tables._bins import NUMBERS_THAT_CAN_BE_CUT, TOO_LARGE_HINT, Bins, Grid, locate, numbers_of

__all__ = ["BinCounter", "counter_for"]

_COMPACT_ROWS: Final = 4_000_000


class BinCounter(ABC):
    """Counts of a column's numbers by bins; `n_rows` and `n_missing` count the rows seen so far."""

    def __init__(self, owner: str, column: str) -> None:
        self.owner = owner
        self.column = column
        self.n_rows = 0
        self.n_missing = 0

    def add(self, cells: pa.Array) -> None:
        """Count one more chunk."""
        kind = cells.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise SchemaError(self.owner, "must hold numbers to be binned", column=self.column, got=kind).with_hint(
                say(
                    "If it holds numbers, declare {}, which counts the rows that hold none; else leave the bins out.",
                    Setting("types", (self.column, "number")),
                )
                if pa.types.is_string(kind) or pa.types.is_large_string(kind)
                else "Leave the bins out, or add a column of numbers to the table."
            )
        numbers, known = numbers_of(cells)
        self.n_rows += len(numbers)
        n_known = int(np.count_nonzero(known))
        self.n_missing += len(numbers) - n_known
        if not np.isfinite(numbers).all():
            raise SchemaError(
                self.owner, "must hold finite numbers to be binned", column=self.column, got="infinite ones"
            ).with_hint("Make the cells empty, or leave the rows out.")
        if not are_measurable(numbers):
            raise SchemaError(
                self.owner, f"must hold numbers {NUMBERS_THAT_CAN_BE_CUT}", column=self.column, hint=TOO_LARGE_HINT
            )
        if n_known:
            self._count(numbers if n_known == len(numbers) else numbers[known])

    @abstractmethod
    def _count(self, numbers: NDArray[Any]) -> None:
        """Count these numbers; there is at least one, and none is missing."""

    @abstractmethod
    def result(self) -> tuple[tuple[float, ...], NDArray[np.int64]]:
        """Return the edges and the rows in each bin."""


def counter_for(owner: str, column: str, bins: Bins) -> BinCounter:
    """Choose how to count: with known edges, on a growing grid, or by quantiles.

    Examples
    --------
    >>> counter = counter_for("patients.csv", "age", Bins(width=10))
    >>> counter.add(pa.array([23, 27, 41, None]))
    >>> counter.result()[0], counter.result()[1].tolist()
    ((20.0, 30.0, 40.0, 50.0), [2, 0, 1])
    """
    if bins.fixed_edges is not None:
        return _EdgeCounter(owner, column, bins.fixed_edges)
    if bins.width is not None:
        return _GridCounter(owner, column, Grid(bins.width))
    return _QuantileCounter(owner, column, bins)


class _EdgeCounter(BinCounter):
    def __init__(self, owner: str, column: str, edges: tuple[float, ...]) -> None:
        super().__init__(owner, column)
        self._edges = edges
        self._counts = np.zeros(len(edges), dtype=np.int64)  # the first is for numbers outside

    def _count(self, numbers: NDArray[Any]) -> None:
        self._counts += np.bincount(locate(numbers, self._edges) + 1, minlength=len(self._edges))

    def result(self) -> tuple[tuple[float, ...], NDArray[np.int64]]:
        if self._counts[0]:
            raise SchemaError(
                self.owner,
                "must lie within its declared edges",
                column=self.column,
                got=f"{counted(int(self._counts[0]), 'row')} outside",
            ).with_hint("Widen the edges, or the bounds low and high.")
        return self._edges, self._counts[1:].copy()


class _GridCounter(BinCounter):
    def __init__(self, owner: str, column: str, grid: Grid) -> None:
        super().__init__(owner, column)
        self._grid = grid
        self._counts: Counter[int] = Counter()
        self._range = (0, 0)
        self._edges: tuple[float, ...] = ()

    def _count(self, numbers: NDArray[Any]) -> None:
        self._reach(numbers.min().item(), numbers.max().item())
        counts = np.bincount(locate(numbers, self._edges))
        first = self._range[0]
        self._counts.update({first + int(i): int(counts[i]) for i in np.flatnonzero(counts)})

    def _reach(self, least: float, greatest: float) -> None:
        if self._edges and self._edges[0] <= least and greatest < self._edges[-1]:
            return
        first, last = self._grid.position(least), self._grid.position(greatest) + 1
        if self._edges:
            first, last = min(first, self._range[0]), max(last, self._range[1])
        self._range, self._edges = (first, last), self._grid.edges(first, last)

    def result(self) -> tuple[tuple[float, ...], NDArray[np.int64]]:
        first, last = self._range
        return self._edges, np.array([self._counts[i] for i in range(first, last)], dtype=np.int64)


class _QuantileCounter(BinCounter):
    """Keeps the distinct numbers, because exact quantiles need them: up to 16 bytes per row."""

    def __init__(self, owner: str, column: str, bins: Bins) -> None:
        super().__init__(owner, column)
        self._bins = bins
        self._numbers: list[NDArray[Any]] = []
        self._counts: list[NDArray[np.int64]] = []
        self._waiting = 0

    def _count(self, numbers: NDArray[Any]) -> None:
        distinct, counts = np.unique(numbers, return_counts=True)
        self._numbers.append(distinct)
        self._counts.append(counts.astype(np.int64))
        self._waiting += len(distinct)
        if self._waiting > max(_COMPACT_ROWS, len(self._numbers[0])):
            self._compact()

    def _compact(self) -> None:
        distinct, where = np.unique(np.concatenate(self._numbers), return_inverse=True)
        totals = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(totals, where, np.concatenate(self._counts))
        self._numbers, self._counts, self._waiting = [distinct], [totals], 0

    def result(self) -> tuple[tuple[float, ...], NDArray[np.int64]]:
        self._compact()
        numbers, counts = self._numbers[0], self._counts[0]
        edges = self._bins.fit(numbers, counts)
        totals = np.zeros(len(edges) - 1, dtype=np.int64)
        np.add.at(totals, locate(numbers, edges), counts)
        return edges, totals
