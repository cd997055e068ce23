"""Grids: cells hold their numbers, do not overlap, and are recognized again."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError
from ldiversity.release import CALENDAR_UNITS, grid_of, is_calendar, units_per_day

TIMES = [
    pa.date32(),
    pa.date64(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("us", "Europe/Berlin"),
    pa.timestamp("ms", "America/Sao_Paulo"),
]


@pytest.mark.parametrize(("kind", "step"), [(pa.int64(), 7), (pa.int8(), 5), (pa.uint8(), 5), (pa.int64(), 10**18)])
def test_integers_are_rounded_as_whole_numbers_are_divided(kind: pa.DataType, step: int) -> None:
    limits = np.iinfo(kind.to_pandas_dtype())
    drawn = np.random.default_rng(0).integers(limits.min, limits.max, 500, dtype=np.int64, endpoint=True)
    numbers = np.concatenate([drawn, [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1]])
    grid = grid_of(step, kind)

    slow = [(max(x // step * step, limits.min), min(x // step * step + step - 1, limits.max)) for x in numbers.tolist()]

    assert list(zip(grid.below(numbers).tolist(), grid.above(numbers).tolist(), strict=True)) == slow
    assert grid.holds(grid.below(numbers), grid.above(numbers))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("step", [0.1, 0.25, 5, 1e-7, 3e5])
def test_fractions_are_rounded_to_decimals(kind: pa.DataType, step: float) -> None:
    number = kind.to_pandas_dtype()
    edges = np.array([number(float(i * Decimal(str(step)))) for i in range(-300, 300)])
    drawn = (np.random.default_rng(1).normal(0, 100, 2000) * step).astype(number)
    numbers = np.concatenate([edges, drawn[(drawn >= edges[0]) & (drawn < edges[-1])]])
    grid = grid_of(step, kind)

    place = np.searchsorted(edges, numbers, side="right")

    assert grid.below(numbers).tolist() == edges[place - 1].tolist()
    inside = place < len(edges)
    assert grid.above(numbers)[inside].tolist() == edges[place[inside]].tolist()
    assert grid.holds(grid.below(numbers), grid.above(numbers))
    assert (grid.closed(grid.above(numbers)) >= numbers).all()
    assert (grid.closed(grid.above(numbers)) < grid.above(numbers)).all()


@pytest.mark.parametrize("kind", TIMES, ids=str)
@pytest.mark.parametrize("unit", CALENDAR_UNITS)
def test_cells_of_the_calendar_hold_their_instants_and_follow_each_other(kind: pa.DataType, unit: str) -> None:
    if not is_calendar(unit, kind):
        with pytest.raises(ParameterError, match="must be day"):
            grid_of(unit, kind)
        return
    day = units_per_day(kind)
    numbers = np.random.default_rng(2).integers(-40_000 * day, 40_000 * day, 1000)
    one = day if pa.types.is_date64(kind) else 1
    numbers = numbers // one * one
    grid = grid_of(unit, kind)

    low, high = grid.below(numbers), grid.above(numbers)

    assert (low <= numbers).all()
    assert (numbers <= high).all()
    assert grid.holds(low, high)
    assert grid.below(high + one).tolist() == (high + one).tolist()
    longer = high > low
    assert not longer.any() or not grid.holds(low[longer] + one, high[longer])


@pytest.mark.parametrize(
    ("unit", "low", "high"),
    [
        ("week", "2024-02-26", "2024-03-03"),
        ("month", "2024-02-01", "2024-02-29"),
        ("quarter", "2024-01-01", "2024-03-31"),
        ("year", "2024-01-01", "2024-12-31"),
        ("decade", "2020-01-01", "2029-12-31"),
        ("century", "2000-01-01", "2099-12-31"),
    ],
)
def test_units_begin_and_end_where_calendars_say(unit: str, low: str, high: str) -> None:
    epoch = dt.date(1970, 1, 1)
    leap_day = np.array([(dt.date(2024, 2, 29) - epoch).days])
    grid = grid_of(unit, pa.date32())

    ends = [epoch + dt.timedelta(days=end(leap_day).item()) for end in (grid.below, grid.above)]

    assert [end.isoformat() for end in ends] == [low, high]


def test_a_day_begins_at_midnight_of_its_time_zone() -> None:
    kind = pa.timestamp("s", "Europe/Berlin")
    noon = pa.array([dt.datetime(2024, 7, 1, 10, tzinfo=dt.UTC)], kind).cast(pa.int64())

    low = pa.array(grid_of("day", kind).below(np.asarray(noon))).cast(kind)

    assert low[0].as_py() == dt.datetime(2024, 6, 30, 22, tzinfo=dt.UTC)


def test_a_day_whose_midnight_clocks_skip_begins_after_it() -> None:
    # In Sao Paulo, clocks went from the end of November 3 to one o'clock of November 4, 2018.
    grid = grid_of("day", pa.timestamp("s", "America/Sao_Paulo"))
    last, first = 1541300399, 1541300400

    assert grid.above(np.array([last])).tolist() == [last]
    assert grid.below(np.array([last, first])).tolist() == [last - 86_399, first]


@pytest.mark.parametrize(
    ("step", "kind", "rule"),
    [
        (2.5, pa.int64(), "whole number"),
        (0, pa.int64(), "above 0"),
        ("month", pa.int64(), "a number above 0"),
        (5, pa.date32(), "day, week, month"),
        (True, pa.float64(), "a number above 0"),
    ],
)
def test_a_step_that_does_not_fit_the_type_is_refused(step: Any, kind: pa.DataType, rule: str) -> None:
    with pytest.raises(ParameterError, match=rule):
        grid_of(step, kind)
