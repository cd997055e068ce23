"""Partition draws: words choose a partition of all values into sets, and an answer gets its set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import ClassVar, Final

from ldiversity.collection.draw._base import Draw

__all__ = ["PartitionDraw"]

_OUTCOMES_PER_WORD: Final = 2**32
_WORD: Final = 64
_LOW: Final = 2**64 - 1


class PartitionDraw(Draw):
    """Two sets of one device are equal or disjoint, whatever the answers were.

    Values stand in a grid; no two values of a row may share a set. Positions of a partition go through the rows in a
    random order, once for each column, and each row gives its values in a random order. Every `l` positions are a set.
    The last ``n_values mod l`` positions are none: an answer that falls there gets its set from the next partition. The
    same as `ldiversity.mechanisms.Partitions`, in whole numbers of any size.

    Examples
    --------
    >>> draw = PartitionDraw(2, [[0], [1], [2], [3], [4], [5]])
    >>> [draw.sample(code, [2**60, 2**59]) for code in range(6)]
    [(0, 1), (0, 1), (2, 5), (3, 4), (3, 4), (2, 5)]
    """

    kind: ClassVar[str] = "partition"
    keyed_by_answer: ClassVar[bool] = False

    def __init__(self, l: int, grid: Sequence[Sequence[int]]) -> None:
        self.l = l
        self._grid = [list(row) for row in grid]
        self._rows, self._columns = len(grid), len(grid[0])
        self.n_values = self._rows * self._columns
        self._row_of = {code: row for row, codes in enumerate(self._grid) for code in codes}

    @property
    def first_words(self) -> int:
        """The words of one partition, and some for rejected draws."""
        return len(self._ends) + 2

    @property
    def left_over(self) -> int:
        """How many values are left over in each partition; above zero, two sets of a device may overlap."""
        return self.n_values % self.l

    def sample(self, code: int, words: Sequence[int]) -> tuple[int, ...] | None:
        """The set of the answer in the first partition in which it is not left over."""
        stream = iter(words)
        while (draws := self._numbers(stream)) is not None:
            dealt = self._deal(draws)
            at = dealt.index(code)
            if at < self.n_values - self.left_over:
                first = at - at % self.l
                return tuple(sorted(dealt[first : first + self.l]))
        return None

    def admits(self, codes: Sequence[int]) -> bool:
        """Whether the set has `l` ascending codes of different rows."""
        if len(codes) != self.l or any(low >= high for low, high in pairwise(codes)):
            return False
        rows = {self._row_of.get(code, -1) for code in codes}
        return len(rows) == self.l and -1 not in rows

    @property
    def sets_per_value(self) -> int:
        """How many sets, all equally likely, a value can be in."""
        return comb(self._rows - 1, self.l - 1) * int(self._columns ** (self.l - 1))

    @property
    def is_recoverable(self) -> bool:
        """Whether there are more rows than members: otherwise every set has one value of each row."""
        return self._rows > self.l

    def structure(self) -> Iterable[int | str]:
        """The grid."""
        return [self._rows, self._columns, *(code for row in self._grid for code in row)]

    @cached_property
    def _bounds(self) -> list[int]:
        """The bounds of all draws of a partition, in the order in which they are used."""
        bounds: list[int] = []
        for position in range(self.n_values - self.left_over):
            bounds += [self._rows - position] if position < self._rows else []
            bounds += [self._columns - position // self._rows] if self._columns > 1 else []
        while bounds and bounds[-1] == 1:  # nothing to draw
            bounds.pop()
        return bounds

    @cached_property
    def _ends(self) -> list[int]:
        """How many draws are made when each word is used up."""
        ends: list[int] = []
        product = 1
        for at, bound in enumerate(self._bounds):
            if product * bound > _OUTCOMES_PER_WORD:
                ends.append(at)
                product = 1
            product *= bound
        return [*ends, len(self._bounds)]

    def _numbers(self, words: Iterator[int]) -> list[int] | None:
        """All draws of one partition; several share a word, which is rejected as a whole (Lemire 2019)."""
        numbers: list[int] = []
        first = 0
        for last in self._ends:
            product = 1
            for bound in self._bounds[first:last]:
                product *= bound
            refused = (_LOW + 1) % product
            while True:
                word = next(words, None)
                if word is None:
                    return None
                together: list[int] = []
                for bound in self._bounds[first:last]:
                    number, word = divmod(word * bound, _LOW + 1)
                    together.append(number)
                if word >= refused:
                    break
            numbers += together
            first = last
        return numbers

    def _deal(self, draws: Sequence[int]) -> list[int]:
        """The values in the order of their positions."""
        numbers = iter(draws)
        order = list(range(self._rows))
        left = [list(row) for row in self._grid]
        dealt: list[int] = []
        for position in range(self.n_values):
            column, at = divmod(position, self._rows)
            if column == 0:
                chosen = at + next(numbers, 0)
                order[at], order[chosen] = order[chosen], order[at]
            row = left[order[at]]
            if self._columns > 1:
                chosen = column + next(numbers, 0)
                row[column], row[chosen] = row[chosen], row[column]
            dealt.append(row[column])
        return dealt
