"""Moves of rows that have several sensitive values, no one of which may have more than 1/l of a part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._parts_moves import Moves
from ldiversity.methods._parts_tree import PartTree

__all__ = ["eligible_cell_moves"]

Ints: TypeAlias = NDArray[np.int64]

_TARGETS: Final = 64
"""Parts below a node that are asked for room: those with the most."""


def eligible_cell_moves(counts: Ints, l: int, tree: PartTree, cells: CodeArray) -> Moves:
    """Moves after which no value of any column has more than 1/l of a part, wherever one pass finds them.

    From the leaves up, a part that has too many rows of a value gives them to a part on the other side of the node. It
    takes those of which the other has room for all values, and so never makes a part worse. With several columns this
    need not reach every part: what stays too frequent is for `join_parts`.

    Parameters
    ----------
    counts
        Shape (parts, cells): how many rows of each part have each combination of values.
    l
        At least 2.
    tree
        Which parts are near each other.
    cells
        Shape (cells, columns): the values of each combination.

    Examples
    --------
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    >>> moves = eligible_cell_moves(np.array([[3, 2, 2, 1], [1, 2, 2, 3]]), 2, PartTree.balanced(2), cells)
    >>> moves.after(np.array([[3, 2, 2, 1], [1, 2, 2, 3]])).tolist()
    [[1, 2, 2, 1], [3, 2, 2, 3]]
    """
    state = _State(np.array(counts, dtype=np.int64), l, cells)
    bad = set(np.flatnonzero(state.worst(slice(None)) > 0).tolist())
    for node in range(len(tree.left) - 1, -1, -1):
        sides = tree.span(int(tree.left[node])), tree.span(int(tree.right[node]))
        for (first, last), (begin, end) in (sides, sides[::-1]):
            for part in [part for part in range(first, last) if part in bad] if bad else []:
                if state.relieve(part, begin, end):
                    bad.discard(part)
        bad -= {part for part in bad if state.worst(slice(part, part + 1))[0] <= 0}
    return Moves.of(state.moves)


@dataclass(eq=False)
class _State:
    """The rows of each part by combinations, and by the values of each column, while rows move."""

    counts: Ints
    l: int
    cells: CodeArray
    moves: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sizes: Ints = self.counts.sum(axis=1)
        self.values: list[Ints] = []
        for codes in self.cells.T:
            own = np.zeros((len(self.counts), int(codes.max(initial=0)) + 1), dtype=np.int64)
            np.add.at(own.T, codes, self.counts.T)
            self.values.append(own)

    def worst(self, parts: slice) -> Ints:
        """Shape (parts,): l times the most frequent value less the rows of each part, above 0 if it has too many."""
        most = np.max([own[parts].max(axis=1) for own in self.values], axis=0)
        excess: Ints = self.l * most - self.sizes[parts]
        return excess

    def relieve(self, part: int, begin: int, end: int) -> bool:
        """Move rows of a part to others until no value is too frequent in it; whether that is reached."""
        while True:
            most = [int(own[part].max()) for own in self.values]
            column = int(np.argmax(most))
            excess = self.l * most[column] - int(self.sizes[part])
            if excess <= 0:
                return True
            value = int(np.argmax(self.values[column][part]))
            own = np.flatnonzero((self.cells[:, column] == value) & (self.counts[part] > 0))
            spare = self.sizes[begin:end] - self.l * self.values[column][begin:end, value]
            targets = begin + np.argsort(-spare, kind="stable")[:_TARGETS]
            targets = targets[spare[targets - begin] >= self.l - 1]
            if not len(targets):
                return False
            room = np.min(
                [
                    (self.sizes[targets, None] - self.l * known[np.ix_(targets, codes[own])]) // (self.l - 1)
                    for known, codes in zip(self.values, self.cells.T, strict=True)
                ],
                axis=0,
            )
            number = np.minimum(np.minimum(room, self.counts[part, own]), -(-excess // (self.l - 1)))
            target, cell = divmod(int(np.argmax(number)), len(own))
            if number[target, cell] <= 0:
                return False
            self._move(part, int(own[cell]), int(targets[target]), int(number[target, cell]))

    def _move(self, source: int, cell: int, target: int, number: int) -> None:
        for part, change in ((source, -number), (target, number)):
            self.counts[part, cell] += change
            self.sizes[part] += change
            for own, codes in zip(self.values, self.cells.T, strict=True):
                own[part, codes[cell]] += change
        self.moves[source, cell, target] = self.moves.get((source, cell, target), 0) + number
