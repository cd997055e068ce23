"""PostgreSQL: a database on a server, which several collectors may share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    LargeBinary,
    Select,
    SmallInteger,
    Table,
    bindparam,
    create_engine,
    func,
    insert,
    literal_column,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as insert_or

from ldiversity.collection.store._database import PATIENCE, Values, first_of_each, under_random_keys
from ldiversity.collection.store._migrate import is_current, upgrade
from ldiversity.collection.store._tables import invitations, reports, spent, surveys
from ldiversity.errors import UnsupportedError

if TYPE_CHECKING:
    from ldiversity.collection.survey import Kept

__all__ = ["PostgreSQL"]

_LOCK: Final = 0x6C64697665727369
"""The advisory lock under which the tables are made: the first letters of this package's name."""

_REWRITTEN: Final = (spent, reports, invitations)
_SESSION: Final = "-c synchronous_commit=on -c log_parameter_max_length_on_error=0 -c timezone=UTC"
"""A commit waits for the disk, whatever the server's default; and no fault writes values into the server's log."""


class PostgreSQL:
    """A database of PostgreSQL, through psycopg.

    PostgreSQL has no tables without hidden columns: ``ctid`` (the place of a row) and ``xmin`` (the transaction that
    wrote it) tell the order of arrival, and a token and a report of one commit have the same ``xmin``. Only a rewrite
    removes that: all rows are then in the order of their keys, and of one transaction.
    """

    def __init__(self, url: URL) -> None:
        try:
            import psycopg  # noqa: F401 - loaded by SQLAlchemy; here it is only asked for
        except ImportError:
            raise UnsupportedError("Store.open", "PostgreSQL needs psycopg").with_hint(
                "Run: pip install ldiversity[postgresql]"
            ) from None
        options = " ".join(filter(None, [_SESSION, str(url.query.get("options", ""))]))
        url = url.set(drivername="postgresql+psycopg").update_query_dict({"options": options})
        self.engine = create_engine(url, hide_parameters=True)
        self.writing: Engine = self.engine
        self._single = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def prepare(self) -> None:
        """Bring a new or older database to this version; refuse one that is not ours."""
        with self.engine.begin() as connection:
            if is_current(connection):
                return
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            if not is_current(connection):  # another process may have been faster
                upgrade(connection)

    def insert_new(self, table: Table, rows: Sequence[Values]) -> int:
        """Insert the rows whose keys are new, and count them."""
        statement = insert_or(table).on_conflict_do_nothing().returning(*table.primary_key)
        with self.engine.begin() as connection:
            return len(connection.execute(statement, rows).all()) if rows else 0

    def add(self, survey_id: str, kept: Sequence[Kept]) -> int | None:
        """Keep the reports whose tokens are new, and count them; None if the survey is unknown or closed.

        It is one statement, so that one journey to the server does it all. Closing locks the tables first, and a
        statement sees what was committed before it got its own locks: no report comes after the closing.
        """
        rows = under_random_keys(first_of_each(kept).values())
        said = {
            "id": survey_id,
            "hashes": [row.spent for row in rows],
            "parts": [row.part for row in rows],
            "keys": [row.key for row in rows],
            "bodies": [row.body for row in rows],
        }
        with self._single.connect() as connection:
            answer = connection.execute(_ADD, said).mappings().one()
        return int(answer["added"]) if answer["is_open"] else None

    def close_survey(self, survey_id: str) -> bool:
        """Close a survey for good, and rewrite; False if there is none."""
        with self.engine.begin() as connection:
            _lock(connection, PATIENCE)
            changed = connection.execute(update(surveys).where(surveys.c.id == survey_id).values(closed=True))
            if not changed.rowcount:
                return False
            _rewrite(connection)
        return True

    def checkpoint(self, patience: float) -> None:
        """Do nothing: PostgreSQL's write-ahead log belongs to its server, which reuses it by itself."""

    def rewrite(self, patience: float) -> None:
        """Write all tables anew in the order of their keys, in one transaction. Writers wait."""
        with self.engine.begin() as connection:
            _lock(connection, patience)
            _rewrite(connection)


def _lock(connection: Connection, patience: float) -> None:
    # While this waits for a lock, for example behind a backup or a forgotten session, all others wait behind it.
    connection.execute(text(f"SET LOCAL lock_timeout = {round(1000 * patience)}"))
    for table in _REWRITTEN:  # in the order in which `add` locks them
        connection.execute(text(f"LOCK TABLE {table.name} IN ACCESS EXCLUSIVE MODE"))


def _rewrite(connection: Connection) -> None:
    """Fill each table again by one statement, in the order of its key.

    The table itself stays, with its constraints, privileges and index, but gets a new file. ``CLUSTER`` or
    ``VACUUM FULL`` would sort the rows too, but keep the ``xmin`` of each.
    """
    for table in _REWRITTEN:
        name, order = table.name, ", ".join(key.name for key in table.primary_key)
        connection.execute(text(f"CREATE TEMPORARY TABLE tidy ON COMMIT DROP AS SELECT * FROM {name} ORDER BY {order}"))  # noqa: S608 - constants
        connection.execute(text(f"TRUNCATE {name}"))
        connection.execute(text(f"INSERT INTO {name} SELECT * FROM tidy ORDER BY {order}"))  # noqa: S608 - constants
        connection.execute(text("DROP TABLE tidy"))


def _add_statement() -> Select[Any]:
    said = (
        func.unnest(
            bindparam("hashes", type_=ARRAY(LargeBinary)),
            bindparam("parts", type_=ARRAY(SmallInteger)),
            bindparam("keys", type_=ARRAY(LargeBinary)),
            bindparam("bodies", type_=ARRAY(LargeBinary)),
        )
        .table_valued("hash", "part", "key", "body")
        .render_derived(name="said")
    )
    is_open = select(surveys.c.number).where(surveys.c.id == bindparam("id"), ~surveys.c.closed).cte("is_open")
    # In the order of hashes, which is not that of the reports' keys; and so that two servers never wait in a circle.
    tokens = select(is_open.c.number, said.c.hash).select_from(is_open.join(said, true())).order_by(said.c.hash)
    new = (
        insert_or(spent)
        .from_select(["survey", "hash"], tokens)
        .on_conflict_do_nothing()
        .returning(spent.c.survey, spent.c.hash)
        .cte("new")
    )
    rows = (
        select(new.c.survey, said.c.part, said.c.key, said.c.body)
        .select_from(new.join(said, new.c.hash == said.c.hash))
        .order_by(said.c.part, said.c.key)
    )
    added = (
        insert(reports).from_select(["survey", "part", "key", "body"], rows).returning(literal_column("1")).cte("added")
    )
    return select(
        select(func.count()).select_from(is_open).scalar_subquery().label("is_open"),
        select(func.count()).select_from(added).scalar_subquery().label("added"),
    )


_ADD: Final = _add_statement()
