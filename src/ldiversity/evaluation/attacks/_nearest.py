"""Find the published rows that are nearest to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.evaluation.attacks._shown import People, Shown
from ldiversity.methods import number_combinations

__all__ = ["Nearest"]

_TIE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows that look alike: group g has ``rows[starts[g]:starts[g + 1]]``; `cells` has its cell in each column."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    cells: dict[str, NDArray[np.int64]]

    def of(self, some: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of some groups."""
        parts = [self.rows[self.starts[group] : self.starts[group + 1]] for group in some]
        return np.concatenate([np.zeros(0, np.int64), *parts])


@dataclass(frozen=True, eq=False)
class Nearest:
    """Finds the published rows nearest to people by some columns, by the sum of the expected distances (Gower's).

    `among` has the rows that can be found; all when None.
    """

    shown: Shown
    names: Sequence[str]
    people: People
    among: NDArray[np.int64] | None = None

    def rows(self, person: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The nearest rows of one person, at most as many as asked for; drawn at random among ties."""
        groups = self._groups
        distance = np.zeros(len(groups.starts) - 1)
        for name, cells in groups.cells.items():
            each = self.shown.columns[name].distances(self.people.columns[name][person], self._extents[name])
            distance += np.append(each, 1.0)[cells]  # the last one is for a row that shows nothing
        farthest = distance.min() if most == 1 else self._farthest(distance, most)
        near = groups.of(np.flatnonzero(distance < farthest - _TIE))
        tied = groups.of(np.flatnonzero(np.abs(distance - farthest) <= _TIE))
        return np.concatenate([near, rng.choice(tied, min(most - len(near), len(tied)), replace=False)])

    def _farthest(self, distance: NDArray[np.float64], most: int) -> float:
        """The distance of the last of the nearest rows."""
        order = np.argsort(distance)
        reached = np.cumsum(np.diff(self._groups.starts)[order])
        return float(distance[order[min(int(np.searchsorted(reached, most)), len(order) - 1)]])

    @cached_property
    def _groups(self) -> _Groups:
        rows = np.arange(self.shown.n_rows) if self.among is None else self.among
        columns = [self.shown.columns[name] for name in self.names]
        codes = [(column.of_row[rows] + 1, column.n_cells + 1) for column in columns]
        of_row, n_groups = number_combinations(codes, len(rows))
        order = np.argsort(of_row, kind="stable")
        starts = np.searchsorted(of_row[order], np.arange(n_groups + 1))
        firsts = rows[order[starts[:-1]]]
        return _Groups(rows[order], starts, {column.name: column.of_row[firsts] for column in columns})

    @cached_property
    def _extents(self) -> dict[str, float]:
        columns = self.shown.columns
        return {name: columns[name].extent(self.people.columns[name]) for name in self.names}
