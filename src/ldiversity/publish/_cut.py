"""Hierarchies that were made from the table, cut below the nodes that the rows show."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.hierarchies import Hierarchy, Origin, days_of, free_label, span_of, starts_of
from ldiversity.publish._columns_read import is_number
from ldiversity.release import Calendar, Form, Reach, numbers_in
from ldiversity.schema import MISSING_LABEL

__all__ = ["cut_forms", "reach_of_days", "reach_of_label"]

_OTHER: Final = "{} (other)"
_ANYTHING: Final = Reach(starts=("",))


Reached: TypeAlias = Callable[[str, int, pa.DataType], Reach | None]
"""What a label at a level of its tree stands for."""


def cut_forms(
    forms: Mapping[str, Form],
    regions: pa.Table,
    types: Mapping[str, pa.DataType],
    reaches: Mapping[str, Reached] | None = None,
) -> dict[str, Form]:
    """The forms without leaves that no row shows, where leaves came from the table.

    What stays are the nodes that occur, which of them lie under which, and what each stands for. Nothing changes where
    the hierarchy was declared, or where the holder publishes how often each exact value occurs. `regions` has one row
    per class, and `types` the type of each column before it was generalized. `reaches` says what labels stand for,
    where a column begins at a declared level.
    """
    cut = {}
    for name, form in forms.items():
        tree, origin = form.hierarchy, None if form.hierarchy is None else form.hierarchy.origin
        cut[name] = form
        if tree is not None and origin is not None and form.marginal is None:
            told = (reaches or {}).get(name) or partial(_told, origin)
            cut[name] = _cut(form, tree, told, regions.column(name), types[name])
    return cut


def _told(origin: Origin, label: str, level: int, kind: pa.DataType) -> Reach | None:
    return reach_of_label(origin, label, kind, level=level)


def _cut(form: Form, tree: Hierarchy, told: Reached, cells: pa.ChunkedArray, kind: pa.DataType) -> Form:
    shown = set(cells.to_pylist())
    root = tree.rows[0][-1]
    above: dict[str, tuple[str, ...]] = {}
    level_of: dict[str, int] = {}
    first: dict[str, int] = {}
    for leaf, row in enumerate(tree.rows):
        for label in row:
            first.setdefault(label, leaf)
        path = [(level, label) for level, label in enumerate(row) if label in shown and label not in row[:level]]
        for place, (level, label) in enumerate(path):
            above.setdefault(label, tuple(dict.fromkeys([*(upper for _, upper in path[place + 1 :]), root])))
            level_of.setdefault(label, level)
    parents = {upper for label, chain in above.items() for upper in chain if upper != label} & shown
    rows: list[tuple[str, ...]] = []
    reaches: dict[str, Reach] = {}
    for label in sorted(above, key=lambda label: _place(label, above[label], parents, first)):
        upper = above[label]
        reach = _ANYTHING if label == root else told(label, level_of[label], kind)
        chain = () if label == root else upper
        # Where nodes under this one are shown too, the rest of it is a value of its own, so that readers count it once.
        other = label in parents
        name = free_label(_OTHER.format(label), above) if other else label
        rows.append((name, label, *chain) if other else (label, *chain))
        if reach is not None:
            reaches |= {label: reach, name: reach}
    spans = [reach for reach in reaches.values() if reach.low is not None]
    public = Hierarchy.from_rows(rows)
    return replace(
        form,
        hierarchy=public,
        labels=public.leaves,
        reaches=reaches,
        low=min((reach.low for reach in spans if reach.low is not None), default=None),
        high=max((reach.high for reach in spans if reach.high is not None), default=None),
    )


def _place(label: str, upper: tuple[str, ...], parents: set[str], first: Mapping[str, int]) -> tuple[float, ...]:
    """The place of a row: nodes in their order, and the rest of a node after all nodes under it.

    So nobody sees where the leaves that were cut stood among those that are shown.
    """
    path = dict.fromkeys([*reversed(upper), label])
    return (*(first[node] for node in path), *([math.inf] if label in parents else []))


def reach_of_label(origin: Origin, label: str, kind: pa.DataType, *, level: int = 1) -> Reach | None:
    """What a node stands for; None for a single text, and for the missing values."""
    if label == MISSING_LABEL:
        return None
    if level == 0:
        return _point(label, kind) if is_number(kind) and origin.kind != "prefix" else None
    if origin.kind in {"width", "quantiles"}:
        low, high = span_of(label).whole() if pa.types.is_integer(kind) else span_of(label).real()
        # An interval may reach beyond the largest number that a value can be.
        return Reach(max(low, -LARGEST_NUMBER), min(high, LARGEST_NUMBER))
    if origin.kind == "date" and pa.types.is_temporal(kind):
        return reach_of_days(*days_of(label), kind)
    return Reach(starts=starts_of(origin, label))


def _point(label: str, kind: pa.DataType) -> Reach:
    number = numbers_in(pa.array([label]).cast(pa.float64() if pa.types.is_floating(kind) else kind))[0].item()
    return Reach(number, number)


def reach_of_days(first: dt.date, last: dt.date, kind: pa.DataType) -> Reach:
    """The days from the first to the last, or all instants in them."""
    if pa.types.is_date32(kind):
        low, high = numbers_in(pa.array([first, last], pa.date32())).tolist()
        return Reach(low, high)
    # From the first instant of the first day to the last one before the day after the last.
    naive = pa.array([first, last], pa.date32()).cast(pa.timestamp("ms"))
    day = 24 * 60 * 60 * 1000
    starts = pa.array([naive[0].value, naive[1].value + day], pa.int64()).cast(pa.timestamp("ms"))
    low, after = numbers_in(_in_zone(starts, kind)).tolist()
    return Reach(low, after - 1)


def _in_zone(starts: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_date64(kind):
        return starts.cast(pa.int64())
    plain = starts.cast(pa.timestamp(kind.unit))
    if kind.tz is None:
        return plain
    return pa.array(Calendar("day", kind).instants(np.asarray(plain.cast(pa.int64())))).cast(kind)
