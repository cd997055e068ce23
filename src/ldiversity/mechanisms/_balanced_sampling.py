"""Draw sets with given weights: from a list of sets, or step by step along a chain.

Both round floating-point weights to integer shares of 2**63 once, and then draw exactly with these shares. A share
differs from its weight by the rounding error of the weight (about 1e-16 of it) plus at most 2**-63 for every outcome
of the same table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray, FloatArray, SetArray, WordArray

__all__ = ["AliasTables", "ChainSampler", "ListedSampler"]


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Alias tables of several states, one after the other.

    Parameters
    ----------
    rows
        Shape (rows, 2): the threshold; the row's own outcome and its alias, in the halves of one word.
    offsets
        Where the table of each state begins.
    bits
        A state's table has ``2**bits`` rows.
    """

    rows: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    bits: NDArray[np.int64]

    @classmethod
    def of(cls, weights: Sequence[FloatArray], outcomes: Sequence[NDArray[np.int64]]) -> AliasTables:
        """Build one table per state from the weights and the numbers of its outcomes."""
        from ldiversity._kernels.balanced import fill_tables

        sizes = np.array([len(state) for state in weights], dtype=np.int64)
        bits = np.array([max(int(size) - 1, 0).bit_length() for size in sizes], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        ends = np.cumsum(np.left_shift(1, bits))
        rows = np.zeros((int(ends[-1]), 2), dtype=np.uint64)
        offsets = ends - np.left_shift(1, bits)
        flat = np.ascontiguousarray(np.concatenate(weights), dtype=np.float64)
        fill_tables(flat, np.concatenate(outcomes).astype(np.uint64), starts, bits, offsets, rows)
        return cls(rows, offsets, bits)

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """The arguments of the kernels."""
        return self.rows, self.offsets, self.bits

    def shares(self, state: int) -> dict[int, float]:
        """Return the probability of each possible outcome of a state, read from its table.

        Examples
        --------
        >>> tables = AliasTables.of([np.array([1.0, 3.0])], [np.array([0, 1])])
        >>> tables.shares(0)
        {0: 0.25, 1: 0.75}
        """
        bits = int(self.bits[state])
        rows = self.rows[self.offsets[state] : self.offsets[state] + (1 << bits)]
        own: Counter[int] = Counter()
        for threshold, pair in rows.tolist():
            own[pair >> 32] += threshold
            own[pair & 0xFFFFFFFF] += (1 << (63 - bits)) - threshold
        return {outcome: share / 2**63 for outcome, share in sorted(own.items()) if share}


@dataclass(frozen=True, eq=False)
class ListedSampler:
    """Draw one of the listed sets that contain the true value, by the weights of the sets.

    The tables have one state per code; an outcome is a row of `sets`.
    """

    sets: SetArray
    tables: AliasTables

    @classmethod
    def of(cls, sets: SetArray, weights: FloatArray, n_values: int) -> ListedSampler:
        """List the sets of each value."""
        by_value = np.argsort(sets, axis=None, kind="stable")
        ends = np.searchsorted(sets.ravel()[by_value], np.arange(1, n_values))
        lists = np.split(by_value // sets.shape[1], ends)
        return cls(sets, AliasTables.of([weights[rows] for rows in lists], lists))

    def sample(self, codes: CodeArray, words: WordArray) -> SetArray:
        """Draw a set for each code."""
        from ldiversity._kernels.balanced import sample_listed

        drawn: SetArray = sample_listed(codes, words, self.sets, *self.tables.arrays)
        return drawn


@dataclass(frozen=True, eq=False)
class ChainSampler:
    """Walk from the true value outward, to the left and to the right.

    Parameters
    ----------
    l, node_of
        The size of a set, and the node of each value.
    first
        One state per node: how many members are on the left, and one neighbor.
    left, right
        State ``k * width + s``: the next of k missing members, among the values that a walk in state s may choose.
    states
        Shape (2, nodes): the state s of each node for walks to the left and to the right.
    """

    l: int
    node_of: CodeArray
    first: AliasTables
    left: AliasTables
    right: AliasTables
    states: CodeArray

    def sample(self, codes: CodeArray, words: WordArray) -> SetArray:
        """Draw a set for each code."""
        from ldiversity._kernels.balanced import sample_chain, sample_triples

        drawn: SetArray
        if self.l == 3:  # noqa: PLR2004 - the most frequent case has its own loop
            outward, begins = self._joined
            drawn = sample_triples(codes, words, self.node_of, self.first.arrays, outward.arrays, begins)
            return drawn
        drawn = sample_chain(
            codes,
            words,
            self.l,
            self.node_of,
            self.first.arrays,
            self.left.arrays,
            self.right.arrays,
            self.states,
        )
        return drawn

    @cached_property
    def _joined(self) -> tuple[AliasTables, NDArray[np.int64]]:
        """Join the left and right tables, and find the states at which walks of one step begin; for l = 3."""
        n_left = len(self.left.offsets)
        outward = AliasTables(
            np.concatenate([self.left.rows, self.right.rows]),
            np.concatenate([self.left.offsets, self.right.offsets + len(self.left.rows)]),
            np.concatenate([self.left.bits, self.right.bits]),
        )
        starts = np.array([[n_left // 2], [n_left + len(self.right.offsets) // 2]], dtype=np.int64)
        return outward, starts + self.states
