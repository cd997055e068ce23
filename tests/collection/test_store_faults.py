"""What goes wrong is told in one sentence without values, and nothing acknowledged is lost by it."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event, text

from ldiversity.collection.store import Store, Writer
from ldiversity.collection.survey import Kept
from ldiversity.errors import BusyError, StorageError
from tests.collection.postgresql import PostgreSQLServer
from tests.collection.stores import ONE, bodies, kept

CANARY = b"canary-of-a-body"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "survey.db"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{file}") as store:
        store.add_survey(ONE)
        yield store


def everything_said(error: BaseException) -> str:
    """The message, and those of all errors that an error carries, shown or not."""
    said = "".join(traceback.format_exception(error))
    seen: list[BaseException] = []
    todo = [error]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.append(one)
            todo += [other for other in (one.__cause__, one.__context__) if other is not None]
    return said + "".join(f"{one!r} {one.__dict__!r}" for one in seen)


def carries(error: BaseException, canary: bytes) -> bool:
    said = everything_said(error)
    return canary.decode() in said or canary.hex() in said


def test_a_fault_carries_nothing_of_what_was_to_be_written(database_url: str) -> None:
    with Store.open(database_url) as store:
        store.add_survey(ONE)
        with store._engine.begin() as connection:
            connection.execute(text("DROP TABLE reports"))

        with pytest.raises(StorageError) as caught:
            store.add(ONE.id, [Kept(0, CANARY, CANARY)])

    assert not carries(caught.value, CANARY)
    assert str(caught.value).count("\n") <= 1


def test_the_error_of_the_driver_itself_is_found_to_carry_it(postgresql: PostgreSQLServer) -> None:
    with psycopg.connect(postgresql.dsn(postgresql.new_database())) as connection:
        connection.execute("CREATE TABLE tokens (hash bytea PRIMARY KEY)")
        connection.execute("INSERT INTO tokens VALUES (%s)", [CANARY])
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("INSERT INTO tokens VALUES (%s)", [CANARY])

    assert carries(caught.value, CANARY)


def test_a_full_disk_is_told_and_loses_nothing_acknowledged(store: Store, file: Path) -> None:
    acknowledged: list[int] = []

    async def write() -> StorageError:
        async with Writer(store, gather_seconds=0) as writer:
            _allow_pages(store, 40)
            for number in range(100_000):
                try:
                    await writer.add(ONE.id, [kept(number * 100 + one) for one in range(100)])
                except StorageError as error:
                    return error
                acknowledged.extend(number * 100 + one for one in range(100))
        raise AssertionError

    fault = asyncio.run(write())

    assert str(fault).startswith("database: has no room left.")
    assert acknowledged
    assert sorted(bodies(store)) == acknowledged
    _allow_pages(store, 1_000_000)
    assert store.add(ONE.id, [kept(-1 + 10**9)]) == 1


def _allow_pages(store: Store, pages: int) -> None:
    """Let the file have no more pages, in every connection, as a full disk would."""
    store._engine.dispose()
    event.listen(store._engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}"))


def test_a_file_in_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    program = (
        "import os, sys; from ldiversity.collection.store import Store; from ldiversity.errors import StorageError\n"
        "import sqlalchemy.dialects.sqlite\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: Store.open(sys.argv[1])\n"
        "except StorageError as error: print(error)"
    )
    folder.chmod(0o555)
    tmp_path.chmod(0o755)

    command = [sys.executable, "-c", program, f"sqlite:///{folder}/survey.db"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert "cannot be made: Permission denied" in done.stdout


def test_a_database_that_others_use_for_long_is_busy(file: Path, store: Store) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with store._engine.connect() as connection:  # the pool gives the same connection again
            connection.exec_driver_sql("PRAGMA busy_timeout = 10")

        with pytest.raises(BusyError, match="database: is in use by others"):
            store.add(ONE.id, [kept(1)])
        other.execute("ROLLBACK")

    assert store.add(ONE.id, [kept(1)]) == 1


def test_a_log_that_cannot_be_emptied_is_told(file: Path, store: Store) -> None:
    store.add(ONE.id, [kept(1)])
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM reports").fetchone()
        store.add(ONE.id, [kept(2)])

        with pytest.raises(BusyError, match="its log could not be emptied"):
            store.tidy(patience=0.01)
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10_000

    store.tidy()
    assert not file.with_name("survey.db-wal").read_bytes()


def test_a_session_that_was_forgotten_does_not_stop_reports_on_postgresql(postgresql: PostgreSQLServer) -> None:
    name = postgresql.new_database()
    with Store.open(postgresql.url(name)) as store, psycopg.connect(postgresql.dsn(name)) as forgotten:
        store.add_survey(ONE)
        forgotten.execute("SELECT count(*) FROM reports")

        with pytest.raises(BusyError, match="database: is in use by others"):
            store.tidy(patience=0.05)

        assert store.add(ONE.id, [kept(1)]) == 1
        forgotten.rollback()
        store.tidy()


def test_a_damaged_file_is_said_to_be_damaged(file: Path, store: Store) -> None:
    store.add(ONE.id, [kept(number) for number in range(5000)])
    store.tidy()
    store.dispose()
    raw = bytearray(file.read_bytes())
    raw[8192:-8192] = bytes(len(raw) - 16384)
    file.write_bytes(raw)

    with pytest.raises(StorageError, match="database: is damaged"):
        store.bodies(ONE.id)


def test_a_lost_connection_is_replaced(postgresql: PostgreSQLServer) -> None:
    name = postgresql.new_database()
    with Store.open(postgresql.url(name)) as store:
        store.add_survey(ONE)
        store.add(ONE.id, [kept(1)])
        with psycopg.connect(postgresql.dsn("postgres"), autocommit=True) as connection:
            ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(ending, [name])

        assert store.add(ONE.id, [kept(1), kept(2)]) == 1
        assert sorted(bodies(store)) == [1, 2]


def test_a_user_who_may_not_write_is_told(postgresql: PostgreSQLServer) -> None:
    name = postgresql.new_database()
    Store.open(postgresql.url(name)).dispose()
    with psycopg.connect(postgresql.dsn(name), autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")

    sentence = "database: does not let this user read or write its tables"
    with (
        Store.open(postgresql.url(name).replace("collector@", "reader@")) as store,
        pytest.raises(StorageError, match=sentence),
    ):
        store.add(ONE.id, [kept(1)])


def test_two_that_empty_the_log_at_once_wait_for_each_other(file: Path, store: Store) -> None:
    with Store.open(f"sqlite:///{file}") as other, ThreadPoolExecutor(2) as pool:
        for number in range(20):
            store.add(ONE.id, [kept(number)])
            for tidied in [pool.submit(one.tidy, patience=10) for one in (store, other)]:
                tidied.result()
