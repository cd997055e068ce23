"""The tree of a table's parts: which parts are near each other, and which are put together where one is not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["PartTree", "join_parts", "pair_parts"]


@dataclass(frozen=True, eq=False)
class PartTree:
    """A binary tree whose leaves are the parts, numbered from left to right.

    Parameters
    ----------
    left, right
        Shape (parts - 1,): the children of each inner node. Node 0 is the root, and nodes come before their children.
        Part p is written as ``-1 - p``.

    Examples
    --------
    >>> tree = PartTree.balanced(3)
    >>> tree.left.tolist(), tree.right.tolist(), tree.spans.tolist()
    ([-1, -2], [1, -3], [[0, 3], [1, 3]])
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def balanced(cls, n_parts: int) -> Self:
        """A tree of so many parts, all about as deep."""
        left, right = np.empty((2, n_parts - 1), dtype=np.int32)
        spans = [(0, n_parts)]
        made = 1
        for node in range(n_parts - 1):
            first, last = spans[node]
            middle = (first + last) // 2
            for side, begin, end in ((left, first, middle), (right, middle, last)):
                if end - begin == 1:
                    side[node] = -1 - begin
                else:
                    side[node] = made
                    made += 1
                    spans.append((begin, end))
        return cls(left, right)

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self.left) + 1

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """Shape (parts - 1, 2): the first part below each inner node, and the one after the last."""
        spans = np.empty((len(self.left), 2), dtype=np.int64)
        for node in range(len(self.left) - 1, -1, -1):
            spans[node] = self.span(int(self.left[node]), spans)[0], self.span(int(self.right[node]), spans)[1]
        return spans

    def span(self, child: int, spans: NDArray[np.int64] | None = None) -> tuple[int, int]:
        """The first part below a child, which is a node or a part, and the one after the last."""
        if child < 0:
            return -1 - child, -child
        first, last = (self.spans if spans is None else spans)[child].tolist()
        return first, last


def join_parts(tree: PartTree, holds: Callable[[int, int], bool]) -> NDArray[np.int32]:
    """Put parts together until all of them hold: the part of each part afterwards.

    A part that does not hold is joined with those beside it in the tree, the nearest first, as many as it takes; if not
    even all parts below the next node above it hold together, they become one, and so on up to the root. One that holds
    is joined only if one beside it does not.

    Parameters
    ----------
    tree
        The tree of parts.
    holds
        Whether the parts from the first to the one before the last hold as one part. If not even all of them do, all
        become one: the method then says what is wrong with the table.

    Examples
    --------
    >>> sizes = np.array([5, 1, 9, 7])
    >>> join_parts(PartTree.balanced(4), lambda first, last: sizes[first:last].sum() >= 4).tolist()
    [0, 0, 2, 3]
    >>> sizes = np.array([1, 1, 9, 7])
    >>> join_parts(PartTree.balanced(4), lambda first, last: sizes[first:last].sum() >= 4).tolist()
    [0, 0, 0, 3]
    """
    home = np.arange(tree.n_parts, dtype=np.int32)
    sound = np.empty(len(tree.left), dtype=bool)
    for node in range(len(tree.left) - 1, -1, -1):
        (first, middle), (_, last) = (tree.span(int(side[node])) for side in (tree.left, tree.right))
        left, right = (
            bool(sound[child]) if child >= 0 else holds(-1 - child, -child)
            for child in (int(tree.left[node]), int(tree.right[node]))
        )
        sound[node] = left and right
        if sound[node]:
            continue
        # A side that does not hold is one part. It takes parts of the other side, the nearest first, until it holds.
        begin, end = (first, middle) if not left else (middle, last)
        while not sound[node] and (begin, end) != (first, last):
            if left:
                begin = int(home[begin - 1])
            elif right:
                end = int(np.searchsorted(home, home[end], side="right"))
            else:
                begin, end = first, last
            sound[node] = holds(begin, end)
        home[begin:end] = begin
    return home


def pair_parts(sizes: NDArray[np.int64], holds: Callable[[Sequence[int]], bool], most: int) -> NDArray[np.int32] | None:
    """Put each part that does not hold together with the nearest one that makes it hold: the part of each afterwards.

    `join_parts` takes parts side by side, and where one hardly misses what is needed, those beside it often have no
    room either, so that many become one. Somewhere there is a part with room: then two are enough. None where no part
    of at most `most` rows comes of it.

    Parameters
    ----------
    sizes
        Shape (parts,): the rows of each part. Parts are numbered from left to right, near ones beside each other.
    holds
        Whether some parts hold as one.
    most
        The greatest number of rows of parts that are put together.

    Examples
    --------
    Each part shall have two values, and the first two have one.

    >>> values = [{"flu"}, {"flu"}, {"flu", "cut"}, {"cut", "sty"}]
    >>> two = lambda parts: len(set.union(*(values[part] for part in parts))) >= 2
    >>> pair_parts(np.array([5, 9, 9, 5]), two, most=14).tolist()
    [0, 1, 0, 1]
    >>> pair_parts(np.array([5, 9, 9, 5]), two, most=10) is None
    True
    """
    groups = {part: [part] for part in np.flatnonzero(sizes).tolist()}
    rows = dict(zip(groups, sizes[list(groups)].tolist(), strict=True))
    for part in [part for part in groups if not holds([part])]:
        if part not in groups or holds(groups[part]):
            continue  # another one took it already
        nearest = sorted((other for other in groups if other != part), key=lambda other: abs(other - part))
        small = (other for other in nearest if rows[other] + rows[part] <= most)
        found = next((other for other in small if holds([*groups[part], *groups[other]])), None)
        if found is None:
            return None
        first, second = sorted((part, found))
        groups[first] += groups.pop(second)
        rows[first] += rows.pop(second)
    home = np.arange(len(sizes), dtype=np.int32)
    for first, together in groups.items():
        home[together] = first
    return home
