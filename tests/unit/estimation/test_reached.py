"""Estimates from nodes whose leaves are not public."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

RNG = np.random.default_rng(8)
N = 80
AGES = RNG.integers(20, 60, N)
DAYS = [dt.date(2000, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 731, N)]
TABLE = pa.table(
    {
        "age": AGES,
        "rate": AGES / 8 + 0.0625,
        "born": pa.array(DAYS, pa.date32()),
        "day": [day.isoformat() for day in DAYS],
        "zip": [f"{code}" for code in RNG.choice([13053, 13068, 13100, 14850, 14853], N)],
        "s": RNG.permutation([*"abcd"] * (N // 4)),
    }
)


def published(column: str, how: Any, method: ld.Method | None = None, table: pa.Table = TABLE) -> ld.ClassRelease:
    release = ld.anonymize(
        table,
        quasi=column,
        sensitive="s",
        method=method or ld.Mondrian(l=2),
        hierarchies={column: how},
        insecure_seed=2,
    )
    assert isinstance(release, ld.ClassRelease)
    return release


def same(ours: ld.Estimate, theirs: ld.Estimate) -> bool:
    return ours.labels.equals(theirs.labels) and all(
        np.allclose(getattr(ours, part), getattr(theirs, part)) for part in ("records", "count", "low", "high")
    )


AGE_QUESTIONS: list[dict[str, Any]] = [
    {"by": "age"},
    {"by": ld.bins("age", width=10)},
    {"where": "age >= 37"},
    {"where": ["age between 25 and 44", "age != 30"]},
    {"by": ld.groups("age", {"young": range(20, 30), "old": range(50, 60)})},
]


@pytest.mark.parametrize("question", AGE_QUESTIONS, ids=str)
def test_intervals_are_spread_as_if_their_range_had_been_declared(question: dict[str, Any]) -> None:
    declared = published("age", "width:10/20,low:20,high:59")

    assert same(
        ld.estimate(published("age", "width:10/20"), sensitive="s", **question),
        ld.estimate(declared, sensitive="s", **question),
    )


@pytest.mark.parametrize("where", ["born >= 2000-07-15", "born between 2000-02-01 and 2001-01-31"])
def test_parts_of_the_calendar_are_spread_over_their_days(where: str) -> None:
    declared = published("born", "date,low:2000-01-01,high:2001-12-31")

    assert same(
        ld.estimate(published("born", "date"), sensitive="s", where=where),
        ld.estimate(declared, sensitive="s", where=where),
    )


def test_intervals_of_fractions_are_spread_by_length() -> None:
    release = published("rate", "width:1/2", ld.Incognito(l=2))

    found = ld.estimate(release, sensitive="s", where="rate < 4.5")

    records = 0.0
    for label, count in zip(*np.unique(release.table["rate"].to_pylist(), return_counts=True), strict=True):
        low, high = (float(end) for end in label[1:-1].split(", "))
        records += count * min(max((4.5 - low) / (high - low), 0.0), 1.0)
    assert found.records[0] == pytest.approx(records)


@pytest.mark.parametrize("how", ["width:10/20", "quantiles:4/2", "auto"])
@pytest.mark.parametrize("method", [ld.BSGI(l=2), ld.Mondrian(l=2), ld.Incognito(l=2)], ids=lambda method: method.name)
def test_bounds_hold_the_truth(how: str, method: ld.Method) -> None:
    release = published("age", how, method)
    age, value = TABLE["age"].to_numpy(), np.array(TABLE["s"].to_pylist())

    found = ld.estimate(release, sensitive="s", where="age >= 41")

    truth = [np.count_nonzero((age >= 41) & (value == letter)) for letter in "abcd"]
    assert (found.low[0] <= truth).all()
    assert (found.high[0] >= truth).all()


def test_missing_numbers_stay_a_cell_of_their_own() -> None:
    holes = TABLE.set_column(0, "age", pa.array(AGES, mask=AGES % 9 == 0))
    release = published("age", "width:20", ld.Incognito(l=2), holes)
    n_missing = int(np.count_nonzero(AGES % 9 == 0))

    by_age = ld.estimate(release, sensitive="s", by=ld.bins("age", width=20))

    assert by_age.labels["age"].to_pylist() == ["[20, 40)", "[40, 60)", None]
    assert by_age.records[-1] == pytest.approx(n_missing)
    assert ld.estimate(release, sensitive="s", where="age is missing").records[0] == pytest.approx(n_missing)
    assert ld.estimate(release, sensitive="s", where="age >= 0").records[0] == pytest.approx(N - n_missing)


def test_a_cell_of_missing_numbers_counts_those_under_the_root() -> None:
    value = np.array(TABLE["s"].to_pylist())
    # Those with the same value cannot share a class: some of them are published under the root.
    hole = np.isin(np.arange(N), [*np.flatnonzero(value == "a")[:3], np.flatnonzero(value == "b")[0]])
    release = published("age", "width:20", ld.BSGI(l=2), TABLE.set_column(0, "age", pa.array(AGES, mask=hole)))
    truth = [np.count_nonzero(hole & (value == letter)) for letter in "abcd"]

    found = ld.estimate(release, sensitive="s", by=ld.bins("age", width=20))

    cell = found.labels["age"].to_pylist().index(None)
    assert {"*", "(missing)"} <= set(release.table["age"].to_pylist())
    assert (found.low[cell] <= truth).all()
    assert (found.high[cell] >= truth).all()


def test_beginnings_of_texts_are_asked_for_by_what_was_published() -> None:
    release = published("zip", "prefix:3/2", ld.Incognito(l=2))
    zips = TABLE["zip"].to_pylist()

    assert set(release.table["zip"].to_pylist()) <= {"130**", "131**", "148**", "13***", "14***", *zips}
    found = ld.estimate(release, sensitive="s", where="zip starts with 13")
    assert found.records[0] == sum(code.startswith("13") for code in zips)
    assert found.low[0].sum() <= found.count[0].sum() <= found.high[0].sum()


class TestNodesOfTexts:
    """Every class shows `13***` or `14***`."""

    release = published("zip", "prefix:2", ld.Incognito(model="k-anonymity:20"))

    def records(self, **question: Any) -> list[float]:
        return [float(number) for number in ld.estimate(self.release, sensitive="s", **question).records]

    def test_the_nodes_are_the_cells(self) -> None:
        assert ld.estimate(self.release, sensitive="s", by="zip").labels["zip"].to_pylist() == ["13***", "14***"]

    @pytest.mark.parametrize("where", ["zip starts with 13", "zip in 13***", "zip starts with 13,99", "zip != 14***"])
    def test_what_holds_of_all_texts_under_a_node_selects_it(self, where: str) -> None:
        assert self.records(where=where) == self.records(by="zip")[:1]

    @pytest.mark.parametrize("where", ["zip starts with 130", "zip in 13053", "zip != 14850", "zip < 14"])
    def test_what_parts_the_texts_under_a_node_is_refused(self, where: str) -> None:
        with pytest.raises(ld.UnsupportedError, match="its values are not public") as caught:
            self.records(where=where)

        assert "zip in '1" in (caught.value.hint or "")

    def test_groups_of_a_hierarchy_go_by_its_nodes(self) -> None:
        tree = ld.Hierarchy.by_prefix(["13053", "13068", "13100", "14850", "14853", "99999"], [2, 1])

        found = ld.estimate(self.release, sensitive="s", by=ld.groups("zip", tree))

        assert found.labels["zip"].to_pylist() == ["13***", "14***"]

    def test_groups_go_by_published_labels(self) -> None:
        assert self.records(by=ld.groups("zip", {"north": ["13***"]})) == self.records(by="zip")
        with pytest.raises(ld.UnsupportedError, match="not public"):
            self.records(by=ld.groups("zip", {"north": ["13053"]}))


def test_a_class_that_says_nothing_of_a_text_is_spread_as_the_others() -> None:
    release = published("zip", "prefix:2", ld.BSGI(l=2, effort=0))
    assert "*" in release.table["zip"].to_pylist()

    found = ld.estimate(release, sensitive="s", where="zip starts with 13")

    sure = sum(cell.startswith("13") for cell in release.table["zip"].to_pylist())
    assert sure < found.records[0] < N
    assert found.low[0].sum() <= sum(code.startswith("13") for code in TABLE["zip"].to_pylist()) <= found.high[0].sum()


def test_dates_in_texts_are_asked_for_by_beginnings() -> None:
    release = published("day", "date", ld.Incognito(model="k-anonymity:12"))
    assert {label[:4] for label in release.table["day"].to_pylist()} <= {"2000", "2001", "*"}

    found = ld.estimate(release, sensitive="s", where="day starts with 2000")

    assert found.records[0] == sum(day.year == 2000 for day in DAYS)


def test_a_column_of_which_nothing_is_said_is_refused() -> None:
    release = published("age", "width:10", ld.Incognito(model="k-anonymity:80"))

    with pytest.raises(ld.UnsupportedError, match="says nothing about 'age'"):
        ld.estimate(release, sensitive="s", by=ld.bins("age", width=10))


def test_the_largest_numbers_are_published_and_larger_ones_refused() -> None:
    how, sizes = "quantiles:4/2", np.linspace(-1, 1, N)

    release = published("x", how, table=TABLE.append_column("x", pa.array(sizes * 1e300)))

    assert release.forms["x"].high <= 1e300  # type: ignore[operator]
    with pytest.raises(ld.SchemaError, match="got larger ones"):
        published("x", how, table=TABLE.append_column("x", pa.array(sizes * 1.7e308)))
