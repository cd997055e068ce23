"""Keep what pyspark and py4j write by themselves from the terminal."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["quiet"]

_LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Where pyspark logs errors of queries, with the cell that was to blame."""

_CONNECTIONS: Final = ("py4j.clientserver", "py4j.java_gateway")
"""Where py4j logs what becomes of its connections to Java."""

_quiet_threads: Final = dict[object, int]()
"""The threads that are within `quiet`. A generator may leave it later, and in another thread."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what pyspark warns about itself from the user, and what it logs in this thread, which may quote cells.

    Its warnings are about pandas, which is not used here. Errors are raised all the same, and worded anew.
    """
    _hear_loggers()
    token = object()
    _quiet_threads[token] = threading.get_ident()
    try:
        with warnings.catch_warnings():
            for kind in (FutureWarning, DeprecationWarning, UserWarning, ResourceWarning):
                warnings.filterwarnings("ignore", category=kind, module=r"pyspark(\.|$)")
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    finally:
        del _quiet_threads[token]


def _hear_loggers() -> None:
    logging.getLogger().addFilter(_is_not_py4j)  # where py4j logs that it was interrupted; twice is as once
    for name in _CONNECTIONS:
        logging.getLogger(name).addFilter(_is_no_lost_connection)
    if "pyspark" in sys.modules:
        from pyspark.logger import PySparkLogger  # these loggers must be of its class

        for name in _LOGGERS:
            PySparkLogger.getLogger(name).addFilter(_is_loud)


def _is_loud(_: logging.LogRecord) -> bool:
    return threading.get_ident() not in tuple(_quiet_threads.values())


def _is_no_lost_connection(record: logging.LogRecord) -> bool:
    """Whether it is no connection that an interrupt cut off: py4j closes it at any time later, and makes a new one."""
    fault = record.exc_info[1] if record.exc_info else None
    return _is_loud(record) and not isinstance(fault, OSError)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return _is_loud(record) or "py4j" not in Path(record.pathname).parts
