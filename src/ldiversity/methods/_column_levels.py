"""A level of its own for each sensitive column: (l_1, ..., l_d), and the size of class that keeps them all.

In a class of m records, a value of column i may occur ``m // l_i`` times, and so has at most 1/l_i of it. Classes are
formed of S records or more: each value is divided into ``S // l_i`` slots, among which its records are dealt, and the
records of a class differ in slots. What forms classes of different values then needs to know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import check_integer, name_some
from ldiversity.errors import ParameterError
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.sentences import Setting, say

__all__ = [
    "ColumnLevels",
    "changed_level",
    "check_levels",
    "differ",
    "in_slots",
    "levels_of",
    "smallest_size",
    "thriftiest_size",
]

ColumnLevels: TypeAlias = int | Mapping[str, int]
"""One level for all sensitive columns, or one for each by name."""

_LEAST: Final = 2
_LARGEST: Final = 64
"""Sizes of classes that are looked at where records may be left out; larger ones blur more than they save."""


def check_levels(owner: str, l: object) -> None:
    """Refuse what is neither an integer of at least 2 nor such an integer for each of some columns."""
    if not isinstance(l, Mapping):
        check_integer(owner, "l", l, minimum=_LEAST)
        return
    if not l:
        raise ParameterError(owner, "l", "must name every sensitive column", got="none").with_hint(
            say(
                "Give one integer for all columns, or one for each, as in {}.",
                Setting("l", (("disease", 3), ("job", 2))),
            )
        )
    for column, level in l.items():
        if not isinstance(column, str):
            raise ParameterError(owner, "l", "must have names of columns", got=type(column).__name__)
        check_integer(owner, f"l of {column!r}", level, minimum=_LEAST)


def differ(l: ColumnLevels) -> bool:
    """Whether columns have different levels.

    Examples
    --------
    >>> differ(3), differ({"job": 3, "pay": 3}), differ({"job": 3, "pay": 2})
    (False, False, True)
    """
    return isinstance(l, Mapping) and len(set(l.values())) > 1


def levels_of(owner: str, l: ColumnLevels, columns: Sequence[str]) -> tuple[int, ...]:
    """The level of each column, in their order.

    Raises
    ------
    ParameterError
        When levels are given by name, and not for exactly these columns.

    Examples
    --------
    >>> levels_of("BSGI", {"pay": 2, "job": 3}, ["job", "pay"])
    (3, 2)
    """
    if not isinstance(l, Mapping):
        return (l,) * len(columns)
    if set(l) != set(columns):
        raise ParameterError(
            owner, "l", "must name every sensitive column and no other", got=name_some(list(l))
        ).with_hint(f"Sensitive are {name_some(list(columns))}." if any(columns) else "No column is sensitive.")
    return tuple(l[column] for column in columns)


def changed_level(l: ColumnLevels, column: str) -> Callable[[int], Setting] | None:
    """How another level of one column is set; None where one level is for all.

    Examples
    --------
    >>> str(changed_level({"job": 3, "pay": 5}, "pay")(4))
    "l={'job': 3, 'pay': 4}"
    """
    return (lambda level: Setting("l", tuple({**l, column: level}.items()))) if isinstance(l, Mapping) else None


def in_slots(codes: CodeArray, n_slots: int) -> CodeArray:
    """Divide each value into slots, and deal its rows among them: the first row of a value gets its first slot.

    Examples
    --------
    >>> in_slots(np.array([0, 1, 0, 0], dtype=np.int32), 2).tolist()
    [0, 2, 1, 0]
    """
    if n_slots == 1:
        return codes
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    slots: CodeArray = (codes.astype(np.int64) * n_slots + rank % n_slots).astype(np.int32)
    return slots


def smallest_size(n_rows: int, most: Sequence[int], levels: Sequence[int], most_of_person: int = 1) -> int | None:
    """The smallest size of classes at which no value and nobody has too many rows; None if there is none.

    There is one whenever no value of a column has more than 1/l_i of the rows and nobody has two: all rows together.

    Parameters
    ----------
    n_rows
        How many rows there are.
    most
        How many rows the most frequent value of each column has.
    levels
        The level of each column.
    most_of_person
        The most rows that one person has; they are in different classes.

    Examples
    --------
    With classes of 5, no job may have more than 1/5 of the rows; with classes of 6 it is 1/3, and 1/6 for the other.

    >>> smallest_size(600, [190, 90], [3, 5]), smallest_size(600, [120, 110], [3, 5])
    (6, 5)
    """
    sizes = np.arange(max(levels), n_rows + 1)
    classes = n_rows // np.maximum(sizes, 1)
    fits = classes >= most_of_person
    for count, l in zip(most, levels, strict=True):
        fits &= (sizes // l) * classes >= count
    return int(sizes[np.argmax(fits)]) if fits.any() else None


def thriftiest_size(counts: Sequence[NDArray[np.int64]], levels: Sequence[int]) -> int:
    """The size of class at which columns, one by one, leave the fewest rows out in sum; the smallest of equals.

    Parameters
    ----------
    counts
        How often each value of each column occurs.
    levels
        The level of each column.

    Examples
    --------
    >>> thriftiest_size([np.array([30, 15, 15]), np.array([15, 15, 15, 15])], [2, 4])
    4
    """
    largest = max(levels)
    if len(set(levels)) == 1:
        return largest
    sizes = range(largest, max(largest, min(_LARGEST, 2 * lcm(*levels))) + 1)
    return min(sizes, key=lambda size: sum(_left_out(own, size, l) for own, l in zip(counts, levels, strict=True)))


def _left_out(counts: NDArray[np.int64], size: int, l: int) -> int:
    """How many rows of a column must be left out, where classes have at least this size."""
    n_slots = size // l
    slots = (counts[:, None] + np.arange(n_slots)) // n_slots
    return int(np.maximum(slots - most_classes(slots.ravel(), size), 0).sum())
