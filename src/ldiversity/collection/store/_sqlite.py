"""SQLite: a file beside the survey."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    bindparam,
    create_engine,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as insert_or
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from ldiversity.collection.store._database import PATIENCE, Values, first_of_each, under_random_keys
from ldiversity.collection.store._migrate import is_current, upgrade
from ldiversity.collection.store._tables import reports, spent, surveys
from ldiversity.errors import BusyError, ParameterError, StorageError, UnsupportedError

if TYPE_CHECKING:
    from ldiversity.collection.survey import Kept

__all__ = ["SQLite"]

_BEGIN: Final = "begin_with"
"""The option that says how a transaction of this connection begins."""

_OLDEST: Final = (3, 35, 0)


class SQLite:
    """A file of SQLite.

    Tables have no hidden row numbers: their order is that of their keys. What tells the order of arrival besides is
    the write-ahead log, which a truncating checkpoint empties, and the places of cells within a page and of pages
    within the file, which a rewrite (``VACUUM``) puts into the order of keys.
    """

    def __init__(self, url: URL, *, create: bool) -> None:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise UnsupportedError("Store.open", f"SQLite {sqlite3.sqlite_version} is too old").with_hint(
                "Use a Python with SQLite 3.35 or later, or PostgreSQL."
            )
        if not url.database or url.database == ":memory:" or url.query:
            raise ParameterError("Store.open", "url", "must name a file, as in sqlite:///survey.db, and no options")
        _make_file(Path(url.database), create=create)
        self.engine = create_engine(url, hide_parameters=True, connect_args={"timeout": PATIENCE})
        event.listen(self.engine, "connect", _set_up)
        event.listen(self.engine, "begin", _begin)
        self.writing: Engine = self.engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
        self._outside = self.engine.execution_options(**{_BEGIN: None})

    def prepare(self) -> None:
        """Bring a new or older database to this version; refuse one that is not ours."""
        with self.engine.connect() as connection:
            current = is_current(connection)
        self._keep_log_ahead()
        if not current:
            with self.writing.begin() as connection:  # a second process finds it done
                if not is_current(connection):
                    upgrade(connection)

    def insert_new(self, table: Table, rows: Sequence[Values]) -> int:
        """Insert the rows whose keys are new, and count them."""
        statement = insert_or(table).on_conflict_do_nothing().returning(*table.primary_key)
        with self.writing.begin() as connection:
            return len(connection.execute(statement, rows).all()) if rows else 0

    def add(self, survey_id: str, kept: Sequence[Kept]) -> int | None:
        """Keep the reports whose tokens are new, and count them; None if the survey is unknown or closed."""
        first = first_of_each(kept)
        with self.writing.begin() as connection:
            number = connection.execute(_OPEN, {"id": survey_id}).scalar_one_or_none()
            if number is None:
                return None
            if not first:
                return 0
            # In the order of hashes, which is not that of the reports' keys.
            tokens = [{"survey": number, "hash": one} for one in sorted(first)]
            new = connection.execute(_SPEND, tokens).scalars().all()
            if new:
                rows = under_random_keys(first[one] for one in new)
                values = [{"survey": number, "part": row.part, "key": row.key, "body": row.body} for row in rows]
                connection.execute(insert(reports), values)
        return len(new)

    def close_survey(self, survey_id: str) -> bool:
        """Close a survey for good, and rewrite; False if there is none."""
        with self.writing.begin() as connection:
            changed = connection.execute(update(surveys).where(surveys.c.id == survey_id).values(closed=True))
        if not changed.rowcount:
            return False
        self.rewrite(PATIENCE)
        return True

    def checkpoint(self, patience: float) -> None:
        """Move the write-ahead log into the tables and empty it."""
        with self._waiting(patience) as connection:
            _empty_log(connection, patience)

    def rewrite(self, patience: float) -> None:
        """Write all tables anew in the order of their keys, then empty the log."""
        with self._waiting(patience) as connection:
            connection.exec_driver_sql("VACUUM")
            _empty_log(connection, patience)

    @contextmanager
    def _waiting(self, seconds: float) -> Iterator[Connection]:
        """A connection outside of transactions that waits so long for others."""
        with self._outside.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(1000 * seconds)}")
            try:
                yield connection
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}")

    def _keep_log_ahead(self) -> None:
        # Two processes that switch a new file at once do not wait for each other, whatever the time-out.
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with self._outside.connect() as connection:
                    mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
                break
            except OperationalError as error:
                locked = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                if not locked or time.monotonic() > end:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise StorageError("database", "must lie on a local disk, where SQLite can keep a write-ahead log")


_OPEN: Final = select(surveys.c.number).where(surveys.c.id == bindparam("id"), ~surveys.c.closed)
_SPEND: Final = insert_or(spent).on_conflict_do_nothing().returning(spent.c.hash)


def _set_up(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
    connection.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    connection.execute("PRAGMA trusted_schema = OFF")


def _empty_log(connection: Connection, patience: float) -> None:
    # Two checkpoints at once do not wait for each other, whatever the time-out.
    end = time.monotonic() + patience
    while connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]:
        if time.monotonic() < end:
            time.sleep(0.01)
            continue
        raise BusyError("database", "is being read by another program, so its log could not be emptied").with_hint(
            "Try again when nobody reads it."
        )


def _begin(connection: Connection) -> None:
    how = connection.get_execution_options().get(_BEGIN, "BEGIN")
    if how is not None:
        connection.exec_driver_sql(how)


def _make_file(path: Path, *, create: bool) -> None:
    """Make the file so that only its owner can read it; SQLite's files beside it get the same mode."""
    try:
        if path.exists():
            return
        if create:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            return
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        raise StorageError("database", f"{str(path)!r} cannot be made: {error.strerror}") from None
    raise StorageError("database", f"{str(path)!r} does not exist")
