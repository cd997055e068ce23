"""Writing a grouped release, and checking its claims on what the disk holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.base.progress import stage
from ldiversity.errors import ClaimError
from ldiversity.release._check_sets import REPORT_IT
from ldiversity.release._claims import PEOPLE
from ldiversity.release._class_publish import coded_counts, coded_rows, own_columns, publish_coded, publish_coded_counts
from ldiversity.release._class_read import FolderClassRows, row_files, value_files
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._class_verify import verify_class_rows
from ldiversity.release._describe_manifest import manifest_of, promised
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._dtypes import ShownCategories
from ldiversity.release._files import Reader, typed
from ldiversity.release._finish import entry_of, settle, write_manifest
from ldiversity.release._form_entries import form_entry
from ldiversity.release._manifest import (
    ClassesEntry,
    DataEntry,
    Manifest,
    PeopleEntry,
    TableEntry,
    manifest_text,
    no_cell_in_faults,
)
from ldiversity.release._sinks import no_file, no_records_left
from ldiversity.release._survival import Content, check_survival
from ldiversity.release._written import PartWriter, ReadBack, Write, Written
from ldiversity.schema import Role, Schema

__all__ = ["ClassWriter", "ValuesWriter", "check_classes", "finish_classes", "write_classes"]

_SEVERAL_FILES: Final = "500MB"
"""The memory within which classes in several files are checked, if no limit is set."""

_ORDER: Final = (
    "Rows are in a uniformly random order, and so are the numbers of classes; where values stand in the rows, those of "
    "each sensitive attribute are in a random order of their own within each class."
)


@dataclass(frozen=True)
class ClassWriter(PartWriter):
    """Writes files of the rows of a grouped release.

    Tables have the class columns with published numbers (from 1; missing where a record has no class), codes in the
    sensitive columns where rows show them, generalized cells, and all other columns as they are.
    """

    description: ClassDescription

    @property
    def stem(self) -> str:
        """The names of files begin with ``data``."""
        return "data"

    def _notes(self) -> ShownCategories:
        return _own_categories(self.description)

    def _published(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        return (publish_coded(self.description, one, as_texts=self.data_format == "csv") for one in tables)

    def _checked(self, folder: Path, written: Written, meant: Content, reader: Reader) -> Written:
        file = replace(row_files(folder, [written], self.data_format, self.description), reader=reader)
        check_survival(file, meant, {})
        return written


@dataclass(frozen=True)
class ValuesWriter(PartWriter):
    """Writes files of the values of one sensitive attribute, in the order of classes and values.

    Tables have the class column with published numbers, ``value`` with codes, and ``count``.
    """

    description: ClassDescription
    attribute: str

    @property
    def stem(self) -> str:
        """The names of files begin with ``sensitive_`` and the place of the attribute."""
        return f"sensitive_{self.description.schema.names(Role.SENSITIVE).index(self.attribute) + 1}"

    def _notes(self) -> ShownCategories:
        return ShownCategories(Schema(()))

    def _published(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        return (publish_coded_counts(self.description, self.attribute, one) for one in tables)

    def _checked(self, folder: Path, written: Written, meant: Content, reader: Reader) -> Written:
        files = value_files(folder, [written], self.data_format, self.description, self.attribute)
        check_survival(replace(files, reader=reader), meant, {"value": self.attribute})
        class_column = self.description.class_columns[self.attribute]
        ends = []
        for batch in replace(files, reader=reader).batches([class_column]):
            numbers = typed(batch, {class_column: pa.int64()})[class_column]
            ends += [numbers[0].as_py(), numbers[-1].as_py()] if len(numbers) else []
        if any(end is None for end in ends):
            raise ClaimError("every value must belong to a class", column=self.attribute, hint=REPORT_IT)
        return replace(written, first=ends[0], last=ends[-1])


def write_classes(
    staging: Path,
    description: ClassDescription,
    rows: ClassRows,
    *,
    data_format: Format,
    n_records: int | None = None,
    write: Write | None = None,
    back: ReadBack | None = None,
) -> Manifest:
    """Write rows, tables of values and manifest into the empty folder `staging`, and check what the disk holds.

    The rows are in their final order; `n_records` is how many records the holder had, where that is known. An engine
    may write the files, and read them back, in its own way.
    """
    engine = _write_one if write is None else write
    writer = ClassWriter(data_format, description)
    coded = coded_rows(description, rows, as_texts=data_format == "csv")
    written = engine(staging, writer, _batches(coded))
    tables = {}
    for name in description.schema.names(Role.SENSITIVE) if description.layout == "bucketized" else ():
        values = ValuesWriter(data_format, description, name)
        counted = [coded_counts(description, name, rows.counts(name))]
        tables[name] = engine(staging, values, _batches(counted))
    sizes = {column: rows.n_classes(column) for column in description.class_columns.values()}
    return finish_classes(staging, writer, written, tables, n_classes=sizes, n_records=n_records, back=back)


def _write_one(folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
    return [writer(folder, writer.file_name(), (pa.Table.from_batches([batch]) for batch in rows))]


def _batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Each table as one batch, so that every engine writes the same file."""
    for table in tables:
        whole = table.combine_chunks().to_batches()
        yield from whole or [pa.RecordBatch.from_pylist([], table.schema)]


def finish_classes(
    staging: Path,
    writer: ClassWriter,
    written: Sequence[Written],
    tables: Mapping[str, Sequence[Written]],
    *,
    n_classes: Mapping[str, int],
    n_records: int | None = None,
    back: ReadBack | None = None,
) -> Manifest:
    """Make files of rows, in this order, and of values a release: check the classes, and write the manifest.

    Parameters
    ----------
    written
        What `writer` gave for each file of rows.
    tables
        For each sensitive attribute of a bucketized release: what `ValuesWriter` gave for each file of its values.
    n_classes
        How many classes each class column has.
    n_records
        How many records the holder had, where that is known.
    back
        How files are read back; with a budget, classes are checked some at a time.
    """
    description, shown = writer.description, _own_categories(writer.description)
    files = settle(staging, writer, written)
    if not files:
        raise no_records_left()
    for one in files:
        shown.add_seen(one.columns, one.shown)
    with no_cell_in_faults():
        form = {"format": writer.data_format, "layout": description.layout}
        data = DataEntry.model_validate({**entry_of(files), **form})
        entries = []
        for name, parts in tables.items():
            ordered = sorted(parts, key=lambda one: one.first)
            kept = settle(staging, ValuesWriter(writer.data_format, description, name), ordered)
            entries.append(TableEntry.model_validate({"attribute": name, **entry_of(kept)}))
        described = replace(description, schema=_merged(description.schema, shown.schema()))
        manifest = _manifest(described, n_classes, data, entries)
    with stage("checking what was written"):
        how = back or ReadBack()
        # What was written into several files was never in the memory of one machine.
        budget = how.budget or (Budget(_SEVERAL_FILES) if manifest.version > 1 else None)
        rows = FolderClassRows(staging, manifest, description, how.reader)
        verify_class_rows(
            rows,
            description,
            n_rows=data.rows,
            n_records=n_records,
            budget=budget,
            scratch=how.scratch,
        )
    write_manifest(staging, manifest, _text(manifest))
    return manifest


def _own_categories(description: ClassDescription) -> ShownCategories:
    """Takes note of the categories of columns whose cells are published as they were."""
    own = set(own_columns(description))
    return ShownCategories(Schema(tuple(one for one in description.schema.attributes if one.name in own)))


def _merged(schema: Schema, known: Schema) -> Schema:
    found = {one.name: one for one in known.attributes}
    return Schema(tuple(found.get(one.name, one) for one in schema.attributes))


def check_classes(description: ClassDescription, rows: ClassRows, n_rows: int) -> None:
    """Refuse in memory what could not be written."""
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        sizes = {column: rows.n_classes(column) for column in description.class_columns.values()}
        _text(_manifest(description, sizes, no_file(description.layout, n_rows), []))


def _manifest(
    description: ClassDescription, n_classes: Mapping[str, int], data: DataEntry, tables: list[TableEntry]
) -> Manifest:
    class_columns = dict(description.class_columns)
    people = class_columns.pop(PEOPLE, None)
    return manifest_of(
        description,
        data,
        records=data.rows,
        classes=ClassesEntry(
            columns=class_columns,
            numbers={column: n_classes[column] for column in description.class_columns.values()},
            suppressed=description.suppressed,
            forms=[form_entry(name, form) for name, form in description.forms.items()],
            tables=tables,
            warnings=list(description.warnings),
            people=None
            if people is None
            else PeopleEntry.model_validate({"column": people, **promised(description, PEOPLE)}),
        ),
        order=_ORDER,
    )


def _text(manifest: Manifest) -> str:
    """The manifest without the list of further claims where there are none, as it has always been written."""
    several = any(entry.further_claims for entry in manifest.sensitive)
    return manifest_text(manifest, exclude=None if several else {"sensitive": {"__all__": {"further_claims"}}})
