"""Ways to cut a table into parts that look at no tree of cuts: by chance, and equal records together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.randomness import Identities
from ldiversity.methods._coded import CategoryColumn, CodedTable, NumberColumn
from ldiversity.methods._parts_tree import PartTree

__all__ = ["AlikeParts", "LevelParts", "Parts", "RandomParts", "at_levels"]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


class Parts(Protocol):
    """A way to cut a table: which part a row belongs to depends on its cells and its words, and on no other row."""

    @property
    def tree(self) -> PartTree:
        """Which parts are near each other."""

    def identities(self, table: CodedTable, rows: Identities) -> Identities:
        """Whom the words for `route` are for: each row, or all rows that are alike."""

    def route(self, table: CodedTable, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Shape (n,): the part of each row, from its uniformly random word."""


@dataclass(frozen=True)
class RandomParts:
    """Parts by chance, for methods that do not look at quasi-identifiers.

    Examples
    --------
    >>> nobody = CodedTable((), ())
    >>> RandomParts(4).route(nobody, np.array([0, 1 << 63, (1 << 64) - 1], dtype=np.uint64)).tolist()
    [3, 1, 3]
    """

    n_parts: int

    @cached_property
    def tree(self) -> PartTree:
        """Any parts are as near as others."""
        return PartTree.balanced(self.n_parts)

    def identities(self, table: CodedTable, rows: Identities) -> Identities:  # noqa: ARG002 - rows as they are
        """Each row has words of its own."""
        return rows

    def route(self, table: CodedTable, words: NDArray[np.uint64]) -> NDArray[np.int32]:  # noqa: ARG002 - blind
        """Shape (n,): the part of each row."""
        # Mixed first, so that what else the word decides, such as whether a row is left out, says nothing about parts.
        high = _mixed(words + _STEP) >> np.uint64(32)
        return ((high * np.uint64(self.n_parts)) >> np.uint64(32)).astype(np.int32)


@dataclass(frozen=True)
class AlikeParts(RandomParts):
    """Parts by chance, in which records that agree on all quasi-identifiers meet.

    A combination that very many records have is never divided, so parts are of unequal sizes.
    """

    def identities(self, table: CodedTable, rows: Identities) -> Identities:
        """Equal for rows that agree on all quasi-identifiers; very seldom for others, which then meet too."""
        found = np.zeros((len(rows), 2), dtype=np.uint64)
        for column in table.quasi:
            if isinstance(column, NumberColumn):
                cells = (np.asarray(column.values, dtype=np.float64) + 0.0).view(np.uint64)  # 0.0 and -0.0 are equal
                if column.missing is not None:
                    cells = np.where(column.missing, np.iinfo(np.uint64).max, cells)
            else:
                cells = column.codes.astype(np.uint64)
            for lane, start in enumerate((_FIRST, _SECOND)):
                found[:, lane] = _mixed((found[:, lane] ^ start) + _mixed(cells + _STEP))
        # The low half of the second number is for counting blocks of words.
        found[:, 1] &= np.uint64(0xFFFFFFFF00000000)
        return found


@dataclass(frozen=True)
class LevelParts(AlikeParts):
    """Parts by chance, in which records meet that agree on all quasi-identifiers at one level of each hierarchy.

    Attributes
    ----------
    levels
        The level of each quasi-identifier.
    dealt
        Combinations that many records have, as `combinations` numbers them, ascending; into how many pieces each is
        divided, by chance; and the part of the first piece. The others go to the parts after it.
    """

    levels: tuple[int, ...] = ()
    dealt: tuple[tuple[int, int, int], ...] = ()

    def combinations(self, table: CodedTable) -> NDArray[np.uint64]:
        """Shape (n,): a number for the combination of each row at the levels."""
        shown = at_levels(table, self.levels)
        nobody = np.zeros((len(shown[0].codes), 2), dtype=np.uint64)
        found = super().identities(replace(table, quasi=shown), nobody)
        numbers: NDArray[np.uint64] = found[:, 0]
        return numbers

    def identities(self, table: CodedTable, rows: Identities) -> Identities:
        """Equal for rows that agree at the levels, if these are not divided."""
        found = super().identities(replace(table, quasi=at_levels(table, self.levels)), rows)
        if self.dealt:
            known, places = self._known(found[:, 0])
            alone = known & (self._columns[1][places] > 1)
            found[alone] = rows[alone]
        return found

    def route(self, table: CodedTable, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Shape (n,): the part of each row."""
        parts = super().route(table, words)
        if self.dealt:
            known, places = self._known(self.combinations(table))
            _, pieces, first = (column[places[known]] for column in self._columns)
            high = _mixed(words[known] + _STEP) >> np.uint64(32)
            parts[known] = (first + ((high * pieces) >> np.uint64(32))) % np.uint64(self.n_parts)
        return parts

    @cached_property
    def _columns(self) -> tuple[NDArray[np.uint64], ...]:
        return tuple(np.array(column, dtype=np.uint64) for column in zip(*self.dealt, strict=True))

    def _known(self, numbers: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Which rows have a combination that is dealt, and which one it is."""
        places = np.minimum(np.searchsorted(self._columns[0], numbers), len(self.dealt) - 1)
        return self._columns[0][places] == numbers, places


def at_levels(table: CodedTable, levels: Sequence[int]) -> tuple[CategoryColumn, ...]:
    """Quasi-identifiers whose codes are the nodes at a level of their hierarchies."""
    columns = []
    for column, level in zip(table.categories, levels, strict=True):
        nodes = column.nodes[:, level]
        labels = tuple(str(node) for node in range(int(nodes.max(initial=-1)) + 1))
        columns.append(CategoryColumn(column.name, nodes[column.codes].astype(np.int32), labels))
    return tuple(columns)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of each word over all of it (the finalizer of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    mixed: NDArray[np.uint64] = words ^ (words >> np.uint64(31))
    return mixed
