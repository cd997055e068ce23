"""Which nodes of a lattice lose too many records, when some may be left out.

What must be left out at least at a node must be left out at every node below it, whose classes are parts of its classes
(`Combinations.lost_at_least`). So a node at which that is too much rules out all nodes below it. Where one is found,
the search climbs towards the top by halves, to rule out as many at once as it can.

Classes of a node are made from those of the smallest node below it that was looked at, not from all records.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from ldiversity.base.arrays import BoolArray
from ldiversity.methods._incognito_counts import Combinations
from ldiversity.methods._rule import Rules

__all__ = ["Levels", "Search"]

Levels: TypeAlias = tuple[int, ...]

_SMALLER: Final = 0.7
"""Classes are kept for nodes above if they are at most this share of those that they were made from."""

_MOST_KEPT: Final = 4
"""How many times the combinations of the table are kept at most, all nodes together."""


class Search:
    """Says of each node what must be left out there, and remembers what that says about others.

    Parameters
    ----------
    full
        The distinct combinations of the table.
    rules
        What every class must satisfy.
    most
        How many records may be left out.
    """

    def __init__(self, full: Combinations, rules: Rules, most: int) -> None:
        self._rules, self._most = rules, most
        self._top: Levels = tuple(column.nodes.shape[1] - 1 for column in full.columns)
        self._hopeless = np.zeros([level + 1 for level in self._top], dtype=np.bool_)
        self._made: dict[Levels, Combinations] = {(0,) * len(self._top): full}
        self._room = _MOST_KEPT * len(full.sizes)
        self._known: dict[Levels, BoolArray | None] = {}
        self.looked_at = 0

    def left_out(self, levels: Levels) -> BoolArray | None:
        """Which classes must be left out so that all others satisfy the rules; None when those are too many records."""
        if self._hopeless[levels]:
            return None
        if self._look(levels):
            self._climb(levels)
            return None
        return self._known[levels]

    def _look(self, levels: Levels) -> bool:
        """Whether nothing below this node can do; if something may, remember what must be left out here."""
        if self._hopeless[levels]:
            return True
        if levels in self._known:
            return False
        self.looked_at += 1
        source = min(
            (made for below, made in self._made.items() if all(a <= b for a, b in zip(below, levels, strict=True))),
            key=lambda made: len(made.sizes),
        )
        classes = source.at(levels)
        if classes.lost_at_least(self._rules) > self._most:
            self._hopeless[tuple(slice(level + 1) for level in levels)] = True
            self._keep(levels, classes, source)
            return True
        self._known[levels] = classes.left_out(self._rules, self._most)
        self._keep(levels, classes, source)
        return False

    def _keep(self, levels: Levels, classes: Combinations, source: Combinations) -> None:
        if len(classes.sizes) <= min(_SMALLER * len(source.sizes), self._room):
            self._made[levels] = classes
            self._room -= len(classes.sizes)

    def _climb(self, levels: Levels) -> None:
        """Find the highest node on a way to the top below which nothing can do, by halves."""
        way = [levels]
        while way[-1] != self._top:
            # The column that is lowest in its hierarchy goes up.
            shares = [(a / b if b else 1.0, k) for k, (a, b) in enumerate(zip(way[-1], self._top, strict=True))]
            column = min(shares)[1]
            way.append(tuple(level + (k == column) for k, level in enumerate(way[-1])))
        low, high = 0, len(way)
        while high - low > 1:
            middle = (low + high) // 2
            if self._look(way[middle]):
                low = middle
            else:
                high = middle
