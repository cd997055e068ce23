"""Rows of one person in different classes, for methods that do not form classes row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, different
from ldiversity.errors import InfeasibleError
from ldiversity.methods._base import Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._rule import Rules
from ldiversity.sentences import Method, Setting, say

__all__ = ["Dealer", "check_people", "not_apart", "spread_people"]

_BLOCK_CELLS: Final = 1 << 22


def check_people(owner: str, table: CodedTable, l: int, *, overflow: str = "refuse") -> None:
    """Refuse what no division into classes of at least `l` people can keep.

    Raises
    ------
    InfeasibleError
        When there are fewer than l people, or (unless rows may be suppressed) one has more than 1/l of the rows.
    """
    if table.several is None:
        return
    counts = np.bincount(table.several)
    most, largest = int(counts.max()), table.n_rows // int(counts.max())
    possible = len(counts) if overflow == "suppress" else largest
    if len(counts) < l:
        rule = f"must be at most the number of people, {len(counts)}, as no class holds a person twice"
        if len(counts) == 1:
            rule = "cannot be reached, because all records are of one person, and no class holds a person twice"
    elif most * l > table.n_rows and overflow != "suppress":
        rule = f"must be at most {largest}, because one person has {most} of {table.n_rows} records, one in a class"
    else:
        return
    hint = say("Use {}.", Setting("l", possible)) if possible > 1 else "Publish fewer records of one person."
    raise InfeasibleError(owner, "l", rule, got=l, nearest=[{"l": possible}] if possible > 1 else []).with_hint(hint)


def spread_people(partition: Partition, person: NDArray[np.int64], levels: CodeArray) -> CodeArray:
    """Exchange rows until no class holds two rows of one person, or two of one level.

    Nobody may have more rows than there are classes, nor may any level. No class gets smaller than the smallest was.

    Examples
    --------
    >>> together = Partition(np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> spread_people(together, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1], dtype=np.int32)).tolist()
    [0, 1, 1, 0]
    """
    class_of = partition.class_of.copy()
    n_people = int(person.max(initial=-1)) + 1
    ends = np.column_stack([person, levels.astype(np.int64) + n_people]).astype(np.int64)
    if not _repeats(class_of, ends):
        return class_of
    from ldiversity._kernels.apart import spread

    placed = np.flatnonzero(class_of >= 0)
    both = np.concatenate([ends[placed, 0], ends[placed, 1]])
    rows = np.tile(placed, 2)[np.argsort(both, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(both, minlength=int(ends.max()) + 1))])
    head, following = _chain(class_of, placed, partition.n_classes)
    spread(ends, starts.astype(np.int64), rows, class_of, head, following, partition.sizes)
    return class_of


def _repeats(class_of: CodeArray, ends: NDArray[np.int64]) -> bool:
    placed = class_of >= 0
    keys = class_of[placed, None] * (ends.max(initial=0) + 1) + ends[placed]
    return any(len(different(own)) < len(own) for own in keys.T)


def _chain(class_of: CodeArray, placed: NDArray[np.int64], n_classes: int) -> tuple[NDArray[np.int64], ...]:
    """The rows of each class as a linked list: its first row, and the row that follows each."""
    order = placed[np.argsort(class_of[placed], kind="stable")]
    following = np.full(len(class_of), -1, dtype=np.int64)
    same = class_of[order[1:]] == class_of[order[:-1]]
    following[order[:-1]] = np.where(same, order[1:], -1)
    head = np.full(n_classes, -1, dtype=np.int64)
    firsts = np.concatenate([[True], ~same])
    head[class_of[order[firsts]]] = order[firsts]
    return head, following


def _blocks(parts: NDArray[np.int64], n_values: int) -> Iterator[tuple[int, int]]:
    """Runs of sets whose parts, with a number for each value, are of bounded size."""
    numbers = np.cumsum(parts) * n_values // _BLOCK_CELLS
    yield from pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)).tolist(), len(parts)])


@dataclass(frozen=True, eq=False)
class Dealer:
    """Divides sets of rows into parts that each hold a person once.

    Parameters
    ----------
    person
        Shape (n,): whose row it is.
    values
        Shape (n, sensitive columns): values, numbered across columns.
    n_values
        How many there are.
    """

    person: NDArray[np.int64]
    values: NDArray[np.int64]
    n_values: int

    @classmethod
    def of(cls, table: CodedTable) -> Self | None:
        """The dealer of a table; None when nobody has several rows."""
        if table.several is None:
            return None
        firsts = np.cumsum([0, *(len(column.domain) for column in table.sensitive)])
        values = [column.codes.astype(np.int64) + first for column, first in zip(table.sensitive, firsts, strict=False)]
        return cls(table.several, np.ascontiguousarray(np.column_stack(values)), int(firsts[-1]))

    @property
    def by_person(self) -> NDArray[np.int64]:
        """All rows, those of each person one after the other."""
        return np.argsort(self.person, kind="stable")

    def deal(self, rows: NDArray[np.integer], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Divide sets of rows into parts: as few as keep everybody's rows apart, with values spread evenly.

        Parameters
        ----------
        rows
            Rows of the table; those of a set stand together, and in it those of a person.
        starts
            Shape (sets + 1,): where each set begins in `rows`.

        Returns
        -------
        Shape (sets,): the number of parts; shape (rows,): the part of each row within its set.
        """
        from ldiversity._kernels.apart import deal

        parts = np.ones(len(starts) - 1, dtype=np.int64)
        part_of = np.zeros(len(rows), dtype=np.int64)
        deal(starts, self.person[rows], self.values[rows], self.n_values, parts, part_of)
        return parts, part_of

    def keeps(
        self,
        rows: NDArray[np.integer],
        starts: NDArray[np.int64],
        sensitive: tuple[SensitiveColumn, ...],
        rules: Sequence[Rules],
    ) -> BoolArray:
        """Shape (sets,): whether all parts of each set of rows satisfy the rules of every sensitive column."""
        parts, part_of = self.deal(rows, starts)
        sizes = np.diff(starts)
        holds = sizes >= parts * max(own.least_size for own in rules)
        firsts = np.cumsum(parts) - parts
        part_of += np.repeat(firsts, sizes)
        for column, own_rules in zip(sensitive, rules, strict=True):
            population = column.population
            n_values = len(column.domain)
            for first, last in _blocks(parts, n_values):
                own = slice(int(starts[first]), int(starts[last]))
                n_parts = int(parts[first:last].sum())
                keys = (part_of[own] - firsts[first]) * n_values + column.codes[rows[own]]
                counts = np.bincount(keys, minlength=n_parts * n_values).reshape(n_parts, n_values)
                kept = own_rules.holds(counts, population)
                holds[first:last] &= np.logical_and.reduceat(kept, firsts[first:last] - firsts[first])
        return holds

    def keeps_whole(self, sensitive: tuple[SensitiveColumn, ...], rules: Sequence[Rules]) -> bool:
        """Whether all rows, divided into parts that hold everybody once, satisfy the rules."""
        return bool(self.keeps(self.by_person, np.array([0, len(self.person)]), sensitive, rules)[0])

    def split(self, class_of: NDArray[np.integer], n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Divide every class into parts; rows of class -1, which are not published, stay there.

        Parts are smaller than their class: `keeps` says beforehand whether they satisfy the rules.

        Returns
        -------
        Shape (n,): the new class of each row; shape (new classes,): the old class of each.
        """
        rows = self.by_person
        rows = rows[class_of[rows] >= 0]
        rows = rows[np.argsort(class_of[rows], kind="stable")]
        starts = np.searchsorted(class_of[rows], np.arange(n_classes + 1)).astype(np.int64)
        parts, part_of = self.deal(rows, starts)
        firsts = np.cumsum(parts) - parts
        new = np.full(len(class_of), -1, dtype=np.int64)
        new[rows] = firsts[class_of[rows]] + part_of
        return new, np.repeat(np.arange(n_classes), parts)


def not_apart(owner: str, table: CodedTable, way_out: str | None = None) -> InfeasibleError:
    """Say that not even all rows together can be divided so that everybody stands in a class once."""
    most = 0 if table.several is None else int(np.bincount(table.several).max())
    return InfeasibleError(
        owner,
        f"all records together, divided into {most} classes because one person has {most}, must satisfy the model",
    ).with_hint(way_out or say("Use a weaker model, or {}, which forms classes record by record.", Method("BSGI")))
