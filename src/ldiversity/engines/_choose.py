"""Which engine a table is worked on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldiversity.base.budget import Budget
from ldiversity.engines._base import Engine
from ldiversity.engines._local import LocalEngine
from ldiversity.errors import ParameterError
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Source, is_spark_frame

__all__ = ["choose_engine", "open_spark_frame"]


def choose_engine(
    data: Any,  # noqa: ANN401 - any frame or path
    engine: Engine | str | None = None,
    memory: str | int | Budget | None = None,
) -> Engine:
    """The engine for a table: an engine or its name as given, or else the one that the table is on.

    That is Spark for its frames, and this machine for all others; `memory` is what may be taken there.

    Examples
    --------
    >>> choose_engine("patients.csv").memory, choose_engine("patients.csv", "local", "500MB").memory
    (None, Budget(bytes=500000000))
    """
    if isinstance(engine, Engine):
        if memory is not None:
            raise ParameterError(
                say("{} must be left out when {} is an engine", Parameter("memory"), Parameter("engine"))
            ).with_hint("Give the engine its memory: LocalEngine(memory=...).")
        return engine
    if engine not in {None, "local", "spark"}:
        raise ParameterError("must be 'local', 'spark' or an engine", parameter="engine", got=repr(engine))
    there = _on_cluster(data)
    if engine == "local" or (engine is None and there is None):
        return LocalEngine(memory=memory)
    if memory is not None:
        raise ParameterError(
            say("{} must be left out on Spark", Parameter("memory")),
            hint="Spark has settings of its own: spark.executor.memory and spark.driver.memory.",
        )
    from ldiversity.engines.spark import SparkEngine

    return there if isinstance(there, SparkEngine) else SparkEngine(there)


def _on_cluster(data: Any) -> Any:  # noqa: ANN401 - any frame or path; a session or an engine
    """The session of a frame of Spark, or the engine of a table that is open there; None for all others."""
    if is_spark_frame(data):
        return data.sparkSession
    return getattr(data, "engine", None) if isinstance(data, Source) else None


def open_spark_frame(frame: Any, types: Mapping[str, str] | None = None) -> Source:  # noqa: ANN401 - a frame of Spark
    """Open a frame of Spark as a table, with an engine of its own."""
    return choose_engine(frame).open(frame, types=types)
