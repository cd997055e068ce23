"""Frames: pandas, polars, pyarrow, and whatever narwhals or the Arrow stream protocol supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.base.memory import lacks_memory
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.schema import Dtype
from ldiversity.tables._guard import guarded
from ldiversity.tables._source import Source, check_names, plain_type
from ldiversity.tables._type_names import column_types

if TYPE_CHECKING:
    import narwhals as nw  # where it is used, it is imported there: a table that is a file needs none of it

__all__ = ["FrameSource", "open_frame", "to_native"]

_INTEGERS: Final = {
    **{f"Int{size}": getattr(pa, f"int{size}") for size in (8, 16, 32, 64)},
    **{f"UInt{size}": getattr(pa, f"uint{size}") for size in (8, 16, 32, 64)},
}


class FrameSource(Source):
    """A table in memory."""

    def __init__(
        self,
        name: str,
        table: pa.Table,
        *,
        frame_kind: str = "arrow",
        types: Mapping[str, str] | None = None,
        from_file: bool = False,
        dtypes: Mapping[str, Dtype] | None = None,
    ) -> None:
        columns = column_types(name, table.schema, types, from_file=from_file)
        known = {**_categories(table), **(dtypes or {})}
        super().__init__(
            name,
            columns,
            frame_kind=frame_kind,
            n_rows=table.num_rows,
            from_file=from_file,
            dtypes={column: kind for column, kind in known.items() if column not in (types or {})},
        )
        self._table = table

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,
        encoded: frozenset[str],  # noqa: ARG002 - decoded later
    ) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(columns).to_batches(max_chunksize=chunk_rows)

    def _categories(self, column: str) -> Iterable[pa.Array]:
        chunks: list[pa.Array] = self._table.column(column).chunks
        return chunks


def open_frame(data: Any, types: Mapping[str, str] | None = None) -> Source:  # noqa: ANN401 - any frame
    """Open a frame as a source; a stream that can be read only once is read into memory."""
    if isinstance(data, pa.RecordBatch | pa.Table):
        return _of_arrow(data, types)
    import narwhals as nw

    native = nw.to_native(data, pass_through=True)
    if isinstance(native, pa.RecordBatch | pa.Table):
        return _of_arrow(native, types)
    with _readable():
        frame = _wrap(native)
    if frame is None:
        return FrameSource("table", _read_stream(native), types=types)
    eager = _collect(frame) if isinstance(frame, nw.LazyFrame) else frame
    kind = eager.implementation.value
    table = _to_arrow(eager)
    dtypes = _pandas_dtypes(eager.to_native(), table) if kind == "pandas" else {}
    return FrameSource("table", table, frame_kind="arrow" if kind == "pyarrow" else kind, types=types, dtypes=dtypes)


def _categories(table: pa.Table) -> dict[str, Dtype]:
    categories = [(field.name, field.type) for field in table.schema if pa.types.is_dictionary(field.type)]
    return {name: "ordered" if kind.ordered else "category" for name, kind in categories}


def _pandas_dtypes(frame: Any, table: pa.Table) -> dict[str, Dtype]:  # noqa: ANN401 - a pandas frame
    """Return what pandas says about columns beyond their Arrow types."""
    import pandas as pd

    dtypes: dict[str, Dtype] = {}
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if isinstance(kind, pd.ArrowDtype):
            dtypes[name] = "arrow"
        elif isinstance(kind, pd.StringDtype | pd.api.extensions.ExtensionDtype) and kind.na_value is pd.NA:
            dtypes[name] = "nullable"
        elif str(kind) == "object" and plain_type(table.schema.field(name).type) == pa.string():
            dtypes[name] = "object"
    return dtypes


def _of_arrow(data: pa.RecordBatch | pa.Table, types: Mapping[str, str] | None) -> FrameSource:
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    return FrameSource("table", table, types=types)


def to_native(table: pa.Table, frame_kind: str, *, dtypes: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - the kind of frame is the caller's
    """Turn an Arrow table into a frame of the kind that came in.

    Parameters
    ----------
    table
        The table; dictionaries become categories.
    frame_kind
        ``"arrow"``, ``"pandas"``, ``"polars"``, ...
    dtypes
        What columns are besides their Arrow types, as `Source.dtypes` says; only frames that know it have it.

    Examples
    --------
    >>> to_native(pa.table({"age": [30, 40]}), "arrow").num_rows
    2
    """
    if frame_kind == "arrow":
        return table
    check_frame_kind(frame_kind)
    try:
        _check_zones(table, frame_kind)
        if frame_kind == "pandas":
            return _with_dtypes(_to_pandas(table), table, dtypes or {})
        frame = _to_frame(table, frame_kind)
        return _with_enums(frame, table) if frame_kind == "polars" else frame
    except ImportError:
        raise UnsupportedError(
            "to_native", f"a {frame_kind} frame needs the package {frame_kind}, which is not installed"
        ).with_hint(f"Run: pip install {frame_kind}") from None


def check_frame_kind(frame_kind: str, owner: str = "to_native", parameter: str = "frame_kind") -> None:
    """Refuse a kind of data frame that nobody knows."""
    import narwhals as nw

    try:
        supported = nw.Implementation.from_backend(cast("Any", frame_kind)) is not nw.Implementation.UNKNOWN
    except (TypeError, ValueError):
        supported = False
    if not supported:
        raise ParameterError(
            owner,
            parameter,
            "must be 'arrow', 'pandas', 'polars' or another kind that narwhals knows",
            got=repr(frame_kind),
        )


def _check_zones(table: pa.Table, frame_kind: str) -> None:
    """Refuse time zones that the frame does not know: a file from a stranger may name any."""
    for field in table.schema:
        inner = [field.type, *(part.type for part in (field.type if pa.types.is_struct(field.type) else ()))]
        for kind in inner:
            if not pa.types.is_timestamp(kind) or kind.tz is None:
                continue
            try:
                _to_frame(pa.table({"zone": pa.nulls(1, kind)}), frame_kind)
            except ImportError:
                raise
            except Exception:  # noqa: BLE001 - every kind of frame has exceptions of its own
                raise UnsupportedError(
                    "table", f"must have a time zone that {frame_kind} knows", column=field.name
                ).with_hint("Ask for a frame of the kind 'arrow'.") from None


def _to_frame(table: pa.Table, frame_kind: str) -> Any:  # noqa: ANN401 - the kind of frame is the caller's
    import narwhals as nw

    return nw.from_arrow(table, backend=cast("Any", frame_kind)).to_native()


def _to_pandas(table: pa.Table) -> Any:  # noqa: ANN401 - a pandas frame
    """Convert as Arrow does, except what it would damage: records with instants, and integers with gaps."""
    records = [name for name in table.column_names if _has_instants(table.schema.field(name).type)]
    plain = table
    for name in records:
        plain = plain.set_column(plain.column_names.index(name), name, pa.nulls(len(table)))
    frame = _with_nullable_columns(_to_frame(plain, "pandas"), plain)
    for name in records:
        frame[name] = _records(table[name])
    return frame


def _with_dtypes(frame: Any, table: pa.Table, dtypes: Mapping[str, str]) -> Any:  # noqa: ANN401 - a pandas frame
    import pandas as pd

    nullable = {**_nullable_types(), pa.string(): pd.StringDtype(), pa.float32(): pd.Float32Dtype()}
    nullable[pa.float64()] = pd.Float64Dtype()
    for name, dtype in dtypes.items():
        if dtype == "arrow":
            frame[name] = table[name].to_pandas(types_mapper=pd.ArrowDtype)
        elif dtype == "nullable" and table.schema.field(name).type in nullable:
            frame[name] = table[name].to_pandas(types_mapper=nullable.get)
        elif dtype == "object":
            frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame


def _with_enums(frame: Any, table: pa.Table) -> Any:  # noqa: ANN401 - a polars frame
    """Give ordered categories polars' Enum type; otherwise they would lose their order."""
    import narwhals as nw

    ordered = [f.name for f in table.schema if pa.types.is_dictionary(f.type) and f.type.ordered]
    known = {name: table[name].chunk(0).dictionary.to_pylist() for name in ordered if table[name].num_chunks}
    texts = {name: listed for name, listed in known.items() if all(isinstance(text, str) for text in listed)}
    enums = [nw.col(name).cast(nw.Enum(listed)) for name, listed in texts.items()]
    return nw.from_native(frame).with_columns(*enums).to_native()


def _has_instants(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and any(pa.types.is_timestamp(field.type) for field in kind)


def _records(column: pa.ChunkedArray) -> list[dict[str, Any]]:
    """Return records such as ``{low, high}`` with fields as pandas would hold them in a column.

    Arrow would turn nanoseconds inside records into integers, drop time zones, and fail beyond Python's years.
    """
    names = [field.name for field in column.type]
    fields = [_objects(field) for field in column.flatten()]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*fields, strict=True)]


def _objects(cells: pa.ChunkedArray) -> list[Any]:
    """Return cells as pandas' objects, None where missing; equal cells share one object."""
    encoded = cells.combine_chunks().dictionary_encode()
    distinct = [*encoded.dictionary.to_pandas().astype(object), None]
    codes = encoded.indices.fill_null(len(distinct) - 1).to_numpy()
    return [distinct[code] for code in codes.tolist()]


def _with_nullable_columns(frame: Any, table: pa.Table) -> Any:  # noqa: ANN401 - a pandas frame
    """Give integers and booleans with gaps pandas' nullable types: floats would change wide integers."""
    nullable = _nullable_types()
    for column in table.column_names:
        if table[column].null_count and table.schema.field(column).type in nullable:
            frame[column] = table[column].to_pandas(types_mapper=nullable.get)
    return frame


def _nullable_types() -> dict[pa.DataType, Any]:
    import pandas as pd

    integers = {kind(): getattr(pd, f"{name}Dtype")() for name, kind in _INTEGERS.items()}
    return {**integers, pa.bool_(): pd.BooleanDtype()}


def _check_frame_names(native: Any) -> None:  # noqa: ANN401 - any frame
    # Only pandas-like frames may have repeated names or names that are not texts; asking a lazy frame is expensive.
    if not hasattr(native, "collect_schema") and hasattr(getattr(native, "columns", None), "to_list"):
        check_names("table", native.columns.to_list(), from_file=False)


def _wrap(native: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any] | None:  # noqa: ANN401 - any frame
    """Wrap the frame with narwhals; None if narwhals does not support it."""
    import narwhals as nw

    _check_frame_names(native)
    try:
        return cast("nw.DataFrame[Any] | nw.LazyFrame[Any]", nw.from_native(native))
    except TypeError:
        return None


def _readable() -> AbstractContextManager[None]:
    return guarded(
        "table",
        "the frame must be readable to its end",
        got="one that is not",
        hint="Collect or convert the frame before you pass it, to see what is wrong.",
    )


def _read_stream(data: Any) -> pa.Table:  # noqa: ANN401 - whatever came
    with _readable():
        reader = _open_stream(data)
        if reader is not None:
            return reader.read_all()
    raise ParameterError("open_source", "data", "must be a path or a data frame", got=type(data).__name__).with_hint(
        "Pass a path, or a frame of pandas, polars or pyarrow."
    )


def _open_stream(data: Any) -> pa.RecordBatchReader | None:  # noqa: ANN401 - whatever came
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (TypeError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        return None


def _collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    with _readable():
        return frame.collect() if frame.implementation.is_polars() else frame.collect("pyarrow")


def _to_arrow(frame: nw.DataFrame[Any]) -> pa.Table:
    import narwhals as nw

    with _readable():
        bare = nw.maybe_reset_index(frame)
        table = _converted(bare)
        if table is not None:
            return _with_order(table, bare)
        broken = [name for name in bare.columns if _converted(bare.select(name)) is None]
    raise SchemaError(
        "table", f"column {name_some(broken, most=1)} must hold values of one type that Arrow knows", got="others"
    ).with_hint("Convert it, for example with .astype(str), or leave it out.")


def _with_order(table: pa.Table, frame: nw.DataFrame[Any]) -> pa.Table:
    """Mark the categories of an Enum as ordered: polars before 1.32 does not tell Arrow."""
    import narwhals as nw

    for name, kind in frame.schema.items():
        column = table[name]
        if isinstance(kind, nw.Enum) and pa.types.is_dictionary(column.type) and not column.type.ordered:
            chunks = [
                pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary, ordered=True) for chunk in column.chunks
            ]
            table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks))
    return table


def _converted(frame: nw.DataFrame[Any]) -> pa.Table | None:
    try:
        return frame.to_arrow()
    except Exception as error:
        if lacks_memory(error):
            raise
        return None
