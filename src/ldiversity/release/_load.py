"""`load_release`: a release from a folder that may come from a stranger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, overload

import pyarrow as pa

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.errors import LDiversityError, ReleaseFormatError, SchemaError
from ldiversity.mechanisms import SetMechanism, mechanism_from_dict
from ldiversity.models import model_from_dict
from ldiversity.release._base import Release
from ldiversity.release._checksums import sha256_of
from ldiversity.release._claims import AlikeClaim, Claim, claim_of
from ldiversity.release._coded import parse_type
from ldiversity.release._confirmed import confirmed_of
from ldiversity.release._damage import damaged
from ldiversity.release._description import SetLayout
from ldiversity.release._dtypes import check_categories
from ldiversity.release._files import identity_of
from ldiversity.release._form_entries import check_own_forms, form_of
from ldiversity.release._forms import Form
from ldiversity.release._load_classes import check_size, load_classes
from ldiversity.release._manifest import MANIFEST_NAME, Manifest, SensitiveEntry, read_manifest
from ldiversity.release._positions import check_positions
from ldiversity.release._read import FolderData
from ldiversity.release._set_release import SetRelease
from ldiversity.release._written import is_part
from ldiversity.schema import Attribute, Domain, Role, Schema
from ldiversity.tables import PandasFrame, PolarsFrame, check_frame_kind, domain_array

__all__ = ["checksum_of", "load_release"]

_ROUNDING: Final = 1e-6
"""Another processor computes the same claim with other last digits."""

_TRIES: Final = 3
"""How often a folder that was replaced meanwhile is read again."""


@overload
def load_release(folder: str | os.PathLike[str], *, frame: Literal["pandas"]) -> Release[PandasFrame]: ...
@overload
def load_release(folder: str | os.PathLike[str], *, frame: Literal["polars"]) -> Release[PolarsFrame]: ...
@overload
def load_release(folder: str | os.PathLike[str], *, frame: str = "arrow") -> Release: ...
def load_release(folder: str | os.PathLike[str], *, frame: str = "arrow") -> Release:
    """Read a release from its folder.

    The folder is treated as coming from a stranger: nothing in it is executed, names are looked up in registries,
    sizes are limited, and damage is reported in one sentence.

    Parameters
    ----------
    folder
        The folder that holds ``release.json``.
    frame
        Which kind of data frame to hand out: ``"arrow"``, ``"pandas"`` or ``"polars"``.
    """
    if frame != "arrow":
        check_frame_kind(frame, "load_release", "frame")
    path = Path(folder)
    for _ in range(_TRIES):
        seen = identity_of(path)
        try:
            release = _load(path, frame=frame)
        except ReleaseFormatError:
            if identity_of(path) == seen:
                raise
        else:
            if identity_of(path) == seen:
                return release
        # The folder was replaced while it was read: what was seen may be parts of two releases.
    return _load(path, frame=frame)


def checksum_of(folder: str | os.PathLike[str]) -> str:
    """The SHA-256 of ``release.json``, which holds those of all other files of the release."""
    return sha256_of(Path(folder) / MANIFEST_NAME)


def _load(path: Path, *, frame: str) -> Release:
    try:
        manifest = read_manifest(path)
        _check_files(path, manifest)
        schema = _schema_of(manifest)
        if manifest.data.layout in {"generalized", "bucketized"}:
            return load_classes(path, manifest, schema, frame=frame)
        return _load_sets(path, manifest, schema, frame=frame)
    except (ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        # A stranger's file may fail in ways that nobody foresaw. That is damage, too.
        if isinstance(error, LDiversityError):
            raise
        if lacks_memory(error):
            raise not_enough_memory("release") from None
        raise damaged("release.json cannot be read, or describes something impossible") from None


def _load_sets(folder: Path, manifest: Manifest, schema: Schema, *, frame: str) -> SetRelease:
    if not manifest.sensitive:
        raise damaged("a release of sets must have a sensitive attribute")
    mechanisms = {
        entry.attribute: mechanism_from_dict(entry.mechanism, schema.domain(entry.attribute))
        for entry in manifest.sensitive
    }
    _check_counts(manifest, mechanisms)
    forms = _forms(manifest, schema)
    layout: SetLayout = "exploded" if manifest.data.layout == "exploded" else "sets"
    return SetRelease(
        schema=schema,
        mechanisms=mechanisms,
        claims=tuple(claim for entry in manifest.sensitive for claim in _claims(manifest, entry, mechanisms)),
        n_rows=manifest.records,
        layout=layout,
        frame_kind=frame,
        forms=forms,
        confirmed=confirmed_of(manifest, schema),
        person=manifest.person,
        collected=manifest.collected,
        _rows=FolderData(folder, manifest.data.parts, manifest.data.format, layout, schema, mechanisms, forms),
    )


def _forms(manifest: Manifest, schema: Schema) -> dict[str, Form]:
    entries = manifest.forms
    if entries is None:
        return {}
    if [entry.column for entry in entries] != list(schema.names(Role.QUASI)):
        raise damaged("every quasi-identifier must have one form")
    check_own_forms(entries)
    return {entry.column: form_of(entry, schema, manifest.records) for entry in entries}


def _claims(
    manifest: Manifest, entry: SensitiveEntry, mechanisms: Mapping[str, SetMechanism]
) -> Iterator[Claim | AlikeClaim]:
    """The claim about sets, and the promises about records that look alike."""
    yield _claim(entry, mechanisms[entry.attribute])
    for said in entry.further_claims:
        claim = AlikeClaim(entry.attribute, model_from_dict(said.rule), people=manifest.person)
        if not claim.rule.of_people or (said.model, said.posterior) != (claim.model, claim.posterior):
            raise damaged(f"the further claims about {entry.attribute!r} must be about records that look alike")
        yield claim


def _claim(entry: SensitiveEntry, mechanism: SetMechanism) -> Claim:
    """The claim that follows from the mechanism. The claim in the file must be the same, and is never shown.

    A posterior of 1 promises nothing, so it is allowed: the writer may not have known how to prove a better one.
    """
    claim, said = claim_of(entry.attribute, mechanism), entry.claim
    same = (said.model, said.l, said.d, said.epsilon) == (claim.model, claim.l, claim.d, claim.epsilon)
    if not same or (said.posterior < 1 and abs(said.posterior - claim.posterior) > _ROUNDING * claim.posterior):
        raise ReleaseFormatError("release", f"the claim about {entry.attribute!r} must be its mechanism's").with_hint(
            "It was changed after publishing; ask the publisher for a good copy."
        )
    return claim


def _schema_of(manifest: Manifest) -> Schema:
    described = {entry.attribute: entry.domain for entry in manifest.sensitive}
    named = {column.name for column in manifest.columns if column.role == "sensitive"}
    if named != set(described) or len(described) != len(manifest.sensitive):
        raise ReleaseFormatError("release", "the sensitive columns and their descriptions must be the same")
    attributes = []
    for column in manifest.columns:
        kind = parse_type(column.type)
        try:
            domain = Domain.from_dict(described[column.name].model_dump()) if column.name in described else None
            if domain is not None:
                domain_array(domain, kind)
                check_positions(domain, kind)
        except (SchemaError, pa.ArrowException, OverflowError, TypeError) as error:
            reason = error.message if isinstance(error, SchemaError) else "the domain must be of the column's type."
            raise ReleaseFormatError("release", f"column {column.name!r}: {reason}") from None
        categories = tuple(column.categories or ())
        attribute = Attribute(column.name, Role(column.role), column.type, domain, column.dtype, categories)
        check_categories(attribute)
        attributes.append(attribute)
    try:
        return Schema(tuple(attributes))
    except SchemaError as error:
        raise ReleaseFormatError("release", error.message) from None


def _check_counts(manifest: Manifest, mechanisms: Mapping[str, SetMechanism]) -> None:
    each = mechanisms[manifest.sensitive[0].attribute].l if manifest.data.layout == "exploded" else 1
    if manifest.data.rows != manifest.records * each or (each > 1 and len(manifest.sensitive) > 1):
        raise ReleaseFormatError("release", "rows, records and layout must agree")
    check_size(manifest)


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Refuse files that are not as ``release.json`` says, and others that would be taken for one of several."""
    for entry in manifest.parts:
        file = folder / entry.file
        if file.is_symlink() or not file.is_file():
            raise ReleaseFormatError("release", f"folder must contain {entry.file} as a regular file")
        if file.stat().st_size != entry.bytes or sha256_of(file) != entry.sha256:
            raise ReleaseFormatError(
                "release", f"{entry.file} must have the size and checksum that release.json names"
            ).with_hint("The file is damaged or was changed; ask the publisher for a good copy.")
    if manifest.version > 1:
        found = {path.name for path in folder.iterdir() if is_part(path.name)}
        if not found <= manifest.files:
            raise damaged("the folder must not contain files of rows that release.json does not name")
