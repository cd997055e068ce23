"""Classes of rows with pairwise different levels: the core of Anatomy, (l, e)-Anatomy and L-LMSU on one column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Json
from ldiversity.errors import InfeasibleError, UnsupportedError
from ldiversity.methods._base import Partition
from ldiversity.methods._coded import SensitiveColumn
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._people import spread_people
from ldiversity.sentences import Method, Setting, say

__all__ = [
    "check_shares",
    "divide",
    "divide_rest",
    "join_losses",
    "keep_eligible",
    "losses",
    "most_classes",
    "only_column",
]


def most_classes(counts: NDArray[np.int64], l: int, *, besides: int = 0) -> int:
    """The largest number of classes of at least `l` rows with pairwise different levels.

    It is the largest k with ``sum(min(n_s, k)) >= k * l``: a level gives a class at most one row, and k classes need
    k * l rows. As many classes also keep the most rows: ``min(n_s, k)`` of each level. `besides` are rows of further
    levels, none of which has more than k.

    Examples
    --------
    >>> most_classes(np.array([6, 2, 2]), 2)
    4
    """
    low, high = 0, (int(counts.sum()) + besides) // l
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) + besides >= middle * l:
            low = middle
        else:
            high = middle - 1
    return low


def keep_eligible(
    codes: NDArray[np.integer], sizes: Sequence[int] | NDArray[np.int64], rows: NDArray[np.int32], l: int
) -> NDArray[np.int32]:
    """Keep as many rows as can be, the first of each value, so that no value of a key exceeds 1/l of them.

    With one key: no more than k of each value, for the greatest k with ``sum(min(count, k)) >= k * l``. With several,
    the same key by key until none is too frequent.

    Parameters
    ----------
    codes
        Shape (n, keys).
    sizes
        Shape (keys,): how many values each has.
    """
    while True:
        before = len(rows)
        for key, size in enumerate(sizes):
            own = codes[rows, key]
            counts = np.bincount(own, minlength=int(size))
            most = most_classes(counts, l)
            if counts.max(initial=0) > most:
                order = np.argsort(own, kind="stable")
                rank = np.empty(len(rows), dtype=np.int64)
                rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
                rows = rows[rank < most]
        if len(rows) == before:
            return rows


def divide(levels: CodeArray, n_levels: int, l: int, person: NDArray[np.int64] | None = None) -> Partition:
    """Divide the rows into classes of at least `l` rows with pairwise different levels, hiding as few as possible.

    A level that has more rows than there can be classes loses the last ones; then one row is taken from each of the
    l fullest buckets, again and again; the fewer than l rows left over join the smallest classes without their level.

    With `person`, who has more rows than there can be classes loses the last ones too, and classes exchange rows until
    none holds two rows of one person. That always works: see the kernel `spread`.

    Examples
    --------
    >>> divide(np.array([0, 0, 0, 1, 2], dtype=np.int32), 3, 2).class_of.tolist()
    [0, 1, -1, 0, 1]
    """
    from ldiversity._kernels.anatomy import take_from_largest

    if person is not None:
        return _divide_apart(levels, n_levels, l, person)
    counts = np.bincount(levels, minlength=n_levels).astype(np.int64)
    kept = np.minimum(counts, most_classes(counts, l))
    class_of, left, n_classes = take_from_largest(np.ascontiguousarray(levels, dtype=np.int32), kept, l)
    _insert(class_of, np.sort(left), levels, n_classes)
    return Partition(class_of, n_classes)


def _divide_apart(levels: CodeArray, n_levels: int, l: int, person: NDArray[np.int64]) -> Partition:
    n_people = int(person.max(initial=-1)) + 1
    rows = np.arange(len(levels), dtype=np.int32)
    rows = keep_eligible(np.column_stack([levels, person]), (n_levels, n_people), rows, l)
    own = divide(levels[rows], n_levels, l)
    class_of = np.full(len(levels), -1, dtype=np.int32)
    class_of[rows] = spread_people(own, person[rows], levels[rows])
    return Partition(class_of, own.n_classes)


def divide_rest(
    partition: Partition, levels: CodeArray, n_levels: int, person: NDArray[np.int64], l: int
) -> tuple[Partition, int]:
    """Divide the rows without a class into classes of `l` different people and levels.

    Where one person or level has too many of them, classes are dissolved too, the smallest first: as many as needed,
    all of them at last. Each class has at least `l` rows, all of them different people.

    Returns
    -------
    The partition of all rows, and how many of them were divided.

    Raises
    ------
    InfeasibleError
        When a person or a level has more than 1/l of all rows.
    """
    smallest = np.argsort(partition.sizes, kind="stable")
    rank = np.empty(partition.n_classes + 1, dtype=np.int64)  # its last entry is for rows without a class
    rank[smallest], rank[-1] = np.arange(partition.n_classes), -1
    of_row = rank[partition.class_of]
    step, n_dissolved = 1, 0
    while True:
        rest = np.flatnonzero(of_row < n_dissolved)
        most = max(int(np.bincount(keys[rest]).max(initial=0)) for keys in (levels, person))
        if most * l <= len(rest):
            break
        if n_dissolved >= partition.n_classes:
            raise InfeasibleError(
                "Classes", "l", "must leave every person and every value at most 1/l of the rows", got=l
            )
        n_dissolved, step = min(partition.n_classes, n_dissolved + step), 2 * step
    found = divide(levels[rest], n_levels, l, np.unique(person[rest], return_inverse=True)[1].ravel())
    class_of = (of_row - n_dissolved).astype(np.int32)
    class_of[rest] = found.class_of + (partition.n_classes - n_dissolved)
    return Partition(class_of, partition.n_classes - n_dissolved + found.n_classes), len(rest)


def losses(partition: Partition, l: int) -> dict[str, Json]:
    """Public facts: hidden rows, their share (hide loss), and rows beyond l per class, over l (additional loss)."""
    return _losses(len(partition.class_of), partition.suppressed, partition.n_classes, l)


def join_losses(parts: Sequence[PartFacts], l: int) -> dict[str, Json]:
    """The same where parts of the table were grouped one by one; with several partitions, the mean of their losses."""
    n_rows = sum(part.n_rows for part in parts)
    hidden = n_rows - sum(part.n_published for part in parts)
    each = [_losses(n_rows, hidden, sum(n_classes), l) for n_classes in zip(*(p.n_classes for p in parts), strict=True)]
    return {**each[0], "additional_loss": float(np.mean([one["additional_loss"] for one in each]))}


def _losses(n_rows: int, hidden: int, n_classes: int, l: int) -> dict[str, Json]:
    needed = n_classes * l
    return {
        "hidden": hidden,
        "hide_loss": hidden / n_rows if n_rows else 0.0,
        "additional_loss": (n_rows - hidden - needed) / needed if needed else 0.0,
    }


def only_column(owner: str, columns: Sequence[SensitiveColumn]) -> SensitiveColumn:
    """The sensitive column, where a method can handle only one."""
    if len(columns) > 1:
        raise UnsupportedError(owner, "there must be one sensitive column", got=len(columns)).with_hint(
            say(
                "{} and {} make classes that differ in several sensitive columns; {} generalizes as well.",
                *(Method("LLMSU"), Method("MBF"), Method("BSGI")),
            )
        )
    return columns[0]


def check_shares(
    owner: str,
    column: str,
    counts: NDArray[np.int64],
    l: int,
    *,
    depth: int | None = None,
    overflow: str = "refuse",
    setting: Callable[[int], Setting] | None = None,
) -> None:
    """Refuse what no division into classes can keep; `setting` says how a column's own l is set.

    Raises
    ------
    InfeasibleError
        When fewer than l levels occur, or (unless rows may be suppressed) one has more than 1/l of the rows.
    """
    use = setting or partial(Setting, "l")
    at = "" if depth is None else f" at depth {depth}"
    noun, nouns = ("value", "values") if depth is None else (f"ancestor{at}", f"ancestors{at}")
    n_rows, n_levels, most = int(counts.sum()), int(np.count_nonzero(counts)), int(counts.max(initial=0))
    if n_levels < l:
        # The largest l at which everything else holds too.
        possible = n_levels if overflow == "suppress" else min(n_levels, n_rows // max(most, 1))
        have = "all records have one" if n_levels else "no record has a"
        raise InfeasibleError(
            owner,
            "l",
            f"must be at most the number of {nouns} of {column!r} that occur, {n_levels}"
            if n_levels > 1
            else f"cannot be reached, because {have} {noun} of {column!r}",
            got=l,
            nearest=[{"l": possible}] if possible > 1 and setting is None else [],
        ).with_hint(
            say("Use {}.", use(possible))
            if possible > 1
            else "Publish the column with another method, or wider values."
        )
    if overflow == "suppress" or most * l <= n_rows:
        return
    hidden = int(np.maximum(counts - most_classes(counts, l), 0).sum())
    largest, share = n_rows // most, f"{most} of {n_rows} records"
    fewer = say("Use {}, or l", use(largest)) if largest > 1 else "L"
    raise InfeasibleError(
        owner,
        "l",
        f"must be at most {largest} for {column!r}, whose most frequent {noun} has {share}"
        if largest > 1
        else f"cannot be reached with all records, because the most frequent {noun} of {column!r} has {share}",
        got=l,
        nearest=[{"l": largest}] if largest > 1 and setting is None else [],
    ).with_hint(
        say("{}eave {} of its most frequent records out with {}.", fewer, hidden, Setting("overflow", "suppress"))
    )


def _insert(class_of: CodeArray, left: CodeArray, levels: CodeArray, n_classes: int) -> None:
    """Put each row into one of the smallest classes that lack its level; among those, into the one that began first.

    Which class began first, in the random order of rows, says nothing about what it holds.
    """
    for row in left:
        lacking = np.ones(n_classes, dtype=np.bool_)
        same = class_of[levels == levels[row]]
        lacking[same[same >= 0]] = False
        sizes = np.bincount(class_of[class_of >= 0], minlength=n_classes)
        smallest = lacking & (sizes == sizes[lacking].min())
        first = np.flatnonzero(smallest[class_of] & (class_of >= 0))[0]
        class_of[row] = class_of[first]
