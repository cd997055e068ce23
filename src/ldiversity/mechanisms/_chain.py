"""Values on a chain: one exact dynamic program for ordered domains, trees and domains without conflicts.

A chain is a row of *nodes*. Every value belongs to one node. Values of one node never share a set, and node i may
share a set with every node from ``first_after[i]`` on. Lines, blocks and complete graphs are chains:

========== ================ ===========================
structure  nodes            ``first_after[i]``
========== ================ ===========================
line       the values       that of the line
blocks     the blocks       ``i + 1``
complete   the values       ``i + 1``
========== ================ ===========================

So a valid set is a walk over nodes from left to right, and the sum over all valid sets of a product over members is
computed node by node.
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
"""The most numbers in one array of moments; it bounds memory."""


SLACK: Final = 1e-8
"""Shares that differ by less than this count as equal: thirds that people write as decimals do not sum to one."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Sums over the partial walks on one side of each node.

    Parameters
    ----------
    totals
        Shape (l, nodes): the total weight of walks of k members beside the node, ``k < l``, scaled.
    log_scale
        Shape (l,): the true total of level k is ``totals[k] * exp(log_scale[k])``.
    firsts, seconds
        Shape (l, nodes, columns): the same, of weight times the walk's sum, and times its square; without columns
        if they are not needed.
    """

    totals: FloatArray
    log_scale: FloatArray
    firsts: FloatArray
    seconds: FloatArray

    def flipped(self) -> Levels:
        """Return the levels with the nodes in the opposite order."""
        return Levels(self.totals[:, ::-1], self.log_scale, self.firsts[:, ::-1], self.seconds[:, ::-1])


@dataclass(frozen=True, eq=False)
class Chain:
    """A row of nodes.

    Parameters
    ----------
    node_of
        The node of each value, shape (F,).
    first_after
        For each node, the first node on its right that may share a set with it; the number of nodes if there is none.

    Examples
    --------
    >>> Chain(np.array([0, 1, 2, 3]), np.array([2, 3, 4, 4])).clique_masses(np.ones(4)).tolist()
    [2.0, 2.0, 2.0, 1.0]
    """

    node_of: CodeArray
    first_after: CodeArray

    @classmethod
    def of(cls, compatibility: Compatibility) -> Chain | None:
        """View the values as a chain; None if they do not form one."""
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
        """How many nodes at the left end may share a set with each node."""
        return np.searchsorted(self.first_after, np.arange(len(self)), side="right").astype(np.int32)

    @cached_property
    def counts_after(self) -> CodeArray:
        """How many nodes at the right end may share a set with each node."""
        return (len(self) - self.first_after).astype(np.int32)

    def clique_masses(self, masses: FloatArray) -> FloatArray:
        """Sum `masses` of values over each maximal run of nodes of which a set holds at most one."""
        sums: FloatArray = np.concatenate([[0.0], np.cumsum(self.of_nodes(masses))])
        return sums[self.first_after] - sums[:-1]

    def has_slack(self, masses: FloatArray, l: int, *, strictly: bool = True) -> bool:
        """Whether every clique holds less than 1/l of the mass; if not `strictly`, at most 1/l."""
        whole = float(masses.sum())
        slack = whole / l - float(self.clique_masses(masses).max())
        return slack > SLACK * whole if strictly else slack >= -SLACK * whole

    def avoids_each_clique(self, l: int) -> bool:
        """Whether, for every clique, some valid set of `l` values holds none of its values."""
        size = len(self)
        before, after = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        for node in range(size):  # the most members of a set among the first nodes, then among the last
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
        """Return the least sum of `costs` over a valid set of `l` values with each value; infinity if there is none."""
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
        """Return, for each node, the total weight of the other members of its sets, and the log scale of the result."""
        left, right = self.beside(weights, l)
        scale, shift = _joint_scale(left, right)
        return np.einsum("k,kn,kn->n", scale, left.totals, right.totals[::-1]), shift

    def rest_moments(
        self, weights: FloatArray, firsts: FloatArray, seconds: FloatArray | None, l: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return, for each node and column, weight times sum (and times squared sum) of the other members.

        `weights` are the total weights of the values of a node; `firsts` and `seconds`, shape (nodes, columns), are
        weight times number and weight times squared number. The results have the same shape, and are not scaled; the
        second has no columns if `seconds` is None.
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
            on_left, on_right = left.firsts[k], right.firsts[l - 1 - k]
            first += on_left * there + here * on_right
            if seconds.shape[1]:
                cross = 2.0 * factor * on_left * on_right
                second += left.seconds[k] * there + cross + here * right.seconds[l - 1 - k]
        return first, second

    def _beside(self, weights: FloatArray, firsts: FloatArray, seconds: FloatArray, l: int) -> tuple[Levels, Levels]:
        left = _levels(weights, self.counts_before, l, firsts, seconds)
        right = _levels(weights[::-1], self.counts_after[::-1], l, firsts[::-1], seconds[::-1])
        return left, right.flipped()


def _levels(weights: FloatArray, counts: CodeArray, l: int, firsts: FloatArray, seconds: FloatArray) -> Levels:
    """Walk from left to right, one member per level; every level is scaled so that its largest total is one."""
    totals = np.zeros((l, len(weights)))
    totals[0] = 1.0
    log_scale = np.zeros(l)
    sums, squares = np.zeros((l, *firsts.shape)), np.zeros((l, *seconds.shape))
    for k in range(1, l):
        total = _before(weights * totals[k - 1], counts)
        scale = float(total.max()) or 1.0
        totals[k] = total / scale
        log_scale[k] = log_scale[k - 1] + np.log(scale)
        previous = totals[k - 1][:, None]
        if firsts.shape[1]:
            sums[k] = _before(weights[:, None] * sums[k - 1] + firsts * previous, counts) / scale
        if seconds.shape[1]:
            grown = weights[:, None] * squares[k - 1] + 2.0 * firsts * sums[k - 1] + seconds * previous
            squares[k] = _before(grown, counts) / scale
    return Levels(totals, log_scale, sums, squares)


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
