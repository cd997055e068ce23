"""Frames: pandas, polars, pyarrow, and what narwhals or the Arrow stream protocol can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import narwhals as nw
import pyarrow as pa

from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.tables._source import Source, check_names, plain_type
from ldiversity.tables._type_names import declared_types

__all__ = ["FrameSource", "open_frame", "to_native"]


class FrameSource(Source):
    """A table in memory."""

    def __init__(
        self,
        name: str,
        table: pa.Table,
        *,
        frame_kind: str = "arrow",
        types: Mapping[str, str] | None = None,
    ) -> None:
        names = check_names(name, table.schema.names)
        columns = {column: plain_type(kind) for column, kind in zip(names, table.schema.types, strict=True)}
        columns |= declared_types(name, types, columns)
        super().__init__(name, columns, frame_kind=frame_kind, n_rows=table.num_rows)
        self._table = table

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,
        encoded: frozenset[str],  # noqa: ARG002 - decoded later
    ) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(columns).to_batches(max_chunksize=chunk_rows)


def open_frame(data: Any, types: Mapping[str, str] | None = None) -> Source:  # noqa: ANN401 - any frame
    """Open a frame as a source; a stream that can be read only once is read into memory."""
    native = nw.to_native(data, pass_through=True)
    if isinstance(native, pa.RecordBatch):
        return FrameSource("table", pa.Table.from_batches([native]), types=types)
    if isinstance(native, pa.Table):
        return FrameSource("table", native, types=types)
    try:
        _check_frame_names(native)
        frame = nw.from_native(native)
    except TypeError:
        return FrameSource("table", _read_stream(native), types=types)
    eager = _collect(frame) if isinstance(frame, nw.LazyFrame) else frame
    kind = eager.implementation.value
    return FrameSource("table", _to_arrow(eager), frame_kind="arrow" if kind == "pyarrow" else kind, types=types)


def to_native(table: pa.Table, frame_kind: str) -> Any:  # noqa: ANN401 - the kind of frame is the caller's
    """Turn an Arrow table into a frame of the kind that came in.

    Examples
    --------
    >>> to_native(pa.table({"age": [30, 40]}), "arrow").num_rows
    2
    """
    if frame_kind == "arrow":
        return table
    try:
        return nw.from_arrow(table, backend=cast("Any", frame_kind)).to_native()
    except ImportError:
        raise UnsupportedError(
            f"to_native: a {frame_kind} frame needs the package {frame_kind}, which is not installed.",
            hint=f"Run: pip install {frame_kind}",
        ) from None
    except (TypeError, ValueError):
        raise ParameterError(
            f"to_native: frame_kind must be 'arrow' or a kind that narwhals knows, got {frame_kind!r}."
        ) from None


def _check_frame_names(native: Any) -> None:  # noqa: ANN401 - any frame
    # Only frames like pandas' may have names that repeat or are no texts; asking a lazy frame would cost.
    if not hasattr(native, "collect_schema") and hasattr(getattr(native, "columns", None), "to_list"):
        check_names("table", native.columns.to_list())


def _read_stream(data: Any) -> pa.Table:  # noqa: ANN401 - whatever came
    try:
        return pa.RecordBatchReader.from_stream(data).read_all()
    except (TypeError, pa.ArrowException):
        raise ParameterError(
            f"open_source: data must be a path or a data frame, got {type(data).__name__}.",
            hint="Pass a path, or a frame of pandas, polars or pyarrow.",
        ) from None


def _collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    if frame.implementation.is_polars():
        return frame.collect()
    return frame.collect("pyarrow")


def _to_arrow(frame: nw.DataFrame[Any]) -> pa.Table:
    bare = nw.maybe_reset_index(frame)
    try:
        return bare.to_arrow()
    except pa.ArrowException:
        # The cause is left out on purpose: Arrow quotes the cell.
        broken = next((name for name in bare.columns if not _converts(bare.select(name))), None)
    raise SchemaError(
        f"table: column {broken!r} must hold values of one type that Arrow knows, got others.",
        hint="Convert it, for example with .astype(str), or leave it out.",
    )


def _converts(frame: nw.DataFrame[Any]) -> bool:
    try:
        frame.to_arrow()
    except pa.ArrowException:
        return False
    return True
