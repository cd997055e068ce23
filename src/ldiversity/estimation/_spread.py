"""How the region of a class falls into cells: by the public values in it, or by their published frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._admissible import damaged
from ldiversity.estimation._by import BinnedColumn, By
from ldiversity.estimation._coarse import check_unbounded
from ldiversity.estimation._lengths import spread_lengths
from ldiversity.estimation._raking import rake
from ldiversity.estimation._reached import Beginnings, label_beginnings, parted
from ldiversity.estimation._runs import Spread, collect, share_runs
from ldiversity.release import Intervals, Lists, label_array, number_array

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Form, Marginal, Region

__all__ = ["Wanted", "spread_column"]

_MOST_VALUES: Final = 1 << 22
"""In a longer public range, integers are spread by length, where the difference is negligible."""

_STEPS: Final = 1000
"""Quantiles need whole weights, so expected numbers of records count in steps of 1/1000."""


@dataclass(frozen=True)
class Wanted:
    """What a question asks of one column: the cells it makes, if any, and the filters on it."""

    name: str
    by: By | None
    filters: tuple[Filter, ...]

    @property
    def needs_records(self) -> bool:
        """Whether its cells depend on where records are expected."""
        return isinstance(self.by, BinnedColumn) and self.by.rule.quantiles is not None


def spread_column(
    wanted: Wanted,
    region: Region,
    *,
    marginal: bool,
    sizes: NDArray[np.int64],
    records: FloatArray,
) -> Spread:
    """Give the share of every class that lies in each cell and matches the filters.

    With `marginal`, values have their published frequencies; else all are equally frequent. `sizes` has the number of
    records of each class, `records` the number that the other columns select, which only quantiles need.
    """
    form, kind = region.form, region.kind
    if form.reaches is not None:
        return _spread_reached(wanted, region, records)
    if form.kind != "interval":
        lists = region.lists
        measure = np.ones(len(form.labels))
        if marginal and form.marginal is not None:
            measure[:] = 0.0
            measure[form.marginal.values] = form.marginal.counts
            measure = _raked_lists(lists, measure, sizes)
        return _spread_lists(wanted, lists, label_array(form.labels, kind), measure)
    intervals = _within(region.intervals, form)
    if marginal and form.marginal is not None:
        values = _raked_values(form.marginal, intervals, sizes)
        return _spread_values(wanted, intervals, values, kind, records)
    return _spread_evenly(wanted, form, intervals, kind, records)


def _spread_evenly(wanted: Wanted, form: Form, intervals: Intervals, kind: pa.DataType, records: FloatArray) -> Spread:
    if form.low is None or form.high is None:
        nothing = _Values(np.empty(0, np.int64), np.empty(0), np.ones(1), published=True)
        return _spread_values(wanted, intervals, nothing, kind, records)
    whole = intervals.low.dtype.kind == "i"
    least, greatest = min(form.low, intervals.low.min()), max(form.high, intervals.high.max())
    if whole and greatest - least < _MOST_VALUES:
        numbers = np.arange(int(least), int(greatest) + 1)
        alike = _Values(numbers, np.ones(len(numbers)), np.full(len(numbers), 1 / len(numbers)), published=False)
        return _spread_values(wanted, intervals, alike, kind, records)
    return spread_lengths(wanted.name, wanted.by, wanted.filters, intervals, kind, records)


def _spread_reached(wanted: Wanted, region: Region, records: FloatArray) -> Spread:
    """Spread nodes whose leaves are not public: intervals of numbers, or beginnings of texts."""
    form, kind = region.form, region.kind
    if region.says_nothing.all():
        raise UnsupportedError(
            "estimate", f"the release says nothing about {wanted.name!r}: every class covers all of its values"
        ).with_hint("Leave the column out.")
    if not form.spans:
        return _spread_beginnings(wanted, region.lists, label_beginnings(wanted.name, form, wanted.by, wanted.filters))
    check_unbounded(region, wanted.filters)
    intervals, missing = region.spans
    spread = _spread_evenly(wanted, form, _within(intervals, form), kind, records)
    return _with_missing(spread, wanted, missing, intervals.unknown, kind) if missing.any() else spread


def _spread_beginnings(wanted: Wanted, lists: Lists, asked: Beginnings) -> Spread:
    """Spread beginnings of texts; an undecided value has no share, so the others say how much of a class matches."""
    n_regions = len(lists.starts) - 1
    region = np.repeat(np.arange(n_regions), np.diff(lists.starts))
    decided = ~asked.undecided[lists.values]
    total = np.bincount(region, weights=decided, minlength=n_regions)
    if not (total > 0).all():
        raise parted(wanted.name, *asked.example)
    codes = asked.codes[lists.values]
    weights = np.where(decided, 1.0 / total[region], 0.0)
    # An undecided value may match or not, which makes its region unsure.
    unsure = region[~decided]
    return collect(
        lists.region_of,
        n_regions,
        np.append(region, unsure),
        np.append(codes, np.full(len(unsure), -1)),
        np.append(weights, np.zeros(len(unsure))),
        asked.labels,
    )


def _with_missing(spread: Spread, wanted: Wanted, missing: BoolArray, unknown: BoolArray, kind: pa.DataType) -> Spread:
    """Add a last region for missing numbers; classes that say nothing may have missing numbers too."""
    hole = pa.chunked_array([pa.nulls(1, kind)])
    code = 0 if all(bool(condition.mask(hole)[0]) for condition in wanted.filters) else -1
    labels = spread.labels
    if code >= 0 and labels is not None and wanted.by is not None:
        coded = wanted.by.encode(hole, None)
        own = coded.labels.cast(labels.type).slice(int(coded.codes[0]), 1)
        code, labels = len(labels), pa.concat_arrays([labels, own])
    last = len(spread.starts) - 1
    region = np.repeat(np.arange(last), np.diff(spread.starts))
    codes, weights = spread.codes, spread.weights
    if code >= 0:
        # A class that says nothing gets no share of them, but they count in the upper bounds of its region.
        silent = np.setdiff1d(spread.region_of[unknown], region[codes == code])
        region = np.concatenate([region, silent, [last]])
        codes = np.append(codes, np.full(len(silent) + 1, code))
        weights = np.concatenate([weights, np.zeros(len(silent)), [1.0]])
    order = np.argsort(region, kind="stable")
    return Spread(
        np.where(missing, last, spread.region_of),
        np.searchsorted(region[order], np.arange(last + 2)).astype(np.int64),
        codes[order].astype(np.int64),
        weights[order],
        np.append(spread.sure, code >= 0),
        labels,
    )


@dataclass(frozen=True, eq=False)
class _Values:
    # Numbers that may occur, ascending; how frequent each is in classes with regions; the shares of the numbers (and
    # last of missing numbers, if there are any) in classes that say nothing; whether frequencies were published.
    numbers: NDArray[Any]
    measure: FloatArray
    anywhere: FloatArray
    published: bool

    @property
    def missing(self) -> bool:
        """Whether numbers may be missing in classes that say nothing."""
        return len(self.anywhere) > len(self.numbers)

    def within(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> FloatArray:
        """The total frequency of the numbers from `first` up to but without `last`."""
        reached = np.concatenate([[0.0], np.cumsum(self.measure)])
        inside: FloatArray = reached[last] - reached[first]
        return inside


def _raked_values(published: Marginal, intervals: Intervals, sizes: NDArray[np.int64]) -> _Values:
    """Find frequencies with which all classes together have the published numbers."""
    numbers, told = published.values, ~intervals.unknown
    first = np.searchsorted(numbers, intervals.low[told], side="left")
    last = np.searchsorted(numbers, intervals.high[told], side="right")
    records, silent = sizes[told], float(sizes[intervals.unknown].sum())

    def placed(measure: FloatArray) -> FloatArray:
        reached = np.concatenate([[0.0], np.cumsum(measure)])
        inside = reached[last] - reached[first]
        return _density(first, last, np.divide(records, inside, out=np.zeros(len(records)), where=inside > 0), measure)

    def expected(frequency: FloatArray) -> FloatArray:
        return np.append(placed(frequency[:-1]), 0.0) + silent * frequency / (frequency.sum() or 1.0)

    counts = np.append(published.counts, published.missing).astype(np.float64)
    measure = rake(counts, expected)[:-1]
    # Classes that say nothing hold all missing numbers, and those numbers that classes with regions leave.
    rest = np.maximum(counts[:-1] - placed(measure), 0.0)
    rest = rest if rest.sum() > 0 else counts[:-1]
    share = min(published.missing / max(silent, 1.0), 1.0) if len(rest) else 1.0
    left = rest * ((1.0 - share) / (rest.sum() or 1.0))
    return _Values(numbers, measure, np.append(left, share) if published.missing else left, published=True)


def _raked_lists(lists: Lists, published: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
    """Find frequencies with which all regions together have the published numbers of each value."""
    n_regions, n_values = len(lists.starts) - 1, len(published)
    records = np.bincount(lists.region_of, weights=sizes, minlength=n_regions)
    region = np.repeat(np.arange(n_regions), np.diff(lists.starts))

    def expected(frequency: FloatArray) -> FloatArray:
        each = frequency[lists.values]
        total = np.bincount(region, weights=each, minlength=n_regions)
        share = np.divide(records, total, out=np.zeros(n_regions), where=total > 0)
        return np.bincount(lists.values, weights=each * share[region], minlength=n_values).astype(np.float64)

    return rake(published, expected)


def _density(first: NDArray[np.int64], last: NDArray[np.int64], each: FloatArray, measure: FloatArray) -> FloatArray:
    # The sum over intervals of `each` on every number inside, times the measure of the number.
    n = len(measure) + 1
    growth = np.bincount(first, weights=each, minlength=n) - np.bincount(last, weights=each, minlength=n)
    density: FloatArray = np.cumsum(growth)[:-1] * measure
    return density


def _within(intervals: Intervals, form: Form) -> Intervals:
    # A class that says nothing may lie anywhere in the public range.
    if form.low is None or form.high is None or not intervals.unknown.any():
        return intervals
    ends = [np.asarray(end).astype(intervals.low.dtype) for end in (form.low, form.high)]
    low = np.where(intervals.unknown, ends[0], intervals.low)
    return replace(intervals, low=low, high=np.where(intervals.unknown, ends[1], intervals.high))


def _spread_values(
    wanted: Wanted, intervals: Intervals, values: _Values, kind: pa.DataType, records: FloatArray
) -> Spread:
    cells = number_array(values.numbers, kind)
    if values.missing:  # at the end, where no interval reaches it, only a class that says nothing
        cells = pa.concat_arrays([cells, pa.nulls(1, kind)])
    unknown = intervals.unknown
    first = np.searchsorted(values.numbers, intervals.low, side="left")
    last = np.searchsorted(values.numbers, intervals.high, side="right")
    total = np.where(unknown, 1.0, values.within(first, last))
    if not (total > 0).all() or (unknown.any() and not len(cells)):
        raise damaged(f"every region of {wanted.name!r} must hold a value that occurs")
    left = values.anywhere
    expected = None
    if wanted.needs_records:
        expected = left * records[unknown].sum()
        told = ~unknown
        expected[: len(values.numbers)] += _density(first[told], last[told], (records / total)[told], values.measure)
    codes, labels = _label(wanted, cells, expected)
    turns = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1, [len(codes)]])
    # The region of a class that says nothing is the last one.
    width = len(cells) + 1
    pairs, region_of = np.unique(np.where(unknown, width * width, first * width + last), return_inverse=True)
    n_told = len(pairs) - int(unknown.any())
    low, high = pairs[:n_told] // width, pairs[:n_told] % width
    reached = np.concatenate(
        [[0.0], np.cumsum(values.measure), [values.measure.sum()] * (len(cells) - len(values.measure))]
    )
    region, code, weight = share_runs(
        low, high, (reached[low], reached[high]), turns, reached[turns], codes[turns[:-1]], name=wanted.name
    )
    occurs = weight > 0
    region, code, weight = region[occurs], code[occurs], weight[occurs]
    if n_told < len(pairs):  # a number may be in such a class even when none is expected to be left for it
        region = np.append(region, np.full(len(turns) - 1, n_told))
        code, weight = np.append(code, codes[turns[:-1]]), np.append(weight, np.add.reduceat(left, turns[:-1]))
    spread = collect(region_of.astype(np.int64), len(pairs), region, code, weight, labels)
    if values.published:
        return spread
    sure = spread.sure.copy()
    sure[region_of[unknown]] = False  # a number may be missing
    return replace(spread, sure=sure)


def _spread_lists(wanted: Wanted, lists: Lists, cells: pa.Array, measure: FloatArray) -> Spread:
    codes, labels = _label(wanted, cells, None)
    n_regions = len(lists.starts) - 1
    region = np.repeat(np.arange(n_regions), np.diff(lists.starts))
    frequency = measure[lists.values]
    occurs = frequency > 0
    total = np.bincount(region, weights=frequency, minlength=n_regions)
    if not (total > 0).all():
        raise damaged(f"every region of {wanted.name!r} must hold a value that occurs")
    weights = frequency / total[region]
    return collect(lists.region_of, n_regions, region[occurs], codes[lists.values][occurs], weights[occurs], labels)


def _label(wanted: Wanted, cells: pa.Array, expected: FloatArray | None) -> tuple[NDArray[np.int64], pa.Array | None]:
    # The label of each value, -1 where a filter leaves it out.
    column = pa.chunked_array([cells])
    asked: list[By | Filter] = [*wanted.filters, *([] if wanted.by is None else [wanted.by])]
    for part in asked:
        part.check(column)
    matches = np.ones(len(cells), dtype=np.bool_)
    for condition in wanted.filters:
        matches &= condition.mask(column)
    codes = np.where(matches, 0, -1).astype(np.int64)
    if wanted.by is None:
        return codes, None
    weights = None if expected is None else np.rint(expected[matches] * _STEPS).astype(np.int64)
    coded = wanted.by.encode(column.filter(pa.array(matches)), weights)
    codes[matches] = coded.codes
    return codes, coded.labels
