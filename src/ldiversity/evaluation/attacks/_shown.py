"""`Shown`: what is published, in one form for sets, classes and plain tables; and people, in the same codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray, different
from ldiversity.evaluation.attacks._shown_columns import Condition, ShownColumn
from ldiversity.release import Release

__all__ = ["People", "Shown", "draw_people"]

_SOME: Final = 1000


@dataclass(frozen=True, eq=False)
class People:
    """People whose cells are known, in the codes of what is published.

    Parameters
    ----------
    columns
        By column, one entry for each row.
    n
        How many rows there are.
    whose
        Shape (n,): a number for the person of each row, where a person may have several; None where everybody has one.

    Examples
    --------
    >>> People({"age": np.array([30, 31, 40])}, 3, whose=np.array([0, 0, 1])).n_people
    2
    """

    columns: Mapping[str, NDArray[Any]]
    n: int
    whose: NDArray[np.int64] | None = None

    @cached_property
    def n_people(self) -> int:
        """How many people there are."""
        return self.count_people(np.arange(self.n))

    def count_people(self, rows: NDArray[np.int64]) -> int:
        """How many people some rows belong to."""
        return len(rows) if self.whose is None else len(different(self.whose[rows]))

    def take(self, some: NDArray[np.int64]) -> People:
        """Some rows."""
        whose = None if self.whose is None else self.whose[some]
        return People({name: coded[some] for name, coded in self.columns.items()}, len(some), whose)

    def of_owners(self, owners: People) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of `owners`, who were drawn with one row each; and the place of each row's owner among them."""
        if self.whose is None or owners.whose is None:
            raise ValueError("rows have owners only where it is known whose they are")
        order = np.argsort(owners.whose)
        rows = np.flatnonzero(np.isin(self.whose, owners.whose))
        return rows, order[np.searchsorted(owners.whose[order], self.whose[rows])]


def draw_people(people: People, most: int, rng: np.random.Generator) -> People:
    """As many people as are to be attacked, drawn at random; all when there are no more.

    Of everybody who has several rows, one is drawn: an attacker knows what it says.
    """
    if people.whose is None:
        return people if people.n <= most else people.take(rng.choice(people.n, most, replace=False))
    shuffled = rng.permutation(people.n)
    _, first = np.unique(people.whose[shuffled], return_index=True)
    one_each = shuffled[first]
    drawn = one_each if len(one_each) <= most else rng.choice(one_each, most, replace=False)
    return people.take(drawn)


@dataclass(frozen=True, eq=False)
class Shown:
    """What is published.

    Parameters
    ----------
    columns
        Every published column, quasi-identifiers first.
    quasi, sensitive
        Which of them are quasi-identifiers, and which are hidden. In a plain table none is hidden.
    n_rows
        How many rows there are.
    rows_per_record
        How many rows each record has.
    release
        The release, if it is one.
    """

    columns: Mapping[str, ShownColumn]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    n_rows: int
    rows_per_record: int = 1
    release: Release | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns."""
        return tuple(self.columns)

    @property
    def n_records(self) -> int:
        """How many records are published."""
        return self.n_rows // self.rows_per_record

    def people(self, table: pa.Table) -> People:
        """Code the cells of people."""
        return People({name: one.code(table.column(name)) for name, one in self.columns.items()}, table.num_rows)

    @cached_property
    def some(self) -> Shown:
        """A part of the rows; no predicate holds for more records of the part than of all."""
        if self.n_rows <= _SOME:
            return self
        rows = np.random.default_rng(0).choice(self.n_rows, _SOME, replace=False)
        return replace(self, columns={name: one.of_rows(rows) for name, one in self.columns.items()}, n_rows=_SOME)

    def expected(self, predicate: Mapping[str, Condition]) -> float:
        """How many records are expected to satisfy all conditions."""
        chance: FloatArray | None = None
        rows: NDArray[np.int64] | None = None
        for name, condition in predicate.items():
            column = self.columns[name]
            each = np.append(column.chances(condition), 0.0)  # the last one is for a row that shows nothing
            found = each[column.of_row if rows is None else column.of_row[rows]]
            chance = found if chance is None else chance * found
            kept = np.flatnonzero(chance)
            rows, chance = kept if rows is None else rows[kept], chance[kept]
        return 0.0 if chance is None else float(chance.sum()) / self.rows_per_record

    def fit(self, predicate: Mapping[str, Condition], people: People) -> int:
        """How many people have a row that satisfies all conditions."""
        rows: NDArray[np.int64] | None = None
        for name, condition in predicate.items():
            coded = people.columns[name]
            found = np.flatnonzero(self.columns[name].holds(condition, coded if rows is None else coded[rows]))
            rows = found if rows is None else rows[found]
        return people.n_people if rows is None else people.count_people(rows)
