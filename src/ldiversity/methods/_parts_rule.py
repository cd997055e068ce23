"""What a method needs of a part of a table, so that what it promises can be kept there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldiversity.models import Population

__all__ = ["PartCounts", "PartRule", "rows_that_matter"]


@dataclass(frozen=True)
class PartRule:
    """How parts are made fit for a method.

    Parameters
    ----------
    level
        No value may have more than 1/level of a part: rows are moved between parts until none has. None: no row is
        moved, and parts that are not feasible are joined.
    leave_out
        Whether rows of values that are too frequent in the whole table are left out, before anything is moved.
    """

    level: int | None
    leave_out: bool = False


@dataclass(frozen=True, eq=False)
class PartCounts:
    """What is known of a part before its records are grouped.

    Parameters
    ----------
    values
        For each sensitive column, shape (F,): how often each value occurs in the part.
    populations
        For each sensitive column the values of the whole table, without what is left out.
    most_of_person
        The most rows of the part that one person has, or a bound from above; 1 when nobody has several.
    names
        The sensitive columns; empty where it does not matter which they are.

    Examples
    --------
    >>> from ldiversity.methods import BSGI
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut", "sty")), np.array([6, 3, 3]))
    >>> BSGI(l=2).feasible(PartCounts((np.array([3, 2, 1]),), (everyone,)))
    True
    >>> BSGI(l=2).feasible(PartCounts((np.array([3, 1, 1]),), (everyone,)))
    False
    """

    values: tuple[NDArray[np.int64], ...]
    populations: tuple[Population, ...]
    most_of_person: int = 1
    names: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows the part has."""
        return int(self.values[0].sum())


def rows_that_matter(sizes: NDArray[np.int64], l: int) -> int:
    """How many rows a person has at least, if they can have more than 1/l of a part of one of these sizes.

    Only the rows of such people need to be counted by part and person. They are few: at most as many people as the
    table has rows over this number. All others count with the most rows that anybody below it has.

    Examples
    --------
    >>> rows_that_matter(np.array([1000, 0, 400]), 4)
    101
    """
    return int(sizes[sizes > 0].min(initial=np.iinfo(np.int64).max) // l) + 1
