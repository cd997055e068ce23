"""Numbers of classes in a random order, of which no more than a few are ever in memory."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.randomness import Identities, Key, KeyedWords, Secret

__all__ = ["RandomNumbers"]

_LISTED: Final = 1 << 16
"""So many classes are put in order by sorting one random key for each, which is exactly uniform."""

_ROUNDS: Final = 10

Numbers = NDArray[np.int64]


class RandomNumbers(Secret):
    """A random order of ``0 .. n - 1`` that depends on a key alone: each worker can work out any place of it.

    Notes
    -----
    More than 65,536 numbers go through a Feistel network of ten rounds whose round functions are AES, on as many bits
    as they need; what falls beyond n goes through it again, until it falls below (cycle walking, Black and Rogaway
    2002). This is how numbers are encrypted to numbers in NIST SP 800-38G.

    Examples
    --------
    >>> numbers = RandomNumbers(Key.new(), "class_id", 5)
    >>> sorted(numbers.of(np.arange(5)).tolist())
    [0, 1, 2, 3, 4]
    """

    __slots__ = ("_bits", "_listed", "_n", "_words")

    def __init__(self, key: Key, column: str, n: int) -> None:
        self._n = n
        self._words = KeyedWords(key, f"{column}\0{n}".encode(), "numbers of classes")
        self._listed: Numbers | None = None
        whole = max(n - 1, 1).bit_length()
        self._bits = (whole // 2, whole - whole // 2)
        if n <= _LISTED:
            keys = self._words.for_records(_blocks(np.arange(n, dtype=np.uint64), 0), 2)
            self._listed = np.empty(n, dtype=np.int64)
            self._listed[np.lexsort((keys[:, 1], keys[:, 0]))] = np.arange(n)

    def of(self, numbers: Numbers) -> Numbers:
        """The places of some numbers, all of them below n."""
        if self._listed is not None:
            return self._listed[numbers]
        found = self._once(numbers.astype(np.uint64))
        beyond = np.flatnonzero(found >= self._n)
        while len(beyond):
            found[beyond] = self._once(found[beyond])
            beyond = beyond[found[beyond] >= self._n]
        return found.astype(np.int64)

    def _once(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        left_bits, right_bits = self._bits
        left, right = numbers >> np.uint64(right_bits), numbers & np.uint64((1 << right_bits) - 1)
        for number in range(_ROUNDS):
            # The sides change places, and so do their widths.
            words = self._words.for_records(_blocks(right, number + 1), 1)[:, 0]
            left, right = right, left ^ (words & np.uint64((1 << left_bits) - 1))
            left_bits, right_bits = right_bits, left_bits
        return (left << np.uint64(right_bits)) | right


def _blocks(numbers: NDArray[np.uint64], purpose: int) -> Identities:
    blocks = np.empty((len(numbers), 2), dtype=np.uint64)
    blocks[:, 0] = numbers
    blocks[:, 1] = np.uint64(purpose) << np.uint64(32)
    return blocks
