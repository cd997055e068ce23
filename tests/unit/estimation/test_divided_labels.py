"""Cells of a column that was published in labels: each holds all that its name says, or is refused with a way out."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.estimation import parse_by

AGES = np.arange(0, 100)


def published(level: str) -> ld.Release:
    """Everybody from 0 to 99 thirty times, with ages at a level."""
    values = np.array(["a", "b", "c", "d"])[np.arange(30 * len(AGES)) % 4]
    table = pa.table({"age": np.repeat(AGES, 30), "value": values})
    return ld.anonymize(
        table, quasi="age", sensitive="value", method=ld.RandomizedAddition(l=2), levels={"age": level}, insecure_seed=1
    )


def ages_in(cell: str) -> int:
    """How many ages a cell holds by its name."""
    if cell.startswith(">="):
        return int(np.count_nonzero(int(cell[2:]) <= AGES))
    if cell.startswith("<"):
        return int(np.count_nonzero(int(cell[1:]) > AGES))
    if cell.startswith(">"):
        return int(np.count_nonzero(int(cell[1:]) < AGES))
    low, high = map(int, re.findall(r"\d+", cell) * (2 if cell.isdigit() else 1))
    closed = cell.endswith("]") or cell.isdigit()
    return int(np.count_nonzero((low <= AGES) & ((high >= AGES) if closed else (high > AGES))))


@pytest.mark.parametrize("level", ["width:5", "width:10", "top:65", "width:5,bottom:20,top:90", "width:10,top:60"])
@pytest.mark.parametrize("asked", ["age", "age:3", "age:5", "age:7", "age:10", "age:20", "age:0/20/65", "age:0/30/60"])
def test_a_cell_holds_all_that_its_name_says_or_the_way_out_does(level: str, asked: str) -> None:
    release = published(level)
    try:
        check(ld.estimate(release, by=parse_by(asked), estimator="linear"))
    except ld.UnsupportedError as refused:
        ways = [f"ld.bins('age', {given})" for given in re.findall(r"bins\('age', (.*?)\)", str(refused.hint))]
        for way in [*ways, "'age'"]:
            check(ld.estimate(release, by=eval(way), estimator="linear"))  # noqa: S307 - our own hint


def check(found: ld.Estimate) -> None:
    labels = found.labels["age"].to_pylist()
    assert found.records.tolist() == [30 * ages_in(label) for label in labels]


def test_the_hint_names_bins_near_to_what_was_asked() -> None:
    with pytest.raises(ld.UnsupportedError, match=r"the cell '\[0, 7\)' of 'age' cannot be filled") as refused:
        ld.estimate(published("width:5"), by=ld.bins("age", width=7))

    assert "bins('age', width=5)" in str(refused.value)


MIDDLE = ld.bins("day", edges=["2023-02-15", "2023-04-01"])
BEGIN = ld.bins("day", edges=["2023-02-01", "2023-04-01"])


@pytest.mark.parametrize(
    ("level", "by", "cells"),
    [("month", MIDDLE, 0), ("month", BEGIN, 3), ("year", ld.groups("day", "month"), 1), ("year", MIDDLE, 1)],
)
def test_days_in_labels_that_a_question_divides(level: str, by: Any, cells: int) -> None:
    days = [dt.date(2023, 1, 2) + dt.timedelta(days=7 * (place % 40)) for place in range(400)]
    table = pa.table({"day": days, "value": [["a", "b", "c", "d"][place // 40 % 4] for place in range(400)]})
    release = ld.anonymize(
        table, quasi="day", sensitive="value", method=ld.RandomizedAddition(l=2), levels={"day": level}
    )
    if cells:
        assert ld.estimate(release, by=by).n_cells == cells
        return
    with pytest.raises(ld.UnsupportedError, match="'day' cannot be filled"):
        ld.estimate(release, by=by)
    assert ld.estimate(release, by="day").n_cells == 10


def test_a_group_of_values_that_a_label_holds_in_part_is_refused() -> None:
    table = pa.table({"job": ["ward", "office", "court", "shop"] * 20, "value": [*"aabbccdd"] * 10})
    tree = ld.Hierarchy.from_rows([["ward", "health"], ["office", "law"], ["court", "law"], ["shop", "trade"]])
    release = ld.anonymize(
        table,
        quasi="job",
        sensitive="value",
        method=ld.RandomizedAddition(l=2),
        levels={"job": (tree, 1)},
    )

    with pytest.raises(ld.UnsupportedError, match="the cell 'mine' of 'job' cannot be filled"):
        ld.estimate(release, by=ld.groups("job", {"mine": ["ward", "office"], "rest": ["shop"]}))
    assert ld.estimate(release, by=ld.groups("job", {"mine": ["ward", "office", "court"]})).n_cells == 2
