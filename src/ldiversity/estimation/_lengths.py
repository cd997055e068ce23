"""Intervals of fractions, spread over bins by their length."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._by import BinnedColumn
from ldiversity.estimation._calendar import CalendarColumn
from ldiversity.estimation._runs import Spread, collect, share_runs
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._by import By
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Intervals

__all__ = ["spread_lengths"]

_GRID: Final = 4096
"""Quantiles of spread intervals are taken on a grid with this many steps."""

_STEPS: Final = 1000


def spread_lengths(
    name: str,
    by: By | None,
    filters: tuple[Filter, ...],
    intervals: Intervals,
    kind: pa.DataType,
    records: FloatArray,
) -> Spread:
    """Give the share of every interval that lies in each bin and matches the filters.

    An interval without length is a single number and lies wholly in its bin.
    """
    if by is not None and not isinstance(by, BinnedColumn | CalendarColumn):
        wider = (
            say("by the calendar: {}", Setting("by", f"{name}:month", python=f"groups({name!r}, 'month')"))
            if pa.types.is_temporal(kind)
            else say("for bins: {}", Setting("by", f"{name}:10", python=f"bins({name!r}, width=10)"))
        )
        raise UnsupportedError(
            "estimate",
            f"{name!r} was published as intervals of {kind}, which have too many values for one cell per value",
        ).with_hint(say("Ask {}.", wider))
    if any(part.operator in {"in", "not in"} for part in filters) and (intervals.low < intervals.high).any():
        raise UnsupportedError(
            "estimate", f"{name!r} was published as intervals of {kind}, which have no share at single numbers"
        ).with_hint("Use <, >= or between.")
    low, high = intervals.low.astype(np.float64), intervals.high.astype(np.float64)
    limits = _limits(filters, kind)
    edges, labels = _divided(by, low, high, limits, records, kind)

    def place(numbers: NDArray[Any]) -> NDArray[np.int64]:
        return np.zeros(len(numbers), np.int64) if by is None else by.place(numbers, edges).astype(np.int64)

    def place_ends(rows: NDArray[np.intp], end: int) -> NDArray[np.int64]:
        column = pa.chunked_array([intervals.ends[end].take(pa.array(rows))])
        matches = np.logical_and.reduce([np.ones(len(rows), np.bool_), *(part.mask(column) for part in filters)])
        return np.where(matches, place((intervals.low, intervals.high)[end][rows]), -1)

    # Between two neighboring turns there is one label; the ends of an interval, which occur, may have another.
    wide, points = np.flatnonzero(low < high), np.flatnonzero(low == high)
    inside = [x for x in (*edges, *limits) if low.min() < x < high.max()]
    turns = np.unique([low.min(), *inside, high.max()])
    middles = (turns[1:] + turns[:-1]) / 2
    codes = np.where((middles > limits[0]) & (middles < limits[1]), place(middles), -1)
    a, b = low[wide], high[wide]
    region, code, weight = share_runs(a, b, (a, b), turns, turns, codes, name=name)
    told = wide[~intervals.unknown[wide]]
    region = np.concatenate([wide[region], told, told, points])
    code = np.concatenate([code, place_ends(told, 0), place_ends(told, 1), place_ends(points, 0)])
    weight = np.concatenate([weight, np.zeros(2 * len(told)), np.ones(len(points))])
    spread = collect(np.arange(len(low)), len(low), region, code, weight, labels)
    return replace(spread, sure=spread.sure & ~intervals.unknown)


def _divided(
    by: BinnedColumn | CalendarColumn | None,
    low: FloatArray,
    high: FloatArray,
    limits: tuple[float, float],
    records: FloatArray,
    kind: pa.DataType,
) -> tuple[tuple[float, ...], pa.Array | None]:
    """Where cells begin and end, and their labels."""
    if by is None:
        return (), None
    if isinstance(by, CalendarColumn):
        edges = by.edges(kind, float(low.min()), float(high.max()))
        return edges, by.names(edges, kind)
    if pa.types.is_temporal(kind):
        by.check_numbers(kind)
    edges = _edges(by, low, high, limits, records)
    return edges, by.names(edges)


def _edges(
    by: BinnedColumn, low: FloatArray, high: FloatArray, limits: tuple[float, float], records: FloatArray
) -> tuple[float, ...]:
    least, greatest = max(low.min(), limits[0]), min(high.max(), limits[1])
    if by.rule.quantiles is None or least >= greatest:
        return by.rule.fit(np.array([low.min(), high.max()]))
    grid = np.linspace(least, greatest, _GRID + 1)
    # Scaled by a power of two, which is exact, so that the slopes of very short ranges do not overflow.
    exponent = -math.frexp(high.max() - low.min())[1]
    expected = _distribution(np.ldexp(low, exponent), np.ldexp(high, exponent), records)
    spread = np.interp(np.ldexp(grid, exponent), *expected)
    return by.rule.fit((grid[1:] + grid[:-1]) / 2, np.rint(np.diff(spread) * _STEPS).astype(np.int64))


def _distribution(low: FloatArray, high: FloatArray, records: FloatArray) -> tuple[FloatArray, FloatArray]:
    # The expected number of records up to each end of an interval; between the ends it grows evenly. A single number
    # counts as a very short interval.
    span = high.max() - low.min()
    short = span / _GRID**2 if span else 1.0
    high = np.where(high > low, high, np.maximum(low + short, np.nextafter(low, np.inf)))
    slope = records / (high - low)
    ends = np.concatenate([low, high])
    order = np.argsort(ends)
    at = ends[order]
    growth = np.cumsum(np.concatenate([slope, -slope])[order])
    return at, np.concatenate([[0.0], np.cumsum(growth[:-1] * np.diff(at))])


def _limits(filters: tuple[Filter, ...], kind: pa.DataType) -> tuple[float, float]:
    # The range that all filters leave; those on single numbers are looked at elsewhere.
    low, high = -np.inf, np.inf
    for condition in filters:
        if condition.operator == "is missing":
            return np.inf, -np.inf
        if condition.operator in {"in", "not in", "is not missing"}:
            continue
        bounds = condition.bounds(kind)
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return low, high
