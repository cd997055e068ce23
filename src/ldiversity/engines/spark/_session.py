"""The Spark that an engine works with: one that is there, one elsewhere, or one that is started here."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

from ldiversity.engines.spark._java import check_java
from ldiversity.engines.spark._quiet import quiet
from ldiversity.errors import ParameterError, UnsupportedError

__all__ = ["Frame", "Session", "insist", "is_connect", "open_session", "with_settings"]

Session: TypeAlias = Any
"""A SparkSession, classic or Connect; pyspark is not imported for its type."""

Frame: TypeAlias = Any
"""A DataFrame of Spark."""

_TRIES: Final = 3
_PAUSE: Final = 0.1

_LOCAL: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
}
"""For a Spark of this machine alone: nothing is served to others, and its log does not fill the terminal."""

_STARTED: Final = {"spark.io.encryption.enabled": "true"}
"""For a Spark that is started for an engine: what Spark itself puts on disks is encrypted, such as values it counts."""

_SETTINGS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 25),
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.filterPushdown": "true",
}
"""What every job of the engine needs. They are set while it runs, and put back."""

_NO_CHECKSUMS: Final = {
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}
"""For jobs whose shuffles are all the engine's own.

Spark compares what a task gives with what it gave before, and ends the job when they differ. Sealed rows differ each
time, though the rows in them are the same, so the loss of one machine would end the job.
"""


_PIECES: Final = {"spark.sql.adaptive.enabled": "false"}
"""For jobs that hand pieces on as they are: Spark plans such a job again after each stage, and changes nothing."""


def open_session(session: Session | None, master: str | None, remote: str | None) -> Session:
    """The session that is given; else one that is active; else a new one."""
    given = [name for name, value in (("session", session), ("master", master), ("remote", remote)) if value]
    if len(given) > 1:
        raise ParameterError("SparkEngine", given[1], f"must be left out when there is {given[0]!r}")
    if session is not None:
        if not hasattr(session, "createDataFrame") or not hasattr(session, "conf"):
            raise ParameterError("SparkEngine", "session", "must be a SparkSession", got=type(session).__name__)
        return session
    check_installed()
    with quiet():
        from pyspark.sql import SparkSession

        active = None if master or remote else SparkSession.getActiveSession()
        if active is not None:
            return active
        builder = SparkSession.builder.appName("ldiversity")
        if remote is None or remote.startswith("local"):
            check_java()
            for name, value in _STARTED.items():
                builder = builder.config(name, value)
            builder = _on_this_machine(builder, remote or master or "local[*]")
        builder = builder.remote(remote) if remote is not None else builder.master(master or "local[*]")
        try:
            with _silent_java(), _own_interrupt():
                return builder.getOrCreate()
        except Exception as error:  # noqa: BLE001 - Java, py4j and gRPC each have their own
            where = remote or master or "local[*]"
            raise UnsupportedError("spark", f"{where!r} must be a Spark that can be reached and started").with_hint(
                f"Check the address, and that the versions of Spark and pyspark agree ({type(error).__name__})."
            ) from None


def _on_this_machine(builder: Any, master: str) -> Any:  # noqa: ANN401 - a builder of pyspark
    """Let workers that Spark starts here use this Python."""
    if not master.startswith("local"):
        return builder
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    for name, value in _LOCAL.items():
        builder = builder.config(name, value)
    return builder


@contextmanager
def _silent_java() -> Iterator[None]:
    """Keep a Java that is started now from writing to the terminal, at its start and ever after.

    It takes over the standard error of this process. What it writes there is a log, which may quote cells.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep what Ctrl-C does: pyspark's own way asks Java from within what was interrupted, which may just ask it, too.

    A job of the engine is canceled after that.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def check_installed() -> None:
    """Raise `UnsupportedError` unless pyspark can be imported."""
    try:
        with quiet():
            import pyspark.sql  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "spark",
            "the optional package pyspark must be installed",
            hint="Install it: pip install 'ldiversity[spark]'.",
        ) from None


def is_connect(session: Session) -> bool:
    """Whether a session talks to Spark over a network, through Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


@contextmanager
def with_settings(session: Session, *, foreign: bool = False, pieces: bool = False) -> Iterator[None]:
    """Give a session the settings that a job of the engine needs, and put back those that it had.

    A `foreign` job computes a frame of the user, which may give other rows when it is computed again. There Spark must
    compare. A job of `pieces` has nothing that Spark could arrange better.
    """
    settings = _SETTINGS if foreign else _SETTINGS | _NO_CHECKSUMS
    if pieces:
        settings = settings | _PIECES
    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                insist(partial(session.conf.unset, name))
            else:
                insist(partial(session.conf.set, name, value))


def insist(ask: Callable[[], object]) -> None:
    """Ask Java, and again if it does not answer: an interrupt may have cut off the connection to it.

    Examples
    --------
    >>> answers = iter([1])
    >>> insist(lambda: next(answers))
    """
    for _ in range(_TRIES):
        try:
            ask()
        except Exception:  # noqa: BLE001 - py4j has errors of its own
            time.sleep(_PAUSE)
        else:
            return
    ask()
