"""Reading the rows of a grouped release from a folder that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.models import ClassCounts
from ldiversity.release._batches import RowBatch
from ldiversity.release._cells import Cells, cells_of, column_of, from_texts, join_cells
from ldiversity.release._coded import code_column, parse_type
from ldiversity.release._damage import damage, damaged
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._files import DataFile, Identity, Reader, gather, identity_of, typed
from ldiversity.release._manifest import Manifest, TableEntry
from ldiversity.release._own_cells import own_cells, own_type
from ldiversity.schema import Attribute, Role

__all__ = ["FolderClassRows", "SharedCells"]

_MOST_NUMBER: Final = 2**31 - 2


@dataclass(frozen=True, eq=False)
class FolderClassRows:
    """The rows of a folder, read column by column when they are asked for."""

    folder: Path
    manifest: Manifest
    description: ClassDescription
    reader: Reader | None = None
    _known: dict[str, CodeArray] = field(default_factory=dict, repr=False)
    _seen: Identity | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_seen", identity_of(self.folder))

    def n_classes(self, class_column: str) -> int:
        """How many classes there are."""
        return self._numbers[class_column]

    def class_of(self, class_column: str) -> CodeArray:
        """The class of each row; -1 where a record shows no value of the attribute."""
        if class_column not in self._known:
            parts = [self._classes_in(batch, class_column) for batch in self.file.batches([class_column])]
            self._known[class_column] = np.concatenate([np.empty(0, dtype=np.int32), *parts])
        return self._known[class_column]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, in row order."""
        schema, forms = self.description.schema, self.description.forms
        types = {name: own_type(name, schema, forms) for name in names}
        batches = (own_cells(batch, types, schema, forms) for batch in self.file.batches(list(names)))
        return gather(batches, types, self.manifest.data.rows)

    def values(self, attribute: str) -> CodeArray:
        """The code of each row."""
        return self._codes(self.file, attribute)

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row per class; all rows of a class must have the same."""
        (class_column,) = set(self.description.class_columns.values())
        m = self.n_classes(class_column)
        attributes = {
            attribute.name: attribute
            for attribute in self.description.schema.attributes
            if attribute.name in self.description.forms and self.description.forms[attribute.name].kind != "exact"
        }
        shared = {name: SharedCells(name, m) for name in attributes}
        has_row = np.zeros(m, dtype=np.bool_)
        for batch in self.file.batches([class_column, *attributes]):
            class_of = self._classes_in(batch, class_column)
            has_row[class_of] = True
            for name, attribute in attributes.items():
                shared[name].add(self._cells_in(batch, attribute), class_of)
        if not has_row.all():
            raise damaged("every class must have a row")
        columns = {}
        for name, attribute in attributes.items():
            with damage(name):
                form = self.description.forms[name]
                columns[name] = column_of(shared[name].result(), form, parse_type(attribute.type))
        return pa.table(columns) if columns else pa.table({"": pa.nulls(m)}).select([])

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
                codes={name: self._codes_in(batch, name) for name in values},
                classes={name: self._classes_in(batch, column) for name, column in class_columns.items()},
            )

    def counts(self, attribute: str) -> ClassCounts:
        """The values of each class, from their own table."""
        class_column = self.description.class_columns[attribute]
        entry = next(table for table in self._tables if table.attribute == attribute)
        file = self.table_file(entry, class_column, attribute)
        types = {class_column: pa.int64(), "count": pa.int64()}
        parts, numbers = [np.empty(0, dtype=np.int32)], [pa.schema(list(types.items())).empty_table()]
        for batch in file.batches([class_column, "value", "count"]):
            parts.append(self._codes_in(batch.select(["value"]).rename_columns([attribute]), attribute))
            numbers.append(typed(batch, types))
        read, codes = pa.concat_tables(numbers), np.concatenate(parts)
        classes, m = self._class_ids(read[class_column], class_column), self.n_classes(class_column)
        if read["count"].null_count or (classes < 0).any():
            raise damaged(f"{entry.file} must have a class and a count in every row")
        counts = read["count"].to_numpy().astype(np.int64)
        if len(counts) and not 1 <= counts.min() <= counts.max() <= self.manifest.records:
            raise damaged(f"{entry.file} must have positive counts that are not above the number of records")
        domain = self.description.schema.domain(attribute)
        keys = classes.astype(np.int64) * len(domain) + codes
        if (np.diff(keys) <= 0).any():
            raise damaged(f"{entry.file} must be in the order of classes and values, each once")
        starts = np.searchsorted(classes, np.arange(m + 1)).astype(np.int64)
        if (np.diff(starts) < 1).any():
            raise damaged(f"{entry.file} must have a value for every class")
        return ClassCounts(starts, codes, counts, domain)

    @property
    def _separate(self) -> bool:
        return len(self.description.class_columns) > 1 and len(set(self.description.class_columns.values())) > 1

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
    def file(self) -> DataFile:
        """The file of the rows."""
        data = self.manifest.data
        types: dict[str, pa.DataType] = dict.fromkeys(self.description.class_columns.values(), pa.int64())
        for attribute in self.description.schema.attributes:
            form = self.description.forms.get(attribute.name)
            if attribute.role is Role.SENSITIVE and self.description.layout == "bucketized":
                continue
            exact = form is None or form.kind == "exact"
            types[attribute.name] = parse_type(attribute.type) if exact else pa.string()
        longest = max((len(form.labels) for form in self.description.forms.values()), default=1)
        return DataFile(
            self.folder, data.file, data.format, data.rows, data.bytes, types, max(longest, 1), self._seen, self.reader
        )

    def table_file(self, entry: TableEntry, class_column: str, attribute: str) -> DataFile:
        """The file of the values of each class."""
        kind = parse_type(self.description.schema[attribute].type)
        types = {class_column: pa.int64(), "value": kind, "count": pa.int64()}
        return DataFile(
            self.folder, entry.file, self._format, entry.rows, entry.bytes, types, seen=self._seen, reader=self.reader
        )

    def _codes(self, file: DataFile, attribute: str) -> CodeArray:
        parts = [self._codes_in(batch, attribute) for batch in file.batches([attribute])]
        return np.concatenate([np.empty(0, dtype=np.int32), *parts])

    def _codes_in(self, batch: pa.Table, attribute: str) -> CodeArray:
        schema = self.description.schema
        with damage(attribute):
            return code_column(batch.column(attribute), schema.domain(attribute), parse_type(schema[attribute].type))

    def _classes_in(self, batch: pa.Table, class_column: str) -> CodeArray:
        ids = self._class_ids(batch.column(class_column), class_column)
        if (ids < 0).any() and not self._separate:
            raise damaged(f"column {class_column!r} must have a number in every row")
        return ids

    def _class_ids(self, column: pa.ChunkedArray, class_column: str) -> CodeArray:
        """Published numbers as classes from 0; -1 where there is none."""
        with damage(class_column):
            numbers = column.cast(pa.int64())
            ids: NDArray[Any] = numbers.fill_null(0).to_numpy()
        if numbers.null_count and bool(np.any((ids == 0) & ~np.asarray(numbers.is_null()))):
            raise damaged(f"column {class_column!r} must hold numbers of classes")
        most = min(self.n_classes(class_column), _MOST_NUMBER)
        least = 0 if numbers.null_count else 1
        if len(ids) and not least <= ids.min() <= ids.max() <= most:
            raise damaged(f"column {class_column!r} must hold numbers of classes")
        return (ids - 1).astype(np.int32)

    def _cells_in(self, batch: pa.Table, attribute: Attribute) -> Cells:
        name, kind, form = attribute.name, parse_type(attribute.type), self.description.forms[attribute.name]
        with damage(name):
            chunks = batch.column(name).chunks
            if self._format == "csv":
                chunks = [from_texts(name, chunk, form, kind) for chunk in chunks]
            return join_cells([cells_of(name, chunk, form, kind) for chunk in chunks])


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

    def add(self, cells: Cells, class_of: CodeArray) -> None:
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
