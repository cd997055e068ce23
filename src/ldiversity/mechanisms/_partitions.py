"""Partition draws: the sets of one person are equal or disjoint, whatever the values were."""

from __future__ import annotations

from functools import cached_property
from math import log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, SetArray, WordArray
from ldiversity.mechanisms._arguments import check_sample

__all__ = ["Partitions"]

_OUTCOMES_PER_WORD: Final = 2**32
_DEALT_VALUES: Final = 2048
"""Up to here all positions are filled, which is exact; beyond, orders are followed at a few points, which is faster."""

_KEY_WORDS: Final = 2
_CLOSENESS_BITS: Final = 64


class Partitions:
    """Random partitions of a domain into valid sets of `l` values: words choose one, and a value gets its set.

    The words know nothing of the value. So any two sets of one person come from the same partition, and are equal or
    disjoint: there is nothing to intersect, in any number of rows and releases, and all members of a set stay equally
    likely. A single set has the same distribution as `SetMechanism.sample` gives.

    Where `l` does not divide the number of values F, ``F mod l`` values are left over in each partition. A person whose
    value is left over gets the set of their next partition, so two of their sets may overlap: see `overlapping`.

    Parameters
    ----------
    l
        How many values a set has; at most as many as there are rows in `grid`.
    grid
        Codes, shape (rows, columns): two values of a row never share a set, all others may. One column, if all may.

    Notes
    -----
    Up to 2,048 values, all sets are exactly equally likely. Beyond, an order of the values is a swap-or-not shuffle
    with so many rounds that the probabilities of all sets together differ by less than 2**-64.

    References
    ----------
    Hoang, Morris, Rogaway, An Enciphering Scheme Based on a Card Shuffle, CRYPTO 2012.

    Examples
    --------
    >>> partitions = Partitions(2, np.arange(6)[:, None])
    >>> words = np.array([[2**60, 2**59]] * 6, dtype=np.uint64)
    >>> sets, _ = partitions.sample(np.arange(6), words)
    >>> sorted(set(map(tuple, sets.tolist())))
    [(0, 1), (2, 5), (3, 4)]
    """

    def __init__(self, l: int, grid: CodeArray) -> None:
        self.l = l
        self._grid = np.ascontiguousarray(grid, dtype=np.int32)
        if self._grid.ndim != 2 or not 1 <= l <= len(self._grid):  # noqa: PLR2004 - rows and columns
            raise ValueError(l, self._grid.shape)
        self._place = np.empty(self.n_values, dtype=np.int32)
        self._place[self._grid.ravel()] = np.arange(self.n_values, dtype=np.int32)

    @property
    def n_values(self) -> int:
        """F, the number of values of the domain."""
        return self._grid.size

    @property
    def left_over(self) -> int:
        """How many values are left over in each partition, F mod l."""
        return self.n_values % self.l

    @property
    def overlapping(self) -> float:
        """At most this share of changes of a value gives two sets that overlap without being equal: 2 (F mod l) / F."""
        return min(1.0, 2 * self.left_over / self.n_values)

    @property
    def overlap_posterior(self) -> float:
        """How sure someone can be of a value after two overlapping sets, without prior knowledge: (l+1) / 2l.

        Without overlap it stays 1/l.
        """
        return (self.l + 1) / (2 * self.l) if self.left_over else 1 / self.l

    @property
    def can_be_certain(self) -> bool:
        """Whether three or more sets of a person can tell a value for certain.

        A set that overlaps two disjoint sets is that of a value which was left over. If only one of its members is in
        no other set, that is the value. With sets of two this cannot be, nor where a person shows no three sets.
        """
        return bool(self.left_over) and self.l > 2 and self.n_values > self.l + 1  # noqa: PLR2004 - sets of two

    @property
    def dividing(self) -> tuple[int, ...]:
        """The nearest smaller and larger l that divide F, above 1 and below the number of rows."""
        fits = [l for l in range(2, len(self._grid)) if self.n_values % l == 0]
        below, above = [l for l in fits if l < self.l], [l for l in fits if l > self.l]
        return (*below[-1:], *above[:1])

    @property
    def words_per_record(self) -> int:
        """Random words for one partition, if no draw is rejected and the value is not left over."""
        return len(self._ends) if self._dealt else _KEY_WORDS

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """The set of each code in the partition that its words choose; see `SetMechanism.sample`."""
        from ldiversity._kernels.partitions import deal_blocks, find_blocks

        codes, words = check_sample("Partitions", codes, words, n_values=self.n_values, n_words=self.words_per_record)
        if self._dealt:
            drawn: tuple[SetArray, BoolArray] = deal_blocks(
                codes, words, self.l, self._grid, self._place, self._bounds, self._ends
            )
            return drawn
        found = find_blocks(codes, words, self.l, self._grid, self._place, self._rounds)
        return found, np.zeros(len(codes), dtype=np.bool_)

    @property
    def _dealt(self) -> bool:
        return self.n_values <= _DEALT_VALUES

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """The bounds of the draws of one partition, without those of positions that are no block."""
        rows, columns = self._grid.shape
        bounds: list[int] = []
        for position in range(self.n_values - self.left_over):
            bounds += [rows - position] if position < rows else []
            bounds += [columns - position // rows] if columns > 1 else []
        while bounds and bounds[-1] == 1:  # nothing to draw
            bounds.pop()
        return np.array(bounds, dtype=np.int64)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """How many draws are made when each word is used up; draws share a word as long as rejection stays rare."""
        ends: list[int] = []
        product = 1
        for at, bound in enumerate(self._bounds.tolist()):
            if product * bound > _OUTCOMES_PER_WORD:
                ends.append(at)
                product = 1
            product *= bound
        return np.array([*ends, len(self._bounds)], dtype=np.int64)

    @cached_property
    def _rounds(self) -> int:
        """Rounds of the shuffle, for which (4 N**1.5 / (r + 2)) ((q + N) / 2N)**(r/2 + 1) is below 2**-64 / N."""
        size = max(self._grid.shape)
        rounds = 64
        while (
            2 + 2.5 * log2(size) - log2(rounds + 2) + (rounds / 2 + 1) * log2(min(1.0, (self.l + size) / (2 * size)))
            > -_CLOSENESS_BITS
        ):
            rounds += 8
        return rounds
