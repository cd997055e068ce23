"""Quasi-identifiers as features for a classifier: one column per value, or per quantile of a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._matching import number_alike
from ldiversity.release import Region, Release, to_numbers
from ldiversity.schema import Role
from ldiversity.tables import value_type

__all__ = ["Features", "exact_features", "region_features"]

_BINS: Final = 20
_MOST_VALUES: Final = 1000


@dataclass(frozen=True, eq=False)
class Features:
    """Sparse matrices with the same columns, for what was published and for the targets."""

    published: Any
    targets: Any


def exact_features(published: pa.Table, targets: pa.Table, names: Sequence[str]) -> Features:
    """Mark the value of each column with a one; numbers with many values are cut at their quantiles."""
    parts = [_exact(name, published.column(name), targets) for name in names]
    widths = [width for _, width in parts]
    return Features(
        _marked([codes[0] for codes, _ in parts], widths, published.num_rows),
        _marked([codes[1] for codes, _ in parts], widths, targets.num_rows),
    )


def region_features(release: Release, targets: pa.Table) -> Features:
    """Spread regions evenly over the values or quantiles that they cover."""
    names = release.schema.names(Role.QUASI)
    parts = [_region(release.region(name), targets.column(name)) for name in names]
    return _stack(parts, parts[0][0].shape[0] if names else 0, targets.num_rows)


def _stack(parts: list[tuple[Any, Any]], n_published: int, n_targets: int) -> Features:
    from scipy.sparse import csr_array, hstack

    ones = [csr_array(np.ones((n, 1))) for n in (n_published, n_targets)]
    published, targets = ([one, *(part[side] for part in parts)] for side, one in enumerate(ones))
    return Features(csr_array(hstack(published)), csr_array(hstack(targets)))


def _marked(parts: Sequence[NDArray[np.int64]], widths: Sequence[int], n_rows: int) -> Any:  # noqa: ANN401 - a sparse matrix
    """A column of ones, and beside it as many as each part is wide: that of each row's code has a one."""
    from scipy.sparse import csr_array

    marked, first = np.zeros((n_rows, 1 + len(parts)), dtype=np.int32), 1
    for place, (codes, width) in enumerate(zip(parts, widths, strict=True), 1):
        marked[:, place] = codes + first
        first += width
    starts = np.arange(0, marked.size + 1, marked.shape[1])
    return csr_array((np.ones(marked.size), marked.reshape(-1), starts), shape=(n_rows, first))


def _exact(name: str, column: pa.ChunkedArray, targets: pa.Table) -> tuple[list[NDArray[np.int64]], int]:
    """The codes of what was published and of the targets, and how many there are."""
    kind = value_type(column.type)
    distinct = pc.count_distinct(column, mode="all").as_py()
    if kind is not None and _is_number(column.type) and distinct > _BINS:
        (numbers, known), (others, other_known) = to_numbers(column), to_numbers(targets.column(name).cast(column.type))
        edges = np.unique(np.quantile(numbers[known], np.linspace(0, 1, _BINS + 1)[1:-1]))
        codes = [
            np.where(there, np.searchsorted(edges, values, side="right"), len(edges) + 1)
            for values, there in ((numbers, known), (others, other_known))
        ]
        return codes, len(edges) + 2
    both = number_alike([pa.table({name: column}), targets.select([name])], [name])
    width = int(max(part.max(initial=0) for part in both)) + 1
    if width > _MOST_VALUES:  # hash: a classifier learns nothing from values that hardly ever repeat
        both, width = [part % _MOST_VALUES for part in both], _MOST_VALUES
    return list(both), width


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind))


def _ones(codes: NDArray[np.int64], width: int) -> Any:  # noqa: ANN401 - a sparse matrix
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), width))


def _region(region: Region, cells: pa.ChunkedArray) -> tuple[Any, Any]:
    from scipy.sparse import csr_array

    form = region.form
    if form.kind != "interval":
        return _lists(region, cells)
    intervals = region.intervals
    numbers, known = region.numbers(cells)
    low, high = float(form.low or 0.0), float(form.high or 0.0)
    edges = np.linspace(low, high, _BINS + 1)[1:-1] if high > low else np.zeros(0)
    width = len(edges) + 2
    first = np.searchsorted(edges, np.where(intervals.unknown, low, intervals.low), side="right")
    last = np.searchsorted(edges, np.where(intervals.unknown, high, intervals.high), side="right")
    bins = np.arange(width)
    covered: FloatArray = ((bins >= first[:, None]) & (bins <= last[:, None])).astype(float)
    code = np.where(known, np.searchsorted(edges, numbers, side="right"), width - 1)
    return csr_array(covered / covered.sum(axis=1, keepdims=True)), _ones(code, width)


def _lists(region: Region, cells: pa.ChunkedArray) -> tuple[Any, Any]:
    from scipy.sparse import csr_array

    lists = region.lists
    width = len(region.form.labels) + 1
    lengths = np.diff(lists.starts)
    share = np.repeat(1.0 / lengths, lengths)
    spread = csr_array((share, lists.values, lists.starts), shape=(len(lengths), width))[lists.region_of]
    return csr_array(spread), _ones(region.places(cells), width)
