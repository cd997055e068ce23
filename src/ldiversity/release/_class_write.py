"""Writing a grouped release, and checking its claims on what the disk holds."""

from __future__ import annotations

from pathlib import Path

from ldiversity.base.progress import stage
from ldiversity.release._claims import PEOPLE
from ldiversity.release._class_publish import publish_counts, publish_rows
from ldiversity.release._class_read import FolderClassRows
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._class_verify import verify_class_rows
from ldiversity.release._describe_manifest import manifest_of, promised
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._form_entries import form_entry
from ldiversity.release._manifest import (
    MANIFEST_NAME,
    ClassesEntry,
    DataEntry,
    Manifest,
    PeopleEntry,
    TableEntry,
    manifest_text,
    no_cell_in_faults,
)
from ldiversity.release._sinks import THIS_MACHINE, Storage, describe_file, measured, no_file, no_records_left
from ldiversity.release._survival import Content, check_survival
from ldiversity.schema import Role

__all__ = ["check_classes", "write_classes"]

_ORDER = (
    "Rows are in a uniformly random order, and so are the numbers of classes; where values stand in the rows, those of "
    "each sensitive attribute are in a random order of their own within each class."
)


def write_classes(
    staging: Path,
    description: ClassDescription,
    rows: ClassRows,
    *,
    data_format: Format,
    n_records: int | None = None,
    storage: Storage = THIS_MACHINE,
) -> Manifest:
    """Write rows, tables of values and manifest into the empty folder `staging`, and check what the disk holds.

    The rows are in their final order; `n_records` is how many records the holder had, where that is known.
    """
    file = staging / f"data.{data_format}"
    content: dict[str, Content] = {file.name: Content()}
    published = publish_rows(description, rows, as_texts=data_format == "csv")
    n_rows = storage.write(file, content[file.name].watch(published), data_format)
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        apart = description.layout == "bucketized"
        tables = _write_counts(staging, description, rows, data_format, content, storage) if apart else []
        manifest = _manifest(description, rows, describe_file(file, description.layout, n_rows), tables)
    written = FolderClassRows(staging, manifest, description, storage.read_back)
    with stage("checking what was written"):
        check_survival(written.file, content[file.name], {})
        for entry in tables:
            table = written.table_file(entry, description.class_columns[entry.attribute], entry.attribute)
            check_survival(table, content[entry.file], {"value": entry.attribute})
        verify_class_rows(written, description, n_rows=n_rows, n_records=n_records)
    # The manifest comes last: a folder without one is no release.
    (staging / MANIFEST_NAME).write_text(_text(manifest), encoding="utf-8")
    return manifest


def _write_counts(
    staging: Path,
    description: ClassDescription,
    rows: ClassRows,
    data_format: Format,
    content: dict[str, Content],
    storage: Storage,
) -> list[TableEntry]:
    entries = []
    for number, name in enumerate(description.schema.names(Role.SENSITIVE), start=1):
        file = staging / f"sensitive_{number}.{data_format}"
        content[file.name] = Content()
        counted = content[file.name].watch([publish_counts(description, name, rows.counts(name))])
        n_rows = storage.write(file, counted, data_format)
        entries.append(TableEntry.model_validate({"attribute": name, **measured(file, n_rows)}))
    return entries


def check_classes(description: ClassDescription, rows: ClassRows, n_rows: int) -> None:
    """Refuse in memory what could not be written."""
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        _text(_manifest(description, rows, no_file(description.layout, n_rows), []))


def _manifest(description: ClassDescription, rows: ClassRows, data: DataEntry, tables: list[TableEntry]) -> Manifest:
    class_columns = dict(description.class_columns)
    people = class_columns.pop(PEOPLE, None)
    return manifest_of(
        description,
        data,
        records=data.rows,
        classes=ClassesEntry(
            columns=class_columns,
            numbers={column: rows.n_classes(column) for column in description.class_columns.values()},
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
