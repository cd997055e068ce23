"""A grouped release from a manifest that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import model_from_dict
from ldiversity.release._claims import ClassClaim
from ldiversity.release._class_limits import SEPARATE_CLASSES
from ldiversity.release._class_read import FolderClassRows
from ldiversity.release._class_release import ClassRelease
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damaged
from ldiversity.release._description import ClassDescription, ClassLayout
from ldiversity.release._forms import Form, Marginal, Reach
from ldiversity.release._manifest import ClassesEntry, FormEntry, Manifest, SensitiveEntry
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
    description = ClassDescription(
        schema=schema,
        mechanisms={entry.attribute: ClassMechanism.from_dict(entry.mechanism) for entry in manifest.sensitive},
        claims=tuple(claim for entry in manifest.sensitive for claim in _claims(entry)),
        layout=layout,
        forms={entry.column: _form(entry, schema, manifest.records) for entry in classes.forms},
        class_columns=classes.columns,
        suppressed=classes.suppressed,
        warnings=_warnings(classes),
    )
    rows = FolderClassRows(folder, manifest, description)
    return ClassRelease.of(description, rows, n_rows=manifest.records, frame_kind=frame)


def check_size(manifest: Manifest) -> None:
    """Refuse more rows than a file of this size can hold, before memory is made for them."""
    if manifest.data.rows > _MOST_ROWS_A_BYTE * manifest.data.bytes:
        raise damaged("the data file is too small for the rows that release.json names")


def _check(manifest: Manifest, classes: ClassesEntry, schema: Schema, layout: ClassLayout) -> None:
    sensitive = schema.names(Role.SENSITIVE)
    if manifest.data.rows != manifest.records:
        raise damaged("rows and records must agree")
    check_size(manifest)
    if set(classes.columns) != set(sensitive) or set(classes.columns.values()) != set(classes.numbers):
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
    if layout == "bucketized" and any(entry.kind != "exact" for entry in classes.forms):
        raise damaged("bucketized quasi-identifiers must be exact")
    named = sorted(table.attribute for table in classes.tables)
    if named != (sorted(sensitive) if layout == "bucketized" else []):
        raise damaged("tables of values must be those of the sensitive attributes")
    if len({table.file for table in classes.tables}) != len(classes.tables):
        raise damaged("tables of values must be files of their own")
    if any(table.rows > manifest.data.rows for table in classes.tables):
        raise damaged("tables of values must not have more rows than there are records")


def _claims(entry: SensitiveEntry) -> Iterator[ClassClaim]:
    for said in (entry.claim, *entry.further_claims):
        claim = ClassClaim(entry.attribute, model_from_dict(said.rule))
        same = (said.model, said.l, said.d) == (claim.model, claim.l, claim.d)
        if not same or abs(said.posterior - claim.posterior) > _ROUNDING:
            raise damaged(f"the claim about {entry.attribute!r} must be its rule's")
        yield claim


def _warnings(classes: ClassesEntry) -> tuple[str, ...]:
    """What every reader must know, even if it was removed from the file; then what the publisher adds."""
    ours = (SEPARATE_CLASSES,) if len(classes.numbers) > 1 else ()
    return (*ours, *(text for text in classes.warnings if text not in ours))


def _form(entry: FormEntry, schema: Schema, n_records: int) -> Form:
    name = entry.column
    hierarchy = None
    labels: tuple[str, ...] = ()
    if entry.kind == "node":
        try:
            hierarchy = Hierarchy(tuple(tuple(row) for row in entry.hierarchy or []))
        except SchemaError as error:
            raise damaged(f"column {name!r}: {error.message.rstrip('.')}") from None
        labels = hierarchy.leaves
        if not labels:
            raise damaged(f"column {name!r} must have a hierarchy")
    elif entry.kind == "values":
        labels = tuple(entry.labels or ())
        if not labels or len(set(labels)) != len(labels):
            raise damaged(f"column {name!r} must have public values, each once")
    elif entry.kind == "interval":
        _check_range(entry, parse_type(schema[name].type))
    reaches = _reaches(entry, hierarchy, parse_type(schema[name].type))
    return Form(entry.kind, hierarchy, entry.low, entry.high, labels, _marginal(entry, len(labels), n_records), reaches)


def _reaches(entry: FormEntry, hierarchy: Hierarchy | None, kind: pa.DataType) -> dict[str, Reach] | None:
    if entry.nodes is None:
        return None
    known = set() if hierarchy is None else {label for labels in hierarchy.labels for label in labels}
    found = {node.label: Reach(node.low, node.high, tuple(node.starts)) for node in entry.nodes}
    if not found.keys() <= known or len(found) < len(entry.nodes) or entry.marginal is not None:
        raise damaged(f"column {entry.column!r} must say what its nodes stand for, each once")
    for reach in found.values():
        if (reach.low is None) == (not reach.starts) or (reach.low is None) != (reach.high is None):
            raise damaged(f"column {entry.column!r} must have nodes that are intervals or beginnings")
    if any(reach.low is not None for reach in found.values()):
        _check_range(entry, kind)
        low, high = entry.low, entry.high
        ends = [(reach.low, reach.high) for reach in found.values() if reach.low is not None and reach.high is not None]
        if low is None or high is None or any(not low <= a <= b <= high for a, b in ends):
            raise damaged(f"column {entry.column!r} must have intervals within its range")
    return found


def _check_range(entry: FormEntry, kind: pa.DataType) -> None:
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        raise damaged(f"column {entry.column!r} must be of numbers or times to have intervals")
    if (entry.low is None) != (entry.high is None) or (
        entry.low is not None and entry.high is not None and entry.low > entry.high
    ):
        raise damaged(f"column {entry.column!r} must have a range whose low end is not above the high one")
    if entry.low is not None and entry.high is not None and max(-entry.low, entry.high) > LARGEST_NUMBER:
        raise damaged(f"column {entry.column!r} must have a range from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}")


def _marginal(entry: FormEntry, n_labels: int, n_records: int) -> Marginal | None:
    if entry.marginal is None:
        return None
    values, counts = np.asarray(entry.marginal.values), np.asarray(entry.marginal.counts, dtype=np.int64)
    known = entry.kind == "interval" or (n_labels and all(isinstance(v, int) for v in entry.marginal.values))
    inside = entry.kind == "interval" or not len(values) or (values.min() >= 0 and values.max() < n_labels)
    if not known or not inside or len(values) != len(counts) or (np.diff(values) <= 0).any():
        raise damaged(f"column {entry.column!r} must have counts of its values, each once and in their order")
    if sum(entry.marginal.counts) + entry.marginal.missing != n_records:
        raise damaged(f"column {entry.column!r} must have counts of all records")
    return Marginal(values, counts, entry.marginal.missing)
