"""Writing a grouped release, and checking its claims on what the disk holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldiversity._version import __version__
from ldiversity.base.progress import stage
from ldiversity.release._class_claims import ClassClaim
from ldiversity.release._class_publish import publish_counts, publish_rows
from ldiversity.release._class_read import FolderClassRows
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._class_verify import verify_class_rows
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._dtypes import column_entries
from ldiversity.release._forms import Form
from ldiversity.release._manifest import (
    MANIFEST_NAME,
    ClassesEntry,
    DataEntry,
    FormEntry,
    Manifest,
    SensitiveEntry,
    TableEntry,
    manifest_text,
    no_cell_in_faults,
)
from ldiversity.release._sinks import describe_file, no_file, no_records_left, sha256_of, write_tables
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
) -> Manifest:
    """Write rows, tables of values and manifest into `staging`, and check the claims on what the disk holds.

    Parameters
    ----------
    staging
        An empty private folder.
    description
        All but the rows.
    rows
        The rows in their final order.
    data_format
        ``"parquet"`` or ``"csv"``.
    n_records
        How many records the holder had, where that is known.
    """
    file = staging / f"data.{data_format}"
    content: dict[str, Content] = {file.name: Content()}
    published = publish_rows(description, rows, as_texts=data_format == "csv")
    n_rows = write_tables(file, content[file.name].watch(published), data_format)
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        apart = description.layout == "bucketized"
        tables = _write_counts(staging, description, rows, data_format, content) if apart else []
        manifest = _manifest(description, rows, describe_file(file, description.layout, n_rows), tables)
    written = FolderClassRows(staging, manifest, description)
    with stage("checking what was written"):
        check_survival(written.file, content[file.name], {})
        for entry in tables:
            table = written.table_file(entry, description.class_columns[entry.attribute], entry.attribute)
            check_survival(table, content[entry.file], {"value": entry.attribute})
        verify_class_rows(written, description, n_rows=n_rows, n_records=n_records)
    (staging / MANIFEST_NAME).write_text(_text(manifest), encoding="utf-8")
    return manifest


def _write_counts(
    staging: Path, description: ClassDescription, rows: ClassRows, data_format: Format, content: dict[str, Content]
) -> list[TableEntry]:
    entries = []
    for number, name in enumerate(description.schema.names(Role.SENSITIVE), start=1):
        file = staging / f"sensitive_{number}.{data_format}"
        content[file.name] = Content()
        counted = content[file.name].watch([publish_counts(description, name, rows.counts(name))])
        n_rows = write_tables(file, counted, data_format)
        described = {
            "attribute": name,
            "file": file.name,
            "rows": n_rows,
            "bytes": file.stat().st_size,
            "sha256": sha256_of(file),
        }
        entries.append(TableEntry.model_validate(described))
    return entries


def check_classes(description: ClassDescription, rows: ClassRows, n_rows: int) -> None:
    """Refuse in memory what could not be written."""
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        _text(_manifest(description, rows, no_file(description.layout, n_rows), []))


def _manifest(description: ClassDescription, rows: ClassRows, data: DataEntry, tables: list[TableEntry]) -> Manifest:
    schema = description.schema
    class_columns = dict(description.class_columns)
    return Manifest(
        software=f"ldiversity {__version__}",
        records=data.rows,
        columns=column_entries(schema),
        sensitive=[_sensitive_entry(description, name) for name in schema.names(Role.SENSITIVE)],
        data=data,
        classes=ClassesEntry(
            columns=class_columns,
            numbers={column: rows.n_classes(column) for column in class_columns.values()},
            suppressed=description.suppressed,
            forms=[_form_entry(name, form) for name, form in description.forms.items()],
            tables=tables,
            warnings=list(description.warnings),
        ),
        order=_ORDER,
        not_protected=list(description.not_protected),
    )


def _sensitive_entry(description: ClassDescription, name: str) -> SensitiveEntry:
    claims = [_claim_entry(claim) for claim in description.claims if claim.attribute == name]
    return SensitiveEntry.model_validate(
        {
            "attribute": name,
            "domain": description.schema.domain(name).to_dict(),
            "mechanism": description.mechanisms[name].to_dict(),
            "claim": claims[0],
            "further_claims": claims[1:],
        }
    )


def _claim_entry(claim: ClassClaim) -> dict[str, Any]:
    return {
        "model": claim.model,
        "l": claim.l,
        "d": claim.d,
        "posterior": claim.posterior,
        "statement": claim.statement,
        "rule": claim.rule.to_dict(),
    }


def _text(manifest: Manifest) -> str:
    """The manifest without the list of further claims where there are none, as it has always been written."""
    several = any(entry.further_claims for entry in manifest.sensitive)
    return manifest_text(manifest, exclude=None if several else {"sensitive": {"__all__": {"further_claims"}}})


def _form_entry(name: str, form: Form) -> FormEntry:
    marginal = form.marginal
    return FormEntry.model_validate(
        {
            "column": name,
            "kind": form.kind,
            "hierarchy": None if form.hierarchy is None else form.hierarchy.to_rows(),
            "nodes": None
            if form.reaches is None
            else [
                {"label": label, "low": reach.low, "high": reach.high, "starts": list(reach.starts)}
                for label, reach in form.reaches.items()
            ],
            "low": form.low,
            "high": form.high,
            "labels": list(form.labels) if form.kind == "values" else None,
            "marginal": None
            if marginal is None
            else {
                "values": marginal.values.tolist(),
                "counts": marginal.counts.tolist(),
                "missing": marginal.missing,
            },
        }
    )
