"""Which rows move: those with the least words of their part and value, exactly as many as were decided.

A row's word depends on its identity alone. So every pass over the rows, in whatever batches, moves the same ones. No
machine needs the words of all rows: those below a limit are collected, from which follow the words at which to stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.errors import InternalError
from ldiversity.methods._parts_moves import Moves

__all__ = ["Candidates", "ExactMoves"]

_DEVIATIONS: Final = 6.0
_SPARE: Final = 20
_TABLE: Final = 1 << 22
_WORDS: Final = 2.0**64


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows that may move: more than must move, and few enough for one machine.

    Parameters
    ----------
    n_values
        How many values there are.
    keys
        Parts and values of which rows move, as ``part * n_values + value``, ascending.
    limits
        Rows of each whose word does not exceed this are candidates.

    Examples
    --------
    >>> counts = np.array([[900, 100], [0, 1000]])
    >>> candidates = Candidates.of(Moves.of({(0, 0, 1): 5}), counts)
    >>> float(candidates.limits[0] / 2.0**64).__round__(3)
    0.043
    """

    n_values: int
    keys: NDArray[np.int64]
    limits: NDArray[np.uint64]

    @classmethod
    def of(cls, moves: Moves, counts: NDArray[np.int64], *, deviations: float = _DEVIATIONS) -> Self:
        """The candidates for some moves between parts of which these are the counts.

        The number of candidates exceeds what is needed by six standard deviations and 20: it is too small with a
        probability below 1e-9. `ExactMoves.settle` then gives None; take twice the deviations.
        """
        keys, needed = _needed(moves, counts.shape[1])
        share = (needed + deviations * np.sqrt(needed) + _SPARE) / counts.reshape(-1)[keys]
        limits = np.full(len(keys), np.iinfo(np.uint64).max, dtype=np.uint64)
        below = share < 1
        limits[below] = (share[below] * _WORDS).astype(np.uint64)
        return cls(counts.shape[1], keys, limits)

    def choose(self, parts: NDArray[np.integer], values: CodeArray, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The positions of the candidates among some rows: their parts, values and words must be collected."""
        rows, places = _find(self.keys, _keys(parts, values, self.n_values))
        chosen: NDArray[np.int64] = rows[words[rows] <= self.limits[places]]
        return chosen


@dataclass(frozen=True, eq=False)
class ExactMoves:
    """Moves as rules about words: a row with a word up to a bound goes to its target, the first bound first.

    Parameters
    ----------
    n_values
        How many values there are.
    keys
        Shape (k,): parts and values of which rows move, as ``part * n_values + value``, ascending.
    starts
        Shape (k + 1,): where the bounds of each begin.
    bounds, targets
        The greatest word that goes to each target, ascending for each key.

    Examples
    --------
    Of the three rows of part 0, two go to part 1: those with the least words.

    >>> moves, counts = Moves.of({(0, 0, 1): 2}), np.array([[3], [5]])
    >>> parts, values = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32)
    >>> words = np.array([30, 10, 20], dtype=np.uint64)
    >>> ExactMoves.settle(moves, counts, parts, values, words).apply(parts, values, words).tolist()
    [0, 1, 1]
    """

    n_values: int
    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    bounds: NDArray[np.uint64]
    targets: NDArray[np.int32]

    @classmethod
    def settle(
        cls,
        moves: Moves,
        counts: NDArray[np.int64],
        parts: NDArray[np.integer],
        values: CodeArray,
        words: NDArray[np.uint64],
    ) -> Self | None:
        """Settle which rows move, from the parts, values and words of all candidates, in any order.

        None if there are too few candidates.
        """
        n_values = counts.shape[1]
        keys, needed = _needed(moves, n_values)
        found = _keys(parts, values, n_values)
        order = np.lexsort((words, found))
        found, words = found[order], words[order]
        firsts, lasts = np.searchsorted(found, keys), np.searchsorted(found, keys, side="right")
        if np.any(lasts - firsts < needed):
            return None
        own = moves.source.astype(np.int64) * n_values + moves.value
        starts = np.append(np.searchsorted(own, keys), len(own)).astype(np.int64)
        running = np.cumsum(moves.number)
        ends = np.repeat(firsts - np.concatenate([[0], running])[starts[:-1]], np.diff(starts)) + running
        behind = np.minimum(ends, len(words) - 1)
        if np.any((words[behind] == words[ends - 1]) & (found[behind] == own) & (behind == ends)):
            raise InternalError("Parts", "two rows have the same 64-bit word, just where rows stop moving")
        return cls(n_values, keys, starts, words[ends - 1], moves.target)

    def apply(self, parts: NDArray[np.integer], values: CodeArray, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The parts of some rows after the moves; -1 for rows that are left out."""
        after = parts.astype(np.int32)
        rows, places = _find(self.keys, _keys(parts, values, self.n_values))
        place = self.starts[places]
        while len(rows):
            goes = words[rows] <= self.bounds[place]
            after[rows[goes]] = self.targets[place[goes]]
            place += 1
            more = ~goes & (place < self.starts[places + 1])
            rows, place, places = rows[more], place[more], places[more]
        return after


def _needed(moves: Moves, n_values: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parts and values of which rows move, as keys, and how many rows of each."""
    own = moves.source.astype(np.int64) * n_values + moves.value
    keys, places = np.unique(own, return_inverse=True)
    needed = np.zeros(len(keys), dtype=np.int64)
    np.add.at(needed, places.ravel(), moves.number)
    return keys, needed


def _keys(parts: NDArray[np.integer], values: CodeArray, n_values: int) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = parts.astype(np.int64) * n_values + values
    return keys


def _find(keys: NDArray[np.int64], own: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows whose key is among the keys, and its place there."""
    if not len(keys) or not len(own):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if keys[-1] < min(_TABLE, 64 * len(own)):
        known = np.zeros(max(int(keys[-1]), int(own.max())) + 1, dtype=bool)
        known[keys] = True
        rows = np.flatnonzero(known[own])
        return rows, np.searchsorted(keys, own[rows])
    places = np.searchsorted(keys, own)
    places[places == len(keys)] = 0
    rows = np.flatnonzero(keys[places] == own)
    return rows, places[rows]
