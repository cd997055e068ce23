"""Looking up short texts: two loads, one multiplication and mostly one comparison each."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import kernel

__all__ = ["AT_ANY_BYTE", "find_texts"]

Words: TypeAlias = NDArray[np.uint64]

AT_ANY_BYTE: Final = np.dtype([("word", np.uint64)])
"""A word that may begin at any byte. Numba takes plain arrays to begin where the processor likes it best."""


@kernel
def find_texts(
    words: NDArray[np.void],
    ends: NDArray[np.int32],
    slots: NDArray[np.uint16],
    shift: np.uint64,
    factor: np.uint64,
    firsts: Words,
    lasts: Words,
    lengths: Words,
    places: NDArray[np.int32],
) -> None:
    """The place of each text among known ones, counted from 0; -1 where it is not known.

    ``words[b].word`` are the eight bytes from byte b on, the first one lowest; text i has the bytes from ``ends[i]`` to
    ``ends[i + 1]``. A known text has at most 16 bytes and is told by its first eight, its last eight and its length;
    one of less than eight bytes by them in the highest ones of a word, and 0. Where a text belongs, or in the next slot
    that is free, stands its place, counted from 1. Numbers are unsigned: else each index would be looked at for a sign.
    """
    eight, three, one, none = np.uint64(8), np.uint64(3), np.uint64(1), np.uint64(0)
    final_word, mask = np.uint64(words.shape[0] - 1), np.uint64(slots.shape[0] - 1)
    start = np.uint64(ends[0])
    for i in range(places.shape[0]):
        end = np.uint64(ends[i + 1])
        length = end - start
        first, last = none, none
        if length >= eight:
            first, last = words[start].word, words[end - eight].word
        elif length > none:
            at = min(start, final_word)
            first = (words[at].word >> ((start - at) << three)) << ((eight - length) << three)
        start = end
        slot = ((first ^ (last * factor) ^ length) * factor) >> shift
        entry = np.uint64(slots[slot])
        while entry != none and not ((firsts[entry] == first) & (lasts[entry] == last) & (lengths[entry] == length)):
            slot = (slot + one) & mask
            entry = np.uint64(slots[slot])
        places[i] = np.int64(entry) - 1
