"""Shuffle: deal rows into random buckets, and shuffle each bucket with Fisher-Yates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import kernel
from ldiversity._kernels.draws import below

__all__ = ["deal", "fisher_yates"]


@kernel
def deal(words: NDArray[np.uint64], n_bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put row i into bucket ``words[i] >> (64 - n_bits)``; return rows by bucket, and where buckets end."""
    n_buckets = 1 << n_bits
    shift = np.uint64(64 - n_bits)
    ends = np.zeros(n_buckets, dtype=np.int64)
    for i in range(words.shape[0]):
        ends[np.int64(words[i] >> shift)] += 1
    place = np.zeros(n_buckets, dtype=np.int64)
    for b in range(1, n_buckets):
        place[b] = place[b - 1] + ends[b - 1]
    order = np.empty(words.shape[0], dtype=np.int64)
    for i in range(words.shape[0]):
        bucket = np.int64(words[i] >> shift)
        order[place[bucket]] = i
        place[bucket] += 1
    return order, place


@kernel
def fisher_yates(rows: NDArray[np.int64], words: NDArray[np.uint64]) -> bool:
    """Shuffle `rows` in place; return False if rejected draws used up the words."""
    used = 0
    for i in range(rows.shape[0] - 1, 0, -1):
        j, used = below(words, used, i + 1)
        if j < 0:
            return False
        rows[i], rows[j] = rows[j], rows[i]
    return True
