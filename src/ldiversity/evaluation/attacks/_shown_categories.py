"""A published column of values: single ones, sets, lists, nodes, or the values of a class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.evaluation.attacks._shown_columns import Condition, Once, OneOf, ShownColumn

__all__ = ["CategoryShown"]

_ROUNDING: Final = 1e-6


@dataclass(frozen=True, eq=False)
class CategoryShown(ShownColumn):
    """Values by code: cell c may stand for ``values[starts[c]:starts[c + 1]]``, each with its share.

    Parameters
    ----------
    starts, values, shares
        The values of each cell, and how likely each is; the shares of a cell sum to one.
    n_values
        The number of public values; it is also the code of any other.
    listed
        Whether somebody has each value of a cell.
    counted
        Whether shares times records are counts.
    alone
        Whether a cell states one of its values, because all else that is published of its records is the same.

    Examples
    --------
    >>> shown = CategoryShown(
    ...     "job", np.array([0, 1]), np.array([1, 1]), lambda cells: cells,
    ...     starts=np.array([0, 1, 3]), values=np.array([2, 0, 1]), shares=np.array([1.0, 0.5, 0.5]), n_values=3,
    ... )
    >>> shown.distances(1, extent=1).tolist(), shown.chances(OneOf(np.array([True, True, False, False]))).tolist()
    ([1.0, 0.5], [0.0, 1.0])
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    shares: FloatArray
    n_values: int
    listed: bool = False
    counted: bool = False
    alone: bool = False

    numeric: ClassVar[bool] = False

    @property
    def n_cells(self) -> int:
        """How many distinct cells there are."""
        return len(self.starts) - 1

    def _of_cells(self, cells: NDArray[np.int64], of_row: NDArray[np.int64]) -> ShownColumn:
        lengths = np.diff(self.starts)[cells]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        inside = np.arange(starts[-1]) + np.repeat(self.starts[cells] - starts[:-1], lengths)
        return replace(
            self,
            of_row=of_row,
            times=self.times[cells],
            starts=starts,
            values=self.values[inside],
            shares=self.shares[inside],
        )

    @property
    def rows_that_vary(self) -> int:
        """How many rows show several values."""
        return int(self._rows_of_cell[np.diff(self.starts) > 1].sum())

    def public(self, coded: NDArray[Any]) -> BoolArray:
        """Those that have a code."""
        known: BoolArray = coded < self.n_values
        return known

    def distances(self, value: int, extent: float) -> FloatArray:  # noqa: ARG002 - the base's
        """How likely the cell stands for another value."""
        return 1.0 - self._sums(self.values == value)

    def chances(self, condition: OneOf) -> FloatArray:
        """How likely the cell stands for one of the values."""
        return self._sums(condition.mask[self.values])

    def holds(self, condition: OneOf, coded: NDArray[Any]) -> BoolArray:
        """Which values are among those of the condition."""
        return np.asarray(condition.mask[coded])

    def stated(self, cell: int, rng: np.random.Generator) -> Condition:
        """One of the values, by share, where it is stated alone; otherwise any of them."""
        here = slice(int(self.starts[cell]), int(self.starts[cell + 1]))
        values = self.values[here]
        if self.alone and len(values):
            values = rng.choice(values, 1, p=self.shares[here])
        return self.one_of(values)

    def one_of(self, values: NDArray[np.int64]) -> OneOf:
        """The condition that a value is one of these."""
        mask = np.zeros(self.n_values + 1, dtype=np.bool_)
        mask[values] = True
        return OneOf(mask)

    def once(self) -> list[Once]:
        """Values of one record alone: counted, or listed by one cell."""
        rows = self._rows_of_cell.astype(np.float64)
        lengths = np.diff(self.starts)
        each = np.repeat(rows, lengths)
        if self.counted:
            each = each * self.shares
        elif self.listed:
            each = np.where(np.repeat(lengths, lengths) > 1, np.repeat(self.times, lengths), each)
        shown = np.bincount(self.values, each, minlength=self.n_values)
        return [Once(self.one_of(np.array([value]))) for value in np.flatnonzero(np.abs(shown - 1) < _ROUNDING)]

    def anything(self, rng: np.random.Generator) -> Condition:
        """A public value, or any but this one."""
        chosen = self.one_of(rng.integers(self.n_values, size=1))
        return chosen if rng.random() < 0.5 else OneOf(~chosen.mask)  # noqa: PLR2004 - a fair choice

    def guess(self, cell: int, rng: np.random.Generator) -> float:
        """One of the likeliest values."""
        here = slice(int(self.starts[cell]), int(self.starts[cell + 1]))
        shares = self.shares[here]
        likeliest = self.values[here][shares >= shares.max(initial=0.0) - _ROUNDING]
        return float(rng.choice(likeliest)) if len(likeliest) else float(self.n_values)

    def right(self, guessed: FloatArray, coded: NDArray[Any]) -> BoolArray:
        """The same value."""
        same: BoolArray = (guessed == coded) & (guessed < self.n_values)
        return same

    def _sums(self, chosen: BoolArray) -> FloatArray:
        """Shape (cells,): the shares of the chosen values."""
        reached = np.concatenate([[0.0], np.cumsum(np.where(chosen, self.shares, 0.0))])
        sums: FloatArray = np.clip(reached[self.starts[1:]] - reached[self.starts[:-1]], 0.0, 1.0)
        return sums
