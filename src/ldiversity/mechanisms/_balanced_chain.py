"""Balanced weights on a chain (ordered domains, trees, domains without conflicts), without listing the sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.mechanisms._balanced_sampling import AliasTables, ChainSampler, ListedSampler
from ldiversity.mechanisms._calibration import calibrate
from ldiversity.mechanisms._chain import Chain, Levels

if TYPE_CHECKING:
    from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["ChainWeights"]

LISTED_ENTRIES: Final = 1 << 15
"""With at most this many memberships, all sets are listed, and one word draws a set.

It decides which set given words draw, so a change requires a new version of the mechanism.
"""


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """Weights ``w(R) = product of theta over R`` on the valid sets of a chain."""

    compatibility: Compatibility
    l: int
    theta: FloatArray

    @classmethod
    def fit(cls, compatibility: Compatibility, l: int, targets: FloatArray) -> ChainWeights | None:
        """Find the weights whose sums over the sets of each value are `targets`; None if there are none."""
        chain = Chain.of(compatibility)
        assert chain is not None  # noqa: S101 - callers choose by structure
        size = float(targets.sum())
        of_nodes = chain.of_nodes(targets)
        logs = calibrate(_Value(chain, l), _Curvature(chain, l), of_nodes * (l / size))
        if logs is None:
            return None
        log_total, _ = _Value(chain, l)(logs)
        # Calibration fixes ratios only. Each set counts for l values, so the total weight must be size / l.
        logs = logs + (np.log(size / l) - log_total) / l
        return cls(compatibility, l, (np.exp(logs) / of_nodes)[chain.node_of] * targets)

    @cached_property
    def chain(self) -> Chain:
        """The chain of the values."""
        chain = Chain.of(self.compatibility)
        assert chain is not None  # noqa: S101 - callers choose by structure
        return chain

    @cached_property
    def _nodes(self) -> FloatArray:
        return self.chain.of_nodes(self.theta)

    @cached_property
    def marginals(self) -> FloatArray:
        """The sum of the weights of each value's sets."""
        rest, shift = self.chain.rest(self._nodes, self.l)
        marginals: FloatArray = self.theta * (rest * np.exp(shift))[self.chain.node_of]
        return marginals

    @cached_property
    def pairs(self) -> FloatArray:
        """The sum of the weights of the sets that hold both of two values, shape (F, F)."""
        nodes = self.chain
        first, _ = nodes.rest_moments(self._nodes, nodes.of_nodes(np.diag(self.theta)), None, self.l)
        pairs = self.theta[:, None] * first[nodes.node_of]
        pairs[np.diag_indices_from(pairs)] = self.marginals
        return (pairs + pairs.T) / 2.0

    def squares(self, rows: FloatArray) -> FloatArray:
        """Return S[j, v]: over the sets with v, the sum of weight times squared sum of ``rows[j]`` over members."""
        chain, numbers, theta = self.chain, rows.T, self.theta[:, None]
        firsts, seconds = chain.of_nodes(theta * numbers), chain.of_nodes(theta * numbers**2)
        first, second = chain.rest_moments(self._nodes, firsts, seconds, self.l)
        rest = (self.marginals / self.theta)[:, None]
        others = second[chain.node_of] + 2.0 * numbers * first[chain.node_of] + numbers**2 * rest
        return (theta * others).T

    def lightest(self, costs: FloatArray) -> FloatArray:
        """Return the least sum of `costs` over a set, among the sets of each value."""
        return self.chain.lightest(costs, self.l)

    @property
    def words(self) -> int:
        """Random words per record: one if the list is short, otherwise one for each other member."""
        return 1 if self._is_short else self.l - 1

    @cached_property
    def _is_short(self) -> bool:
        return self.compatibility.count_sets(self.l) * self.l <= LISTED_ENTRIES

    @cached_property
    def sampler(self) -> ChainSampler | ListedSampler:
        """The sampler: from the list if it is short, otherwise by walks."""
        sets = self.compatibility.enumerate_sets(self.l, LISTED_ENTRIES) if self._is_short else None
        if sets is None:
            return self.walk
        return ListedSampler.of(sets, np.prod(self.theta[sets], axis=1), len(self.theta))

    @cached_property
    def walk(self) -> ChainSampler:
        """The sampler that walks along the chain."""
        chain, l = self.chain, self.l
        left, right = chain.beside(self._nodes, l)
        order = np.argsort(chain.node_of, kind="stable")
        forth = _Side(left, order, chain.counts_before, self.theta, chain.node_of)
        back = _Side(right, order[::-1], chain.counts_after, self.theta, chain.node_of)
        states = np.stack([forth.states, back.states]).astype(np.int32)
        return ChainSampler(l, chain.node_of, _first(forth, back, l), forth.steps(), back.steps(), states)


@dataclass(frozen=True, eq=False)
class _Value:
    chain: Chain
    l: int

    def __call__(self, logs: FloatArray) -> tuple[float, FloatArray]:
        top = float(logs.max())
        weights = np.exp(logs - top)
        rest, shift = self.chain.rest(weights, self.l)
        members = weights * rest
        total = float(members.sum()) / self.l
        return float(np.log(total)) + shift + self.l * top, members / total


@dataclass(frozen=True, eq=False)
class _Curvature:
    chain: Chain
    l: int

    def __call__(self, logs: FloatArray) -> FloatArray:
        log_total, memberships = _Value(self.chain, self.l)(logs)
        weights = np.exp(logs - log_total / self.l)  # scaled to a total of one
        pairs, _ = self.chain.rest_moments(weights, np.diag(weights), None, self.l)
        pairs *= weights[:, None]
        pairs[np.diag_indices_from(pairs)] = memberships
        return (pairs + pairs.T) / 2.0 - np.outer(memberships, memberships)


class _Side:
    """Walks to one side: which values may come next, and their weights."""

    def __init__(
        self,
        levels: Levels,
        order: NDArray[np.int64],
        counts: NDArray[np.int32],
        theta: FloatArray,
        node_of: NDArray[np.int32],
    ) -> None:
        self.levels = levels
        self.order = order
        self.weights = (theta * levels.totals[:, node_of])[:, order]
        """Shape (l, F): at level k, the weight of each value as the nearest of k + 1 members."""
        self.reached, self.states = np.unique(counts, return_inverse=True)
        nodes = node_of[order]
        first = int(nodes[0])
        self.sizes = np.searchsorted(np.abs(nodes - first), self.reached, side="left")
        """How many values, in the order of the walk, each state may choose from."""

    def steps(self) -> AliasTables:
        l = len(self.weights)
        weights = [self.weights[max(k - 1, 0), :size] for k in range(l - 1) for size in self.sizes]
        return AliasTables.of(weights, [self.order[: len(part)] for part in weights])


def _first(left: _Side, right: _Side, l: int) -> AliasTables:
    """Build the tables of the first draw: how many members are on the left, and the nearest (if none, on the right)."""
    from ldiversity._kernels.balanced import COUNT_AT

    logs = left.levels.log_scale[: l - 1] + right.levels.log_scale[l - 2 :: -1]
    scale = np.exp(logs - logs.max())
    weights, outcomes = [], []
    for node in range(len(left.states)):
        before, after = left.sizes[left.states[node]], right.sizes[right.states[node]]
        parts = [right.weights[l - 2, :after] * scale[0]]
        numbers = [right.order[:after]]
        for k in range(1, l):
            factor = float(right.levels.totals[l - 1 - k, node]) * scale[k - 1]
            if factor > 0.0:
                parts.append(left.weights[k - 1, :before] * factor)
                numbers.append(left.order[:before] + (k << COUNT_AT))
        weights.append(np.concatenate(parts))
        outcomes.append(np.concatenate(numbers))
    return AliasTables.of(weights, outcomes)
