"""Reading the rows of a release folder that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from ldiversity._types import CodeArray, SetArray
from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.mechanisms import SetMechanism
from ldiversity.release._coded import code_column, code_set_columns, member_names, parse_type
from ldiversity.release._manifest import Manifest
from ldiversity.schema import Role, Schema
from ldiversity.tables import encode_sets

__all__ = ["FolderData"]

_MOST_EXPANSION: Final = 1_000
"""Bytes in memory that a byte of a Parquet file may stand for; repetitive honest tables stay far below."""

_SMALL_TEXTS: Final = 1 << 26
"""Columns that cannot decode to more bytes than this are not measured."""


@dataclass(frozen=True)
class FolderData:
    """The rows of a folder, read column by column when they are asked for."""

    folder: Path
    manifest: Manifest
    schema: Schema
    mechanisms: Mapping[str, SetMechanism]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Published columns that are not sensitive, in row order."""
        return _gather(self._batches(list(names)), self._arrow_types(names), self.manifest.data.rows)

    def sets(self, attribute: str) -> SetArray:
        """All sets of an attribute, shape (n, l), members in code order."""
        parts = [_ascending(sets, attribute) for sets in self.iterate_sets(attribute)]
        return np.concatenate(parts) if parts else np.empty((0, self.mechanisms[attribute].l), dtype=np.int32)

    def iterate_sets(self, attribute: str) -> Iterator[SetArray]:
        """The sets of an attribute as they were written, a batch at a time."""
        domain, kind = self.schema.domain(attribute), parse_type(self.schema[attribute].type)
        l = self.mechanisms[attribute].l
        if self.manifest.data.format == "csv":
            names = member_names(attribute, l)
            for batch in self._batches(names):
                with _damage(attribute):
                    sets = code_set_columns([batch.column(name) for name in names], domain, kind)
                yield sets
            return
        for batch in self._batches([attribute]):
            with _damage(attribute):
                sets = encode_sets(batch.column(attribute), domain, as_written=True)
            if len(sets) and sets.shape[1] != l:
                raise _damaged(f"column {attribute!r} must hold sets of {l} values")
            yield sets

    def members(self, attribute: str) -> CodeArray:
        """The codes of an exploded attribute, one a row."""
        domain, kind = self.schema.domain(attribute), parse_type(self.schema[attribute].type)
        with _damage(attribute):
            parts = [code_column(batch.column(attribute), domain, kind) for batch in self._batches([attribute])]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)

    def _batches(self, names: list[str]) -> Iterator[pa.Table]:
        file = self.folder / self.manifest.data.file
        if file.is_symlink() or not file.is_file():
            raise _damaged(f"{self.manifest.data.file} must be a regular file of the folder")
        if file.stat().st_size != self.manifest.data.bytes:
            raise _damaged(f"{self.manifest.data.file} must be {self.manifest.data.bytes} bytes long")
        reader = self._parquet_batches if self.manifest.data.format == "parquet" else self._csv_batches
        rows = 0
        for table in reader(file, names):
            rows += table.num_rows
            yield table
        if rows != self.manifest.data.rows:
            raise _damaged(f"{self.manifest.data.file} must hold {self.manifest.data.rows} rows")

    def _parquet_batches(self, file: Path, names: list[str]) -> Iterator[pa.Table]:
        try:
            with _open_parquet(file) as parquet:
                _check_parquet(parquet, file, names, self.manifest.data.rows)
                if not names:
                    yield _without_columns(self.manifest.data.rows)
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
            raise _damaged(f"{self.manifest.data.file} cannot be read as Parquet") from None

    def _csv_batches(self, file: Path, names: list[str]) -> Iterator[pa.Table]:
        types = self._csv_types()
        missing = [name for name in names if name not in types]
        if missing:
            raise _damaged(f"column {missing[0]!r} is not part of the release")
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
            raise _damaged(f"{self.manifest.data.file} cannot be read as CSV with the declared columns") from None

    def _csv_types(self) -> dict[str, pa.DataType]:
        types: dict[str, pa.DataType] = {}
        for attribute in self.schema.attributes:
            kind = parse_type(attribute.type)
            if attribute.role is Role.SENSITIVE and self.manifest.data.layout == "sets":
                types.update(dict.fromkeys(member_names(attribute.name, self.mechanisms[attribute.name].l), kind))
            else:
                types[attribute.name] = kind
        return types

    def _arrow_types(self, names: Sequence[str]) -> dict[str, pa.DataType]:
        return {name: parse_type(self.schema[name].type) for name in names}


def _gather(batches: Iterator[pa.Table], types: dict[str, pa.DataType], rows: int) -> pa.Table:
    if not types:
        return _without_columns(rows)
    schema = pa.schema(list(types.items()))
    try:
        # Parquet knows fewer types than Arrow: the name of a time zone, for one, stands in the manifest only.
        return pa.concat_tables([schema.empty_table(), *(batch.cast(schema) for batch in batches)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _damaged("columns must have the types that release.json names") from None


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


def _check_parquet(parquet: pq.ParquetFile, file: Path, names: list[str], rows: int) -> None:
    metadata = parquet.metadata
    if metadata.num_rows != rows:
        raise _damaged(f"{file.name} must hold {rows} rows")
    expanded = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if expanded > _MOST_EXPANSION * max(file.stat().st_size, 1 << 20):
        raise _expands(file)
    known = set(parquet.schema_arrow.names)
    missing = [name for name in names if name not in known]
    if missing:
        raise _damaged(f"{file.name} must have the column {missing[0]!r}")


def _ascending(sets: SetArray, attribute: str) -> SetArray:
    """Members in code order, so that no reader depends on the order of a file; a repeated one is damage."""
    if not len(sets) or bool((sets[:, 1:] > sets[:, :-1]).all()):
        return sets
    ordered: SetArray = np.sort(sets, axis=1)
    if bool((ordered[:, 1:] == ordered[:, :-1]).any()):
        raise _damaged(f"column {attribute!r} must hold sets of distinct values")
    return ordered


class _damage:  # noqa: N801 - reads as a clause: `with _damage(attribute):`
    """Turn what the border says about a column into a sentence about the release."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LDiversityError) and not isinstance(error, ReleaseFormatError):
            raise _damaged(f"column {self._attribute!r} must hold values of its domain") from None
        if isinstance(error, pa.ArrowException | ArithmeticError | LookupError | TypeError | ValueError):
            raise _damaged(f"column {self._attribute!r} cannot be read") from None


def _expands(file: Path) -> ReleaseFormatError:
    return _damaged(f"{file.name} must not expand to more than {_MOST_EXPANSION} times its size")


def _damaged(rule: str) -> ReleaseFormatError:
    return ReleaseFormatError(f"release: {rule}.", hint="The release is damaged; ask the publisher for a good copy.")
