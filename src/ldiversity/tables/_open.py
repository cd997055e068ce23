"""Open files and frames in one way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldiversity.errors import ParameterError
from ldiversity.tables._files import open_file
from ldiversity.tables._frames import open_frame
from ldiversity.tables._source import Source

__all__ = ["open_source"]


def open_source(data: Any, *, types: Mapping[str, str] | None = None) -> Source:  # noqa: ANN401 - any frame
    """Open a file or a frame as a table that can be read several times.

    Parameters
    ----------
    data
        A path (CSV, TSV, JSON lines, all also with ``.gz``; Parquet; Arrow or Feather; Excel), or a frame of
        pandas, polars or pyarrow, or anything that narwhals or ``__arrow_c_stream__`` supports. The index of
        a pandas frame is dropped.
    types
        Types of columns, in place of the inferred ones: ``"text"``, ``"integer"``, ``"number"``, ``"boolean"`` or
        ``"date"``.

    Raises
    ------
    ParameterError
        When there is no such file, or it is of an unknown kind.
    SchemaError
        When the table is damaged, or its columns are not usable.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = open_source(pa.table({"zip": [1234, 5678]}), types={"zip": "text"})
    >>> source.columns
    {'zip': DataType(string)}
    """
    if isinstance(data, Source):
        if types:
            raise ParameterError("open_source", "types", "must be declared when the table is first opened")
        return data
    if isinstance(data, str | os.PathLike):
        return open_file(Path(data), types)
    return open_frame(data, types)
