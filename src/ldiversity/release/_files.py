"""Reading the columns of a file that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.release._description import Format

__all__ = ["DataFile", "damage", "damaged", "gather", "typed"]

_MOST_EXPANSION: Final = 1_000
"""Bytes in memory that a byte of a Parquet file may stand for; repetitive honest tables stay far below."""

_SMALL_TEXTS: Final = 1 << 26
"""Columns that cannot decode to more bytes than this are not measured."""


@dataclass(frozen=True)
class DataFile:
    """A file of a release folder, read column by column when they are asked for.

    Parameters
    ----------
    folder, name
        Where it is.
    data_format
        ``"parquet"`` or ``"csv"``.
    n_rows, n_bytes
        What the manifest says of it.
    csv_types
        The type of every column of a CSV file.
    longest
        How many entries a cell of a list may have: a few bytes can stand for a list of any length.
    """

    folder: Path
    name: str
    data_format: Format
    n_rows: int
    n_bytes: int
    csv_types: Mapping[str, pa.DataType]
    longest: int = 1

    def batches(self, names: list[str]) -> Iterator[pa.Table]:
        """Some columns, a batch of rows at a time."""
        file = self.folder / self.name
        if file.is_symlink() or not file.is_file():
            raise damaged(f"{self.name} must be a regular file of the folder")
        if file.stat().st_size != self.n_bytes:
            raise damaged(f"{self.name} must be {self.n_bytes} bytes long")
        reader = self._parquet_batches if self.data_format == "parquet" else self._csv_batches
        rows = 0
        for table in reader(file, names):
            rows += table.num_rows
            yield table
        if rows != self.n_rows:
            raise damaged(f"{self.name} must hold {self.n_rows} rows")

    def _parquet_batches(self, file: Path, names: list[str]) -> Iterator[pa.Table]:
        try:
            with _open_parquet(file) as parquet:
                _check_parquet(parquet, file, names, self.n_rows, self.longest)
                if not names:
                    yield _without_columns(self.n_rows)
                    return
                left = _MOST_EXPANSION * max(file.stat().st_size, 1 << 20)
                # Row group by row group: batches across them are not implemented for lists of dictionary entries.
                for group in range(parquet.num_row_groups):
                    table = parquet.read_row_group(group, columns=names).select(names)
                    left -= sum(_decoded_bytes(column) for column in table.columns)
                    if left < 0:
                        raise _expands(file)
                    yield table
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, LDiversityError):
                raise
            raise damaged(f"{self.name} cannot be read as Parquet") from None

    def _csv_batches(self, file: Path, names: list[str]) -> Iterator[pa.Table]:
        types = dict(self.csv_types)
        missing = [name for name in names if name not in types]
        if missing:
            raise damaged(f"column {missing[0]!r} is not part of the release")
        options = pa_csv.ConvertOptions(
            column_types=types,
            include_columns=names or None,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        parse = pa_csv.ParseOptions(newlines_in_values=True)
        try:
            with pa_csv.open_csv(file, convert_options=options, parse_options=parse) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, LDiversityError):
                raise
            raise damaged(f"{self.name} cannot be read as CSV with the declared columns") from None


def gather(batches: Iterator[pa.Table], types: dict[str, pa.DataType], rows: int) -> pa.Table:
    """All batches as one table of these types."""
    if not types:
        return _without_columns(rows)
    return pa.concat_tables([pa.schema(list(types.items())).empty_table(), *(typed(batch, types) for batch in batches)])


def typed(batch: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Some columns of a batch, in the types that the manifest names."""
    try:
        # Parquet knows fewer types than Arrow: the name of a time zone, for one, stands in the manifest only.
        return batch.select(list(types)).cast(pa.schema(list(types.items())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise damaged("columns must have the types that release.json names") from None


def _without_columns(rows: int) -> pa.Table:
    return pa.table({"": pa.nulls(rows)}).select([])


def _open_parquet(file: Path) -> pq.ParquetFile:
    """Open a file so that texts are read as dictionary entries: faster, and one long text is held only once."""
    metadata = pq.read_metadata(file)
    leaves = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=texts)


def _decoded_bytes(column: pa.ChunkedArray) -> int:
    """How many bytes the texts of a column of dictionary entries stand for."""
    total = 0
    for chunk in column.chunks:
        entries = chunk.flatten() if pa.types.is_list(chunk.type) else chunk
        if pa.types.is_dictionary(entries.type) and len(entries):
            lengths = pc.fill_null(pc.binary_length(entries.dictionary), 0)
            if len(lengths) and pc.max(lengths).as_py() * len(entries) > _SMALL_TEXTS:
                total += pc.sum(lengths.take(entries.indices.drop_null())).as_py() or 0
    return total


def _check_parquet(parquet: pq.ParquetFile, file: Path, names: list[str], rows: int, longest: int) -> None:
    metadata = parquet.metadata
    if metadata.num_rows != rows:
        raise damaged(f"{file.name} must hold {rows} rows")
    expanded = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if expanded > _MOST_EXPANSION * max(file.stat().st_size, 1 << 20):
        raise _expands(file)
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    if any(g.column(c).num_values > g.num_rows * longest for g in groups for c in range(g.num_columns)):
        raise damaged(f"{file.name} must not have lists of more than {longest} entries")
    known = set(parquet.schema_arrow.names)
    missing = [name for name in names if name not in known]
    if missing:
        raise damaged(f"{file.name} must have the column {missing[0]!r}")


class damage:  # noqa: N801 - reads as a clause: `with damage(attribute):`
    """Turn what the border says about a column into a sentence about the release."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ReleaseFormatError):
            return  # says already what is wrong
        if isinstance(error, LDiversityError):
            raise damaged(f"column {self._attribute!r} must hold values of its domain") from None
        if isinstance(error, pa.ArrowException | ArithmeticError | LookupError | TypeError | ValueError):
            raise damaged(f"column {self._attribute!r} cannot be read") from None


def _expands(file: Path) -> ReleaseFormatError:
    return damaged(f"{file.name} must not expand to more than {_MOST_EXPANSION} times its size")


def damaged(rule: str) -> ReleaseFormatError:
    """The error of a file that breaks a rule."""
    return ReleaseFormatError(f"release: {rule}.", hint="The release is damaged; ask the publisher for a good copy.")
