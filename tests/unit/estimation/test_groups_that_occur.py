"""Groups and filters are matched with what the release holds, and what cannot be matched is said."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.estimation import parse_by

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=37 * place) for place in range(60)]
MIDNIGHTS = [dt.datetime(day.year, day.month, day.day) for day in DAYS]  # noqa: DTZ001 - columns without a zone
COLUMNS = {
    "days": pa.array(DAYS),
    "days as milliseconds": pa.array(DAYS, pa.date64()),
    "seconds": pa.array(MIDNIGHTS, pa.timestamp("s")),
    "nanoseconds": pa.array(MIDNIGHTS, pa.timestamp("ns")),
    "with a zone": pa.array(MIDNIGHTS, pa.timestamp("us", "UTC")),
    "texts": pa.array([day.isoformat() for day in DAYS]),
}
YEARS = ["2020", "2021", "2022", "2023", "2024", "2025"]


def publish(column: pa.Array, method: ld.Method | None = None) -> ld.Release:
    table = pa.table({"x": column, "disease": [["flu", "cut", "sty", "gout"][i % 4] for i in range(len(column))]})
    return ld.anonymize(table, quasi="x", sensitive="disease", method=method or ld.RandomizedAddition(l=2))


def cells(release: ld.Release, by: Any, **more: Any) -> dict[str, float]:
    found = ld.estimate(release, by=by, **more)
    return dict(zip(found.labels["x"].to_pylist(), found.records.tolist(), strict=True))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_hierarchy_of_dates_matches_dates_of_every_type(name: str) -> None:
    tree = ld.Hierarchy.by_date(COLUMNS[name].to_pylist())
    (level,) = (level for level, labels in enumerate(tree.labels) if labels[0] == "2020")

    assert cells(publish(COLUMNS[name]), ld.groups("x", tree, level=level)) == dict.fromkeys(YEARS, 10)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.BSGI(l=2), ld.Anatomy(l=2)], ids=str)
def test_dates_are_divided_by_the_calendar(name: str, method: ld.Method) -> None:
    release = publish(COLUMNS[name], method)

    found = cells(release, parse_by("x:year"))

    assert list(found) == YEARS
    assert sum(found.values()) == pytest.approx(60)
    assert all(records == pytest.approx(10, abs=1.01) for records in found.values())
    assert list(cells(release, ld.groups("x", "quarter")))[:2] == ["2020-Q1", "2020-Q2"]


def test_days_between_those_of_a_hierarchy_have_their_place_in_the_calendar() -> None:
    tree = ld.Hierarchy.by_date(DAYS)

    found = cells(publish(COLUMNS["days"], ld.BSGI(l=2)), ld.groups("x", tree, level=3))

    assert sum(found.get(year, 0) for year in YEARS) == pytest.approx(60)


def test_a_column_without_dates_is_not_divided_by_the_calendar() -> None:
    with pytest.raises(ld.SchemaError, match=r"column 'x' must hold dates .* to be divided by year, got integer"):
        cells(publish(pa.array(range(20))), parse_by("x:year"))


@pytest.mark.parametrize("column", [[20, 21] * 10, [20.0, 21.0] * 10])
@pytest.mark.parametrize("listed", [[20], [20.0], ["20"], ["20.0"]])
def test_numbers_are_matched_as_numbers(column: list[float], listed: list[Any]) -> None:
    assert cells(publish(pa.array(column)), ld.groups("x", {"young": listed})) == {"young": 10, "other": 10}


@pytest.mark.parametrize("listed", [[True], ["true"], ["True"]])
def test_booleans_are_matched(listed: list[Any]) -> None:
    assert cells(publish(pa.array([True, False] * 10)), ld.groups("x", {"yes": listed})) == {"yes": 10, "other": 10}


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.BSGI(l=2), ld.Anatomy(l=2)], ids=str)
def test_groups_of_which_no_value_occurs_are_refused(method: ld.Method) -> None:
    with pytest.raises(ld.ParameterError, match="no value of 'north', 'south' occurs in the release") as refused:
        cells(publish(pa.array(["a", "b"] * 10), method), ld.groups("x", {"north": ["A"], "south": ["B"]}))

    assert "an estimate by the column alone lists the values that occur" in str(refused.value)


def test_a_hierarchy_of_other_values_is_refused() -> None:
    tree = ld.Hierarchy.by_prefix(["13053", "13068"])

    with pytest.raises(ld.ParameterError, match="column 'x' must hold values of at least one group"):
        cells(publish(pa.array(["a", "b"] * 10)), ld.groups("x", tree))


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.BSGI(l=2), ld.Anatomy(l=2)], ids=str)
def test_one_group_of_which_no_value_occurs_is_warned_of(method: ld.Method) -> None:
    release = publish(pa.array(["a", "b"] * 10), method)

    with pytest.warns(ld.LDiversityWarning, match="no value of 'south' occurs in column 'x' of the release"):
        assert cells(release, ld.groups("x", {"north": ["a"], "south": ["z"]})) == {"north": 10, "other": 10}


def test_a_filter_does_not_make_a_group_unknown() -> None:
    release = publish(pa.array(["a", "b"] * 10))

    assert cells(release, ld.groups("x", {"first": ["a"], "second": ["b"]}), where="x = a") == {"first": 10}


@pytest.mark.parametrize("where", ["x in a,z", "x not in z", "x != z"])
def test_a_value_of_a_filter_that_does_not_occur_is_warned_of(where: str) -> None:
    release = publish(pa.array(["a", "b"] * 10))

    with pytest.warns(ld.LDiversityWarning, match="no record has 'z' in column 'x'"):
        ld.estimate(release, where=where)
