"""Open files and frames in one way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldiversity.base.above import from_above
from ldiversity.errors import ParameterError
from ldiversity.tables._files import FORMS, open_file, understood_by
from ldiversity.tables._frames import open_frame
from ldiversity.tables._read_options import GivenReadOptions, ReadOptions, as_read_options
from ldiversity.tables._source import Source
from ldiversity.tables._text_forms import TextForms

__all__ = ["is_spark_frame", "open_source", "options_for"]


def is_spark_frame(data: object) -> bool:
    """Whether something is a frame of Spark; pyspark is not imported to find out."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql") for kind in type(data).__mro__
    )


def open_source(
    data: Any,  # noqa: ANN401 - any frame
    *,
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
    hold: int = 0,
) -> Source:
    """Open a file or a frame as a table that can be read several times.

    Parameters
    ----------
    data
        A path (CSV, TSV, JSON lines, all also with ``.gz``; Parquet; Arrow or Feather; Excel), or a frame of
        pandas, polars, pyarrow or Spark, or anything that narwhals or ``__arrow_c_stream__`` supports. The index of
        a pandas frame is dropped.
    types
        Types of columns, in place of the inferred ones: ``"text"``, ``"integer"``, ``"number"``, ``"boolean"`` or
        ``"date"``.
    read
        How to read what the file does not say: `ReadOptions`, or its fields by name.
    hold
        How many bytes of a file whose texts are slow to parse may stay in memory for further readings.

    Raises
    ------
    ParameterError
        When there is no such file, it is of an unknown kind, or does not take one of the options.
    SchemaError
        When the table is damaged, or its columns are not usable.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = open_source(pa.table({"zip": [1234, 5678]}), types={"zip": "text"})
    >>> source.columns
    {'zip': DataType(string)}
    """
    options = as_read_options("open_source", read)
    if isinstance(data, Source):
        for name in ("types" if types else None, "read" if options.given else None):
            if name is not None:
                raise ParameterError("open_source", name, "must be declared when the table is first opened")
        return data
    if is_spark_frame(data):
        options.refuse_others("table", "a frame", frozenset())
        on_cluster: Source = from_above("engines", "open_spark_frame")(data, types)
        return on_cluster
    if isinstance(data, str | os.PathLike):
        source = open_file(Path(data), types, options, hold=hold)
    else:
        options.refuse_others("table", "a frame", FORMS)
        source = open_frame(data, types)
    forms = TextForms.of(options)
    if forms is not None and source.forms is None:
        source.read_texts(forms, types or ())
    return source


def options_for(data: Any, read: GivenReadOptions) -> ReadOptions:  # noqa: ANN401 - any frame
    """The options that a further table takes, when they were given for another one as well.

    Examples
    --------
    >>> options_for("people.parquet", {"encoding": "cp1252", "decimal": ","}).given
    {'decimal': ','}
    """
    options = as_read_options("open_source", read)
    if isinstance(data, Source):
        return ReadOptions()
    is_file = isinstance(data, str | os.PathLike)
    return options.only(FORMS | (understood_by(Path(data)) if is_file else frozenset()))
