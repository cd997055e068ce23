"""Draws for ordered answers and for groups of answers, by unranking."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import ClassVar

from ldiversity.collection.draw._weighted import WeightedDraw

__all__ = ["ChainDraw"]


class ChainDraw(WeightedDraw):
    """Values stand on a row of nodes; a node may share a set with every node from ``first_after[node]`` on.

    An order has one value on each node. Groups of values are nodes of several values, which never share a set. The
    weight of a set is the product of its values' weights, and all totals are whole numbers: a set is one whole number
    below the total of the answer's sets.

    Examples
    --------
    >>> draw = ChainDraw(2, [0, 1, 2, 3, 4], [2, 3, 4, 5, 5], [1.0] * 5)
    >>> [draw.sample(0, [word << 62]) for word in range(3)]
    [(0, 2), (0, 3), (0, 4)]
    """

    kind: ClassVar[str] = "chain"

    def __init__(self, l: int, node_of: Sequence[int], first_after: Sequence[int], weights: Sequence[float]) -> None:
        super().__init__(l, weights)
        self._node_of, self._first_after = list(node_of), list(first_after)
        n_nodes = len(first_after)
        self._members: list[list[int]] = [[] for _ in range(n_nodes)]
        for code, node in enumerate(node_of):
            self._members[node].append(code)
        # How many nodes at the left end may share a set with each node.
        self._before = [bisect_right(self._first_after, node) for node in range(n_nodes)]
        heights = [sum(self.whole[code] for code in codes) for codes in self._members]
        # left[k][i]: the weight of k members among the nodes before i. right[k][i]: among the nodes from i on.
        self._left = [[1] * (n_nodes + 1)] + [[0] * (n_nodes + 1) for _ in range(l - 1)]
        self._right = [[1] * (n_nodes + 1)] + [[0] * (n_nodes + 1) for _ in range(l - 1)]
        for k in range(1, l):
            left, right = self._left[k], self._right[k]
            for i in range(n_nodes):
                left[i + 1] = left[i] + heights[i] * self._left[k - 1][self._before[i]]
            for i in range(n_nodes - 1, -1, -1):
                right[i] = right[i + 1] + heights[i] * self._right[k - 1][self._first_after[i]]
        self._heights = heights

    def total(self, code: int) -> int:
        """The weight of all sets with this value, without its own weight."""
        low, high = self._ends(code)
        return sum(self._left[k][low] * self._right[self.l - 1 - k][high] for k in range(self.l))

    def set_at(self, code: int, rank: int) -> tuple[int, ...]:
        """The set at a rank below `total`; a set has as many ranks as its weight."""
        low, high = self._ends(code)
        k = 0
        while rank >= (part := self._left[k][low] * self._right[self.l - 1 - k][high]):
            rank -= part
            k += 1
        on_left, on_right = divmod(rank, self._right[self.l - 1 - k][high])
        members = [code]
        at = low
        for more in range(k, 0, -1):
            at, on_left = self._walk(members, at - 1, on_left, self._left[more - 1], self._before, -1)
        at = high
        for more in range(self.l - 1 - k, 0, -1):
            at, on_right = self._walk(members, at, on_right, self._right[more - 1], self._first_after, 1)
        return tuple(sorted(members))

    def admits(self, codes: Sequence[int]) -> bool:
        """Whether the set has `l` ascending codes, and each two that follow each other may share it."""
        if len(codes) != self.l or codes[0] < 0 or codes[-1] >= self.n_values:
            return False
        if any(low >= high for low, high in pairwise(codes)):
            return False
        nodes = sorted(self._node_of[code] for code in codes)
        return all(self._first_after[low] <= high for low, high in pairwise(nodes))

    @property
    def is_recoverable(self) -> bool:
        """Whether every two nodes beside each other can take each other's place in some set.

        Then all answers are compared with each other. If two cannot, then every set has the same number of members on
        their left. Values that exclude each other must also be fewer than one in `l`; otherwise every set has one.
        """
        n_nodes = len(self._first_after)
        sizes = [0, *accumulate(map(len, self._members))]
        # The most members that a set can have among the nodes before each place, and from each place on.
        most_left, most_right = [0] * (n_nodes + 1), [0] * (n_nodes + 1)
        for i in range(n_nodes):
            most_left[i + 1] = max(most_left[i], 1 + most_left[self._before[i]])
        for i in range(n_nodes - 1, -1, -1):
            most_right[i] = max(most_right[i + 1], 1 + most_right[self._first_after[i]])
        exchanged = all(
            most_left[self._before[i]] + most_right[self._first_after[i + 1]] >= self.l - 1 for i in range(n_nodes - 1)
        )
        widest = max(sizes[after] - sizes[i] for i, after in enumerate(self._first_after))
        return exchanged and widest * self.l < self.n_values

    def structure(self) -> Iterable[int | str]:
        """The nodes, and the weights."""
        return [len(self._first_after), *self._node_of, *self._first_after, *super().structure()]

    def _ends(self, code: int) -> tuple[int, int]:
        node = self._node_of[code]
        return self._before[node], self._first_after[node]

    def _walk(
        self, members: list[int], node: int, rank: int, rests: Sequence[int], ends: Sequence[int], step: int
    ) -> tuple[int, int]:
        """Add the next member to one side; return where the walk goes on, and the rank there."""
        while True:
            rest = rests[ends[node]]
            here = self._heights[node] * rest
            if rank < here:
                break
            rank -= here
            node += step
        within, rank = divmod(rank, rest)
        for code in self._members[node]:
            if within < self.whole[code]:
                members.append(code)
                break
            within -= self.whole[code]
        return ends[node], rank
