"""Values on a chain: one exact dynamic program for ordered domains, trees and domains without conflicts.

A chain is a row of *nodes*. Every value belongs to one node, values of one node never stand together, and node
i may stand with every node from ``first_after[i]`` on. Lines, blocks and complete graphs are chains:

========== ================ ===========================
structure  nodes            ``first_after[i]``
========== ================ ===========================
line       the values       that of the line
blocks     the blocks       ``i + 1``
complete   the values       ``i + 1``
========== ================ ===========================

A valid set is then a walk over nodes from left to right, and sums over all valid sets of products over members
are computed node by node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.arrays import CodeArray, FloatArray

if TYPE_CHECKING:
    from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["Chain", "Levels"]

COLUMNS: Final = 1 << 22
"""Numbers held at a time in one array of moments."""


SLACK: Final = 1e-8
"""Shares that differ by less than this count as equal: what people write as thirds does not sum to one."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Sums over the partial walks that may stand on one side of each node.

    Parameters
    ----------
    totals
        Shape (l, nodes): the total weight of walks of k members beside the node, ``k < l``, scaled.
    log_scale
        Shape (l,): the true total of level k is ``totals[k] * exp(log_scale[k])``.
    firsts, seconds
        Shape (l, nodes, columns): the same sums of weight times the walk's sum, and its square; no columns when
        they are not asked for.
    """

    totals: FloatArray
    log_scale: FloatArray
    firsts: FloatArray
    seconds: FloatArray

    def flipped(self) -> Levels:
        """The same levels with the nodes in the opposite order."""
        return Levels(self.totals[:, ::-1], self.log_scale, self.firsts[:, ::-1], self.seconds[:, ::-1])


@dataclass(frozen=True, eq=False)
class Chain:
    """A row of nodes.

    Parameters
    ----------
    node_of
        The node of each value, shape (F,).
    first_after
        For each node the first node on its right that it may stand with; the number of nodes when there is none.

    Examples
    --------
    >>> Chain(np.array([0, 1, 2, 3]), np.array([2, 3, 4, 4])).clique_masses(np.ones(4)).tolist()
    [2.0, 2.0, 2.0, 1.0]
    """

    node_of: CodeArray
    first_after: CodeArray

    @classmethod
    def of(cls, compatibility: Compatibility) -> Chain | None:
        """See the values as a chain; None when they are not one."""
        node_of = compatibility.block_of
        if node_of is not None:
            return cls(node_of, np.arange(1, int(node_of.max()) + 2, dtype=np.int32))
        if compatibility.first_after is not None:
            return cls(np.arange(len(compatibility), dtype=np.int32), compatibility.first_after)
        return None

    def __len__(self) -> int:
        return len(self.first_after)

    @cached_property
    def counts_before(self) -> CodeArray:
        """How many nodes at the left end each node may stand with."""
        return np.searchsorted(self.first_after, np.arange(len(self)), side="right").astype(np.int32)

    @cached_property
    def counts_after(self) -> CodeArray:
        """How many nodes at the right end each node may stand with."""
        return (len(self) - self.first_after).astype(np.int32)

    def clique_masses(self, masses: FloatArray) -> FloatArray:
        """Sum `masses` of values over each maximal run of nodes that never stand together."""
        sums: FloatArray = np.concatenate([[0.0], np.cumsum(self.of_nodes(masses))])
        return sums[self.first_after] - sums[:-1]

    def has_slack(self, masses: FloatArray, l: int, *, strictly: bool = True) -> bool:
        """Whether every clique holds less than 1/l of the mass; or, when not `strictly`, at most 1/l."""
        whole = float(masses.sum())
        slack = whole / l - float(self.clique_masses(masses).max())
        return slack > SLACK * whole if strictly else slack >= -SLACK * whole

    def avoids_each_clique(self, l: int) -> bool:
        """Whether for every clique there is a valid set of `l` values without any of its values."""
        size = len(self)
        before, after = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        for node in range(size):  # the most members among the first nodes, and among the last
            before[node + 1] = max(before[node], 1 + before[self.counts_before[node]])
        for node in range(size - 1, -1, -1):
            after[node] = max(after[node + 1], 1 + after[self.first_after[node]])
        return bool((before[:-1] + after[self.first_after] >= l).all())

    def of_nodes(self, numbers: FloatArray) -> FloatArray:
        """Sum numbers of values (first axis) over the values of each node."""
        if len(self) == len(self.node_of):
            return numbers
        summed = np.zeros((len(self), *numbers.shape[1:]))
        np.add.at(summed, self.node_of, numbers)
        return summed

    def lightest(self, costs: FloatArray, l: int) -> FloatArray:
        """For each value, the least sum of `costs` over a valid set of `l` values that contains it; or infinity."""
        least = np.full(len(self), np.inf)
        np.minimum.at(least, self.node_of, costs)
        left = _cheapest(least, self.counts_before, l)
        right = _cheapest(least[::-1], self.counts_after[::-1], l)[:, ::-1]
        rest: FloatArray = np.min([left[k] + right[l - 1 - k] for k in range(l)], axis=0)
        return costs + rest[self.node_of]

    def beside(self, weights: FloatArray, l: int) -> tuple[Levels, Levels]:
        """Sum walks of up to ``l - 1`` members on the left and on the right of each node."""
        none = np.zeros((len(self), 0))
        return self._beside(weights, none, none, l)

    def rest(self, weights: FloatArray, l: int) -> tuple[FloatArray, float]:
        """For each node, the total weight of the other members of the sets that contain it, and its log scale."""
        left, right = self.beside(weights, l)
        scale, shift = _joint_scale(left, right)
        return np.einsum("k,kn,kn->n", scale, left.totals, right.totals[::-1]), shift

    def rest_moments(
        self, weights: FloatArray, firsts: FloatArray, seconds: FloatArray | None, l: int
    ) -> tuple[FloatArray, FloatArray]:
        """For each node and column, weight times sum (and times squared sum) of the other members.

        Parameters
        ----------
        weights
            Shape (nodes,): the total weight of the values of a node.
        firsts, seconds
            Shape (nodes, columns): weight times number, and weight times squared number, of a node's values.
        l
            Members of a set.

        Returns
        -------
        first, second
            Shape (nodes, columns), not scaled; `second` has no columns when `seconds` is None.
        """
        squares = firsts[:, :0] if seconds is None else seconds
        width = max(1, COLUMNS // (l * len(self)))
        parts = [
            self._rest_moments(weights, firsts[:, at : at + width], squares[:, at : at + width], l)
            for at in range(0, firsts.shape[1], width)
        ]
        return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)

    def _rest_moments(
        self, weights: FloatArray, firsts: FloatArray, seconds: FloatArray, l: int
    ) -> tuple[FloatArray, FloatArray]:
        left, right = self._beside(weights, firsts, seconds, l)
        scale, shift = _joint_scale(left, right)
        first, second = np.zeros_like(firsts), np.zeros_like(seconds)
        for k, factor in enumerate(scale * np.exp(shift)):
            here, there = factor * left.totals[k][:, None], factor * right.totals[l - 1 - k][:, None]
            one, other = left.firsts[k], right.firsts[l - 1 - k]
            first += one * there + here * other
            if seconds.shape[1]:
                second += left.seconds[k] * there + 2.0 * factor * one * other + here * right.seconds[l - 1 - k]
        return first, second

    def _beside(self, weights: FloatArray, firsts: FloatArray, seconds: FloatArray, l: int) -> tuple[Levels, Levels]:
        left = _levels(weights, self.counts_before, l, firsts, seconds)
        right = _levels(weights[::-1], self.counts_after[::-1], l, firsts[::-1], seconds[::-1])
        return left, right.flipped()


def _levels(weights: FloatArray, counts: CodeArray, l: int, firsts: FloatArray, seconds: FloatArray) -> Levels:
    """Walk from left to right, one member a level; every level is scaled to a largest total of one."""
    totals = np.zeros((l, len(weights)))
    totals[0] = 1.0
    log_scale = np.zeros(l)
    one, two = np.zeros((l, *firsts.shape)), np.zeros((l, *seconds.shape))
    for k in range(1, l):
        total = _before(weights * totals[k - 1], counts)
        scale = float(total.max()) or 1.0
        totals[k] = total / scale
        log_scale[k] = log_scale[k - 1] + np.log(scale)
        previous = totals[k - 1][:, None]
        if firsts.shape[1]:
            one[k] = _before(weights[:, None] * one[k - 1] + firsts * previous, counts) / scale
        if seconds.shape[1]:
            grown = weights[:, None] * two[k - 1] + 2.0 * firsts * one[k - 1] + seconds * previous
            two[k] = _before(grown, counts) / scale
    return Levels(totals, log_scale, one, two)


def _before(ending: FloatArray, counts: CodeArray) -> FloatArray:
    sums = np.zeros((len(ending) + 1, *ending.shape[1:]))
    np.cumsum(ending, axis=0, out=sums[1:])
    return sums[counts]


def _joint_scale(left: Levels, right: Levels) -> tuple[FloatArray, float]:
    logs = left.log_scale + right.log_scale[::-1]
    shift = float(logs.max())
    return np.exp(logs - shift), shift


def _cheapest(least: FloatArray, counts: CodeArray, l: int) -> FloatArray:
    best = np.zeros((l, len(least)))
    for k in range(1, l):
        running = np.concatenate([[np.inf], np.minimum.accumulate(least + best[k - 1])])
        best[k] = running[counts]
    return best
