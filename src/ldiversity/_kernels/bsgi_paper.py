"""The published greedy algorithm: from each of the l largest buckets, the record that adds the least loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel
from ldiversity._kernels.bsgi_loss import Loss, Query, added_loss, aim, make_query

__all__ = ["select_paper"]

_FAR = np.float32(3e38)
_SLICE = 1 << 24
"""Records compared in one call of the kernel: a few tenths of a second, after which a run can be stopped."""


@helper
def _largest_first(live: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Sort the buckets by size, then by number; insertion sort, because little has changed since the last time."""
    for i in range(1, order.shape[0]):
        bucket = order[i]
        j = i
        while j > 0 and (live[order[j - 1]], -order[j - 1]) < (live[bucket], -bucket):
            order[j] = order[j - 1]
            j -= 1
        order[j] = bucket


def select_paper(
    loss: Loss,
    points: NDArray[np.float32],
    keys: NDArray[np.int32],
    n_values: int,
    l: int,
    class_of: NDArray[np.int32],
    tell: Callable[[float], None],
) -> int:
    """Select and group as in Fig. 1 and 2 of the paper; return how many classes were formed.

    Buckets hold the records of one value of the first key. The first record of a class is the next one of the largest
    bucket. A record that shares another key with a selected one is skipped, and so is a bucket that has no other
    record. A first record without partners is left out. From time to time, `tell` is called with the share of records
    that are done.
    """
    live = np.bincount(keys[:, 0], minlength=n_values).astype(np.int64)
    start = np.cumsum(live) - live
    # The last record of a bucket is the next one, so that removing it is cheap.
    rows = (len(keys) - 1 - np.argsort(keys[::-1, 0], kind="stable")).astype(np.int32)
    class_of[:] = -1
    held, query, n_classes = points[rows], make_query(loss), np.zeros(1, dtype=np.int64)
    while not _select(loss, held, keys, query, rows, start, live, l, class_of, n_classes):
        tell(1 - live.sum() / len(keys))
    return int(n_classes[0])


@kernel
def _select(
    loss: Loss,
    held: NDArray[np.float32],
    keys: NDArray[np.int32],
    query: Query,
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    live: NDArray[np.int64],
    l: int,
    class_of: NDArray[np.int32],
    classes: NDArray[np.int64],
) -> bool:
    """Do a part of `select_paper`, and count its classes; return whether nothing is left to do.

    `rows` and their points, `held`, are sorted by bucket; ``live`` counts the records left in each bucket.
    """
    n_coordinates, n_keys, n_values = held.shape[1], keys.shape[1], live.shape[0]
    order = np.empty(n_values, dtype=np.int64)
    for value in range(n_values):
        order[value] = value
    low, high, room, first, last, rise = query.low, query.high, query.room, query.first, query.last, query.rise
    members = np.empty(l, dtype=np.int64)
    places = np.empty(l, dtype=np.int64)
    n_classes, spent = classes[0], 0
    while spent < _SLICE:
        _largest_first(live, order)
        if live[order[l - 1]] == 0:
            classes[0] = n_classes
            return True
        found = 0
        for bucket in order:
            if found == l or live[bucket] == 0:
                break
            begin = start[bucket]
            best = begin + live[bucket] - 1
            if found > 0:
                aim(query, loss)
                best = -1
                least = _FAR
                spent += live[bucket]
                for i in range(begin, begin + live[bucket]):
                    cost = added_loss(low, high, room, first, last, rise, held, held, i)
                    if cost >= least:
                        continue
                    fits = True
                    for k in range(1, n_keys):
                        for j in range(found):
                            fits &= keys[members[j], k] != keys[rows[i], k]
                    if fits:
                        least = cost
                        best = i
            if best < 0:
                continue
            for d in range(n_coordinates):
                value = held[best, d]
                low[d] = value if found == 0 else min(low[d], value)
                high[d] = value if found == 0 else max(high[d], value)
            members[found] = rows[best]
            places[found] = best
            found += 1
        complete = found == l
        for j in range(l if complete else 1):
            bucket = keys[members[j], 0]
            live[bucket] -= 1
            end = start[bucket] + live[bucket]
            rows[places[j]] = rows[end]
            for d in range(n_coordinates):
                held[places[j], d] = held[end, d]
            if complete:
                class_of[members[j]] = n_classes
        n_classes += complete
    classes[0] = n_classes
    return False
