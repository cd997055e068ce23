"""The files of a database hold what is kept, once, and nothing else: no token, no time, no older copy."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from ldiversity.collection.store import Store
from ldiversity.collection.store._tables import metadata
from ldiversity.collection.survey import Kept
from tests.collection.postgresql import PostgreSQLServer
from tests.collection.stores import ONE

N = 300
TOKENS = [f"canary-token-{number:09d}" for number in range(N)]


def reports() -> list[Kept]:
    return [Kept(0, hashlib.sha256(token.encode()).digest()[:16], b"BODY" + os.urandom(8)) for token in TOKENS]


def copies(files: Iterable[bytes]) -> Counter[bytes]:
    """How often each body is in the files."""
    return Counter(found for file in files for found in re.findall(rb"BODY.{8}", file, re.DOTALL))


def files_of_sqlite(url: str, _: PostgreSQLServer | None) -> list[bytes]:
    """The file, and those beside it."""
    file = Path(str(make_url(url).database))
    return [one.read_bytes() for one in file.parent.iterdir() if one.name.startswith(file.name)]


def files_of_postgresql(url: str, server: PostgreSQLServer | None) -> list[bytes]:
    """All files of the server apart from its own log of writes, which `docs/collect-storage.md` describes."""
    assert server is not None
    with psycopg.connect(server.dsn(str(make_url(url).database)), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    return [
        file.read_bytes()
        for file in [*server.data.rglob("*"), server.folder / "log"]
        if file.is_file() and "pg_wal" not in file.parts
    ]


def times(since: float, until: float) -> list[bytes]:
    """How a moment may be written: as text, as seconds, milliseconds, microseconds, in either order of bytes."""
    found = []
    for second in range(int(since), int(until) + 1):
        moment = datetime.fromtimestamp(second, UTC)
        found += [moment.strftime(form).encode() for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")]
        found += [str(second).encode(), struct.pack("<q", second), struct.pack(">q", second)]
        found += [struct.pack(">d", float(second))[:5]]
    return found


def holding(files: Iterable[bytes], things: Iterable[bytes]) -> list[bytes]:
    """The things that are in some file."""
    files = list(files)
    return [thing for thing in things if any(thing in file for file in files)]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[str, PostgreSQLServer | None, Callable[[str, PostgreSQLServer | None], list[bytes]]]:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/survey.db", None, files_of_sqlite
    server: PostgreSQLServer = request.getfixturevalue("postgresql")
    return server.url(server.new_database()), server, files_of_postgresql


Place = tuple[str, "PostgreSQLServer | None", Callable[[str, "PostgreSQLServer | None"], list[bytes]]]


def test_after_closing_every_body_is_there_once_and_no_token(place: Place) -> None:
    url, server, files_of = place
    kept = reports()
    with Store.open(url) as store:
        store.add_survey(ONE)
        for one in kept:
            store.add(ONE.id, [one])
        store.close_survey(ONE.id)

        files = files_of(url, server)

    found = copies(files)
    assert {found[one.body] for one in kept} == {1}
    assert holding(files, [b"canary-token"]) == []
    assert holding(files, [kept[0].spent]) == [kept[0].spent]


def test_before_tidying_older_copies_are_found(place: Place) -> None:
    """The same search finds SQLite's log, and what PostgreSQL leaves behind when rows are sorted in place."""
    url, server, files_of = place
    kept = reports()
    with Store.open(url) as store:
        store.add_survey(ONE)
        for one in kept:
            store.add(ONE.id, [one])
        if server is not None:
            with psycopg.connect(server.dsn(str(make_url(url).database)), autocommit=True) as connection:
                connection.execute("UPDATE reports SET part = part")

        files = files_of(url, server)

    found = copies(files)
    assert max(found[one.body] for one in kept) > 1


def test_no_time_is_in_the_file_of_sqlite(tmp_path: Path) -> None:
    since = time.time()
    kept = reports()
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
        store.add_survey(ONE)
        for at in range(0, N, 10):
            store.add(ONE.id, kept[at : at + 10])
        store.close_survey(ONE.id)
    moments = times(since, time.time())

    files = files_of_sqlite(f"sqlite:///{tmp_path}/survey.db", None)

    assert holding(files, moments) == []
    assert holding([*files, b"at " + moments[0]], moments) == [moments[0]]


def test_a_backup_as_the_guide_says_is_a_tidy_database_of_its_own(tmp_path: Path) -> None:
    kept = reports()
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
        store.add_survey(ONE)
        store.add(ONE.id, kept)
        with closing(sqlite3.connect(tmp_path / "survey.db")) as connection:
            connection.execute(f"VACUUM INTO '{tmp_path}/backup.db'")
        expected = store.bodies(ONE.id)

    (raw,) = files_of_sqlite(f"sqlite:///{tmp_path}/backup.db", None)
    with Store.open(f"sqlite:///{tmp_path}/backup.db", create=False) as copy:
        assert copy.bodies(ONE.id) == expected
    assert copies([raw]) == Counter(one.body for one in kept)


def test_the_guide_lists_every_table() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "collect-storage.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE)) == set(metadata.tables)
