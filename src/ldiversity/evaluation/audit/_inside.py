"""How many people of a population lie in each of many regions: counted by halves that a region holds, or misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._numbering import number_codes
from ldiversity.release import Membership
from ldiversity.sentences import Setting, say

__all__ = ["count_inside", "find_inside"]

_LEAF: Final = 8
"""So many different people are no longer divided."""

_CLASSES_AT_ONCE: Final = 1 << 14
_PAIRS_AT_ONCE: Final = 1 << 18
_MOST_PAIRS: Final = 1 << 31
"""Pairs of a class and a part of the population that are compared at most: some minutes."""

_MOST_FOUND: Final = 1 << 26
"""Pairs of a class and a person in it that are kept at once."""

Ints: TypeAlias = NDArray[np.int64]


def count_inside(
    columns: Sequence[Membership], cells: Sequence[Ints], people: Ints, *, most: int = _MOST_PAIRS
) -> Ints:
    """Count the people whose cells lie in the region of a class, in every column.

    Parameters
    ----------
    columns
        Where the different people lie, column by column.
    cells
        Of each column, shape (classes,): the cell that each class shows.
    people
        Shape (profiles,): how many people have the same cells.
    most
        The greatest number of comparisons.

    Returns
    -------
    Shape (classes,): their number. People count in each class in which they could be.

    Raises
    ------
    UnsupportedError
        When it would take more comparisons.

    Examples
    --------
    Codes 0, 1 and 2; the first class holds 0 and 1, the second one all.

    >>> bands = Membership(np.arange(3), 3, np.arange(2), np.arange(3), np.array([0, 0]), np.array([2, 3]))
    >>> count_inside([bands], [np.array([0, 1])], np.array([5, 1, 7])).tolist()
    [6, 13]
    """
    sides = [_Side.of(column, shown) for column, shown in zip(columns, cells, strict=True)]
    parts = _Halves.of(sides, people)
    found = np.zeros(len(cells[0]), dtype=np.int64)
    for some, held in _search(parts, sides, most):
        inside = np.zeros(len(some), dtype=np.float64)
        for turn, place, part in held:
            inside += np.bincount(place, weights=parts.people[turn][part], minlength=len(some))
        found[some] = np.rint(inside).astype(np.int64)
    return found


def find_inside(
    columns: Sequence[Membership], cells: Sequence[Ints], *, most: int = _MOST_PAIRS
) -> Iterator[tuple[Ints, Ints]]:
    """Find the people whose cells lie in the region of a class: pairs of a class and a person, all of a class at once.

    Examples
    --------
    >>> bands = Membership(np.arange(3), 3, np.arange(2), np.arange(3), np.array([0, 1]), np.array([2, 3]))
    >>> [(classes.tolist(), people.tolist()) for classes, people in find_inside([bands], [np.array([0, 1])])]
    [([0, 0, 1, 1], [0, 1, 1, 2])]
    """
    sides = [_Side.of(column, shown) for column, shown in zip(columns, cells, strict=True)]
    parts = _Halves.of(sides, np.ones(len(columns[0].code_of), dtype=np.int64))
    for some, held in _search(parts, sides, most):
        classes, people = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        n_found = 0
        for turn, place, part in held:
            owner, members = parts.members_of(turn, place, part)
            classes.append(some[owner])
            people.append(members)
            n_found += len(members)
            if n_found > _MOST_FOUND:
                raise _too_many()
        found, whom = np.concatenate(classes), np.concatenate(people)
        order = np.lexsort((whom, found))
        yield found[order], whom[order]


Held: TypeAlias = tuple[int, Ints, Ints]
"""A round of halving, the places of classes, and the parts of that round that they hold."""


def _search(parts: _Halves, sides: Sequence[_Side], most: int) -> Iterator[tuple[Ints, list[Held]]]:
    """Some classes at a time, and what they hold."""
    n_classes = len(sides[0].region_of)
    turns, compared = -(-n_classes // _CLASSES_AT_ONCE), 0
    for turn in range(turns):
        # Every turn takes classes from everywhere, so the first one tells how long all will take.
        some = np.arange(turn, n_classes, turns)
        held, pairs = parts.held_by(sides, some, most - compared)
        compared += pairs
        if compared / (turn + 1) * turns > most:
            raise _too_many()
        yield some, held


def _too_many() -> UnsupportedError:
    return UnsupportedError(
        "audit",
        "would need too many comparisons: there are many different people, and many regions that overlap",
    ).with_hint(
        say(
            "Name fewer quasi-identifiers; instead of a population, say which share of it is in the table, {}.",
            Setting("sample_fraction", 0.1),
        )
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """A column whose codes are joined as far as no region tells them apart."""

    code_of: Ints
    n_codes: int
    region_of: Ints
    starts: Ints
    first: Ints
    last: Ints
    keys: Ints
    single: bool

    @classmethod
    def of(cls, column: Membership, shown: Ints) -> _Side:
        ends = np.unique(np.concatenate([column.first, column.last]))
        code_of, first, last = (
            np.searchsorted(ends, codes, side="right") for codes in (column.code_of, column.first, column.last)
        )
        n_codes = len(ends) + 1
        keys = np.repeat(np.arange(column.n_regions), np.diff(column.starts)) * n_codes + first
        region_of = column.region_of[shown]
        return cls(code_of, n_codes, region_of, column.starts, first, last, keys, column.single)

    def compare(self, classes: Ints, low: Ints, high: Ints) -> tuple[BoolArray, BoolArray]:
        """Whether the region of a class holds some codes from low to high, and whether it holds all of them."""
        region = self.region_of[classes]
        if self.single:
            first, last = self.first[region], self.last[region]
            return (low < last) & (high >= first) & (first < last), (low >= first) & (high < last)
        if not len(self.first):
            return np.zeros(len(low), dtype=np.bool_), np.zeros(len(low), dtype=np.bool_)
        # The last run that begins at the lowest code or before, and the one after it.
        run = np.searchsorted(self.keys, region * self.n_codes + low, side="right") - 1
        own = run >= self.starts[region]
        reached = np.where(own, self.last[run], 0)
        after = np.minimum(run + 1, len(self.first) - 1)
        later = (run + 1 < self.starts[region + 1]) & (self.first[after] <= high)
        return (reached > low) | later, reached > high


@dataclass(frozen=True, eq=False)
class _Halves:
    """Different people, halved again and again, each time by the column in which they differ most.

    `low` and `high` have the least and the greatest code of each part, one array of shape (parts, columns) for each
    round of halving; `people` how many there are. The last round has single profiles, whose rows are
    ``members[begins[i]:begins[i + 1]]``.
    """

    low: list[Ints]
    high: list[Ints]
    people: list[Ints]
    bounds: Ints
    members: Ints
    begins: Ints

    @classmethod
    def of(cls, sides: Sequence[_Side], people: Ints) -> _Halves:
        ids, first = number_codes([(side.code_of, side.n_codes) for side in sides], len(people))
        weights = np.rint(np.bincount(ids, weights=people, minlength=len(first))).astype(np.int64)
        codes = np.column_stack([side.code_of[first] for side in sides])
        n_codes = np.array([side.n_codes for side in sides])
        rounds = max(int(np.log2(max(len(first), 1) / _LEAF)) + 1, 0)
        order, low, high, totals = np.arange(len(first)), [], [], []
        for turn in range(rounds + 1):
            bounds = _bounds(len(first), turn)
            shown = codes[order]
            low.append(np.minimum.reduceat(shown, bounds[:-1]))
            high.append(np.maximum.reduceat(shown, bounds[:-1]))
            totals.append(np.add.reduceat(weights[order], bounds[:-1]))
            if turn < rounds:
                widest = np.argmax((high[-1] - low[-1]) / n_codes, axis=1)
                part = np.repeat(np.arange(len(widest)), np.diff(bounds))
                chosen = shown[np.arange(len(order)), widest[part]]
                order = order[np.argsort(part * int(n_codes.max()) + chosen, kind="stable")]
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        members = np.argsort(rank[ids], kind="stable")
        begins = np.searchsorted(rank[ids][members], np.arange(len(order) + 1))
        return cls([*low, codes[order]], [*high, codes[order]], [*totals, weights[order]], bounds, members, begins)

    def held_by(self, sides: Sequence[_Side], classes: Ints, most: int) -> tuple[list[Held], int]:
        """The parts that lie in the regions of some classes, and how many pairs were compared, if not too many."""
        found: list[Held] = []
        waiting = [(0, np.arange(len(classes)), np.zeros(len(classes), dtype=np.int64))]
        compared = 0
        while waiting and compared <= most:
            turn, place, part = waiting.pop()
            if len(place) > _PAIRS_AT_ONCE:
                waiting.append((turn, place[_PAIRS_AT_ONCE:], part[_PAIRS_AT_ONCE:]))
                place, part = place[:_PAIRS_AT_ONCE], part[:_PAIRS_AT_ONCE]
            compared += len(place)
            whole = np.ones(len(place), dtype=np.bool_)
            for k, side in enumerate(sides):
                some, every = side.compare(classes[place], self.low[turn][part, k], self.high[turn][part, k])
                place, part, whole = place[some], part[some], (whole & every)[some]
            if whole.any():
                found.append((turn, place[whole], part[whole]))
            if not whole.all():
                waiting.append(self._divided(turn, place[~whole], part[~whole]))
        return found, compared

    def members_of(self, turn: int, place: Ints, part: Ints) -> tuple[Ints, Ints]:
        """Everybody in some parts, each with the place of the part."""
        last = turn == len(self.low) - 1
        bounds = np.arange(len(self.begins)) if last else _bounds(len(self.begins) - 1, turn)
        start, end = self.begins[bounds[part]], self.begins[bounds[part + 1]]
        return np.repeat(place, end - start), self.members[_ranges(start, end - start)]

    def _divided(self, turn: int, place: Ints, part: Ints) -> tuple[int, Ints, Ints]:
        """The halves of parts; in the end their profiles."""
        if turn < len(self.low) - 2:
            return turn + 1, np.repeat(place, 2), (2 * part[:, None] + np.arange(2)).reshape(-1)
        start, size = self.bounds[part], np.diff(self.bounds)[part]
        return turn + 1, np.repeat(place, size), _ranges(start, size)


def _ranges(start: Ints, size: Ints) -> Ints:
    """The numbers from each start on, as many as it has."""
    before = np.concatenate([[0], np.cumsum(size)])
    found: Ints = np.arange(before[-1]) + np.repeat(start - before[:-1], size)
    return found


def _bounds(n: int, rounds: int) -> Ints:
    """Where parts begin and end after some rounds of halving; those of a round are among those of the next."""
    return np.arange((1 << rounds) + 1, dtype=np.int64) * n >> rounds
