"""Which columns look like ids of people, and how many rows each id has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ldiversity.base.combinations import Combinations, Sizes
from ldiversity.base.numbers import counted, decimal, percent
from ldiversity.schema import Role
from ldiversity.tables._id_names import named_id, split_name
from ldiversity.tables._roles import suggest_role
from ldiversity.tables._source import Source
from ldiversity.tables._values import value_type

__all__ = ["RowsPerId", "rows_per_id"]

_COMMON: Final = (
    "address street phone telephone mobile fax ip url key card license licence firstname lastname surname forename "
    "first last middle maiden vorname nachname familienname telefon telefonnummer handy adresse anschrift prenom prénom"
)
_SHARED: Final = frozenset(_COMMON.split())
"""What several people may share, or one person may have several of."""

_NAMES: Final = frozenset({"name", "names", "fullname"})
"""Two people may have one name, so any id says better whose row it is."""

_MOST_ROWS: Final = 100
"""An id with more rows than this on average is rather that of a ward or a product, unless its name says otherwise."""


@dataclass(frozen=True)
class RowsPerId:
    """How many rows the values of an id have.

    Attributes
    ----------
    column
        The column.
    rows, people
        All rows that have an id, and how many different ids there are.
    most
        The most rows of one id.
    several
        The share of ids that have several rows.
    """

    column: str
    rows: int
    people: int
    most: int
    several: float

    @property
    def text(self) -> str:
        """The figures as sentences, without any cell.

        Examples
        --------
        >>> RowsPerId("patient", 400, 100, 9, 1.0).text[:70]
        'It looks like the id of a person, and an id has 4.0 rows on average, a'
        """
        return (
            f"It looks like the id of a person, and an id has {decimal(self.rows / self.people)} rows on average, at "
            f"most {counted(self.most, 'row')}; {percent(self.several)} of the ids have several. Nothing was said "
            "about whose rows they are, so every promise and figure is for a row, and rows of one person add up."
        )


def rows_per_id(
    source: Source, columns: Collection[str] | None = None, *, count: Callable[[str], Sizes] | None = None
) -> list[RowsPerId]:
    """Find columns that look like a person's id by their name and have several rows per value; the clearest first.

    Parameters
    ----------
    columns
        Which columns to look at; all of them when None.
    count
        Counts how many values of a column have so many rows, for example on other machines.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> visits = pa.table({"patient_id": [1, 1, 2, 3], "ward": [1, 1, 1, 1]})
    >>> [found] = rows_per_id(open_source(visits))
    >>> found.column, found.people, found.most, round(found.several, 2)
    ('patient_id', 3, 2, 0.33)
    """
    wanted = [
        name
        for name, kind in source.columns.items()
        if (columns is None or name in columns) and value_type(kind) is not None and _may_name(name, kind)
    ]
    if not wanted:
        return []
    counted = _count_here(source, wanted) if count is None else {name: count(name) for name in wanted}
    judged = [_judge(name, source.columns[name], ids) for name, ids in counted.items()]
    told = [one for one in judged if one is not None]
    return [one for one, _ in sorted(told, key=lambda one: (_is_name(one[0].column), not one[1], -one[0].several))]


def _may_name(name: str, kind: pa.DataType) -> bool:
    named = named_id(name) is not None or suggest_role(name, kind, 0, 0).role is Role.IDENTIFIER
    return named and not set(split_name(name)) & _SHARED


def _is_name(name: str) -> bool:
    return bool(set(split_name(name)) & _NAMES)


def _count_here(source: Source, wanted: list[str]) -> dict[str, Sizes]:
    seen = {name: Combinations() for name in wanted}
    for batch in source.batches(wanted):
        for name, ids in seen.items():
            ids.add(pa.table({"id": batch.column(name)}).drop_null())
    return {name: ids.sizes() for name, ids in seen.items()}


def _judge(name: str, kind: pa.DataType, ids: Sizes) -> tuple[RowsPerId, bool] | None:
    """How many rows the ids have, and whether the name speaks of people; None where it is no id, or all rows differ."""
    rows, people = ids.n_rows, ids.n_combinations
    suggested = suggest_role(name, kind, people, rows)  # the same test that screens what is published
    if rows == people or suggested.role is not Role.IDENTIFIER:
        return None
    if rows > _MOST_ROWS * people and not suggested.of_person:
        return None
    several = int(ids.numbers[ids.sizes > 1].sum())
    return RowsPerId(name, rows, people, int(ids.sizes[-1]), several / people), suggested.of_person
