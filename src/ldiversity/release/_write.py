"""Writing a release: all or nothing, and only after its claims were checked on the bytes that were written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.progress import stage
from ldiversity.release._claims import Claim
from ldiversity.release._coded import check_member_names, publish_batch
from ldiversity.release._describe_manifest import manifest_of
from ldiversity.release._description import Format, ReleaseDescription
from ldiversity.release._dtypes import ShownCategories
from ldiversity.release._form_entries import form_entry
from ldiversity.release._manifest import (
    MANIFEST_NAME,
    DataEntry,
    Manifest,
    manifest_text,
    no_cell_in_faults,
)
from ldiversity.release._read import FolderData
from ldiversity.release._sinks import THIS_MACHINE, Storage, describe_file, no_file, no_records_left
from ldiversity.release._survival import Content, check_survival
from ldiversity.release._verify import verify_rows
from ldiversity.schema import Role

__all__ = ["check_description", "write_release"]

_OF_CLASSES: Final[dict[str, Any]] = {"classes": True, "sensitive": {"__all__": {"claim": {"rule"}}}}
"""What only a release of classes has."""


def write_release(
    staging: Path,
    description: ReleaseDescription,
    tables: Iterable[pa.Table],
    *,
    data_format: Format,
    storage: Storage = THIS_MACHINE,
) -> Manifest:
    """Write rows and manifest into the empty folder `staging`, and check the claims on what the disk holds.

    The tables have codes in the sensitive columns, and their rows are in their final order.
    """
    schema = description.schema
    if data_format == "csv" and description.layout == "sets":
        check_member_names(schema, {name: description.mechanisms[name].l for name in schema.names(Role.SENSITIVE)})
    file = staging / f"data.{data_format}"
    as_columns = data_format == "csv"
    content, shown = Content(), ShownCategories(schema)
    published = (
        publish_batch(coded, schema, layout=description.layout, as_columns=as_columns) for coded in shown.watch(tables)
    )
    rows = storage.write(file, content.watch(published), data_format)
    if rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        manifest = _manifest(replace(description, schema=shown.schema()), describe_file(file, description.layout, rows))
    written = FolderData(staging, manifest, schema, dict(description.mechanisms), description.forms, storage.read_back)
    members = {member: name for name in schema.names(Role.SENSITIVE) for member in written.published(name)}
    with stage("checking what was written"):
        check_survival(written.file, content, members)
        verify_rows(written, description, n_records=manifest.records)
    # The manifest comes last: a folder without one is no release.
    (staging / MANIFEST_NAME).write_text(_text(manifest), encoding="utf-8")
    return manifest


def check_description(description: ReleaseDescription, n_rows: int) -> None:
    """Refuse in memory what could not be written."""
    if n_rows == 0:
        raise no_records_left()
    with no_cell_in_faults():
        _text(_manifest(description, no_file(description.layout, n_rows)))


def _text(manifest: Manifest) -> str:
    """The manifest without the list of further claims where there are none, as it has always been written."""
    if any(entry.further_claims for entry in manifest.sensitive):
        return manifest_text(manifest, exclude=_OF_CLASSES)
    each = {**_OF_CLASSES["sensitive"]["__all__"], "further_claims": True}
    return manifest_text(manifest, exclude={**_OF_CLASSES, "sensitive": {"__all__": each}})


def _manifest(description: ReleaseDescription, data: DataEntry) -> Manifest:
    first = next(claim for claim in description.claims if isinstance(claim, Claim))
    rows_per_record = 1 if description.layout == "sets" else first.l
    coarse = any(form.kind != "exact" for form in description.forms.values())
    forms = [form_entry(name, form) for name, form in description.forms.items()] if coarse else None
    return manifest_of(description, data, records=data.rows // rows_per_record, forms=forms)
