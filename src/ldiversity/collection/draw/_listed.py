"""Draws where values have neither an order nor groups: all sets are listed."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import ClassVar, Final

from ldiversity.collection.draw._weighted import WeightedDraw

__all__ = ["MOST_SETS", "ListedDraw", "list_sets"]

MOST_SETS: Final = 20_000
"""A phone lists at most so many sets."""

_MOST_GROUPS: Final = 32
_PRIME: Final = 2**61 - 1


class ListedDraw(WeightedDraw):
    """One of the listed sets with the answer, in proportion to their weights.

    Examples
    --------
    >>> draw = ListedDraw([(0, 1), (0, 2), (1, 2)], [1.0, 1.0, 1.0])
    >>> draw.total(0), draw.set_at(0, draw.total(0) - 1)
    (9007199254740992, (0, 2))
    """

    kind: ClassVar[str] = "listed"

    def __init__(self, sets: Sequence[tuple[int, ...]], weights: Sequence[float]) -> None:
        super().__init__(len(sets[0]), weights)
        self._sets = list(sets)
        self._known = frozenset(sets)
        self._sets_of: list[list[tuple[int, ...]]] = [[] for _ in weights]
        self._ends: list[list[int]] = [[] for _ in weights]
        for one in sets:
            together = prod(self.whole[code] for code in one)
            for code in one:
                ends = self._ends[code]
                ends.append((ends[-1] if ends else 0) + together // self.whole[code])
                self._sets_of[code].append(one)

    @property
    def n_sets(self) -> int:
        """How many sets are listed."""
        return len(self._sets)

    def total(self, code: int) -> int:
        """The weight of all sets with this value, without its own weight."""
        return self._ends[code][-1] if self._ends[code] else 0

    def set_at(self, code: int, rank: int) -> tuple[int, ...]:
        """The set at a rank below `total`."""
        return self._sets_of[code][bisect_right(self._ends[code], rank)]

    def admits(self, codes: Sequence[int]) -> bool:
        """Whether the set is one of the list."""
        return tuple(codes) in self._known

    @property
    def is_recoverable(self) -> bool:
        """Whether no other shares give the same counts of sets.

        Two values that can take each other's place in a set must have the same coefficient in any combination of values
        that every set gives the sum zero. So only combinations of groups of such values are left.
        """
        group_of = _exchanged(self._sets, self.n_values)
        counts = {tuple(sorted(Counter(group_of[code] for code in one).items())) for one in self._sets}
        n_groups = len(set(group_of))
        return n_groups == 1 or (n_groups <= _MOST_GROUPS and _rank(counts) == n_groups)

    def structure(self) -> Iterable[int | str]:
        """The sets, and the weights."""
        return [len(self._sets), *(code for one in self._sets for code in one), *super().structure()]


def list_sets(allowed: Sequence[Sequence[bool]], l: int) -> list[tuple[int, ...]] | None:
    """All sets of `l` values that may pairwise share one, in lexicographic order; None if there are too many.

    Examples
    --------
    >>> list_sets([[False, True, True], [True, False, False], [True, False, False]], 2)
    [(0, 1), (0, 2)]
    """
    later = [sum(1 << j for j in range(i + 1, len(row)) if row[j]) for i, row in enumerate(allowed)]
    # Each set of allowed values, with those that may follow as the bits of a number.
    partial: list[tuple[tuple[int, ...], int]] = [((), (1 << len(allowed)) - 1)]
    for _ in range(l):
        longer: list[tuple[tuple[int, ...], int]] = []
        for one, follow in partial:
            if len(longer) + follow.bit_count() > MOST_SETS:
                return None
            longer += [((*one, code), follow & later[code]) for code in _bits(follow)]
        partial = longer
    return [one for one, _ in partial]


def _bits(number: int) -> list[int]:
    """The places of the bits that are set, from the lowest on.

    Examples
    --------
    >>> _bits(13)
    [0, 2, 3]
    """
    return [place for place, bit in enumerate(reversed(f"{number:b}")) if bit == "1"]


def _exchanged(sets: Sequence[tuple[int, ...]], n_values: int) -> list[int]:
    """A value that stands for each: the same for values that can take each other's place in a set."""
    standing = list(range(n_values))

    def find(code: int) -> int:
        while standing[code] != code:
            standing[code] = standing[standing[code]]
            code = standing[code]
        return code

    beside: dict[tuple[int, ...], int] = {}
    for one in sets:
        for at, code in enumerate(one):
            standing[find(code)] = find(beside.setdefault((*one[:at], *one[at + 1 :]), code))
    return [find(code) for code in range(n_values)]


def _rank(rows: Iterable[tuple[tuple[int, int], ...]]) -> int:
    """The rank of rows of (column, number), modulo a prime far above what can cancel by chance."""
    pivots: dict[int, dict[int, int]] = {}
    for given in rows:
        row = dict(given)
        for column, pivot in pivots.items():
            factor = row.get(column, 0)
            if factor:
                for place, number in pivot.items():
                    row[place] = (row.get(place, 0) - factor * number) % _PRIME
        column = next((place for place, number in row.items() if number), -1)
        if column >= 0:
            inverse = pow(row[column], -1, _PRIME)
            pivots[column] = {place: number * inverse % _PRIME for place, number in row.items() if number}
    return len(pivots)
