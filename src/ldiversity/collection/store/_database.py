"""What both kinds of database do in their own way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Engine, Table

if TYPE_CHECKING:  # the form of surveys takes longer to load than this room
    from ldiversity.collection.survey import Kept

__all__ = ["PATIENCE", "Database", "KeyedReport", "Values", "first_of_each", "under_random_keys"]

PATIENCE: Final = 10.0
"""How many seconds one process waits for another by default."""

_KEY_BYTES: Final = 16

Values: TypeAlias = dict[str, int | str | bytes | bool | None]
"""A row: values by the names of their columns."""


class Database(Protocol):
    """One kind of database. Each method is one transaction.

    `patience` is how many seconds to wait for others, while writers wait too; then it is a `BusyError`.
    """

    engine: Engine
    writing: Engine
    """The same for transactions that write."""

    def prepare(self) -> None:
        """Bring a new or older database to this version; refuse one that is not ours."""

    def insert_new(self, table: Table, rows: Sequence[Values]) -> int:
        """Insert the rows whose keys are new, and count them."""

    def add(self, survey_id: str, kept: Sequence[Kept]) -> int | None:
        """Keep the reports whose tokens are new, and count them; None if the survey is unknown or closed."""

    def close_survey(self, survey_id: str) -> bool:
        """Close a survey for good, and rewrite; False if there is none."""

    def checkpoint(self, patience: float) -> None:
        """Empty the part of the write-ahead log that tells the order of commits, as far as this database can."""

    def rewrite(self, patience: float) -> None:
        """Write all tables anew in the order of their keys, so that nothing in them tells the order of arrival."""


class KeyedReport(NamedTuple):
    """A report under its random key. Sorted, they are in the order of the table."""

    part: int
    key: bytes
    spent: bytes
    body: bytes


def first_of_each(kept: Iterable[Kept]) -> dict[bytes, Kept]:
    """The first report of each token."""
    first: dict[bytes, Kept] = {}
    for one in kept:
        first.setdefault(one.spent, one)
    return first


def under_random_keys(kept: Iterable[Kept]) -> list[KeyedReport]:
    """Reports under new random keys, in the order of the table."""
    said = list(kept)
    keys = os.urandom(_KEY_BYTES * len(said))
    starts = range(0, len(keys), _KEY_BYTES)
    rows = zip(starts, said, strict=True)
    return sorted(KeyedReport(one.part, keys[at : at + _KEY_BYTES], one.spent, one.body) for at, one in rows)
