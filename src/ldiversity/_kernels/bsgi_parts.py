"""Cutting a table in two so that classes of l different values can still be formed on both sides."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ldiversity._kernels.bsgi_loss import Loss, pair_losses

__all__ = ["cut", "sort_by_key"]

_PAIRS = 2048
_BITS = 11


@njit(nogil=True, cache=True)
def sort_by_key(key: NDArray[np.float32]) -> NDArray[np.int32]:
    """The order that sorts `key`, equal ones as they stood: eleven bits a pass, passes that change nothing skipped."""
    n = key.shape[0]
    words = key.view(np.uint32).copy()
    sign = np.uint32(0x80000000)
    for i in range(n):
        words[i] = ~words[i] if words[i] & sign else words[i] | sign
    order = np.arange(n).astype(np.int32)
    other = np.empty(n, dtype=np.int32)
    n_digits = 1 << _BITS
    for shift in range(0, 32, _BITS):
        counts = np.zeros(n_digits, dtype=np.int64)
        for i in range(n):
            counts[(words[i] >> np.uint32(shift)) & np.uint32(n_digits - 1)] += 1
        if counts.max() == n:
            continue
        place = 0
        for digit in range(n_digits):
            place, counts[digit] = place + counts[digit], place
        for i in range(n):
            digit = (words[order[i]] >> np.uint32(shift)) & np.uint32(n_digits - 1)
            other[counts[digit]] = order[i]
            counts[digit] += 1
        order, other = other, order
    return order


@njit(nogil=True, cache=True)
def _middle(key: NDArray[np.float32], order: NDArray[np.int32], whole: bool) -> int:
    """Where to cut the sorted keys: in the middle, or (`whole`) where the key changes nearest to it; 0 for nowhere."""
    n = order.shape[0]
    middle = n // 2
    if not whole:
        return middle
    best = 0
    for i in range(1, n):
        if key[order[i]] != key[order[i - 1]] and (best == 0 or abs(i - middle) < abs(best - middle)):
            best = i
    return best


@njit(nogil=True, cache=True)
def _take(
    codes: NDArray[np.int32],
    present: NDArray[np.int32],
    totals: NDArray[np.int32],
    take: NDArray[np.int32],
    n_left: int,
    n_right: int,
    l: int,
) -> int:
    """How many of each value go left, so that none is too frequent on a side; return how many records must move.

    `codes` in sorted order. A value may be in as many records of a side as the side has classes, n_left or n_right.
    """
    place = n_left * l
    for value in present:
        take[value] = 0
    for i in range(place):
        take[codes[i]] += 1
    moved = 0
    taken = 0
    for value in present:
        fair = min(max(take[value], totals[value] - n_right), n_left)
        moved += abs(fair - take[value])
        take[value] = fair
        taken += fair
    moved += abs(place - taken)
    # The sum is set right by the records nearest to the cut whose value has room.
    i = place
    while taken < place and i < codes.shape[0]:
        if take[codes[i]] < min(n_left, totals[codes[i]]):
            take[codes[i]] += 1
            taken += 1
        i += 1
    i = place - 1
    while taken > place and i >= 0:
        if take[codes[i]] > max(0, totals[codes[i]] - n_right):
            take[codes[i]] -= 1
            taken -= 1
        i -= 1
    for value in present:
        change = min(min(n_left, totals[value]) - take[value], place - taken)
        if taken < place and change > 0:
            take[value] += change
            taken += change
        change = min(take[value] - max(0, totals[value] - n_right), taken - place)
        if taken > place and change > 0:
            take[value] -= change
            taken -= change
    return moved


@njit(nogil=True, cache=True)
def cut(
    loss: Loss,
    points: NDArray[np.float32],
    values: NDArray[np.int32],
    n_values: int,
    rows: NDArray[np.int32],
    l: int,
    tolerance: float,
) -> int:
    """Reorder `rows` and return where its right side begins; both sides have a multiple of `l` rows.

    ``len(rows) = k * l`` with k at least 2, and no value occurs more than k times; each side then satisfies the same.
    The coordinate of greatest expected loss is cut in the middle. Where a value would be too frequent on a side, the
    records nearest to the cut change sides. A coordinate is passed over when more than `tolerance` of the records
    would have to, unless the others need more.
    """
    n = rows.shape[0]
    k = n // l
    n_numbers = loss.caps.shape[0]
    totals = np.zeros(n_values, dtype=np.int32)
    take = np.zeros(n_values, dtype=np.int32)
    present = np.empty(min(n, n_values), dtype=np.int32)
    n_present = 0
    for row in rows:
        value = values[row]
        if totals[value] == 0:
            present[n_present] = value
            n_present += 1
        totals[value] += 1
    present = present[:n_present]
    expected = pair_losses(loss, points, rows, 0, n, min(n, _PAIRS))
    key = np.zeros(n, dtype=np.float32)
    codes = np.empty(n, dtype=np.int32)
    fewest = n + 1
    chosen = -1
    tried = 0
    n_left = 0
    order = np.empty(0, dtype=np.int32)
    while True:
        last = tried == expected.shape[0] or expected.max() <= 0
        coordinate = chosen if last else np.argmax(expected)
        if coordinate >= 0:
            for i in range(n):
                key[i] = points[rows[i], coordinate]
            if not last:
                expected[coordinate] = 0
            tried += 1
        order = sort_by_key(key)
        middle = _middle(key, order, coordinate >= n_numbers)
        if middle == 0:
            continue
        n_left = min(max((middle + l // 2) // l, 1), k - 1)
        for i in range(n):
            codes[i] = values[rows[order[i]]]
        moved = _take(codes, present, totals, take, n_left, k - n_left, l)
        if last or moved <= tolerance * n:
            break
        if moved < fewest:
            fewest = moved
            chosen = coordinate
    sorted_rows = rows[order]
    left = 0
    right = n_left * l
    for i in range(n):
        if take[codes[i]] > 0:
            take[codes[i]] -= 1
            rows[left] = sorted_rows[i]
            left += 1
        else:
            rows[right] = sorted_rows[i]
            right += 1
    return n_left * l
