"""The published regions: what all records of a class have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.base.limits import MOST_VALUES
from ldiversity.errors import InternalError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, NumberColumn
from ldiversity.publish._coding import Reading
from ldiversity.publish._shapes import CategoryShape
from ldiversity.release import Cells, Form, Grid, Marginal, Step, column_of, node_labels
from ldiversity.schema import MISSING_LABEL

__all__ = ["ClassRowsInOrder", "category_form", "interval_form", "make_forms", "make_regions", "region_cells"]


@dataclass(frozen=True, eq=False)
class ClassRowsInOrder:
    """The rows of a table, class by class: those of class c are ``order[starts[c]:starts[c + 1]]``.

    `class_of` has the class of each row, or -1 for rows that are not published.
    """

    class_of: CodeArray
    order: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, class_of: CodeArray, n_classes: int) -> ClassRowsInOrder:
        """Sort the rows by class."""
        from ldiversity._kernels.regions import order_by_class

        return cls(class_of, *order_by_class(class_of, n_classes))

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1

    @property
    def firsts(self) -> NDArray[np.int32]:
        """The first row of each class."""
        return self.order[self.starts[:-1]]

    def ends(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The least and the greatest value of each class."""
        sorted_values = values[self.order]
        return np.minimum.reduceat(sorted_values, self.starts[:-1]), np.maximum.reduceat(
            sorted_values, self.starts[:-1]
        )


def make_forms(reading: Reading, rows: ClassRowsInOrder, *, marginals: bool) -> dict[str, Form]:
    """How each quasi-identifier is published: its public range or values are those of the published records."""
    forms = {}
    for column in reading.table.quasi:
        if isinstance(column, NumberColumn):
            grid, step = reading.grids.get(column.name), reading.steps.get(column.name)
            forms[column.name] = _interval_form(column, rows, grid, step, marginals=marginals)
        else:
            added = column.name in reading.added_missing
            forms[column.name] = _category_form(column, rows, marginals=marginals, added_missing=added)
    return forms


def interval_form(ends: tuple[float, float] | None, dtype: str, step: Step | None, grid: Grid | None) -> Form:
    """How numbers of this type between two ends are published: the range is rounded to the grid, if there is one."""
    if ends is None:
        return Form("interval")
    low, high = ends
    if grid is not None:
        low, high = grid.below(np.array([low], dtype=dtype)).item(), grid.above(np.array([high], dtype=dtype)).item()
    return Form("interval", low=low, high=high, grid=step if grid is not None else None)


def category_form(column: CategoryColumn | CategoryShape, occurs: BoolArray, *, added_missing: bool) -> Form:
    """How categories are published, of which these occur in published records."""
    tree = column.hierarchy
    # A declared hierarchy says which values there are; otherwise only values of published records are public.
    if tree is not None and tree.origin is None:
        occurs = occurs | np.array([not added_missing or label != MISSING_LABEL for label in column.labels])
    kept = np.flatnonzero(occurs)
    labels = tuple(column.labels[code] for code in kept)
    if tree is None:
        return Form("values", labels=labels)
    public = Hierarchy(tuple(tree.rows[code] for code in kept), origin=tree.origin)
    return Form("node", hierarchy=public, labels=labels)


def make_regions(
    reading: Reading,
    rows: ClassRowsInOrder,
    forms: Mapping[str, Form],
    *,
    levels: Mapping[str, int],
    suppress_differences: bool,
) -> pa.Table:
    """One row per class: the regions of `region_cells` as they are published."""
    found = region_cells(reading, rows, forms, levels=levels, suppress_differences=suppress_differences)
    columns = {name: column_of(cells, forms[name], reading.types[name]) for name, cells in found.items()}
    # Without quasi-identifiers a class still has a region: everything.
    return pa.table(columns) if columns else pa.table({"": pa.nulls(rows.n_classes)}).select([])


def region_cells(
    reading: Reading,
    rows: ClassRowsInOrder,
    forms: Mapping[str, Form],
    *,
    levels: Mapping[str, int],
    suppress_differences: bool,
) -> dict[str, Cells]:
    """One cell per class: the tightest region on the grid that holds its records, or what the method asked for.

    Values of columns in `levels` are published as their ancestors at that level. With `suppress_differences`, a cell is
    published only when all records of the class agree on it.
    """
    columns = {}
    for column in reading.table.quasi:
        form = forms[column.name]
        if isinstance(column, NumberColumn):
            grid = reading.grids.get(column.name)
            cells = _intervals(column, rows, grid, suppress=suppress_differences)
        elif form.kind == "node":
            cells = _nodes(column, rows, form, level=levels.get(column.name), suppress=suppress_differences)
        else:
            cells = _lists(column, rows, form, suppress=suppress_differences)
        columns[column.name] = cells
    return columns


def _interval_form(
    column: NumberColumn, rows: ClassRowsInOrder, grid: Grid | None, step: Step | None, *, marginals: bool
) -> Form:
    values = column.values[rows.order]
    missing = 0
    if column.missing is not None:
        unknown = column.missing[rows.order]
        missing, values = int(np.count_nonzero(unknown)), values[~unknown]
    ends = (values.min().item(), values.max().item()) if len(values) else None
    form = interval_form(ends, str(values.dtype), step, grid)
    if marginals and len(values):
        distinct, counts = np.unique(values, return_counts=True)
        if len(distinct) <= MOST_VALUES:
            return replace(form, marginal=Marginal(distinct, counts.astype(np.int64), missing))
    return form


def _category_form(column: CategoryColumn, rows: ClassRowsInOrder, *, marginals: bool, added_missing: bool) -> Form:
    counts = np.bincount(column.codes[rows.order], minlength=len(column.labels))
    form = category_form(column, counts > 0, added_missing=added_missing)
    if not marginals:
        return form
    shown = counts[_places_in(column, form)]
    occurs = np.flatnonzero(shown)
    return replace(form, marginal=Marginal(occurs, shown[occurs].astype(np.int64)))


def _places_in(column: CategoryColumn, form: Form) -> NDArray[np.int64]:
    """The code of each public label."""
    code = {label: place for place, label in enumerate(column.labels)}
    return np.array([code[label] for label in form.labels], dtype=np.int64)


def _intervals(column: NumberColumn, rows: ClassRowsInOrder, grid: Grid | None, *, suppress: bool) -> Cells:
    low, high = rows.ends(column.values)
    differ = low != high
    if grid is not None:
        differ = grid.below(low) != grid.below(high)
        low, high = grid.below(low), grid.above(high)
    unknown = np.zeros(rows.n_classes, dtype=bool)
    if column.missing is not None:
        unknown = np.logical_or.reduceat(column.missing[rows.order], rows.starts[:-1])
    if suppress:
        unknown |= differ
    starts = np.concatenate([[0], np.cumsum(np.where(unknown, 0, 2))]).astype(np.int64)
    return Cells(starts, np.column_stack([low[~unknown], high[~unknown]]).reshape(-1))


def _nodes(column: CategoryColumn, rows: ClassRowsInOrder, form: Form, *, level: int | None, suppress: bool) -> Cells:
    from ldiversity._kernels.regions import common_levels

    nodes = np.ascontiguousarray(column.nodes)
    lowest = common_levels(column.codes, rows.order, rows.starts, nodes)
    chosen = lowest
    if level is not None:
        if (lowest > level).any():
            raise InternalError(f"a class must lie under one node of level {level}", column=column.name)
        chosen = np.full(rows.n_classes, level, dtype=np.int32)
    elif suppress:
        chosen = np.where(lowest > 0, nodes.shape[1] - 1, 0)
    labels = () if column.hierarchy is None else column.hierarchy.labels
    place = {label: code for code, label in enumerate(node_labels(form))}
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in labels])])
    codes = np.array([place.get(label, -1) for one in labels for label in one], dtype=np.int32)
    first = column.codes[rows.firsts]
    flat = codes[offsets[chosen] + nodes[first, chosen]]
    return Cells(np.arange(rows.n_classes + 1), flat)


def _lists(column: CategoryColumn, rows: ClassRowsInOrder, form: Form, *, suppress: bool) -> Cells:
    n_labels = len(column.labels)
    class_of = np.repeat(np.arange(rows.n_classes, dtype=np.int64), np.diff(rows.starts))
    pairs = np.sort(class_of * n_labels + column.codes[rows.order], kind="stable")
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    place = _places(column, form)
    flat = place[pairs % n_labels]
    lengths = np.bincount(pairs // n_labels, minlength=rows.n_classes)
    if suppress:
        return _all_or_one(flat, lengths, len(form.labels))
    return Cells(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), flat)


def _all_or_one(flat: CodeArray, lengths: NDArray[np.int64], n_labels: int) -> Cells:
    """Cells with one value stay; the others list every public value."""
    one = lengths == 1
    starts = np.concatenate([[0], np.cumsum(np.where(one, 1, n_labels))]).astype(np.int64)
    filled = np.tile(np.arange(n_labels, dtype=np.int32), int(np.count_nonzero(~one)))
    whole = np.empty(starts[-1], dtype=np.int32)
    single = np.repeat(one, np.diff(starts))
    whole[single] = flat[np.repeat(one, lengths)]
    whole[~single] = filled
    return Cells(starts, whole)


def _places(column: CategoryColumn, form: Form) -> CodeArray:
    """The position of each code among the public labels; labels without a published record have none."""
    known = {label: place for place, label in enumerate(form.labels)}
    return np.array([known.get(label, -1) for label in column.labels], dtype=np.int32)
