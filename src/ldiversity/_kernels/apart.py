"""Keep the rows of one person in different classes.

Rows are the edges of a graph whose ends are people and values. Classes are colors of edges. Two classes together can
always be colored anew so that each person and each value has as many rows in one as in the other, but for one
(`_even_out`). Done wherever a person stands twice in a class and not at all in another, this ends with nobody twice in
any class, as long as nobody has more rows than there are classes (Koenig 1916; de Werra 1971 for colors of even sizes).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import Whole, helper, kernel

__all__ = ["deal", "spread"]

_LOOKED_AT = 16
"""Parts that a row chooses among."""


@kernel
def spread(
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    class_of: NDArray[np.int32],
    head: NDArray[np.int64],
    following: NDArray[np.int64],
    size: NDArray[np.int64],
) -> None:
    """Exchange rows between classes until no class holds two rows with the same end; changes `class_of`.

    The sizes of two classes that exchange rows differ by at most one afterwards, so that no class gets smaller than the
    smaller of both was.

    Parameters
    ----------
    ends
        Shape (n, 2): the person and the value of each row, numbered together.
    starts, rows
        The rows of each end, ``rows[starts[end]:starts[end + 1]]``; at most as many as there are classes.
    class_of
        Shape (n,); -1 for rows that take no part, which must not be among `rows`.
    head, following, size
        The rows of each class as a linked list, and how many there are.
    """
    n_classes, n_ends = head.shape[0], starts.shape[0] - 1
    held = np.zeros(n_classes, dtype=np.int64)
    waiting = np.full(n_ends, -1, dtype=np.int64)
    partner = np.full((ends.shape[0], 2), -1, dtype=np.int64)
    color = np.full(ends.shape[0], -1, dtype=np.int64)
    free = np.int64(0)
    for end in range(n_ends):
        first, last = starts[end], starts[end + 1]
        crowded = False
        for place in range(first, last):
            held[class_of[rows[place]]] += 1
            crowded = crowded or held[class_of[rows[place]]] > 1
        for place in range(first, last):
            if not crowded:
                break
            while held[class_of[rows[place]]] > 1:
                one = np.int64(class_of[rows[place]])
                while held[free] > 0:
                    free = (free + 1) % n_classes
                two = free
                _even_out(ends, one, two, class_of, head, following, size, waiting, partner, color)
                held[one] = _count(ends, end, head[one], following)
                held[two] = _count(ends, end, head[two], following)
        for place in range(first, last):
            held[class_of[rows[place]]] = 0
        free = (free + 1) % n_classes


@helper
def _count(ends: NDArray[np.int64], end: int, row: int, following: NDArray[np.int64]) -> int:
    """How many rows of a class, from `row` on, have this end."""
    found = 0
    while row >= 0:
        found += ends[row, 0] == end or ends[row, 1] == end
        row = following[row]
    return found


@helper
def _even_out(
    ends: NDArray[np.int64],
    one: Whole,
    two: Whole,
    class_of: NDArray[np.int32],
    head: NDArray[np.int64],
    following: NDArray[np.int64],
    size: NDArray[np.int64],
    waiting: NDArray[np.int64],
    partner: NDArray[np.int64],
    color: NDArray[np.int64],
) -> None:
    """Divide the rows of two classes anew, so that every end has as many in one as in the other, but for one.

    The rows of each end are paired, and the rows of a pair part. As every row has at most two partners, one for its
    person and one for its value, rows form paths and cycles, whose rows go to either class by turns. Cycles are even,
    because pairs for people and for values take turns. Of the paths of odd length, every second begins in the other
    class.
    """
    last = head[one]
    while following[last] >= 0:
        last = following[last]
    following[last] = head[two]
    both = head[one]
    row = both
    while row >= 0:
        for side in range(2):
            end = ends[row, side]
            other = waiting[end]
            if other < 0:
                waiting[end] = row
            else:
                partner[row, side] = other
                partner[other, side] = row
                waiting[end] = -1
        row = following[row]
    more = np.int64(0)  # rows of color 0 beyond those of color 1
    for cycles in range(2):  # paths begin at a row that lacks a partner; what is left then are cycles
        row = both
        while row >= 0:
            if color[row] < 0 and (cycles == 1 or partner[row, 0] < 0 or partner[row, 1] < 0):
                side = 0 if partner[row, 0] >= 0 else 1
                now = 1 if more > 0 else 0
                walked = row
                while walked >= 0 and color[walked] < 0:
                    color[walked] = now
                    more += 1 - 2 * now
                    now = 1 - now
                    walked = partner[walked, side]
                    side = 1 - side
            row = following[row]
    head[one], head[two] = -1, -1
    size[one], size[two] = 0, 0
    row = both
    while row >= 0:
        after = following[row]
        to = one if color[row] == 0 else two
        class_of[row] = to
        following[row] = head[to]
        head[to] = row
        size[to] += 1
        color[row] = -1
        for side in range(2):
            partner[row, side] = -1
            waiting[ends[row, side]] = -1
        row = after


@kernel
def deal(
    starts: NDArray[np.int64],
    person: NDArray[np.int64],
    values: NDArray[np.int64],
    n_values: int,
    parts: NDArray[np.int64],
    part_of: NDArray[np.int64],
) -> None:
    """Divide nodes into as few parts as keep the rows of a person apart, with values spread evenly over the parts.

    Parameters
    ----------
    starts
        Node i consists of the rows ``starts[i]:starts[i + 1]``, in which the rows of one person follow one another.
    person
        Shape (n,).
    values
        Shape (n, columns): the values of each row, numbered across columns, below `n_values`.
    parts
        Shape (nodes,): filled with the number of parts of each node, the most rows of one person.
    part_of
        Shape (n,): filled with the part of each row within its node.
    """
    n_nodes = starts.shape[0] - 1
    most = np.int64(1)
    for node in range(n_nodes):
        run, longest = np.int64(0), np.int64(1)
        for row in range(starts[node], starts[node + 1]):
            run = run + 1 if row > starts[node] and person[row] == person[row - 1] else np.int64(1)
            longest = max(longest, run)
            part_of[row] = 0
        parts[node] = longest
        most = max(most, longest)
    counts = np.zeros((most, n_values), dtype=np.int64)
    sizes = np.zeros(most, dtype=np.int64)
    pool = np.empty(most, dtype=np.int64)
    for node in range(n_nodes):
        if parts[node] == 1:
            continue
        for part in range(parts[node]):
            pool[part] = part
            sizes[part] = 0
        # People with several rows choose first; the others even out what these leave.
        for single in range(2):
            row = starts[node]
            while row < starts[node + 1]:
                last = row + 1
                while last < starts[node + 1] and person[last] == person[row]:
                    last += 1
                if (last - row == 1) == (single == 1):
                    _place(starts[node], row, last, parts[node], values, counts, sizes, pool, part_of)
                row = last
        for row in range(starts[node], starts[node + 1]):
            for column in range(values.shape[1]):
                counts[part_of[row], values[row, column]] = 0


@helper
def _place(
    start: int,
    first: int,
    last: int,
    n_parts: int,
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    pool: NDArray[np.int64],
    part_of: NDArray[np.int64],
) -> None:
    """Give each row of a person a part of its own: the one that has its values least often, then the smallest."""
    left = n_parts
    for row in range(first, last):
        best: Whole = 0
        fewest, smallest = np.int64(-1), np.int64(0)
        # Another place to begin for every row, so that all of many parts are looked at. It is counted from the
        # beginning of the node: the same rows are always dealt alike.
        begin = (row - start) % left
        for step in range(min(left, _LOOKED_AT)):
            place = (begin + step) % left
            part = pool[place]
            found = np.int64(0)
            for column in range(values.shape[1]):
                found += counts[part, values[row, column]]
            if fewest < 0 or found < fewest or (found == fewest and sizes[part] < smallest):
                best, fewest, smallest = place, found, sizes[part]
        part = pool[best]
        left -= 1
        pool[best] = pool[left]
        pool[left] = part
        part_of[row] = part
        sizes[part] += 1
        for column in range(values.shape[1]):
            counts[part, values[row, column]] += 1
