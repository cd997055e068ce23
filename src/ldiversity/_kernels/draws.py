"""The one unbiased integer draw that every sampler and shuffle uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import inlined

__all__ = ["below"]

_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined
def below(words: NDArray[np.uint64], used: int, bound: int) -> tuple[int, int]:
    """Draw a uniform integer in ``[0, bound)`` for ``1 <= bound < 2**32``, starting at ``words[used]``.

    The draw is the high half of word times bound. Words whose low half is below ``2**64 mod bound`` are rejected,
    which makes all outcomes exactly equally likely (Lemire 2019). Returns the draw, or -1 if the words ran out, and
    how many words are used so far.
    """
    b = np.uint64(bound)
    while used < words.shape[0]:
        word = words[used]
        used += 1
        low = word * b
        # 2**64 mod b is below b, so most words need no division.
        if low >= b or low >= (np.uint64(0) - b) % b:
            carry = ((word & _LOW_HALF) * b) >> _HALF
            return np.int64(((word >> _HALF) * b + carry) >> _HALF), used  # type: ignore[return-value]  # an int to its callers
    return np.int64(-1), used  # type: ignore[return-value]
