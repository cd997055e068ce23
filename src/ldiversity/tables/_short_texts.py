"""Looking up texts that many rows have, several times faster than by a hash of every byte."""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray

__all__ = ["MANY_CELLS", "ShortTexts"]

MANY_CELLS: Final = 1 << 17
"""Of so many cells, looking them up is worth that the loop is compiled once on a new machine."""

_MOST_TEXTS: Final = 1 << 12
_MOST_BYTES: Final = 16
_WORD: Final = 8
_ROOM: Final = 8
"""Slots for each text, so that nearly all stand where they belong."""

_FACTOR: Final = 0x9E37_79B9_7F4A_7C15
_ALL: Final = (1 << 64) - 1
_LITTLE: Final = sys.byteorder == "little"


class ShortTexts:
    """Texts in an order, of which those of at most 16 bytes are found; what is found is the text, byte by byte.

    Examples
    --------
    >>> known = ShortTexts(pa.array(["flu", "cold", "a text that is very long"]))
    >>> known.places(pa.array(["cold", "flu", None, "ill", "a text that is very long"])).tolist()
    [1, 0, -1, -1, -1]
    """

    def __init__(self, texts: pa.Array) -> None:
        self._n = 0
        self._facts: tuple[list[int], list[int], list[int]] = ([0], [0], [0])  # slot 0 is free
        self._told: tuple[NDArray[np.uint64], ...] = ()
        self._bits = 0
        self._slots = np.zeros(1, dtype=np.uint16)
        self.add(texts)

    def add(self, texts: pa.Array) -> None:
        """Put more texts at the end, which are different from those before; missing and long ones have a place, too."""
        first_new = self._n + 1
        for text in texts.to_pylist():
            self._n += 1
            facts = _told_by(None if text is None or self._n > _MOST_TEXTS else text.encode())
            for one, known in zip(facts or (0, 0, _ALL), self._facts, strict=True):
                known.append(one)
        n_looked_up = min(self._n, _MOST_TEXTS)
        # Room for all of them comes first: among slots of which none is free, the search for one would not end.
        if self._bits == 0 or n_looked_up * _ROOM > len(self._slots):
            self._bits = max(_WORD, (n_looked_up * _ROOM).bit_length())
            self._slots = np.zeros(1 << self._bits, dtype=np.uint16)
            first_new = 1
        for entry in range(first_new, n_looked_up + 1):
            if self._facts[2][entry] != _ALL:
                self._enter(entry)
        self._told = tuple(np.array(known, dtype=np.uint64) for known in self._facts)

    def places(self, cells: pa.Array) -> CodeArray:
        """The place of each cell; -1 where it is missing, long, or none of the texts."""
        found: CodeArray = np.full(len(cells), -1, dtype=np.int32)
        _, offsets, content = cells.buffers()
        if not _LITTLE or not len(cells) or content is None or content.size < 2 * _WORD:
            return found
        from ldiversity._kernels.texts import AT_ANY_BYTE, find_texts

        words: NDArray[np.void] = np.ndarray(content.size - _WORD + 1, AT_ANY_BYTE, content, strides=(1,))
        words.flags.writeable = False
        ends = np.frombuffer(offsets, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
        ends.flags.writeable = False
        shift = np.uint64(64 - self._bits)
        firsts, lasts, lengths = self._told
        find_texts(words, ends, self._slots, shift, np.uint64(_FACTOR), firsts, lasts, lengths, found)
        if cells.null_count:
            found[np.asarray(cells.is_null())] = -1
        return found

    def _enter(self, entry: int) -> None:
        first, last, length = (known[entry] for known in self._facts)
        mixed = first ^ (last * _FACTOR & _ALL) ^ length
        slot = (mixed * _FACTOR & _ALL) >> (64 - self._bits)
        while self._slots[slot]:
            slot = (slot + 1) % len(self._slots)
        self._slots[slot] = entry


def _told_by(content: bytes | None) -> tuple[int, int, int] | None:
    """What a text is told by in the loop; None where it is not looked up."""
    if content is None or len(content) > _MOST_BYTES:
        return None
    if len(content) < _WORD:
        return int.from_bytes(content, "little") << 8 * (_WORD - len(content)) & _ALL, 0, len(content)
    return int.from_bytes(content[:_WORD], "little"), int.from_bytes(content[-_WORD:], "little"), len(content)
