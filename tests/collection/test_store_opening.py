"""Databases are made, brought to this version, shared, or refused with a sentence."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, create_engine, inspect, text

from ldiversity.collection.store import Store
from ldiversity.collection.store._migrate import HEAD, VERSION_TABLE, upgrade
from ldiversity.collection.store._tables import metadata
from ldiversity.errors import LDiversityError, ParameterError, StorageError
from tests.collection.postgresql import PostgreSQLServer
from tests.collection.stores import ONE, bodies, kept

MIGRATIONS = Path(sys.modules[Store.__module__].__file__ or "").parent / "migrations"


def engine_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def run(url: str, statement: str) -> None:
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_the_steps_lead_from_nothing_to_the_tables_of_this_version(database_url: str) -> None:
    steps = [step.revision for step in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]
    engine = create_engine(engine_url(database_url))
    with engine.begin() as connection:
        for step in steps:
            upgrade(connection, step)
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})

        assert compare_metadata(context, metadata) == []
    engine.dispose()
    assert steps[-1] == HEAD


def test_a_missing_column_is_found_by_the_same_comparison(database_url: str) -> None:
    Store.open(database_url).dispose()
    run(database_url, "ALTER TABLE reports ADD COLUMN at INTEGER")
    engine = create_engine(engine_url(database_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})

        assert [change[0] for change in compare_metadata(context, metadata)] == ["remove_column"]
    engine.dispose()


def test_the_tables_keep_nothing_but_what_is_listed_here(database_url: str) -> None:
    Store.open(database_url).dispose()

    engine = create_engine(engine_url(database_url))
    found = MetaData()
    found.reflect(engine)
    columns = {name: [column.name for column in table.columns] for name, table in found.tables.items()}
    engine.dispose()

    assert columns == {
        "surveys": ["number", "id", "document", "closed"],
        "spent": ["survey", "hash"],
        "reports": ["survey", "part", "key", "body"],
        "invitations": ["survey", "hash", "blinded"],
        VERSION_TABLE: ["version_num"],
    }


def test_many_servers_may_open_the_same_new_database_at_once(database_url: str) -> None:
    def serve(number: int) -> int:
        with Store.open(database_url) as store:
            store.add_survey(ONE)
            return store.add(ONE.id, [kept(number), kept(99)])

    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(serve, range(8)))

    with Store.open(database_url) as store:
        assert sum(added) == 9
        assert sorted(bodies(store)) == [*range(8), 99]


def test_many_processes_may_open_the_same_new_database_at_once(database_url: str) -> None:
    program = (
        "import sys; from ldiversity.collection.store import Store; from tests.collection.stores import ONE, kept\n"
        "sys.stdin.read()\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    store.add_survey(ONE)\n"
        "    print(sum(store.add(ONE.id, [kept(number)]) for number in range(20)))"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", program, database_url]
    ready = [
        subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for process in ready:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None

    assert sum(int(process.communicate(timeout=60)[0]) for process in ready) == 20
    with Store.open(database_url) as store:
        assert sorted(bodies(store)) == list(range(20))


def test_a_database_of_a_later_version_is_refused(database_url: str) -> None:
    Store.open(database_url).dispose()
    run(database_url, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")  # noqa: S608

    with pytest.raises(StorageError, match="database: was written by a later version of ldiversity"):
        Store.open(database_url)


def test_a_database_of_another_program_is_refused_and_left_alone(database_url: str) -> None:
    run(database_url, "CREATE TABLE patients (name TEXT)")

    with pytest.raises(StorageError, match="database: holds tables of another program"):
        Store.open(database_url)

    engine = create_engine(engine_url(database_url))
    assert inspect(engine).get_table_names() == ["patients"]
    engine.dispose()


def test_a_file_of_another_program_is_not_even_switched_to_a_log(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    run(f"sqlite:///{file}", "CREATE TABLE patients (name TEXT)")
    before = file.read_bytes()

    with pytest.raises(StorageError):
        Store.open(f"sqlite:///{file}")

    assert (file.read_bytes(), list(tmp_path.iterdir())) == (before, [file])


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "survey.db"
    file.write_bytes(b"name,disease\n" * 1000)

    with pytest.raises(StorageError, match="database: is not a database of SQLite"):
        Store.open(f"sqlite:///{file}")
    assert file.read_bytes() == b"name,disease\n" * 1000


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
            store.add_survey(ONE)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert set(modes) == {"survey.db", "survey.db-wal", "survey.db-shm"}
    assert set(modes.values()) == {0o600}


def test_commits_of_sqlite_wait_for_the_disk_and_deleted_bytes_are_overwritten(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store, store._engine.connect() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "secure_delete", "busy_timeout")
        ]

    assert settings == ["wal", 2, 1, 10_000]


def test_commits_of_postgresql_wait_for_the_disk_whatever_the_default(postgresql: PostgreSQLServer) -> None:
    name = postgresql.new_database()
    run(postgresql.url("postgres"), f"ALTER DATABASE {name} SET synchronous_commit = off")

    with Store.open(postgresql.url(name)) as store, store._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


REFUSED: dict[str, tuple[Callable[[Path], str], str]] = {
    "another kind": (lambda _: "mysql://host/survey", "url must begin with sqlite:/// or postgresql://"),
    "no address": (lambda _: "survey.db", "url must begin with sqlite:/// or postgresql://"),
    "memory": (lambda _: "sqlite://", "url must name a file"),
    "no folder": (lambda folder: f"sqlite:///{folder}/none/survey.db", "cannot be made: No such file"),
    "a folder": (lambda folder: f"sqlite:///{folder}", "database: cannot be opened"),
    "no server": (lambda folder: f"postgresql://me:secret@/survey?host={folder}", "database: cannot be reached"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_address_that_leads_nowhere_is_refused_with_a_sentence(tmp_path: Path, case: str) -> None:
    make, sentence = REFUSED[case]

    with pytest.raises(LDiversityError) as caught:
        Store.open(make(tmp_path))

    assert isinstance(caught.value, ParameterError | StorageError)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_that_does_not_exist_is_not_made_unless_asked_for(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"survey\.db' does not exist"):
        Store.open(f"sqlite:///{tmp_path}/survey.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_postgresql_that_does_not_exist_is_refused(postgresql: PostgreSQLServer) -> None:
    with pytest.raises(StorageError, match="database: cannot be reached"):
        Store.open(postgresql.url("nowhere"))


def test_the_room_loads_no_heavy_package() -> None:
    program = "import ldiversity.collection.store, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "numba", "pyarrow", "pydantic", "alembic", "psycopg"}
