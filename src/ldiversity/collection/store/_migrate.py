"""Bringing a database to the version of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

from ldiversity.errors import StorageError

__all__ = ["HEAD", "VERSION_TABLE", "is_current", "upgrade"]

HEAD: Final = "0001"
"""The version of the tables that this package reads and writes."""

VERSION_TABLE: Final = "ldiversity_version"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"


def is_current(connection: Connection) -> bool:
    """Whether a database has the tables of this version; one that is not ours, or from later, is refused."""
    version = _version(connection)
    if version is not None and version > HEAD:
        raise StorageError("database", "was written by a later version of ldiversity").with_hint(
            "Install that version, or give another database."
        )
    return version == HEAD


def upgrade(connection: Connection, to: str = HEAD) -> None:
    """Bring the tables to a version. The caller holds a transaction in which nobody else does the same."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    from ldiversity.collection.store._tables import metadata

    if _version(connection) == to:
        return
    script = ScriptDirectory(str(_MIGRATIONS))
    # Alembic's own command does the same, but wants a file that can only be run by it.
    steps = EnvironmentContext(Config(), script, fn=lambda found, _: script._upgrade_revs(to, found))  # noqa: SLF001
    with steps:
        steps.configure(connection=connection, target_metadata=metadata, version_table=VERSION_TABLE)
        steps.run_migrations()


def _version(connection: Connection) -> str | None:
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608 - a constant
        return None if found is None else str(found)
    if tables:
        raise StorageError("database", "holds tables of another program").with_hint(
            "Give a database that is new, or one that ldiversity made."
        )
    return None
