"""Classes of rows with pairwise different levels: the core of Anatomy, (l, e)-Anatomy and L-LMSU on one column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Json
from ldiversity.errors import InfeasibleError, UnsupportedError
from ldiversity.methods._base import Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.sentences import Method, Setting, say

__all__ = ["check_people", "check_shares", "divide", "losses", "most_classes", "only_column"]


def most_classes(counts: NDArray[np.int64], l: int) -> int:
    """The largest number of classes of at least `l` rows with pairwise different levels.

    It is the largest k with ``sum(min(n_s, k)) >= k * l``: a level gives a class at most one row, and k classes need
    k * l rows. As many classes also keep the most rows: ``min(n_s, k)`` of each level.

    Examples
    --------
    >>> most_classes(np.array([6, 2, 2]), 2)
    4
    """
    low, high = 0, int(counts.sum()) // l
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) >= middle * l:
            low = middle
        else:
            high = middle - 1
    return low


def divide(levels: CodeArray, n_levels: int, l: int) -> Partition:
    """Divide the rows into classes of at least `l` rows with pairwise different levels, hiding as few as possible.

    A level that has more rows than there can be classes loses the last ones; then one row is taken from each of the
    l fullest buckets, again and again; the fewer than l rows left over join the smallest classes without their level.

    Examples
    --------
    >>> divide(np.array([0, 0, 0, 1, 2], dtype=np.int32), 3, 2).class_of.tolist()
    [0, 1, -1, 0, 1]
    """
    from ldiversity._kernels.anatomy import take_from_largest

    counts = np.bincount(levels, minlength=n_levels).astype(np.int64)
    kept = np.minimum(counts, most_classes(counts, l))
    class_of, left, n_classes = take_from_largest(np.ascontiguousarray(levels, dtype=np.int32), kept, l)
    _insert(class_of, np.sort(left), levels, n_classes)
    return Partition(class_of, n_classes)


def losses(partition: Partition, l: int) -> dict[str, Json]:
    """Public facts: hidden rows, their share (hide loss), and rows beyond l per class, over l (additional loss)."""
    n_rows, hidden = len(partition.class_of), partition.suppressed
    needed = partition.n_classes * l
    return {
        "hidden": hidden,
        "hide_loss": hidden / n_rows if n_rows else 0.0,
        "additional_loss": (n_rows - hidden - needed) / needed if needed else 0.0,
    }


def only_column(owner: str, table: CodedTable) -> SensitiveColumn:
    """The sensitive column, where a method can handle only one."""
    if len(table.sensitive) > 1:
        raise UnsupportedError(owner, "there must be one sensitive column", got=len(table.sensitive)).with_hint(
            say(
                "{} and {} make classes that differ in several sensitive columns; {} generalizes as well.",
                *(Method("LLMSU"), Method("MBF"), Method("BSGI")),
            )
        )
    return table.sensitive[0]


def check_people(owner: str, table: CodedTable) -> None:
    """Refuse several rows of one person: the l largest buckets may all be theirs."""
    if table.person is not None and len(np.unique(table.person)) < table.n_rows:
        raise UnsupportedError(owner, "each row must belong to a different person").with_hint(
            say(
                "{} never puts two rows of one person into a class; nor do {} and {}, which hide what is left.",
                *(Method("BSGI"), Method("LLMSU"), Method("MBF")),
            )
        )


def check_shares(
    owner: str, column: str, counts: NDArray[np.int64], l: int, *, depth: int | None = None, overflow: str = "refuse"
) -> None:
    """Refuse what no division into classes can keep.

    Raises
    ------
    InfeasibleError
        When fewer than l levels occur, or (unless rows may be suppressed) one has more than 1/l of the rows.
    """
    at = "" if depth is None else f" at depth {depth}"
    noun, nouns = ("value", "values") if depth is None else (f"ancestor{at}", f"ancestors{at}")
    n_rows, n_levels, most = int(counts.sum()), int(np.count_nonzero(counts)), int(counts.max(initial=0))
    if n_levels < l:
        # The largest l at which everything else holds too.
        possible = n_levels if overflow == "suppress" else min(n_levels, n_rows // max(most, 1))
        raise InfeasibleError(
            owner,
            "l",
            f"must be at most the number of {nouns} of {column!r} that occur, {n_levels}",
            got=l,
            nearest=[{"l": possible}] if possible > 1 else [],
        ).with_hint(
            say("Use {}.", Setting("l", possible))
            if possible > 1
            else "Publish the column with another method, or wider values."
        )
    if overflow == "suppress" or most * l <= n_rows:
        return
    hidden = int(np.maximum(counts - most_classes(counts, l), 0).sum())
    largest = n_rows // most
    fewer = say("Use {}, or l", Setting("l", largest)) if largest > 1 else "L"
    raise InfeasibleError(
        owner,
        "l",
        f"must be at most {largest} for {column!r}, whose most frequent {noun} has {most} of {n_rows} records",
        got=l,
        nearest=[{"l": largest}] if largest > 1 else [],
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
