"""Which values may share a published set: the graph of pairs at distance d or more.

The mechanisms also need to know whether the graph has a structure that makes exact computations cheap. The structure
comes from the matrix alone, so a tree, a matrix file and an ordered domain with the same distances are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.checks import check_integer, check_number
from ldiversity.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ldiversity.base.arrays import BoolArray, CodeArray, SetArray
    from ldiversity.distances import Distance
    from ldiversity.schema import Domain

__all__ = ["Compatibility", "Structure"]

Structure: TypeAlias = Literal["complete", "line", "blocks", "general"]

BitArray: TypeAlias = NDArray[np.uint64]

MOST_VALUES: Final = 2_000
"""The largest domain with distances. Exact facts cost the cube of its size, and a release is not trusted."""

COUNT_LIMIT: Final = 20_000_000
"""How many partial sets of a graph without structure are visited before the search gives up."""

CHUNK: Final = 1 << 12
"""Partial sets that are extended at a time."""


@dataclass(frozen=True, eq=False)
class Compatibility:
    """The pairs of values that may share a published set.

    Parameters
    ----------
    allowed
        Shape (F, F), symmetric: whether two values are at distance `d` or more. False on the diagonal.

    Examples
    --------
    Five ordered values, at least two steps apart:

    >>> steps = abs(np.subtract.outer(np.arange(5), np.arange(5)))
    >>> pairs = Compatibility(steps >= 2)
    >>> pairs.structure, pairs.even_gap, pairs.first_after.tolist(), pairs.count_sets(2)
    ('line', 2, [2, 3, 4, 5, 5], 6)
    """

    allowed: BoolArray

    def __post_init__(self) -> None:
        allowed = np.array(self.allowed, dtype=np.bool_)
        np.fill_diagonal(allowed, val=False)
        allowed.flags.writeable = False
        object.__setattr__(self, "allowed", allowed)

    @classmethod
    def of(cls, distance: Distance, domain: Domain, d: float) -> Compatibility:
        """Compare the distances on `domain` with `d`.

        Raises
        ------
        ParameterError
            When `d` is not a finite number of at least 0.
        SchemaError
            When the distance does not cover the domain.
        UnsupportedError
            When the domain has more than `MOST_VALUES` values.
        """
        least = check_number("Compatibility", "d", d, minimum=0)
        if len(domain) > MOST_VALUES:
            raise UnsupportedError(
                "semantic diversity", f"the domain must have at most {MOST_VALUES} values", got=len(domain)
            ).with_hint("Bin numbers, or use a coarser level of the hierarchy as the sensitive value.")
        return cls(distance.matrix(domain) >= least)

    def __len__(self) -> int:
        return len(self.allowed)

    # --- structure ---------------------------------------------------------------------------------

    @cached_property
    def structure(self) -> Structure:
        """The most special structure that applies.

        ``complete``: all pairs are allowed. ``blocks``: being too close is an equivalence, as in a tree cut at one
        height. ``line``: the values allowed to the right of a value are a suffix, which starts later for later values,
        so a set is valid if each two neighbors are. ``general``: none of these.
        """
        if int(self.allowed.sum()) == len(self) * (len(self) - 1):
            return "complete"
        if self.block_of is not None:
            return "blocks"
        return "general" if self.first_after is None else "line"

    @cached_property
    def first_after(self) -> CodeArray | None:
        """For a line: the first allowed code to the right of each code, F if there is none; otherwise None."""
        size = len(self)
        codes = np.arange(size)
        right = self.allowed & (codes[None, :] > codes[:, None])
        first = np.where(right.any(axis=1), right.argmax(axis=1), size) if size else codes
        suffix = bool((right == (codes[None, :] >= first[:, None])).all())
        return first.astype(np.int32) if suffix and bool((np.diff(first) >= 0).all()) else None

    @cached_property
    def block_of(self) -> CodeArray | None:
        """For blocks: the block of each code, numbered by first appearance; otherwise None."""
        first = (~self.allowed).argmax(axis=1) if len(self) else np.arange(0)
        same = first[:, None] == first[None, :]
        if bool((same == self.allowed).any()):
            return None
        return np.unique(first, return_inverse=True)[1].astype(np.int32)

    @cached_property
    def even_blocks(self) -> CodeArray | None:
        """For blocks of one size, or if all pairs are allowed: the codes of each block, shape (blocks, size)."""
        if self.block_of is None or len(self) == 0:
            return None
        sizes = np.bincount(self.block_of)
        if int(sizes.min()) != int(sizes.max()):
            return None
        return np.argsort(self.block_of, kind="stable").reshape(len(sizes), -1).astype(np.int32)

    @cached_property
    def even_gap(self) -> int | None:
        """The least allowed difference of codes, if it alone decides; F if no pair is allowed; otherwise None."""
        size = len(self)
        steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        gap = int(np.where(self.allowed, steps, size).min(initial=size))
        return gap if np.array_equal(self.allowed, steps >= gap) else None

    @cached_property
    def bits(self) -> BitArray:
        """The rows of `allowed` as bitsets, shape (F, ceil(F / 64)); code j is bit ``j % 64`` of a word."""
        return _pack(self.allowed)

    # --- sets --------------------------------------------------------------------------------------

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds distinct codes of the domain that are pairwise allowed.

        Examples
        --------
        >>> Compatibility(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])).admits(np.array([[0, 2], [0, 1]]))
        array([ True, False])
        """
        rows = np.asarray(sets)
        valid: BoolArray = np.logical_and.reduce((rows >= 0) & (rows < len(self)), axis=1)
        safe = np.where(valid[:, None], rows, 0)  # a code outside the domain must not be used as an index
        for right in range(1, rows.shape[1]):
            for left in range(right):
                valid &= self.allowed[safe[:, left], safe[:, right]]
        return valid

    def count_sets(self, l: int, containing: int | None = None) -> int:
        """Count the valid sets of `l` values, or those that contain one code.

        Exact for every structure. Without structure, the sets are built level by level.

        Raises
        ------
        UnsupportedError
            When a graph without structure has too many partial sets to count.
        """
        l = check_integer("Compatibility", "l", l, minimum=1)
        if self.structure == "complete":
            return comb(len(self), l) if containing is None else comb(len(self) - 1, l - 1)
        if self.structure == "blocks":
            return self._count_blocks(l, containing)
        if self.first_after is not None:
            return _count_line(self.first_after.tolist(), l, containing)
        if containing is not None:
            near = np.flatnonzero(self.allowed[containing])
            return Compatibility(self.allowed[np.ix_(near, near)]).count_sets(l - 1) if l > 1 else 1
        return self._count_general(l)

    def enumerate_sets(self, l: int, limit: int, *, visits: int | None = None) -> SetArray | None:
        """Return all valid sets of `l` values in lexicographic order; None if there are more than `limit`.

        Raises
        ------
        UnsupportedError
            When more than `visits` partial sets would be visited; many millions by default.

        Examples
        --------
        >>> Compatibility(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])).enumerate_sets(2, limit=10).tolist()
        [[0, 2], [1, 2]]
        """
        l = check_integer("Compatibility", "l", l, minimum=1)
        if self.structure != "general" and self.count_sets(l) > limit:
            return None
        chunks: list[SetArray] = []
        held = 0
        for sets, _ in self._grow(l, max(limit, COUNT_LIMIT) if visits is None else visits):
            chunks.append(sets)
            held += len(sets)
            if held > limit:
                return None
        return np.concatenate(chunks) if chunks else np.empty((0, l), dtype=np.int32)

    # --- counting ----------------------------------------------------------------------------------

    def _count_blocks(self, l: int, containing: int | None) -> int:
        assert self.block_of is not None  # noqa: S101 - the structure says so
        sizes = np.bincount(self.block_of).tolist()
        if containing is None:
            return _symmetric(sizes, l)
        own = int(self.block_of[containing])
        return _symmetric(sizes[:own] + sizes[own + 1 :], l - 1)

    def _count_general(self, l: int) -> int:
        if l == 1:
            return len(self)
        return sum(int(np.bitwise_count(rest).sum()) for _, rest in self._grow(l - 1, COUNT_LIMIT))

    def _grow(self, l: int, limit: int) -> Iterator[tuple[SetArray, BitArray]]:
        """Yield valid sets of `l` values in lexicographic order, with the values that could still be added to each."""
        codes = np.arange(len(self), dtype=np.int32)
        later = _pack(self.allowed & (codes[None, :] > codes[:, None]))
        visited = 0
        pending = [(codes[:, None], later)]
        while pending:
            sets, rest = pending.pop()
            visited += len(sets)
            if visited > limit:
                raise UnsupportedError(
                    "Compatibility", f"a graph without structure has more than {limit} partial sets to visit"
                ).with_hint("Use a smaller l, a larger d, or a distance with an order or a tree.")
            if sets.shape[1] == l:
                yield sets, rest
            elif len(sets) > CHUNK:
                pending.extend((sets[at : at + CHUNK], rest[at : at + CHUNK]) for at in _starts(len(sets)))
                visited -= len(sets)
            else:
                pending.append(_extend(sets, rest, later, l - sets.shape[1]))


def _starts(size: int) -> range:
    return range((size - 1) // CHUNK * CHUNK, -1, -CHUNK)  # the stack returns the last chunk pushed first


def _extend(sets: SetArray, rest: BitArray, later: BitArray, missing: int) -> tuple[SetArray, BitArray]:
    enough = np.bitwise_count(rest).sum(axis=1) >= missing
    sets, rest = sets[enough], rest[enough]
    rows, added = np.nonzero(np.unpackbits(rest.view(np.uint8), axis=1, bitorder="little"))
    grown = np.concatenate([sets[rows], added[:, None].astype(np.int32)], axis=1)
    return grown, rest[rows] & later[added]


def _pack(rows: BoolArray) -> BitArray:
    size = len(rows)
    padded = np.zeros((size, -(-size // 64) * 64), dtype=np.bool_)
    padded[:, :size] = rows
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _symmetric(sizes: Sequence[int], l: int) -> int:
    """Evaluate the l-th elementary symmetric polynomial in whole numbers."""
    sums = [1] + [0] * l
    for size in sizes:
        for k in range(l, 0, -1):
            sums[k] += size * sums[k - 1]
    return sums[l]


def _count_line(first_after: Sequence[int], l: int, containing: int | None) -> int:
    """Count chains by their last code, level by level; with `containing`, chains through that code."""
    size = len(first_after)
    left = [[1] * size]  # left[k][j]: chains of k + 1 codes that end in j
    right = [[1] * size]  # right[k][i]: chains of k + 1 codes that start in i
    for _ in range(l - 1):
        left.append(_next_left(first_after, left[-1]))
        sums = [0]
        for count in reversed(right[-1]):
            sums.append(sums[-1] + count)
        right.append([sums[size - first] for first in first_after])
    if containing is None:
        return sum(left[-1])
    return sum(left[k][containing] * right[l - 1 - k][containing] for k in range(l))


def _next_left(first_after: Sequence[int], ending: Sequence[int]) -> list[int]:
    """Extend chains by one code: j may follow every i with ``first_after[i] <= j``."""
    longer = []
    total = taken = 0
    for code in range(len(first_after)):
        while taken < len(first_after) and first_after[taken] <= code:
            total += ending[taken]
            taken += 1
        longer.append(total)
    return longer
