"""Reading the rows of a grouped release from a folder that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray, class_dtype
from ldiversity.errors import ReleaseFormatError
from ldiversity.models import ClassCounts
from ldiversity.release._batches import CodedBatch, RowBatch
from ldiversity.release._cells import Cells, column_of, join_cells
from ldiversity.release._class_decode import ClassDecoder
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damage, damaged
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._files import DataFiles, Identity, Listed, Reader, gather, identity_of, typed
from ldiversity.release._manifest import Manifest, TableEntry
from ldiversity.release._own_cells import own_cells, own_type
from ldiversity.release._row_parts import RowPart, in_memory, row_parts
from ldiversity.schema import Role

__all__ = ["FolderClassRows", "SharedCells", "SharedRegions", "in_folder", "row_files", "value_files"]

_SLICE_ROWS: Final = 1 << 17


@dataclass(frozen=True, eq=False)
class FolderClassRows:
    """The rows of a folder, read column by column when they are asked for."""

    folder: Path
    manifest: Manifest
    description: ClassDescription
    reader: Reader | None = None
    only: RowPart | None = None
    _known: dict[str, ClassArray] = field(default_factory=dict, repr=False)
    _seen: Identity | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_seen", identity_of(self.folder))

    def anywhere(self) -> FolderClassRows:
        """The same for readers on other machines, where the folder has another identity."""
        same = replace(self, _known={})
        object.__setattr__(same, "_seen", None)
        return same

    def parts(self, most_rows: int, values_of: str | None = None) -> tuple[RowPart, ...]:
        """The rows, or the table of values of an attribute, in parts of at most about so many rows."""
        files = self.manifest.data.parts if values_of is None else self._table(values_of).parts
        return row_parts(self.folder, files, self._format, most_rows)

    def of_part(self, part: RowPart) -> FolderClassRows:
        """A part of the rows, or of a table of values, for readers anywhere."""
        return replace(self, only=part, reader=part).anywhere()

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""
        return self._numbers[class_column]

    def class_of(self, class_column: str) -> ClassArray:
        """The class of each row; -1 where a record shows no value of the attribute."""
        if class_column not in self._known:
            parts = [self._decoder.classes(batch, class_column) for batch in self.file.batches([class_column])]
            nothing = np.empty(0, dtype=class_dtype(self.n_classes(class_column)))
            self._known[class_column] = np.concatenate([nothing, *parts])
        return self._known[class_column]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, in row order."""
        schema, forms = self.description.schema, self.description.forms
        types = {name: own_type(name, schema, forms) for name in names}
        batches = (own_cells(batch, types, schema, forms) for batch in self.file.batches(list(names)))
        return gather(batches, types, self.file.n_rows)

    def values(self, attribute: str) -> CodeArray:
        """The code of each row."""
        return self._codes(self.file, attribute)

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row per class; all rows of a class must have the same."""
        (class_column,) = set(self.description.class_columns.values())
        shared = SharedRegions(self.description, self.n_classes(class_column))
        for batch in self.coded_batches(class_column, regions=shared.names):
            shared.add(batch)
        return shared.table()

    def batches(
        self, names: Sequence[str], class_columns: Mapping[str, str], *, with_values: bool
    ) -> Iterator[RowBatch]:
        """Columns as they were, and classes of attributes (by their class column), some rows at a time."""
        schema, forms = self.description.schema, self.description.forms
        types = {name: own_type(name, schema, forms) for name in names}
        values = list(class_columns) if with_values else []
        for batch in self.file.batches([*names, *dict.fromkeys(class_columns.values()), *values]):
            yield RowBatch(
                n_rows=batch.num_rows,
                columns=own_cells(batch, types, schema, forms),
                codes={name: self._decoder.codes(batch, name) for name in values},
                classes={name: self._decoder.classes(batch, column) for name, column in class_columns.items()},
            )

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class, from their own table."""
        parts = list(self.value_batches(attribute))
        classes, codes, counts = (
            np.concatenate([np.empty(0, dtype=kind), *(part[place] for part in parts)])
            for place, kind in enumerate((np.int64, np.int32, np.int64))
        )
        starts = np.searchsorted(classes, np.arange(self.n_classes(self.description.class_columns[attribute]) + 1))
        if (np.diff(starts) < 1).any():
            raise self.without_value(attribute)
        return ClassCounts(starts.astype(np.int64), codes, counts, self.description.schema.domain(attribute))

    def value_batches(self, attribute: str) -> Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]]:
        """Classes, codes and counts of the table of values, in its order, some rows at a time."""
        class_column = self.description.class_columns[attribute]
        entry, domain = self._table(attribute), self.description.schema.domain(attribute)
        named, types, last = _named(entry), {class_column: pa.int64(), "count": pa.int64()}, -1
        for batch in _slices(self.table_file(entry).batches([class_column, "value", "count"])):
            codes = self._decoder.codes(batch.select(["value"]).rename_columns([attribute]), attribute)
            read = typed(batch, types)
            classes = self._decoder.class_ids(read[class_column], class_column)
            if read["count"].null_count or (classes < 0).any():
                raise damaged(f"{named} must have a class and a count in every row")
            counts = read["count"].to_numpy().astype(np.int64)
            if len(counts) and not 1 <= counts.min() <= counts.max() <= self.manifest.records:
                raise damaged(f"{named} must have positive counts that are not above the number of records")
            keys = classes.astype(np.int64) * len(domain) + codes
            if (np.diff(keys, prepend=last) <= 0).any():
                raise damaged(f"{named} must be in the order of classes and values, each once")
            last = int(keys[-1]) if len(keys) else last
            yield classes, codes, counts

    def without_value(self, attribute: str) -> ReleaseFormatError:
        """The error about a table of values that leaves a class out."""
        return damaged(f"{_named(self._table(attribute))} must have a value for every class")

    def coded_batches(
        self, class_column: str, attributes: Sequence[str] = (), regions: Sequence[str] = (), own: Sequence[str] = ()
    ) -> Iterator[CodedBatch]:
        """Rows that have a class, some at a time: codes of attributes, generalized cells, and cells as they were."""
        for batch in self.file.batches([class_column, *attributes, *regions, *own]):
            yield self._decoder.decoded(batch, class_column, attributes, regions, own)

    def _table(self, attribute: str) -> TableEntry:
        return next(table for table in self._tables if table.attribute == attribute)

    @property
    def _decoder(self) -> ClassDecoder:
        return ClassDecoder(self.description, self._format, self._numbers)

    @property
    def _numbers(self) -> Mapping[str, int]:
        return {} if self.manifest.classes is None else self.manifest.classes.numbers

    @property
    def _tables(self) -> Sequence[TableEntry]:
        return [] if self.manifest.classes is None else self.manifest.classes.tables

    @property
    def _format(self) -> Format:
        return self.manifest.data.format

    @property
    def file(self) -> DataFiles:
        """The file of the rows, or several."""
        listed = self.manifest.data.parts if self.only is None else [self.only]
        files = row_files(self.folder, listed, self._format, self.description)
        return replace(files, seen=self._seen, reader=self.reader)

    def table_file(self, entry: TableEntry) -> DataFiles:
        """The file of the values of each class, or several."""
        listed = entry.parts if self.only is None else [self.only]
        files = value_files(self.folder, listed, self._format, self.description, entry.attribute)
        return replace(files, seen=self._seen, reader=self.reader)

    def _codes(self, file: DataFiles, attribute: str) -> CodeArray:
        parts = [self._decoder.codes(batch, attribute) for batch in file.batches([attribute])]
        return np.concatenate([np.empty(0, dtype=np.int32), *parts])


def in_folder(rows: object) -> FolderClassRows:
    """Rows that are in a folder, where workers see them; others are refused."""
    if not isinstance(rows, FolderClassRows):
        raise in_memory()
    return rows


def row_files(folder: Path, files: Sequence[Listed], data_format: Format, description: ClassDescription) -> DataFiles:
    """The rows of files, with the types that their columns have in CSV."""
    types: dict[str, pa.DataType] = dict.fromkeys(description.class_columns.values(), pa.int64())
    for attribute in description.schema.attributes:
        form = description.forms.get(attribute.name)
        if attribute.role is Role.SENSITIVE and description.layout == "bucketized":
            continue
        exact = form is None or form.kind == "exact"
        types[attribute.name] = parse_type(attribute.type) if exact else pa.string()
    longest = max((len(form.labels) for form in description.forms.values()), default=1)
    return DataFiles(folder, files, data_format, types, max(longest, 1))


def value_files(
    folder: Path, files: Sequence[Listed], data_format: Format, description: ClassDescription, attribute: str
) -> DataFiles:
    """The values of classes in files, with the types that their columns have in CSV."""
    kind = parse_type(description.schema[attribute].type)
    types = {description.class_columns[attribute]: pa.int64(), "value": kind, "count": pa.int64()}
    return DataFiles(folder, files, data_format, types)


def _named(entry: TableEntry) -> str:
    first, *others = [part.file for part in entry.parts]
    return f"{first} and the files that follow it" if others else first


def _slices(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, fewer at a time: several copies of each are made."""
    for table in tables:
        for start in range(0, table.num_rows, _SLICE_ROWS):
            yield table.slice(start, _SLICE_ROWS)


class SharedCells:
    """The cell that all rows of a class share, for each class of the column `name`; rows come batch by batch.

    Examples
    --------
    >>> shared = SharedCells("sex", 2)
    >>> shared.add(Cells(np.arange(4), np.array([7, 5, 7])), np.array([1, 0, 1], dtype=np.int32))
    >>> shared.result().flat.tolist()
    [5, 7]
    """

    def __init__(self, name: str, n_classes: int) -> None:
        self._name = name
        self._place = np.full(n_classes, -1, dtype=np.int64)
        self._differ = False
        self._known = Cells(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int8))

    def add(self, cells: Cells, class_of: ClassArray) -> None:
        """Look at some rows."""
        new = np.flatnonzero(self._place[class_of] < 0)
        if len(new):
            classes, first = np.unique(class_of[new], return_index=True)
            self._place[classes] = len(self._known) + np.arange(len(classes))
            found = cells.take(new[first])
            self._known = join_cells([self._known, found]) if len(self._known) else found
        self._differ = self._differ or not cells.same(self._known.take(self._place[class_of]))

    def result(self) -> Cells:
        """The cells of all classes, each of which must have had a row; `ReleaseFormatError` if rows of one differ."""
        if self._differ:
            raise damaged(f"rows of one class must share {self._name!r}")
        return self._known.take(self._place)


class SharedRegions:
    """The generalized cells that all rows of a class share, for some classes; rows come batch by batch."""

    def __init__(self, description: ClassDescription, n_classes: int) -> None:
        self._description, self._has_row = description, np.zeros(n_classes, dtype=np.bool_)
        self.names = [name for name, form in description.forms.items() if form.kind != "exact"]
        self._shared = {name: SharedCells(name, n_classes) for name in self.names}

    def add(self, batch: CodedBatch) -> None:
        """Look at some rows."""
        self._has_row[batch.classes] = True
        for name, shared in self._shared.items():
            shared.add(batch.cells[name], batch.classes)

    def table(self) -> pa.Table:
        """One row per class; `ReleaseFormatError` where a class has no row, or rows that differ."""
        if not self._has_row.all():
            raise damaged("every class must have a row")
        columns = {}
        for name, shared in self._shared.items():
            with damage(name):
                kind = parse_type(self._description.schema[name].type)
                columns[name] = column_of(shared.result(), self._description.forms[name], kind)
        return pa.table(columns) if columns else pa.table({"": pa.nulls(len(self._has_row))}).select([])
