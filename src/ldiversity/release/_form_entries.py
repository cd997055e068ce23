"""How quasi-identifiers are published, as ``release.json`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damage, damaged
from ldiversity.release._forms import Form, Marginal, Reach
from ldiversity.release._grid import grid_of
from ldiversity.release._manifest import FormEntry
from ldiversity.schema import Schema

__all__ = ["check_own_forms", "form_entry", "form_of"]


def form_entry(name: str, form: Form) -> FormEntry:
    """The description of a form."""
    said: dict[str, object] = {"column": name, "kind": form.kind, "low": form.low, "high": form.high}
    if form.grid is not None:
        said["grid"] = form.grid
    if form.hierarchy is not None:
        said["hierarchy"] = form.hierarchy.to_rows()
    if form.reaches is not None:
        said["nodes"] = [
            {
                "label": label,
                "low": reach.low,
                "high": reach.high,
                "starts": list(reach.starts),
                "unbounded": reach.unbounded,
            }
            for label, reach in form.reaches.items()
        ]
    if form.kind == "values":
        said["labels"] = list(form.labels)
    if form.marginal is not None:
        values, counts = form.marginal.values.tolist(), form.marginal.counts.tolist()
        said["marginal"] = {"values": values, "counts": counts, "missing": form.marginal.missing}
    return FormEntry.model_validate(said)


def check_own_forms(entries: Sequence[FormEntry]) -> None:
    """Refuse regions where every record shows its own cell: those are exact, or nodes at a declared level."""
    if any(entry.kind not in {"exact", "node"} or entry.marginal is not None for entry in entries):
        raise damaged("quasi-identifiers that classes do not share must be exact, or nodes of a hierarchy")


def form_of(entry: FormEntry, schema: Schema, n_records: int) -> Form:
    """The form that a description from a stranger stands for, checked."""
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
        _check_grid(entry, parse_type(schema[name].type))
    if entry.grid is not None and entry.kind != "interval":
        raise damaged(f"column {name!r} must hold intervals to have a grid")
    reaches = _reaches(entry, hierarchy, parse_type(schema[name].type))
    marginal = _marginal(entry, len(labels), n_records)
    return Form(entry.kind, hierarchy, entry.low, entry.high, labels, marginal, reaches, entry.grid)


def _reaches(entry: FormEntry, hierarchy: Hierarchy | None, kind: pa.DataType) -> dict[str, Reach] | None:
    if entry.nodes is None:
        return None
    known = set() if hierarchy is None else {label for labels in hierarchy.labels for label in labels}
    found = {node.label: Reach(node.low, node.high, tuple(node.starts), node.unbounded) for node in entry.nodes}
    if not found.keys() <= known or len(found) < len(entry.nodes) or entry.marginal is not None:
        raise damaged(f"column {entry.column!r} must say what its nodes stand for, each once")
    for reach in found.values():
        if (reach.low is None) == (not reach.starts) or (reach.low is None) != (reach.high is None):
            raise damaged(f"column {entry.column!r} must have nodes that are intervals or beginnings")
        if reach.unbounded is not None and reach.low is None:
            raise damaged(f"column {entry.column!r} must have nodes without an end only among intervals")
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


def _check_grid(entry: FormEntry, kind: pa.DataType) -> None:
    """Refuse a grid that columns of this type cannot have, and a range that does not lie on it."""
    if entry.grid is None:
        return
    try:
        grid = grid_of(entry.grid, kind)
    except ParameterError as error:
        raise damaged(f"column {entry.column!r}: its grid {error.rule}") from None
    if entry.low is None or entry.high is None:
        return
    with damage(entry.column):
        ends = [np.array([end]).astype(np.float64 if grid.half_open else np.int64) for end in (entry.low, entry.high)]
        if [end[0] for end in ends] != [entry.low, entry.high] or not grid.holds(*ends):
            raise damaged(f"column {entry.column!r} must have a range whose ends lie on its grid")


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
