"""Rows that change parts, so that no value has more than 1/l of a part; and rows that must be left out altogether.

Everything is decided by counts. Which rows move is then decided by random words of theirs; see `_parts_exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.errors import InternalError
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._parts_tree import PartTree

__all__ = ["Moves", "eligible", "eligible_moves", "spread_over"]

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moves:
    """How many rows of which value go from one part to another; each move is an entry of all four arrays.

    Sorted by source and value. A target of -1 means that the rows are left out of the release.
    """

    source: NDArray[np.int32]
    value: NDArray[np.int32]
    target: NDArray[np.int32]
    number: Ints

    @classmethod
    def of(cls, moves: Mapping[tuple[int, int, int], int]) -> Self:
        """Moves from their numbers by source, value and target.

        Examples
        --------
        >>> Moves.of({(1, 0, 0): 2}).after(np.array([[1, 1], [3, 1]])).tolist()
        [[3, 1], [1, 1]]
        """
        listed = sorted((*move, number) for move, number in moves.items() if number)
        columns = np.array(listed, dtype=np.int64).reshape(-1, 4).T
        source, value, target = columns[:3].astype(np.int32)
        return cls(source, value, target, columns[3].copy())

    @property
    def n_rows(self) -> int:
        """How many rows move."""
        return int(self.number.sum())

    def after(self, counts: Ints) -> Ints:
        """The counts of parts by values when all rows have moved."""
        counts = counts.copy()
        np.subtract.at(counts, (self.source, self.value), self.number)
        stay = self.target >= 0
        np.add.at(counts, (self.target[stay], self.value[stay]), self.number[stay])
        return counts


def eligible(counts: Ints, l: int) -> BoolArray:
    """Shape (parts,): whether no value has more than 1/l of each part. An empty part is eligible.

    Examples
    --------
    >>> eligible(np.array([[2, 2, 0], [3, 1, 1]]), 2).tolist()
    [True, False]
    """
    holds: BoolArray = counts.max(axis=-1, initial=0) * l <= counts.sum(axis=-1)
    return holds


def eligible_moves(counts: Ints, l: int, tree: PartTree) -> Moves:
    """Moves after which no value has more than 1/l of any part.

    They always exist if no value has more than 1/l of all rows. Parts below a node exchange rows with others only if
    they are not eligible together, and rows go to the nearest parts with room.

    Parameters
    ----------
    counts
        Shape (parts, values): how often each value occurs in each part.
    l
        At least 2.
    tree
        Which parts are near each other.

    Notes
    -----
    Sums are made from the leaves up, and divided from the root down. Let T be the counts of a node, k = |T| // l, and
    no value more often than k. For any a + b <= k, a + b >= max T there is a division in which no value is on the first
    side more than a times, nor on the second more than b times, and the sides have at least a * l and b * l rows:
    min(T_s, a) >= T_s a / (a + b), the sum of which is at least a * l; and likewise for b. So both sides are eligible.
    Of some such pairs (a, b), the one is taken that moves the fewest rows. No part ever needs to be joined to another.
    The cost is proportional to parts times values, and to the depth of the tree for what moves.

    Raises
    ------
    InternalError
        When a value has more than 1/l of all rows.

    Examples
    --------
    Two parts with three of four rows alike: each gives one of them to the other.

    >>> moves = eligible_moves(np.array([[3, 1], [1, 3]]), 2, PartTree.balanced(2))
    >>> list(zip(moves.source.tolist(), moves.value.tolist(), moves.target.tolist(), moves.number.tolist()))
    [(0, 0, 1, 1), (1, 1, 0, 1)]
    """
    counts = np.asarray(counts, dtype=np.int64)
    sound = eligible(counts, l)
    if sound.all():
        return Moves.of({})
    sums = _sums(counts, tree)
    if not eligible(sums[0], l):
        raise InternalError("Parts", f"a value has more than 1/{l} of all rows, so no part can be eligible")
    broken = np.concatenate([[0], np.cumsum(~sound)])
    targets: dict[int, Ints] = {0: sums[0]} if len(sums) else {}
    wanted = counts.copy()
    for node in range(len(tree.left)):
        target = targets.pop(node, None)
        first, last = tree.spans[node].tolist()
        if target is None or (broken[first] == broken[last] and np.array_equal(target, sums[node])):
            continue  # nothing comes, nothing goes, and all parts below are eligible
        left, right = int(tree.left[node]), int(tree.right[node])
        given = counts[-1 - left] if left < 0 else sums[left]
        other = counts[-1 - right] if right < 0 else sums[right]
        share = _divide(target, _preferred(target - given - other, given, other, l), l)
        for child, own in ((left, share), (right, target - share)):
            if child < 0:
                wanted[-1 - child] = own
            else:
                targets[child] = own
    return Moves.of(_match(counts - wanted, tree))


def _sums(counts: Ints, tree: PartTree) -> Ints:
    """Shape (parts - 1, values): the counts of all parts below each inner node."""
    if not len(tree.left):
        return counts[:1]
    sums = np.empty((len(tree.left), counts.shape[1]), dtype=np.int64)
    for node in range(len(sums) - 1, -1, -1):
        left, right = int(tree.left[node]), int(tree.right[node])
        np.add(
            counts[-1 - left] if left < 0 else sums[left],
            counts[-1 - right] if right < 0 else sums[right],
            out=sums[node],
        )
    return sums


def _preferred(change: Ints, first: Ints, second: Ints, l: int) -> Ints:
    """The first side's counts when what goes leaves the side that has too much of it, and what comes finds room."""
    if not change.any():
        return first
    going, coming = np.maximum(-change, 0), np.maximum(change, 0)
    spare_first, spare_second = int(first.sum()) - l * first, int(second.sum()) - l * second
    too_many = np.clip(-(spare_first // (l - 1)), 0, first)
    out = np.minimum(going, too_many)
    from_second = np.minimum(going - out, np.clip(-(spare_second // (l - 1)), 0, second))
    rest = going - out - from_second
    share = (rest * ((first - out) / np.maximum(first - out + second - from_second, 1))).astype(np.int64)
    share = np.maximum(np.minimum(share, first - out), rest - (second - from_second))
    rooms = np.maximum(spare_first // (l - 1), 0), np.maximum(spare_second // (l - 1), 0)
    into = np.where(rooms[0] >= rooms[1], np.minimum(coming, rooms[0]), coming - np.minimum(coming, rooms[1]))
    preferred: Ints = first - out - share + into
    return preferred


def _divide(whole: Ints, preferred: Ints, l: int) -> Ints:
    """The first of two eligible sides, as near to the preferred counts as one of some bounds allows."""
    others = whole - preferred
    if eligible(np.stack([preferred, others]), l).all():
        return preferred
    n, most = int(whole.sum()), int(whole.max())
    k = n // l
    own = {most_classes(preferred, l), min(k, int(preferred.sum()) // l)}
    beside = {most_classes(others, l), min(k, int(others.sum()) // l)}
    least, found = (n + 1, 0), preferred
    for a in sorted(own | {k - b for b in beside}):
        for b in sorted(beside | {k - a for a in own} | {k - a}):
            if a + b > k or a + b < most:
                continue
            low, high = np.maximum(whole - b, 0), np.minimum(whole, a)
            share = np.clip(preferred, low, high)
            size = int(share.sum())
            missing = max(0, l * a - size) - max(0, size - (n - l * b))  # at most one of them is not 0
            # Of those that move the fewest rows, the one that keeps sizes.
            cost = int(np.abs(share - preferred).sum()) + abs(missing), abs(size + missing - int(preferred.sum()))
            if cost < least:
                least, more = cost, missing >= 0
                found = (
                    share + spread_over(high - share, missing) if more else share - spread_over(share - low, -missing)
                )
    return found


def spread_over(room: Ints, total: int) -> Ints:
    """Divide a total among values in proportion to their room; the rest goes to those with most of it left."""
    given = np.minimum((room * (total / max(1, int(room.sum())))).astype(np.int64), room)
    rest = total - int(given.sum())
    for value in np.argsort(given - room, kind="stable"):
        step = min(rest, int((room - given)[value]))
        given[value] += step
        rest -= step
        if not rest:
            break
    return given


def _match(surplus: Ints, tree: PartTree) -> dict[tuple[int, int, int], int]:
    """Pair parts that have too much of a value with parts that lack it, the nearest first: below the lowest node."""
    moves: dict[tuple[int, int, int], int] = {}
    waiting: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for part in np.flatnonzero(surplus.any(axis=1)).tolist():
        own = np.flatnonzero(surplus[part])
        waiting[-1 - part] = {value: [(part, int(surplus[part, value]))] for value in own.tolist()}
    for node in range(len(tree.left) - 1, -1, -1):
        both = [waiting.pop(int(side[node]), {}) for side in (tree.left, tree.right)]
        both.sort(key=len)
        fewer, joined = both
        for value, entries in fewer.items():
            joined[value] = _pair(value, [*joined.get(value, []), *entries], moves)
        waiting[node] = {value: entries for value, entries in joined.items() if entries}
    return moves


def _pair(
    value: int, entries: Sequence[tuple[int, int]], moves: dict[tuple[int, int, int], int]
) -> list[tuple[int, int]]:
    """Move rows from parts with a surplus to those that lack them; what is left of one kind."""
    giving, taking = _side(entries, 1), _side(entries, -1)
    while giving and taking:
        (source, surplus), (target, lack) = giving.pop(), taking.pop()
        number = min(surplus, lack)
        moves[source, value, target] = number
        if surplus > number:
            giving.append((source, surplus - number))
        if lack > number:
            taking.append((target, lack - number))
    return giving or [(part, -number) for part, number in taking]


def _side(entries: Iterable[tuple[int, int]], sign: int) -> list[tuple[int, int]]:
    return [(part, sign * number) for part, number in entries if sign * number > 0]
