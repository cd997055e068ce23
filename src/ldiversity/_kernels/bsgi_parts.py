"""Cut a table in two so that classes of l different values can still be formed on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel
from ldiversity._kernels.bsgi_loss import Loss, pair_losses

__all__ = ["cut", "fill_words", "sort_words"]

_PAIRS = 16384
_MANY_ROWS = 32768
_MANY_PAIRS = 65536
"""How many pairs of rows tell which coordinate to cut, and how many where there are more rows than `_MANY_ROWS`: there
a wrong choice costs most."""
_BITS = 11


@helper
def fill_words(bits: NDArray[np.uint32], rows: NDArray[np.int32], coordinate: int, words: NDArray[np.uint32]) -> None:
    """Fill `words` with integers that have the same order as the floating-point numbers with these bits."""
    sign = np.uint32(0x80000000)
    for i in range(rows.shape[0]):
        own = bits[rows[i], coordinate]
        words[i] = ~own if own & sign else own | sign


@helper
def sort_words(words: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the stable order that sorts `words`: a radix sort, eleven bits per pass, without needless passes."""
    n = words.shape[0]
    order = np.empty(n, dtype=np.int32)
    other = np.empty(n, dtype=np.int32)
    for i in range(n):
        order[i] = i
    n_digits = 1 << _BITS
    counts = np.empty(n_digits, dtype=np.int64)
    for shift in range(0, 32, _BITS):
        counts[:] = 0
        for i in range(n):
            counts[(words[i] >> np.uint32(shift)) & np.uint32(n_digits - 1)] += 1
        if n > 0 and counts[(words[0] >> np.uint32(shift)) & np.uint32(n_digits - 1)] == n:
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


@helper
def _select(words: NDArray[np.uint32], place: int) -> tuple[np.uint32, int, int]:
    """Return the word at `place` of the sorted words, how many words are less, and how many are not greater."""
    less = 0
    known = np.uint32(0)
    equal = words.shape[0]
    counts = np.empty(1 << _BITS, dtype=np.int64)
    for shift in (21, 10, 0):
        width = 10 if shift == 0 else _BITS
        counts[:] = 0
        above = np.uint64(shift + width)
        for word in words:
            if np.uint64(word) >> above == np.uint64(known) >> above:
                counts[(word >> np.uint32(shift)) & np.uint32((1 << width) - 1)] += 1
        digit = 0
        while less + counts[digit] <= place:
            less += counts[digit]
            digit += 1
        known |= np.uint32(digit << shift)
        equal = counts[digit]
    return known, less, less + equal


@helper
def _count_first(words: NDArray[np.uint32], codes: NDArray[np.int32], place: int, counts: NDArray[np.int32]) -> None:
    """Count the values of the first `place` records in the order of their words; ties keep the order of rows."""
    threshold, less, _ = _select(words, place)
    ties = place - less
    for i in range(words.shape[0]):
        if words[i] < threshold:
            counts[codes[i]] += 1
        elif ties > 0 and words[i] == threshold:
            counts[codes[i]] += 1
            ties -= 1


@helper
def _make_fair(
    present: NDArray[np.int32],
    totals: NDArray[np.int32],
    take: NDArray[np.int32],
    n_left: int,
    n_right: int,
    l: int,
) -> tuple[int, int]:
    """Change how many records of each value go left, so that no value is too frequent on a side.

    A value may occur as often on a side as the side has classes, `n_left` or `n_right`. Returns how many records move,
    and how many go left.
    """
    moved = 0
    taken = 0
    for value in present:
        fair = min(max(take[value], totals[value] - n_right), n_left)
        moved += abs(fair - take[value])
        take[value] = fair
        taken += fair
    return moved + abs(n_left * l - taken), taken


@helper
def _make_full(
    codes: NDArray[np.int32],
    present: NDArray[np.int32],
    totals: NDArray[np.int32],
    take: NDArray[np.int32],
    taken: int,
    n_left: int,
    n_right: int,
    l: int,
) -> None:
    """Correct the number of records that go left, with the records nearest to the cut whose value has room.

    `codes` are in the order of the coordinate.
    """
    place = n_left * l
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
        if taken < place:
            change = min(min(n_left, totals[value]) - take[value], place - taken)
            take[value] += change
            taken += change
        elif taken > place:
            change = min(take[value] - max(0, totals[value] - n_right), taken - place)
            take[value] -= change
            taken -= change


def cut(
    loss: Loss,
    points: NDArray[np.float32],
    values: NDArray[np.int32],
    n_values: int,
    rows: NDArray[np.int32],
    l: int,
    tolerance: float,
    given: int = -1,
) -> tuple[int, int]:
    """Reorder `rows`; return where its right side begins, and the coordinate that was cut, -1 if no row differs.

    Both sides have a multiple of `l` rows.

    Requires ``len(rows) = k * l`` with k at least 2, and no value more than k times; each side then satisfies the same.
    The coordinate of greatest expected loss is cut in the middle. If a value would be too frequent on a side, the
    records nearest to the cut change sides. A coordinate is skipped if more than the share `tolerance` of the records
    would have to, unless all others need more. The coordinate `given` is cut however many have to; -1: none is given.
    """
    place, coordinate = _cut(loss, points, points.view(np.uint32), values, n_values, rows, l, tolerance, given)
    return int(place), int(coordinate)


@kernel
def _cut(
    loss: Loss,
    points: NDArray[np.float32],
    bits: NDArray[np.uint32],
    values: NDArray[np.int32],
    n_values: int,
    rows: NDArray[np.int32],
    l: int,
    tolerance: float,
    given: int,
) -> tuple[int, int]:
    """Implement `cut`; `bits` are those of the points."""
    n = rows.shape[0]
    k = n // l
    n_numbers = loss.caps.shape[0]
    totals = np.empty(n_values, dtype=np.int32)
    take = np.empty(n_values, dtype=np.int32)
    totals[:] = 0
    take[:] = 0
    present = np.empty(min(n, n_values), dtype=np.int32)
    n_present = 0
    codes = np.empty(n, dtype=np.int32)
    for i in range(n):
        codes[i] = values[rows[i]]
        if totals[codes[i]] == 0:
            present[n_present] = codes[i]
            n_present += 1
        totals[codes[i]] += 1
    present = present[:n_present]
    expected = pair_losses(loss, points, rows, min(n, _PAIRS if n <= _MANY_ROWS else _MANY_PAIRS))
    words = np.empty(n, dtype=np.uint32)
    words[:] = 0
    fewest = n + 1
    chosen = given
    tried = expected.shape[0] if given >= 0 else 0
    while True:
        widest = 0
        for d in range(expected.shape[0]):
            if expected[d] > expected[widest]:
                widest = d
        last = tried == expected.shape[0] or expected[widest] <= 0
        coordinate = chosen if last else widest
        middle = n // 2
        if coordinate >= 0:
            expected[coordinate] = 0
            tried += not last
            fill_words(bits, rows, coordinate, words)
            if coordinate >= n_numbers:
                _, less, at_most = _select(words, middle)
                middle = less if less > 0 and (at_most == n or middle - less < at_most - middle) else at_most
        n_left = min(max((middle + l // 2) // l, 1), k - 1)
        for value in present:
            take[value] = 0
        _count_first(words, codes, n_left * l, take)
        moved, taken = _make_fair(present, totals, take, n_left, k - n_left, l)
        if last or moved <= tolerance * n:
            break
        if moved < fewest:
            fewest = moved
            chosen = coordinate
    order = sort_words(words)
    sorted_rows = np.empty(n, dtype=np.int32)
    for i in range(n):
        sorted_rows[i] = rows[order[i]]
        codes[i] = values[sorted_rows[i]]
    _make_full(codes, present, totals, take, taken, n_left, k - n_left, l)
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
    return n_left * l, coordinate
