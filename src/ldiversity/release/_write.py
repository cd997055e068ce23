"""Writing a release: all or nothing, and only after its claims were checked on the bytes that were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.progress import stage
from ldiversity.errors import ClaimError
from ldiversity.release._claims import Claim
from ldiversity.release._coded import check_member_names, publish_batch
from ldiversity.release._describe_manifest import manifest_of
from ldiversity.release._description import Format, ReleaseDescription
from ldiversity.release._dtypes import ShownCategories
from ldiversity.release._files import Reader
from ldiversity.release._finish import entry_of, settle, write_manifest
from ldiversity.release._form_entries import form_entry
from ldiversity.release._manifest import (
    DataEntry,
    Manifest,
    manifest_text,
    no_cell_in_faults,
)
from ldiversity.release._read import FolderData
from ldiversity.release._sinks import no_file, no_records_left
from ldiversity.release._survival import Content, check_survival
from ldiversity.release._verify import SetChecks, verify_together
from ldiversity.release._written import PartWriter, ReadBack, Written
from ldiversity.schema import Role

__all__ = ["SetWriter", "check_description", "finish_release", "write_release"]

_PIECE_ROWS: Final = 1 << 15

_OF_CLASSES: Final[dict[str, Any]] = {"classes": True, "sensitive": {"__all__": {"claim": {"rule"}}}}
"""What only a release of classes has."""


@dataclass(frozen=True)
class SetWriter(PartWriter):
    """Writes files of a release of sets. Tables have codes in the sensitive columns."""

    description: ReleaseDescription

    @property
    def stem(self) -> str:
        """The names of files begin with ``data``."""
        return "data"

    def _notes(self) -> ShownCategories:
        return ShownCategories(self.description.schema)

    def _published(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        schema, layout = self.description.schema, self.description.layout
        if self.data_format == "csv" and layout == "sets":
            check_member_names(schema, {name: one.l for name, one in self.description.mechanisms.items()})
        csv = self.data_format == "csv"
        pieces = (piece for table in tables for piece in _in_pieces(table)) if csv else tables
        return (publish_batch(coded, schema, layout=layout, as_columns=csv, entries=True) for coded in pieces)

    def _checked(self, folder: Path, written: Written, meant: Content, reader: Reader) -> Written:
        rows = self.read(folder, [written], reader)
        sensitive = self.description.schema.names(Role.SENSITIVE)
        checks = SetChecks(self.description)

        def look(batch: pa.Table) -> None:
            for attribute in checks.attributes:
                checks.see(attribute, rows.sets_in(batch, attribute))

        attributes = {member: name for name in sensitive for member in rows.published(name)}
        check_survival(rows.file, meant, attributes, look)
        checks.finish(written.rows)
        return written

    def read(self, folder: Path, written: Sequence[Written], reader: Reader | None = None) -> FolderData:
        """The rows of files that were written."""
        described = self.description
        mechanisms = dict(described.mechanisms)
        return FolderData(
            folder, written, self.data_format, described.layout, described.schema, mechanisms, described.forms, reader
        )


def _in_pieces(table: pa.Table) -> Iterator[pa.Table]:
    """A few rows at a time, whose texts stay in the processor's cache until they are written."""
    return (table.slice(start, _PIECE_ROWS) for start in range(0, table.num_rows, _PIECE_ROWS))


def write_release(
    staging: Path,
    description: ReleaseDescription,
    tables: Iterable[pa.Table],
    *,
    data_format: Format,
) -> Manifest:
    """Write rows and manifest into the empty folder `staging`, and check the claims on what the disk holds.

    The tables have codes in the sensitive columns, and their rows are in their final order.
    """
    writer = SetWriter(data_format, description)
    return finish_release(staging, writer, [writer(staging, writer.file_name(), tables)])


def finish_release(
    staging: Path,
    writer: SetWriter,
    written: Sequence[Written],
    *,
    n_rows: int | None = None,
    back: ReadBack | None = None,
) -> Manifest:
    """Make files that `writer` wrote, in this order, a release: check what one alone cannot show, write the manifest.

    `n_rows` is how many rows all files must hold, where that is known.
    """
    description, shown = writer.description, ShownCategories(writer.description.schema)
    if n_rows not in {None, sum(one.rows for one in written)}:
        raise ClaimError("release", f"there must be {n_rows} rows", got=sum(one.rows for one in written))
    files = settle(staging, writer, written)
    if not files:
        raise no_records_left()
    for one in files:
        shown.add_seen(one.columns, one.shown)
    with no_cell_in_faults():
        form = {"format": writer.data_format, "layout": description.layout}
        data = DataEntry.model_validate({**entry_of(files), **form})
        manifest = _manifest(replace(description, schema=shown.schema()), data)
    with stage("checking what was written"):
        verify_together(writer.read(staging, files, (back or ReadBack()).reader), description)
    write_manifest(staging, manifest, _text(manifest))
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
