"""The values of quasi-identifiers as codes, and where records and classes of a release lie on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import SchemaError
from ldiversity.evaluation.measures._original import as_type
from ldiversity.hierarchies import text_of
from ldiversity.release import to_numbers
from ldiversity.tables import to_values, value_type

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.release import Form, Region

__all__ = ["Axis", "Reach", "make_axis", "reach_of"]


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of one quasi-identifier that occur in the original, in ascending order; a missing one is last."""

    name: str
    values: pa.Array

    def __len__(self) -> int:
        return len(self.values)

    def codes(self, column: pa.ChunkedArray) -> NDArray[np.intp]:
        """Give the position of each cell; the length of the axis for a value that is not on it."""
        cells = as_type(self.name, column, self.values.type, safe=False)
        if pa.types.is_floating(cells.type):
            cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)
        found = pc.fill_null(pc.index_in(cells, value_set=self.values), len(self))
        return np.asarray(found).astype(np.intp)

    @cached_property
    def texts(self) -> dict[str, int]:
        """The position of each value by its text."""
        kind = value_type(self.values.type)
        values = self.values if kind is None else to_values(self.values, kind)
        return {text_of(value): position for position, value in enumerate(values.to_pylist())}


def make_axis(name: str, column: pa.ChunkedArray) -> Axis:
    """Collect the values of a column.

    Examples
    --------
    >>> make_axis("age", pa.chunked_array([[30, None, 20, 30]])).values.to_pylist()
    [20, 30, None]
    """
    if pa.types.is_nested(column.type):
        raise SchemaError("QueryWorkload", "must hold single values", column=name, got=column.type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    distinct = pc.unique(column)
    sortable = distinct.cast(pa.int8()) if pa.types.is_boolean(distinct.type) else distinct
    return Axis(name, distinct.take(pc.sort_indices(sortable)))  # a missing value comes last


class Reach(Protocol):
    """Where on an axis the classes of a release lie."""

    def shares(self, chosen: BoolArray) -> FloatArray:
        """Shape (queries, classes): the share of each class that lies on values which each query chose, of the axis.

        `chosen` has the shape (queries, values).
        """


def reach_of(axis: Axis, region: Region) -> Reach:
    """Read where classes lie; they are spread evenly over the values, or as the published marginal says."""
    measure = _measure(axis, region.form)
    if region.form.kind != "interval":
        return _lists(axis, region, measure)
    intervals = region.intervals
    numbers, known = to_numbers(as_type(axis.name, axis.values, region.kind, safe=False))
    numbers = numbers[known]  # a missing value is last
    first = np.searchsorted(numbers, intervals.low, side="left")
    last = np.searchsorted(numbers, intervals.high, side="right")
    return _Ranges(np.where(intervals.unknown, 0, first), np.where(intervals.unknown, len(axis), last), measure)


@dataclass(frozen=True, eq=False)
class _Ranges:
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    measure: FloatArray

    @cached_property
    def totals(self) -> FloatArray:
        return _divisors(self._between(self.measure))

    def shares(self, chosen: BoolArray) -> FloatArray:
        return self._between(np.where(chosen, self.measure, 0.0)) / self.totals

    def _between(self, measure: FloatArray) -> FloatArray:
        reached = np.zeros((*measure.shape[:-1], measure.shape[-1] + 1))
        np.cumsum(measure, axis=-1, out=reached[..., 1:])
        between: FloatArray = reached[..., self.last] - reached[..., self.first]
        return between


@dataclass(frozen=True, eq=False)
class _Lists:
    region_of: NDArray[np.int64] | None  # None: each class has its own
    members: Any  # a sparse matrix, regions by values of the axis
    totals: FloatArray

    def shares(self, chosen: BoolArray) -> FloatArray:
        shares: FloatArray = (self.members @ chosen.T.astype(np.float64)).T / self.totals
        return shares if self.region_of is None else shares[:, self.region_of]


def _lists(axis: Axis, of: Region, measure: FloatArray) -> _Lists:
    from scipy.sparse import csr_array

    lists = of.lists
    n_regions = len(lists.starts) - 1
    region = np.repeat(np.arange(n_regions), np.diff(lists.starts))
    place = of.places(axis.values)
    # The values of the axis that each public value stands for; mostly only itself.
    order = np.argsort(place, kind="stable")
    first, last = (np.searchsorted(place[order], lists.values, side=side) for side in ("left", "right"))
    times = last - first
    steps = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    region, position = np.repeat(region, times), order[np.repeat(first, times) + steps]
    members = csr_array((measure[position], (region, position)), shape=(n_regions, len(axis)))
    totals = np.zeros(n_regions)
    np.add.at(totals, region, measure[position])
    own = np.array_equal(lists.region_of, np.arange(n_regions))
    return _Lists(None if own else lists.region_of, members, _divisors(totals))


def _measure(axis: Axis, form: Form) -> FloatArray:
    """The assumed frequency of each value of the axis."""
    if form.marginal is None:
        return np.ones(len(axis))
    measure = np.zeros(len(axis))
    if form.kind == "interval":
        numbers, known = to_numbers(axis.values)
        numbers = numbers[known]
        found = np.minimum(np.searchsorted(numbers, form.marginal.values), max(len(numbers) - 1, 0))
        same = numbers[found] == form.marginal.values
        measure[found[same]] = form.marginal.counts[same]
        measure[len(numbers) :] = form.marginal.missing
        return measure
    for label, count in zip(form.marginal.values.tolist(), form.marginal.counts.tolist(), strict=True):
        position = axis.texts.get(form.labels[label])
        if position is not None:
            measure[position] = count
    return measure


def _divisors(totals: FloatArray) -> FloatArray:
    """Totals by which parts are divided: nothing is a part of nothing."""
    return np.where(totals > 0, totals, 1.0)
