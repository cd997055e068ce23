"""What goes wrong in a database, in one sentence and without anything that was to be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ldiversity.errors import BusyError, StorageError

__all__ = ["in_one_sentence"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_SQLITE: Final = {
    sqlite3.SQLITE_FULL: ("has no room left", "Free some space on its disk. What was answered before is kept."),
    sqlite3.SQLITE_READONLY: ("cannot be written", "Check who may write the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Check who may write the file and its folder."),
    sqlite3.SQLITE_PERM: ("cannot be opened", "Check who may write the file and its folder."),
    sqlite3.SQLITE_NOTADB: ("is not a database of SQLite", "Give another file."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Copy the file, then restore a backup."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written by the system", "Check its disk."),
}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PRIMARY: Final = 0xFF
"""SQLite's extended codes have the plain code in their last byte."""

_POSTGRESQL: Final = {
    "53": ("has no room, memory or connection left", "Ask who runs it. What was answered before is kept."),
    "42": ("does not let this user read or write its tables", "Make this user the owner of the database."),
    "25": ("can only be read", "Give the address of the primary server."),
    "57": ("was stopped", "Try again when it runs."),
    "08": ("cannot be reached", "Check that it runs, that it exists, and the user and password in its address."),
}
_POSTGRESQL_BUSY: Final = {"40001", "40P01", "55P03"}
"""Serialization failure, deadlock, lock not available."""


def in_one_sentence(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Turn every fault of a database into a `StorageError` that carries no value, and use a fresh connection once.

    A driver's error may hold the statement and its values, so it is dropped, also as a cause. A connection that was
    lost is replaced, and the work is done again: all of it may be done twice.
    """

    @wraps(function)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        for again in (True, False):
            try:
                return function(*args, **kwargs)
            except DBAPIError as error:
                lost = error.connection_invalidated
                fault = _fault(error)
            except SQLAlchemyError as error:
                lost, fault = False, StorageError("database", f"failed ({type(error).__name__})")
            if not (lost and again):
                break
        raise fault  # outside of `except`, so that the driver's error is not kept as its context

    return guarded


def _fault(error: DBAPIError) -> StorageError:
    code = getattr(error.orig, "sqlite_errorcode", None)
    if isinstance(code, int):
        if code & _PRIMARY in _BUSY:
            return _busy()
        known = _SQLITE.get(code & _PRIMARY)
        return _said(known, f"failed (SQLite, code {code})")
    if isinstance(error.orig, sqlite3.Error):
        return _said(None, f"failed (SQLite, {type(error.orig).__name__})")
    state = getattr(error.orig, "sqlstate", None)
    if state is None:  # no connection was made, or it was lost: drivers give no code then
        return _said(_POSTGRESQL["08"], "")
    if state in _POSTGRESQL_BUSY:
        return _busy()
    return _said(_POSTGRESQL.get(state[:2]), f"failed (PostgreSQL, state {state})")


def _said(known: tuple[str, str] | None, otherwise: str) -> StorageError:
    rule, hint = known or (otherwise, None)
    return StorageError("database", rule, hint=hint)


def _busy() -> BusyError:
    return BusyError("database", "is in use by others", hint="Try again in a moment.")
