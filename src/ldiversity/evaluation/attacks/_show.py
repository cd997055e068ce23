"""Read a release or a plain table as attackers do: as columns of distinct cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._matching import as_type
from ldiversity.evaluation.attacks._shown import Shown
from ldiversity.evaluation.attacks._shown_categories import CategoryShown
from ldiversity.evaluation.attacks._shown_columns import ShownColumn
from ldiversity.evaluation.attacks._shown_numbers import NumberShown
from ldiversity.evaluation.measures import code_sensitive
from ldiversity.release import Region, Release, to_numbers
from ldiversity.schema import Domain, Role
from ldiversity.tables import domain_array

__all__ = ["show_release", "show_table"]


def show_table(table: pa.Table) -> Shown:
    """A plain table as it is, such as a synthetic one."""
    columns = {name: _exact(name, table.column(name)) for name in table.column_names}
    return Shown(columns, tuple(columns), (), table.num_rows)


def show_release(release: Release) -> Shown:
    """What a release says about quasi-identifiers, plain columns and sensitive attributes."""
    quasi, plain = release.schema.names(Role.QUASI), release.schema.names(Role.PLAIN)
    columns: dict[str, ShownColumn] = {name: _generalized(release.region(name)) for name in quasi}
    columns |= {name: _exact(name, release.columns([name]).column(name)) for name in plain}
    columns |= {name: _hidden(release, name) for name in release.sensitive}
    n_rows = release.n_rows * release.rows_per_record
    return Shown(columns, quasi, release.sensitive, n_rows, release.rows_per_record, release)


def _hidden(release: Release, attribute: str) -> ShownColumn:
    evidence, domain = release.evidence(attribute), release.domain(attribute)
    candidates = evidence.candidates
    shown = _distinct_lists(candidates.starts, candidates.codes.astype(np.int64), evidence.shares())
    return CategoryShown(
        attribute,
        np.append(shown.place, -1)[evidence.of_row],
        shown.times,
        partial(_hidden_codes, name=attribute, domain=domain, kind=release.schema[attribute].type),
        shown.starts,
        shown.values,
        shown.shares,
        len(domain),
        listed=evidence.counted,
        counted=evidence.counted,
        # In a class that shares a region, somebody has each of its values. Elsewhere a value may be another record's.
        alone=release.generalized,
    )


def _hidden_codes(cells: pa.ChunkedArray, *, name: str, domain: Domain, kind: str) -> NDArray[np.int64]:
    """Codes of the domain; its size for values outside, which people who were not in the table may have."""
    if domain.edges is not None:
        numbers, known = to_numbers(cells)
        inside = ~known | ((numbers >= domain.edges[0]) & (numbers <= domain.edges[-1]))
    else:
        values = domain_array(domain)
        inside = np.asarray(pc.is_in(as_type(cells, values.type, name), value_set=values)) | np.asarray(cells.is_null())
    coded = np.full(len(cells), len(domain), dtype=np.int64)
    kept = np.flatnonzero(inside)
    found = code_sensitive(cells.take(pa.array(kept)), name, domain, kind)
    coded[kept] = np.where(found < 0, len(domain), found)
    return coded


def _generalized(region: Region) -> ShownColumn:
    form = region.form
    if form.kind == "exact":
        return _exact(region.name, pa.chunked_array([region.column]))
    of_row = region.of_row.astype(np.int64)
    if form.kind == "interval" or form.spans:
        intervals, missing = (
            (region.intervals, np.zeros(len(region.column), np.bool_)) if form.kind == "interval" else region.spans
        )
        whole = np.nan if form.low is None else float(form.low), np.nan if form.high is None else float(form.high)
        low, high = (
            np.where(missing, np.nan, np.where(intervals.unknown, end, published.astype(np.float64)))
            for end, published in zip(whole, (intervals.low, intervals.high), strict=True)
        )
        step = 1.0 if np.issubdtype(intervals.low.dtype, np.integer) else 0.0
        pairs, place, times = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True, return_counts=True)
        cells = np.append(place.reshape(-1), -1)[of_row]
        read = partial(_numbers, read=region.numbers)
        return NumberShown(region.name, cells, times, read, pairs[:, 0], pairs[:, 1], step)
    lists = region.lists
    lengths = np.diff(lists.starts)
    shown = _distinct_lists(lists.starts, lists.values, np.repeat(1.0 / np.maximum(lengths, 1), lengths))
    region_of = shown.place[lists.region_of]
    return CategoryShown(
        region.name,
        np.append(region_of, -1)[of_row],
        np.bincount(region_of, minlength=len(shown.times)),
        region.places,
        shown.starts,
        shown.values,
        shown.shares,
        len(form.labels),
        # A list of all values may stand for a cell that was suppressed.
        listed=form.kind == "values" and bool(lengths.max(initial=0) < len(form.labels)),
    )


@dataclass(frozen=True, eq=False)
class _Lists:
    """Different lists of values with shares, how often each occurs, and the place of each given list among them."""

    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    shares: FloatArray
    times: NDArray[np.int64]
    place: NDArray[np.int64]


def _distinct_lists(starts: NDArray[np.int64], values: NDArray[np.int64], shares: FloatArray) -> _Lists:
    known: dict[tuple[bytes, bytes], int] = {}
    place, firsts = np.empty(len(starts) - 1, dtype=np.int64), []
    for number, (start, end) in enumerate(pairwise(starts.tolist())):
        key = values[start:end].tobytes(), shares[start:end].tobytes()
        if key not in known:
            known[key] = len(known)
            firsts.append(np.arange(start, end))
        place[number] = known[key]
    inside = np.concatenate([np.zeros(0, np.int64), *firsts])
    lengths = np.cumsum([0, *map(len, firsts)]).astype(np.int64)
    return _Lists(lengths, values[inside], shares[inside], np.bincount(place, minlength=len(known)), place)


def _numbers(
    cells: pa.ChunkedArray, *, read: Callable[[pa.ChunkedArray], tuple[NDArray[Any], NDArray[np.bool_]]]
) -> FloatArray:
    numbers, known = read(cells)
    return np.where(known, numbers.astype(np.float64), np.nan)


def _exact(name: str, cells: pa.ChunkedArray) -> ShownColumn:
    """A column whose cells are published as they were."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    cells = cells.cast(pa.string() if pa.types.is_null(kind) else kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        distinct, of_row = np.unique(_numbers(cells, read=to_numbers), return_inverse=True)
        step = 0.0 if pa.types.is_floating(kind) else 1.0
        code = partial(_numbers, read=lambda column: to_numbers(as_type(column, kind, name)))
        return NumberShown(name, of_row.astype(np.int64), np.bincount(of_row), code, distinct, distinct, step)
    known = cells.unique()
    values = (known.combine_chunks() if isinstance(known, pa.ChunkedArray) else known).drop_null()
    missing = len(values)  # the category of missing cells is the last one
    codes = partial(_positions, values=values, name=name)
    starts = np.arange(missing + 2, dtype=np.int64)
    of_row = codes(cells)
    times = np.bincount(of_row, minlength=missing + 1)
    return CategoryShown(name, of_row, times, codes, starts, starts[:-1], np.ones(missing + 1), missing + 1)


def _positions(cells: pa.ChunkedArray, *, values: pa.Array, name: str) -> NDArray[np.int64]:
    cells = as_type(cells, values.type, name)
    found = np.asarray(pc.fill_null(pc.index_in(cells, value_set=values).cast(pa.int64()), len(values) + 1))
    return np.where(np.asarray(cells.is_null()), len(values), found)
