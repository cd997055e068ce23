"""Days divided at declared days, and short texts for cells in Python."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.estimation import bins, estimate, parse_by
from ldiversity.estimation._calendar import by_calendar
from ldiversity.mechanisms import SetMechanism
from ldiversity.release import Release

DAYS = [dt.date(1949, 12, 31), dt.date(1950, 1, 1), dt.date(1979, 12, 31), dt.date(1980, 1, 1), None] * 20
CELLS = ["< 1950-01-01", "[1950-01-01, 1980-01-01)", ">= 1980-01-01", None]


@pytest.fixture
def release(publish: Any, uniform: SetMechanism) -> Release:
    columns = {
        "birth": pa.array(DAYS, pa.date32()),
        "seen": pa.array(DAYS, pa.date32()).cast(pa.timestamp("us")),
        "text": [None if day is None else day.isoformat() for day in DAYS],
        "age": np.arange(100),
        "a:b": ["x", "y"] * 50,
    }
    return publish(columns, {"s": np.arange(100) % 6}, {"s": uniform})


@pytest.mark.parametrize("column", ["birth", "seen", "text"])
def test_each_edge_begins_a_cell(release: Release, column: str) -> None:
    found = estimate(release, bins(column, edges=["1950-01-01", dt.date(1980, 1, 1)]))

    assert found.labels[column].to_pylist() == CELLS
    assert found.records.tolist() == [20, 40, 20, 20]


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_a_text_says_the_same(release: Release, memory: str | None, tmp_path: Path) -> None:
    release.save(tmp_path / "release")

    found = estimate(tmp_path / "release", "birth:1950-01-01/1980-01-01", memory=memory)

    assert found.labels["birth"].to_pylist() == CELLS
    assert found.records.tolist() == [20, 40, 20, 20]


@pytest.mark.parametrize(
    ("by", "cells"), [("birth:year", 5), (["age:50", "birth:month"], 10), ("age:50,birth:year", 10), ("a:b", 2)]
)
def test_python_reads_the_texts_of_the_command_line(release: Release, by: Any, cells: int) -> None:
    assert estimate(release, by).n_cells == cells


@pytest.mark.parametrize("text", ["birth:1980-01-01/1950-01-01", "birth:1980-01-01/x", "birth:1980-13-01"])
def test_days_that_are_none_or_not_in_order_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="days"):
        parse_by(text)


def test_a_column_without_days_is_refused(release: Release) -> None:
    with pytest.raises(SchemaError, match="must hold dates"):
        estimate(release, "age:1980-01-01")


def test_intervals_of_days_are_spread_over_the_cells(generalize: Any) -> None:
    from ldiversity.release import Form

    low, high = dt.date(1970, 1, 1), dt.date(1970, 1, 11)
    kind = pa.struct([("low", pa.date32()), ("high", pa.date32())])
    regions = {"d": pa.array([{"low": low, "high": high}], kind)}
    grouped = generalize(
        regions, [0, 0], {"s": [0, 1]}, kinds={"d": "date32[day]"}, forms={"d": Form("interval", low=0, high=10)}
    )

    found = estimate(grouped, bins("d", edges=["1970-01-06"]))

    assert found.labels["d"].to_pylist() == ["< 1970-01-06", ">= 1970-01-06"]
    assert found.records.tolist() == pytest.approx([10 / 11, 12 / 11])  # 5 and 6 of the 11 days


@pytest.mark.parametrize("by", ["seen:month", "seen:2025-04-01/2025-07-01"])
def test_days_of_regions_begin_at_midnight_of_the_zone(by: str) -> None:
    hours = np.arange(24 * 360) % (24 * 360)
    seen = pa.array(np.datetime64("2025-01-01T00:00:00", "s") + hours * np.timedelta64(1, "h"))
    seen = pc.assume_timezone(seen, "Europe/Berlin", ambiguous="earliest", nonexistent="latest")
    table = pa.table({"seen": seen, "disease": ["flu", "cut", "burn", "cold"] * (len(hours) // 4)})
    release = ld.anonymize(
        table, quasi="seen", sensitive="disease", method="mondrian:l=2", grid={"seen": "month"}, insecure_seed=1
    )

    found = estimate(release, by=by)
    true = estimate(
        ld.anonymize(table, quasi="seen", sensitive="disease", method="anatomy:l=2", insecure_seed=1), by=by
    )

    assert found.labels["seen"].to_pylist() == true.labels["seen"].to_pylist()
    assert np.allclose(found.records, true.records)
    assert np.allclose(found.low.sum(axis=1), found.records)


@pytest.mark.parametrize(
    ("grid", "by"),
    [("day", "seen:day"), ("day", "seen:month"), ("month", "seen:month"), ("month", "seen:2023-10-01")],
)
def test_the_last_second_before_a_midnight_that_clocks_skip_is_of_the_day_before(grid: str, by: str) -> None:
    # In Asuncion, clocks went from the end of September 30 to one o'clock of October 1, 2023.
    ends = np.datetime64("2023-09-11T04:59:59", "s").astype(np.int64) + 3600 * np.arange(959)  # of all hours of 40 days
    seen = pa.array(ends).cast(pa.timestamp("s", "America/Asuncion"))
    table = pa.table({"seen": seen, "disease": (["flu", "cut", "burn", "cold"] * 240)[:959]})
    options: dict[str, Any] = {"quasi": "seen", "sensitive": "disease", "insecure_seed": 1}
    true = estimate(ld.anonymize(table, method="anatomy:l=2", **options), by=by)

    found = estimate(ld.anonymize(table, method="mondrian:l=2", grid={"seen": grid}, **options), by=by)

    assert found.labels["seen"].to_pylist() == true.labels["seen"].to_pylist()
    assert np.allclose(found.records, true.records)


def test_days_that_a_zone_left_out_are_no_cells() -> None:
    # Samoa had no December 30 in 2011.
    kind = pa.timestamp("s", "Pacific/Apia")
    noons = pa.array(["2011-12-29T12:00:00", "2011-12-31T12:00:00"]).cast(pa.timestamp("s"))
    numbers = pc.assume_timezone(noons, kind.tz).cast(pa.int64()).to_pylist()
    days = by_calendar("seen", "day")

    edges = days.edges(kind, *map(float, numbers))

    assert days.names(edges, kind).to_pylist() == ["2011-12-29", "2011-12-31"]
    assert days.place(np.array(numbers), edges).tolist() == [0, 1]


def test_periods_of_a_zone_may_reach_beyond_the_last_nanosecond() -> None:
    kind = pa.timestamp("ns", "Europe/Berlin")
    for far in (np.datetime64("2262-03-01", "ns"), np.datetime64("1677-12-01", "ns")):
        number = float(far.astype(np.int64))
        years = by_calendar("seen", "year")

        edges = years.edges(kind, number, number)

        assert edges[0] <= number < edges[1]
        assert years.names(edges, kind).to_pylist() == [str(far)[:4]]
    assert len(bins("seen", edges=["2020-01-01", "9999-12-31"]).edges(kind, 0.0, 1.0)) == 4
