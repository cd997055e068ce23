"""Nothing that was acknowledged is ever lost: 100 kills of writing processes and of PostgreSQL, under load."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ldiversity.collection.store import Store
from tests.collection.postgresql import PostgreSQLServer, started
from tests.collection.stores import bodies

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KILLS = {"sqlite": 60, "postgresql": 20, "database": 20}
PROGRAM = [sys.executable, "-m", "tests.collection.killed_writers"]


def kill_writers(url: str, kills: int, *words: str) -> set[int]:
    """The numbers that were acknowledged by processes that were killed."""
    done = subprocess.run(
        [*PROGRAM, url, str(kills), "7", *words], cwd=ROOT, check=True, capture_output=True, text=True, timeout=300
    )
    return {int(line) for line in done.stdout.split()}


def lost_and_doubled(url: str, acknowledged: set[int]) -> tuple[set[int], set[int]]:
    """Which acknowledged reports are not there, and which reports are there more than once."""
    with Store.open(url, create=False) as store:
        there = Counter(bodies(store))
    return acknowledged - set(there), {number for number, times in there.items() if times > 1}


@pytest.fixture
def mortal() -> Iterator[PostgreSQLServer]:
    """A PostgreSQL of its own, to be killed."""
    with started() as server:
        yield server


def test_a_killed_writer_on_sqlite_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/survey.db"

    acknowledged = kill_writers(url, KILLS["sqlite"])

    assert len(acknowledged) > 10 * KILLS["sqlite"]
    assert lost_and_doubled(url, acknowledged) == (set(), set())


def test_a_killed_writer_on_postgresql_loses_nothing_it_acknowledged(postgresql: PostgreSQLServer) -> None:
    url = postgresql.url(postgresql.new_database())

    acknowledged = kill_writers(url, KILLS["postgresql"])

    assert len(acknowledged) > 10 * KILLS["postgresql"]
    assert lost_and_doubled(url, acknowledged) == (set(), set())


def test_a_killed_postgresql_loses_nothing_that_was_acknowledged(mortal: PostgreSQLServer, tmp_path: Path) -> None:
    url = mortal.url(mortal.new_database())
    output = tmp_path / "acknowledged"
    moments = Random(7)
    with output.open("wb") as stream:
        writer = subprocess.Popen([*PROGRAM, url, "load"], cwd=ROOT, stdin=subprocess.PIPE, stdout=stream)
        for _ in range(KILLS["database"]):
            _wait_for_more(output)
            time.sleep(moments.random() * 0.2)
            mortal.kill()
            mortal.start()
        _wait_for_more(output)
        writer.communicate(timeout=60)

    assert writer.returncode == 0
    acknowledged = {int(line) for line in output.read_text().split()}
    assert len(acknowledged) > 10 * KILLS["database"]
    assert lost_and_doubled(url, acknowledged) == (set(), set())


def test_a_store_that_acknowledges_before_it_commits_is_found_to_lose(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/survey.db"

    acknowledged = kill_writers(url, 10, "early")

    lost, _ = lost_and_doubled(url, acknowledged)
    assert lost


def _wait_for_more(output: Path) -> None:
    """Wait until something was acknowledged after now."""
    size, end = output.stat().st_size, time.monotonic() + 60
    while output.stat().st_size == size:
        assert time.monotonic() < end, "nothing is acknowledged any more"
        time.sleep(0.01)
