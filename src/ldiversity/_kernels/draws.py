"""The unbiased integer draws that every sampler and shuffle uses, and how what was drawn is put in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, inlined

__all__ = ["below", "draw_together", "insert_ascending"]

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


@helper
def draw_together(
    words: NDArray[np.uint64],
    used: int,
    bounds: NDArray[np.int64],
    first: int,
    last: int,
    draws: NDArray[np.int64],
) -> int:
    """Fill ``draws[first:last]`` from one word; return the number of words used so far, or -1 if they ran out.

    Draw k is below ``bounds[k]``. The high half of word times the first bound is the first draw, the low half is
    multiplied by the next bound, and so on. Together this is one draw below the product of the bounds, accepted by the
    rule of `below`, so all outcomes are exactly equally likely. The product must be below 2**32.
    """
    product = np.uint64(1)
    for k in range(first, last):
        product *= np.uint64(bounds[k])
    while used < words.shape[0]:
        low = words[used]
        used += 1
        for k in range(first, last):
            b = np.uint64(bounds[k])
            carry = ((low & _LOW_HALF) * b) >> _HALF
            draws[k] = np.int64(((low >> _HALF) * b + carry) >> _HALF)
            low *= b
        if low >= product or low >= (np.uint64(0) - product) % product:
            return used
    return -1


@inlined
def insert_ascending(ascending: NDArray[np.int32], k: int, value: Whole) -> None:
    """Insert `value` into the ascending ``ascending[:k]``."""
    while k > 0 and ascending[k - 1] > value:
        ascending[k] = ascending[k - 1]
        k -= 1
    ascending[k] = value
