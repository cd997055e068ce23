"""Writing a release: all or nothing, and only after its claims were checked on the bytes that were written."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from ldiversity._version import __version__
from ldiversity.errors import LDiversityError, ParameterError, ReleaseFormatError, SchemaError, StorageError
from ldiversity.mechanisms import SetMechanism
from ldiversity.privacy import NOT_PROTECTED, Claim
from ldiversity.release._coded import check_member_names, publish_batch
from ldiversity.release._description import Format, ReleaseDescription
from ldiversity.release._manifest import (
    MANIFEST_NAME,
    ClaimEntry,
    ColumnEntry,
    DataEntry,
    Manifest,
    SensitiveEntry,
    read_manifest,
)
from ldiversity.release._prefetch import prefetch
from ldiversity.release._read import FolderData
from ldiversity.release._verify import verify_rows
from ldiversity.schema import Role, Schema

__all__ = ["no_records_left", "sha256_of", "staging_folder", "write_release"]


@contextmanager
def staging_folder(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A private folder beside `target` that becomes `target` when the block ends well, and vanishes otherwise."""
    staging: Path | None = None
    try:
        target = _resolved(target)
        if target.exists():
            _check_replaceable(target, overwrite=overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = target.parent / f".{target.name}.partial-{secrets.token_hex(6)}"
        staging.mkdir(mode=0o700)
        yield staging
        _promote(staging, target, overwrite=overwrite)
    except OSError as error:
        if isinstance(error, LDiversityError):
            raise
        reason = error.strerror or "the disk may be full"
        raise StorageError(
            f"output: folder {str(target)!r} cannot be written: {reason}.",
            hint="Nothing was published. Choose another folder, or make room on the disk.",
        ) from None
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)


def write_release(
    staging: Path, description: ReleaseDescription, tables: Iterable[pa.Table], *, data_format: Format
) -> Manifest:
    """Write rows and manifest into `staging`, and check the claims on what the disk holds.

    Parameters
    ----------
    staging
        An empty private folder.
    description
        All but the rows.
    tables
        Rows with codes in the sensitive columns, in their final order.
    data_format
        ``"parquet"`` or ``"csv"``.
    """
    schema = description.schema
    if data_format == "csv" and description.layout == "sets":
        check_member_names(schema, {name: description.mechanisms[name].l for name in schema.names(Role.SENSITIVE)})
    file = staging / f"data.{data_format}"
    rows = _write_rows(file, description, tables, data_format)
    manifest = _manifest(description, file, data_format, rows)
    written = FolderData(staging, manifest, schema, dict(description.mechanisms))
    verify_rows(written, description, n_records=manifest.records)
    content = manifest.model_dump_json(indent=2, exclude_none=False) + "\n"
    (staging / MANIFEST_NAME).write_text(content, encoding="utf-8")
    return manifest


def no_records_left() -> SchemaError:
    """The error of a table of which no row can be published."""
    return SchemaError(
        "table: no record is left to publish, because every row has a missing sensitive value.",
        hint="Use missing='category' instead of 'drop'.",
    )


def _write_rows(file: Path, description: ReleaseDescription, tables: Iterable[pa.Table], data_format: Format) -> int:
    rows = 0
    sink: pq.ParquetWriter | pa_csv.CSVWriter | None = None
    try:
        for coded in prefetch(tables):
            table = publish_batch(
                coded, description.schema, layout=description.layout, as_columns=data_format == "csv"
            ).replace_schema_metadata(None)
            if sink is None:
                sink = _open_sink(file, table.schema, data_format)
            sink.write_table(table)
            rows += table.num_rows
    finally:
        if sink is not None:
            sink.close()
    if rows == 0:
        raise no_records_left()
    return rows


def _open_sink(file: Path, schema: pa.Schema, data_format: Format) -> pq.ParquetWriter | pa_csv.CSVWriter:
    if data_format == "parquet":
        # Without Arrow's own schema in the file, every tool reads plain lists of values.
        return pq.ParquetWriter(file, schema, compression="snappy", store_schema=False)
    # Texts are always quoted, so that an empty text differs from a missing one.
    return pa_csv.CSVWriter(file, schema, write_options=pa_csv.WriteOptions(quoting_style="needed"))


def _manifest(description: ReleaseDescription, file: Path, data_format: Format, rows: int) -> Manifest:
    schema = description.schema
    claims = {claim.attribute: claim for claim in description.claims}
    l_rows = 1 if description.layout == "sets" else claims[schema.names(Role.SENSITIVE)[0]].l
    return Manifest(
        software=f"ldiversity {__version__}",
        records=rows // l_rows,
        columns=[
            ColumnEntry.model_validate({"name": a.name, "role": a.role.value, "type": a.type})
            for a in schema.attributes
        ],
        sensitive=[
            _sensitive_entry(schema, name, description.mechanisms[name], claims[name])
            for name in schema.names(Role.SENSITIVE)
        ],
        data=DataEntry.model_validate(
            {
                "file": file.name,
                "format": data_format,
                "layout": description.layout,
                "rows": rows,
                "bytes": file.stat().st_size,
                "sha256": sha256_of(file),
            }
        ),
        not_protected=list(NOT_PROTECTED),
    )


def _sensitive_entry(schema: Schema, name: str, mechanism: SetMechanism, claim: Claim) -> SensitiveEntry:
    return SensitiveEntry.model_validate(
        {
            "attribute": name,
            "domain": schema.domain(name).to_dict(),
            "mechanism": mechanism.to_dict(),
            "claim": ClaimEntry.model_validate(
                {
                    "model": claim.model,
                    "l": claim.l,
                    "d": claim.d,
                    "posterior": claim.posterior,
                    "statement": claim.statement,
                }
            ),
        }
    )


def sha256_of(file: Path) -> str:
    """The checksum by which damage to a file is noticed."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _resolved(target: Path) -> Path:
    try:
        return target.resolve()
    except ValueError:
        raise ParameterError("output: the path of the folder must not contain a zero byte.") from None


def _check_replaceable(target: Path, *, overwrite: bool) -> None:
    """Refuse a target that exists, unless it is a release, and nothing but one, that may be overwritten."""
    if not overwrite:
        raise ParameterError(
            f"output: folder {str(target)!r} must not exist yet.", hint="Choose another folder, or allow overwriting."
        )
    if not _is_release_alone(target):
        raise ParameterError(
            f"output: {str(target)!r} must be a release, and hold nothing else, to be overwritten.",
            hint="Choose another folder.",
        )


def _is_release_alone(target: Path) -> bool:
    try:
        manifest = read_manifest(target)
    except ReleaseFormatError:
        return False
    files = {path.name for path in target.iterdir() if path.is_file() and not path.is_symlink()}
    return files == {path.name for path in target.iterdir()} == {MANIFEST_NAME, manifest.data.file}


def _promote(staging: Path, target: Path, *, overwrite: bool) -> None:
    """Give the finished folder its name. An old release steps aside first, and comes back on any fault."""
    _sync(staging)
    staging.chmod(_usual_mode(staging))
    if not (overwrite and target.exists()):
        # A folder that appeared meanwhile is never replaced: renaming onto one that holds anything fails.
        staging.rename(target)
    else:
        _check_replaceable(target, overwrite=True)
        retired = target.parent / f".{target.name}.retired-{secrets.token_hex(6)}"
        target.rename(retired)
        try:
            staging.rename(target)
        except BaseException:
            retired.rename(target)
            raise
        try:
            shutil.rmtree(retired, ignore_errors=True)
        except BaseException:
            shutil.rmtree(retired, ignore_errors=True)
            raise
    _sync_folder(target.parent)


def _sync(folder: Path) -> None:
    """See that the disk itself holds every file before the folder gets its name."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _usual_mode(staging: Path) -> int:
    """The mode that a new folder gets here, found by making one: the umask cannot be read without changing it."""
    probe = staging / "mode"
    probe.mkdir()
    mode = probe.stat().st_mode & 0o777
    probe.rmdir()
    return mode
