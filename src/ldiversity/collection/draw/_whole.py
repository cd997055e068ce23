"""Whole numbers from public weights and random words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

__all__ = ["double_text", "draw_below", "whole_weights"]

_MOST_BITS: Final = 64
"""The greatest weight may be up to two to this power times the least: an odd survey must not take a phone's memory."""

_MANTISSA: Final = 53
_WORD: Final = 64


def whole_weights(weights: Sequence[float]) -> list[int]:
    """Whole numbers with exactly the ratios of positive doubles: each double is a whole number times a power of two.

    Raises
    ------
    ValueError
        When a weight is not positive and finite, or the weights differ by more than 64 powers of two.

    Examples
    --------
    >>> whole_weights([0.5, 1.5])[1] // whole_weights([0.5, 1.5])[0]
    3
    """
    if not all(0 < weight < math.inf for weight in weights):
        raise ValueError("weights")
    parts = [math.frexp(weight) for weight in weights]
    least = min(exponent for _, exponent in parts)
    if max(exponent for _, exponent in parts) - least > _MOST_BITS:
        raise ValueError("weights")
    return [int(mantissa * 2**_MANTISSA) << (exponent - least) for mantissa, exponent in parts]


def draw_below(bound: int, words: Sequence[int]) -> int | None:
    """Draw a whole number below `bound`, each exactly equally likely; None if the words were too few.

    Words are read from the left, as many as have the bits of the greatest number. The number is rejected when it is not
    below the bound, and the next words are read.

    Examples
    --------
    >>> draw_below(10, [15 << 60, 7 << 60])
    7
    """
    bits = (bound - 1).bit_length()
    if bits == 0:
        return 0
    each = -(-bits // _WORD)
    for at in range(0, len(words) - each + 1, each):
        number = 0
        for word in words[at : at + each]:
            number = number << _WORD | word
        number >>= _WORD * each - bits
        if number < bound:
            return number
    return None


def double_text(weight: float) -> str:
    """The sixteen hexadecimal digits of a double, the same in every language.

    Examples
    --------
    >>> double_text(1.0)
    '3ff0000000000000'
    """
    import struct

    return struct.pack(">d", weight).hex()
