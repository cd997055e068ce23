"""Simple selection: each dummy is uniform among the values that are far enough from all chosen before."""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, SetArray, WordArray
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._arguments import read_only
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.mechanisms._sequential import SequentialSelection

__all__ = ["SimpleSelection", "most_members"]

_MOST_SUBSETS: Final = 20_000_000
_MOST_TABLE: Final = 4_000_000
_MOST_PAIRED: Final = 512
_MOST_STEPS: Final = 1_000_000_000  # of looking ahead on a graph, which an untrusted release may have made hard
_SIMULATED_STEPS: Final = 400_000_000
_SIMULATION_SEED: Final = 20_170_302  # not secret: the simulated matrix is public


class SimpleSelection(SequentialSelection):
    """Add dummies one by one, each uniform among those that keep the set valid and completable.

    The published Algorithm 1, changed so that it never gets stuck: a candidate must be at distance `d` or more from all
    chosen values, and enough others must remain to complete the set. A set is not equally likely from each of its
    members; `worst_posterior` says how much that reveals. `fit` also checks that the goal can be met.

    Notes
    -----
    Q is exact up to about 20 million partial sets (l = 5 with 150 values), and simulated beyond; see `inclusion_error`.
    P(set | member) takes time proportional to ``2**l``, so l is at most 12. For distances that are not an order or a
    tree, looking ahead means searching a graph, so l is at most 6, and at most 4 beyond 512 values.

    References
    ----------
    Oishi, Sei, Tahara and Ohsuga, Semantic Diversity, Algorithm 1 and Eq. 10.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> from ldiversity.schema import Domain
    >>> mechanism = SimpleSelection.fit(Domain((1, 2, 3, 4, 5), ordered=True), OrderedDistance(), l=2, d=2)
    >>> print(mechanism.inclusion[1])
    [0.  1.  0.  0.5 0.5]
    >>> print(round(mechanism.worst_posterior(), 3))
    0.6
    """

    kind: ClassVar[str] = "simple"

    version: int = 2
    """Raise it when you change which candidates are admitted, the order in which they are counted, or `Partitions`.
    Version 1 had no partitions."""

    @property
    def _most_members(self) -> int:
        return most_members(self.compatibility)

    @property
    def _work(self) -> int:
        return self.l << self.l

    @cached_property
    def partitions(self) -> Partitions | None:
        """Random partitions, if the values fall into groups of one size and only values of a group are too close.

        All valid sets of a value are then equally likely, as in `Partitions`.
        """
        grid = None if self.version == 1 else self.compatibility.even_blocks
        return None if grid is None or self.l > len(grid) else Partitions(self.l, grid)

    # --- drawing -----------------------------------------------------------------------------------

    @cached_property
    def _tables(self) -> tuple[Any, ...]:
        from ldiversity._kernels import candidates

        pairs = self.compatibility
        none = np.empty(0, dtype=np.int32)
        no_bits = np.empty((0, 1), dtype=np.uint64)
        if pairs.block_of is not None:
            counts = np.bincount(pairs.block_of)
            ends = np.cumsum(counts)
            stop = np.repeat(ends, counts).astype(np.int32)
            start = np.repeat(ends - counts, counts).astype(np.int32)
            return candidates.BLOCKS, start, stop, no_bits, no_bits, no_bits
        if pairs.first_after is not None:
            after = np.array(pairs.first_after, dtype=np.int32)
            before = np.searchsorted(after, np.arange(len(after)), side="right") - 1
            return candidates.LINE, after, before.astype(np.int32), no_bits, no_bits, no_bits
        bits = np.array(pairs.bits)
        first, steps = candidates.first_masks(bits, self.l, _MOST_STEPS)
        second = no_bits
        if self.l > 3 and len(bits) <= _MOST_PAIRED and steps <= _MOST_STEPS:  # noqa: PLR2004 - otherwise no pair is looked up
            second, more = candidates.pair_masks(bits, self.l, _MOST_STEPS - steps)
            steps += more
        if steps > _MOST_STEPS:
            raise UnsupportedError(
                "SimpleSelection", f"with this distance, looking ahead to sets of {self.l} values takes too long"
            ).with_hint("Use a smaller l, or a distance with an order or a tree.")
        return candidates.GENERAL, none, none, bits, first, second

    @cached_property
    def _order(self) -> CodeArray:
        """The codes by position: for blocks, block by block; otherwise unchanged."""
        block_of = self.compatibility.block_of
        codes = np.arange(self.n_values) if block_of is None else np.argsort(block_of, kind="stable")
        return codes.astype(np.int32)

    @cached_property
    def _position(self) -> CodeArray:
        return np.argsort(self._order).astype(np.int32)

    def _draw(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        from ldiversity._kernels.sampling import sample_simple

        drawn: tuple[SetArray, BoolArray] = sample_simple(
            codes, words, self.l, self._position, self._order, self._tables
        )
        return drawn

    def _why_infeasible(self) -> str | None:
        from ldiversity._kernels.candidates import completable

        stuck = self._order[~completable(self._tables, self.l)]
        if not len(stuck):
            return None
        return f"no valid set contains {len(stuck)} of the {len(self.domain)} values"

    # --- exact facts -------------------------------------------------------------------------------

    @property
    def flat_likelihood(self) -> bool:
        """True only if all values may share a set: then this is uniform selection."""
        return self.compatibility.structure == "complete"

    def _explain(self, sets: SetArray) -> FloatArray:
        from ldiversity._kernels.likelihood import simple_likelihood

        explained: FloatArray = simple_likelihood(sets, self._position, self._tables)
        return explained

    @property
    def inclusion(self) -> FloatArray:
        """Q; the notes of the class say when it is exact."""
        return self._inclusion_and_error[0]

    @property
    def inclusion_error(self) -> float:
        """Largest standard error of an entry of Q, 0.0 if it is exact."""
        return self._inclusion_and_error[1]

    @cached_property
    def _inclusion_and_error(self) -> tuple[FloatArray, float]:
        if not _is_affordable(self.compatibility, self.l):
            return self._simulate()
        from ldiversity._kernels.exact import exact_inclusion

        sizes = range(1, self.l - 1)
        starts = np.cumsum([0, *(comb(self.n_values, k) for k in sizes)], dtype=np.int64)
        matrix = exact_inclusion(np.array(self.compatibility.bits), self.l, _binomials(self.n_values, self.l), starts)
        return read_only(matrix), 0.0

    def _simulate(self) -> tuple[FloatArray, float]:
        from ldiversity._kernels.exact import simulated_inclusion

        matrix = np.empty((self.n_values, self.n_values))
        error = 0.0
        source = np.random.PCG64(_SIMULATION_SEED)
        # The seed is fixed, so that holder and data user compute the same matrix.
        n_draws = max(_SIMULATED_STEPS // self.n_values**2, 1_000)
        for code in range(self.n_values):
            words = source.random_raw(n_draws * self.words_per_record).reshape(n_draws, -1)
            row, errors = simulated_inclusion(self._tables, int(self._position[code]), self.l, words)
            matrix[code] = np.minimum(row[self._position], 1.0)
            error = max(error, float(errors.max()))
        return read_only(matrix), error

    def cautions(self) -> tuple[str, ...]:
        """What the holder should know before publishing with this mechanism."""
        if self.inclusion_error == 0:
            return super().cautions()
        simulated = (
            f"The inclusion matrix was simulated, with standard errors up to {self.inclusion_error:.1g}; "
            "estimates carry that error too."
        )
        return (*super().cautions(), simulated)


def most_members(pairs: Compatibility) -> int:
    """Return the greatest l for which drawing and P(set | member) are fast, even for a malicious distance."""
    if pairs.structure != "general":
        return 12
    return 6 if len(pairs) <= _MOST_PAIRED else 4


def _is_affordable(pairs: Compatibility, l: int) -> bool:
    """Whether the sets of l - 1 values can be visited, and those of l - 2 values stored."""
    size = len(pairs)
    if sum(k * comb(size, k) for k in range(1, l - 1)) > _MOST_TABLE:
        return False
    try:
        return pairs.count_sets(l - 1) <= _MOST_SUBSETS
    except UnsupportedError:
        return False


def _binomials(n: int, k: int) -> NDArray[np.int64]:
    return np.array([[comb(i, j) for j in range(k)] for i in range(n + 1)], dtype=np.int64)
