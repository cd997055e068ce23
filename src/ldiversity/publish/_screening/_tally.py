"""Counts of numbered things that are gathered batch by batch, in bounded memory."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.hashing import HashArray

__all__ = ["SEVERAL", "HashCounts", "HashOwners"]

MOST_KEYS: Final = 1 << 18
"""Keys that are kept at most; with more of them, a sample is counted."""


SEVERAL: Final = -1
"""In place of an owner: the key belongs to several."""


_Part: TypeAlias = tuple[HashArray, NDArray[np.int64]]


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
    halvings
        How often the sample was halved before anything is counted.

    Examples
    --------
    >>> counts = HashCounts(bits=0)
    >>> counts.add(np.array([5, 9], dtype=np.uint64), np.array([1, 1]))
    >>> counts.add(np.array([9], dtype=np.uint64), np.array([1]))
    >>> counts.keys.tolist(), counts.counts.tolist(), counts.scale
    ([5, 9], [1, 2], 1)
    """

    def __init__(self, bits: int, most: int = MOST_KEYS, halvings: int = 0) -> None:
        self.bits, self._most = bits, most
        self._halvings = halvings
        self._single: list[HashArray] = []
        self._waiting: list[_Part] = []
        self._n_waiting = 0
        self._done = (np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))

    def add(self, keys: HashArray, counts: NDArray[np.int64], halvings: int = 0) -> None:
        """Count some more, in any order; of keys that were gathered elsewhere, `halvings` says how often."""
        if halvings > self._halvings:
            self._merge()
            self._halvings = max(self._halvings, halvings)  # merging may have halved more often
            self._cut()
        if self._halvings:
            kept = keys < np.uint64(1 << (64 - self._halvings))
            keys, counts = keys[kept], counts[kept]
        if not len(keys):
            return
        self._wait(keys, counts)
        self._n_waiting += len(keys)
        if self._n_waiting > self._most:
            self._merge()

    def _wait(self, keys: HashArray, counts: NDArray[np.int64]) -> None:
        # Copies: what waits must not keep all else that was counted in its batch.
        if int(counts.max()) == 1:
            self._single.append(keys.copy())  # sorting keys alone is several times faster
        else:
            self._waiting.append((keys.copy(), counts.copy()))

    @property
    def scale(self) -> int:
        """How many values each one that was kept stands for."""
        return 1 << self._halvings

    @property
    def halvings(self) -> int:
        """How often the sample was halved."""
        self._merge()
        return self._halvings

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
        if not self.bits:  # every key is a value
            return self.keys, np.arange(len(self.keys))
        hashes = self.keys >> np.uint64(self.bits)
        starts = _starts(hashes)
        return hashes[starts], starts

    def _merge(self) -> None:
        if not self._n_waiting:
            return
        parts = [part for part in (self._done, *self._waiting) if len(part[0])]
        merged = len(parts) == 1 and not self._waiting
        if self._single:
            ordered = np.sort(np.concatenate(self._single))
            starts = _starts(ordered)
            merged = not parts
            parts.append((ordered[starts], np.diff(starts, append=len(ordered))))
        self._single, self._waiting, self._n_waiting = [], [], 0
        self._done = parts[0] if merged else self._together(parts)
        while len(self._done[0]) > self._most:
            self._halvings += 1
            self._cut()

    def _cut(self) -> None:
        end = int(np.searchsorted(self._done[0], np.uint64(1 << (64 - self._halvings))))
        self._done = (self._done[0][:end], self._done[1][:end])

    def _together(self, parts: list[_Part]) -> _Part:
        """The same keys of several parts as one, in their order."""
        keys, counts = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
        order = np.argsort(keys, kind="stable")  # which makes use of parts that ascend already
        keys = keys[order]
        starts = _starts(keys)
        return keys[starts], np.add.reduceat(counts[order], starts)


class HashOwners(HashCounts):
    """To whom each key belongs: its only owner, a number from 1 on, or `SEVERAL`. In `counts` are owners.

    Examples
    --------
    >>> owners = HashOwners(bits=0)
    >>> owners.add(np.array([5, 9, 5], dtype=np.uint64), np.array([1, 7, 1]))
    >>> owners.add(np.array([9], dtype=np.uint64), np.array([8]))
    >>> owners.keys.tolist(), owners.counts.tolist()
    ([5, 9], [1, -1])
    """

    def _wait(self, keys: HashArray, counts: NDArray[np.int64]) -> None:
        self._waiting.append(self._together([(keys, counts)]))

    def _together(self, parts: list[_Part]) -> _Part:
        keys, owners = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
        order = np.argsort(keys, kind="stable")
        keys, owners = keys[order], owners[order]
        starts = _starts(keys)
        least, most = np.minimum.reduceat(owners, starts), np.maximum.reduceat(owners, starts)
        return keys[starts], np.where(least == most, least, SEVERAL)
