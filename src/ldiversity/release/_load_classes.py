"""A grouped release from a manifest that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import model_from_dict
from ldiversity.release._claims import PEOPLE, ClassClaim, class_claim, subjects_of
from ldiversity.release._class_limits import SEPARATE_CLASSES
from ldiversity.release._class_read import FolderClassRows
from ldiversity.release._class_release import ClassRelease
from ldiversity.release._confirmed import confirmed_of
from ldiversity.release._damage import damaged
from ldiversity.release._description import ClassDescription, ClassLayout
from ldiversity.release._form_entries import check_own_forms, form_of
from ldiversity.release._manifest import ClassesEntry, Manifest, PeopleEntry, SensitiveEntry
from ldiversity.schema import Role, Schema

__all__ = ["check_size", "load_classes"]

_ROUNDING: Final = 1e-9
_MOST_ROWS_A_BYTE: Final = 64
"""Every row of an honest release holds about a bit of randomness or more (a drawn set, or a class in a random order),
which no file format compresses."""


def load_classes(folder: Path, manifest: Manifest, schema: Schema, *, frame: str) -> ClassRelease:
    """The release of a folder; the rows are read when they are asked for."""
    classes = manifest.classes
    if classes is None:
        raise damaged("a grouped release must describe its classes")
    layout: ClassLayout = "bucketized" if manifest.data.layout == "bucketized" else "generalized"
    _check(manifest, classes, schema, layout)
    told: dict[str, SensitiveEntry | PeopleEntry] = {entry.attribute: entry for entry in manifest.sensitive}
    if classes.people is not None:
        told = {PEOPLE: classes.people}
    mechanisms = {name: ClassMechanism.from_dict(entry.mechanism) for name, entry in told.items()}
    description = ClassDescription(
        schema=schema,
        mechanisms=mechanisms,
        claims=tuple(claim for name, entry in told.items() for claim in _claims(name, entry, layout, manifest, schema)),
        layout=layout,
        forms={entry.column: form_of(entry, schema, manifest.records) for entry in classes.forms},
        class_columns=_class_columns(classes),
        # The first releases said so among the parameters of the method.
        person=manifest.person or any("person" in one.parameters for one in mechanisms.values()),
        suppressed=classes.suppressed,
        warnings=_warnings(classes),
        confirmed=confirmed_of(manifest, schema),
    )
    rows = FolderClassRows(folder, manifest, description)
    return ClassRelease.of(description, rows, n_rows=manifest.records, frame_kind=frame)


def check_size(manifest: Manifest) -> None:
    """Refuse more rows than a file of this size can hold, before memory is made for them."""
    if any(part.rows > _MOST_ROWS_A_BYTE * part.bytes for part in manifest.data.parts):
        raise damaged("the data file is too small for the rows that release.json names")


def _check(manifest: Manifest, classes: ClassesEntry, schema: Schema, layout: ClassLayout) -> None:
    if (classes.people is None) == (not manifest.sensitive) or (classes.people and layout == "bucketized"):
        raise damaged("a release must have sensitive attributes, or generalize and say what it promises without them")
    if manifest.data.rows != manifest.records:
        raise damaged("rows and records must agree")
    check_size(manifest)
    columns = _class_columns(classes)
    if set(columns) != set(subjects_of(schema)) or set(columns.values()) != set(classes.numbers):
        raise damaged("every sensitive attribute must have a class column, and every class column a number of classes")
    if set(classes.numbers) & set(schema.names()) or max(classes.numbers.values()) > manifest.data.rows:
        raise damaged("class columns must have names and numbers of classes of their own")
    if layout == "generalized" and len(classes.numbers) > 1:
        raise damaged("generalized rows must have one class column")
    _check_parts(manifest, classes, schema, layout)


def _check_parts(manifest: Manifest, classes: ClassesEntry, schema: Schema, layout: ClassLayout) -> None:
    sensitive = schema.names(Role.SENSITIVE)
    if [entry.column for entry in classes.forms] != list(schema.names(Role.QUASI)):
        raise damaged("every quasi-identifier must have one form")
    if layout == "bucketized":
        check_own_forms(classes.forms)
    named = sorted(table.attribute for table in classes.tables)
    if named != (sorted(sensitive) if layout == "bucketized" else []):
        raise damaged("tables of values must be those of the sensitive attributes")
    if len({table.parts[0].file for table in classes.tables}) != len(classes.tables):
        raise damaged("tables of values must be files of their own")
    if any(table.rows > manifest.data.rows for table in classes.tables):
        raise damaged("tables of values must not have more rows than there are records")


def _class_columns(classes: ClassesEntry) -> dict[str, str]:
    return dict(classes.columns) if classes.people is None else {**classes.columns, PEOPLE: classes.people.column}


def _claims(
    name: str, entry: SensitiveEntry | PeopleEntry, layout: ClassLayout, manifest: Manifest, schema: Schema
) -> Iterator[ClassClaim]:
    for said in (entry.claim, *entry.further_claims):
        rule = model_from_dict(said.rule)
        if name == PEOPLE and not rule.of_people:
            raise damaged("without sensitive attributes, a claim must be about records alone")
        if rule.needs_fit and rule.unfit(schema.domain(name)) is not None:
            raise damaged(f"the claim about {name!r} must be one that its values can keep")
        claim = class_claim(name, rule, layout=layout, people=manifest.person)
        same = (said.model, said.l, said.d) == (claim.model, claim.l, claim.d)
        if not same or abs(said.posterior - claim.posterior) > _ROUNDING:
            raise damaged(f"the claim about {name or 'records'!r} must be its rule's")
        yield claim


def _warnings(classes: ClassesEntry) -> tuple[str, ...]:
    """What every reader must know, even if it was removed from the file; then what the publisher adds."""
    ours = (SEPARATE_CLASSES,) if len(classes.numbers) > 1 else ()
    return (*ours, *(text for text in classes.warnings if text not in ours))
