"""The integer draw behind every sampler and shuffle."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity._kernels.draws import below

WORD = 1 << 64


def slow_below(words: list[int], bound: int) -> tuple[int, int]:
    """Multiply and reject with Python's unlimited integers."""
    for used, word in enumerate(words, start=1):
        if (word * bound) % WORD >= WORD % bound:
            return word * bound // WORD, used
    return -1, len(words)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 148, 1000, 2**31 - 1, 2**32 - 1])
def test_the_draw_equals_multiplication_with_unlimited_integers(bound: int) -> None:
    words = np.random.default_rng(bound).integers(0, WORD, size=(200, 2), dtype=np.uint64)

    drawn = [below(row, 0, bound) for row in words]

    assert drawn == [slow_below([int(word) for word in row], bound) for row in words]


@pytest.mark.parametrize("bound", [3, 5, 6, 7, 100])
def test_words_that_would_bias_the_draw_are_rejected(bound: int) -> None:
    biased = np.array([0], dtype=np.uint64)  # zero times anything leaves a low half of zero, below 2**64 mod bound

    assert below(biased, 0, bound) == (-1, 1)


@pytest.mark.parametrize("bound", [2, 4, 256])
def test_no_word_is_rejected_for_powers_of_two(bound: int) -> None:
    assert below(np.array([0], dtype=np.uint64), 0, bound) == (0, 1)


def test_a_rejected_word_is_followed_by_the_next() -> None:
    words = np.array([0, 2**63], dtype=np.uint64)

    assert below(words, 0, 5) == (2, 2)


@pytest.mark.parametrize("bound", [3, 5, 6, 7, 11])
def test_every_outcome_has_the_same_number_of_accepted_words(bound: int) -> None:
    # The same rule on all words of 12 bits: multiply, keep the high part, reject low parts below 2**12 mod bound.
    size = 1 << 12
    products = np.arange(size) * bound

    accepted = products[products % size >= size % bound] // size

    assert set(np.bincount(accepted, minlength=bound)) == {size // bound}
