"""Counts of numbered things that are gathered batch by batch, in bounded memory."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.publish._screening._hashing import HashArray

__all__ = ["HashCounts", "counted_keys"]

MOST_KEYS: Final = 1 << 21
"""Keys that are kept at most; with more of them, a sample is counted."""


def counted_keys(keys: HashArray) -> tuple[HashArray, NDArray[np.int64]]:
    """The distinct keys in ascending order, and how often each occurs.

    Examples
    --------
    >>> keys, counts = counted_keys(np.array([7, 3, 7], dtype=np.uint64))
    >>> keys.tolist(), counts.tolist()
    ([3, 7], [1, 2])
    """
    ordered = np.sort(keys)
    starts = _starts(ordered)
    return ordered[starts], np.diff(starts, append=len(ordered))


def _starts(ordered: HashArray) -> NDArray[np.int64]:
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])


class HashCounts:
    """How often each key occurs. A key is a hash whose lowest bits may hold something else.

    When there are too many keys, those with a large hash are forgotten, together with all their rows. What is left is
    a random sample of the values with every row that has them, so `scale` times what is counted in it estimates the
    whole without bias.

    Parameters
    ----------
    bits
        How many of the lowest bits are not of the hash.
    most
        Keys that are kept at most.

    Examples
    --------
    >>> counts = HashCounts(bits=0)
    >>> for batch in ([5, 9], [9]):
    ...     counts.add(*counted_keys(np.array(batch, dtype=np.uint64)))
    >>> counts.keys.tolist(), counts.counts.tolist(), counts.scale
    ([5, 9], [1, 2], 1)
    """

    def __init__(self, bits: int, most: int = MOST_KEYS) -> None:
        self.bits, self._most = bits, most
        self._halvings = 0
        self._waiting: list[tuple[HashArray, NDArray[np.int64]]] = []
        self._n_waiting = 0
        self._done = (np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))

    def add(self, keys: HashArray, counts: NDArray[np.int64]) -> None:
        """Count some more; the keys are distinct and ascend."""
        keys, counts = self._sampled(keys, counts)
        self._waiting.append((keys, counts))
        self._n_waiting += len(keys)
        if self._n_waiting > self._most:
            self._merge()

    @property
    def scale(self) -> int:
        """How many values each one that was kept stands for."""
        return 1 << self._halvings

    @property
    def keys(self) -> HashArray:
        """The distinct keys, ascending."""
        self._merge()
        return self._done[0]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each key occurs."""
        self._merge()
        return self._done[1]

    def groups(self) -> tuple[HashArray, NDArray[np.int64]]:
        """The hash of each value, and where its keys begin."""
        hashes = self.keys >> np.uint64(self.bits)
        starts = _starts(hashes)
        return hashes[starts], starts

    def _sampled(self, keys: HashArray, counts: NDArray[np.int64]) -> tuple[HashArray, NDArray[np.int64]]:
        if not self._halvings:
            return keys, counts
        end = int(np.searchsorted(keys, np.uint64(1 << (64 - self._halvings))))
        return keys[:end], counts[:end]

    def _merge(self) -> None:
        if not self._waiting:
            return
        parts = [self._done, *self._waiting]
        self._waiting, self._n_waiting = [], 0
        keys, counts = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = _starts(keys)
        self._done = (keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts)
        while len(self._done[0]) > self._most:
            self._halvings += 1
            self._done = self._sampled(*self._done)
