"""Tables into files, a chunk at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ldiversity.base.ahead import prefetch
from ldiversity.base.held import give_back
from ldiversity.base.progress import stage, tell
from ldiversity.errors import SchemaError
from ldiversity.release._description import Format, Layout
from ldiversity.release._manifest import DataEntry
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = [
    "no_file",
    "no_records_left",
    "not_given_back",
    "write_tables",
]

_FIRST_ROWS: Final = 1 << 16
_LEAST_LINES: Final = 1 << 10
_MOST_LINES: Final = 1 << 14
_LINES_BYTES: Final = 1 << 20
_NAMES: Final[Mapping[Format, str]] = {"csv": "CSV", "parquet": "Parquet"}


def write_tables(file: Path, tables: Iterable[pa.Table], data_format: Format) -> int:
    """Write tables of one schema into a file, each made while the one before is written; return the rows."""
    rows = 0
    sink: pq.ParquetWriter | pa_csv.CSVWriter | None = None
    try:
        with stage("writing"), closing(prefetch(tables)) as made:
            for table in (_as_stored(one, data_format) for one in made):
                if sink is None:
                    sink = _open_sink(file, table, data_format)
                try:
                    _write(sink, table)
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    raise _unwritable(table, data_format) from None  # Arrow's message may quote a cell
                rows += table.num_rows
                tell(0.0)
                give_back()
    finally:
        if sink is not None:
            sink.close()
    return rows


def _as_stored(table: pa.Table, data_format: Format) -> pa.Table:
    """The table without metadata; for CSV also without dictionaries."""
    plain = table.replace_schema_metadata(None)
    if data_format == "csv":
        for place, (name, kind) in enumerate(zip(plain.schema.names, plain.schema.types, strict=True)):
            if pa.types.is_dictionary(kind):
                plain = plain.set_column(place, name, plain.column(place).cast(kind.value_type))
    return plain


def _write(sink: pq.ParquetWriter | pa_csv.CSVWriter, table: pa.Table) -> None:
    if not isinstance(sink, pa_csv.CSVWriter):
        sink.write_table(table)
        return
    for batch in table.to_batches():
        if batch.num_rows:  # older versions of pyarrow write the names of the columns again after a batch without rows
            sink.write_batch(batch)


def not_given_back(column: str, data_format: Format) -> SchemaError:
    """The error about a column with values that a file would change or cannot hold."""
    other = "Publish as Parquet, or declare" if data_format == "csv" else "Declare"
    return SchemaError(
        "table", f"must hold values that {_NAMES[data_format]} gives back as they are", column=column, got="others"
    ).with_hint(say("{} {}, or drop the column.", other, Setting("types", (column, "text"))))


def _unwritable(table: pa.Table, data_format: Format) -> SchemaError:
    """The error about the first column that cannot be written by itself."""
    for name in table.column_names:
        alone = table.select([name])
        try:
            with io.BytesIO() as nowhere, _open_sink(nowhere, alone, data_format) as sink:
                sink.write_table(alone)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return not_given_back(name, data_format)
    return not_given_back(table.column_names[0], data_format)


def _open_sink(file: Path | io.BytesIO, first: pa.Table, data_format: Format) -> pq.ParquetWriter | pa_csv.CSVWriter:
    """What writes tables like the first one, whose rows decide how numbers are stored."""
    if data_format == "parquet":
        import pyarrow.parquet as pq

        leaves = [
            leaf
            for name, column in zip(first.column_names, first.columns, strict=True)
            for leaf in _leaves(name, column)
        ]
        return pq.ParquetWriter(
            file,
            first.schema,
            compression="snappy",
            store_schema=False,  # without Arrow's own schema, every tool reads plain lists of values
            use_dictionary=[leaf.path for leaf in leaves if leaf.repeats],
            # In a random order, no group of rows could be passed over by the first and last of its texts.
            write_statistics=[leaf.path for leaf in leaves if not leaf.texts],
            **_pages(),
        )
    # Texts are always quoted, so that an empty text differs from a missing one.
    options = pa_csv.WriteOptions(quoting_style="needed", batch_size=_lines_at_once(first))
    return pa_csv.CSVWriter(file, first.schema, write_options=options)


@cache
def _pages() -> Mapping[str, int]:
    """Newer versions of pyarrow end a page after 20,000 rows, and each one is looked at when a file is read."""
    import pyarrow.parquet as pq

    return {"max_rows_per_page": 1 << 20} if "max_rows_per_page" in signature(pq.ParquetWriter).parameters else {}


def _lines_at_once(first: pa.Table) -> int:
    """How many lines Arrow makes before it writes them; few cost time, and many of long rows would cost memory."""
    fitting: int = _LINES_BYTES * first.num_rows // max(first.nbytes, 1)
    return max(_LEAST_LINES, min(fitting, _MOST_LINES))


class _Leaf(NamedTuple):
    """A column as Parquet stores it: those of a list or structure are apart."""

    path: str
    texts: bool
    repeats: bool


def _leaves(path: str, column: pa.ChunkedArray) -> Iterator[_Leaf]:
    kind = column.type
    if pa.types.is_struct(kind):
        for field, part in zip(kind, column.flatten(), strict=True):
            yield from _leaves(f"{path}.{field.name}", part)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield _Leaf(f"{path}.list.element", texts=_are_texts(kind.value_type), repeats=True)
    elif _are_texts(kind):
        yield _Leaf(path, texts=True, repeats=True)
    else:
        # Looking up numbers of which nearly every row has another takes most of the time, and makes no file smaller.
        first = column.slice(0, _FIRST_ROWS)
        yield _Leaf(path, texts=False, repeats=2 * pc.count_distinct(first).as_py() <= len(first))


def _are_texts(kind: pa.DataType) -> bool:
    return (
        _are_texts(kind.value_type)
        if pa.types.is_dictionary(kind)
        else bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    )


def no_file(layout: Layout, rows: int) -> DataEntry:
    """The entry of rows that stay in memory, to check that everything else fits into a manifest."""
    return DataEntry(file="data.parquet", format="parquet", layout=layout, rows=rows, bytes=0, sha256="0" * 64)


def no_records_left() -> SchemaError:
    """The error about a table of which no row can be published."""
    return SchemaError(
        "table", "no record is left to publish, because every row has a missing sensitive value"
    ).with_hint(say("Use {} instead of 'drop'.", Setting("missing", "category")))
