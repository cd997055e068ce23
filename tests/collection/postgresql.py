"""A real PostgreSQL for tests: in a temporary folder, reached by a socket in it, and never run as root."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil
import psycopg
import pytest

_SECONDS = 60.0


@contextlib.contextmanager
def started() -> Iterator[PostgreSQLServer]:
    """A server of its own; without PostgreSQL, the test is skipped."""
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: install the package postgresql to test its storage")
    server = PostgreSQLServer(programs)
    try:
        yield server
    finally:
        server.stop()


def find_programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps those of servers out of the path."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


class PostgreSQLServer:
    """A server that can be killed and started again."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._user = _user_without_privileges()
        self.folder = Path(tempfile.mkdtemp(prefix="ld-pg-", dir="/tmp"))
        self.data = self.folder / "data"
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "--auth=trust", "--username=collector", "--no-sync", "--encoding=UTF8", str(self.data))
        self._names = (f"survey{number}" for number in count())
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers. After a kill, it replays its log first."""
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", "max_wal_size=64MB")
        settings += ("shared_buffers=16MB", "autovacuum=off", "max_connections=40", "jit=off")
        settings += ("fsync=off",)  # what a killed process wrote is safe with the system; no test cuts the power
        options = [word for setting in settings for word in ("-c", setting)]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [self._programs / "postgres", "-D", self.data, *options],
            stdout=log,
            stderr=log,
            user=self._user,
            cwd=self.folder,
        )
        log.close()
        end = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(self.dsn("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise
                time.sleep(0.02)
            else:
                return

    def kill(self) -> None:
        """Kill all of it at once, as a loss of power would, apart from what the disk forgets."""
        children = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        self._process.wait()
        psutil.wait_procs(children)

    def stop(self) -> None:
        """Stop it, and remove its folder."""
        self._process.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def dsn(self, database: str) -> str:
        """How psycopg reaches a database."""
        return f"host={self.folder} user=collector dbname={database}"

    def url(self, database: str) -> str:
        """How a store reaches a database."""
        return f"postgresql://collector@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make a database, and return its name."""
        name = next(self._names)
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name

    def _run(self, program: str, *args: str) -> None:
        command = [str(self._programs / program), *args]
        subprocess.run(command, check=True, user=self._user, cwd=self.folder, capture_output=True)


def _user_without_privileges() -> str | None:
    """Whom to run as: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
