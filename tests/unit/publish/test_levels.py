"""Levels: public rules from a value to its label, and what a label stands for."""

from __future__ import annotations

import datetime as dt
import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.hierarchies import span_of
from ldiversity.publish._cut import reach_of_days
from ldiversity.publish._level_texts import as_level
from ldiversity.publish._levels import CalendarLevel, Level, NumberLevel
from ldiversity.publish._text_levels import PrefixLevel, SuppressLevel, TreeLevel
from ldiversity.release import Form, Reach, Region
from ldiversity.schema import MISSING_LABEL

DAY = dt.date(1984, 5, 17)
JOBS = ld.Hierarchy.from_rows([("nurse", "health"), ("doctor", "health"), ("cook", "food")])


def texts(level: Level, cells: pa.Array) -> list[str]:
    return level.labels("c", cells).to_pylist()


@pytest.mark.parametrize(
    ("text", "cells", "labels"),
    [
        ("width:5", [19, 20, -1, None], ["[15, 20)", "[20, 25)", "[-5, 0)", MISSING_LABEL]),
        ("width:5,bottom:18,top:92", [17, 18, 90, 92], ["< 18", "[18, 20)", "[90, 92)", ">= 92"]),
        ("top:90", [41, 90, 95], ["41", ">= 90", ">= 90"]),
        ("bottom:18", [17, 18], ["< 18", "18"]),
        ("width:0.1", [0.3, 0.29999, -0.1], ["[0.3, 0.4)", "[0.2, 0.3)", "[-0.1, 0)"]),
        ("width:10000", [49999.99, float("nan")], ["[40000, 50000)", MISSING_LABEL]),
        ("prefix:2", ["130", "13", "1", None], ["13*", "13*", "1", MISSING_LABEL]),
        ("prefix:2", [130, 7], ["13*", "7"]),
        ("month", [DAY, None], ["1984-05", MISSING_LABEL]),
        ("quarter", [DAY], ["1984-Q2"]),
        ("year", [DAY], ["1984"]),
        ("decade", [DAY], ["1980s"]),
        ("suppress", [1, None], ["*", "*"]),
        ("year,bottom:1985,top:2000-01-01", [DAY, dt.date(2000, 1, 1)], ["< 1985-01-01", ">= 2000-01-01"]),
    ],
)
def test_labels_follow_from_the_value_and_the_rule(text: str, cells: list[object], labels: list[str]) -> None:
    level = as_level("c", text)
    assert texts(level, pa.array(cells)) == labels
    assert as_level("c", str(level)) == level
    alone = [texts(level, pa.array([cell], pa.array(cells).type))[0] for cell in cells]
    assert alone == labels, "no other record decides about a label"


def test_a_level_of_a_hierarchy_takes_the_ancestors(tmp_path: Path) -> None:
    JOBS.save(tmp_path / "jobs.csv")
    for level in (as_level("job", (JOBS, 1)), as_level("job", "jobs.csv:1", tmp_path)):
        assert texts(level.ready(), pa.array(["cook", "nurse", None])) == ["food", "health", MISSING_LABEL]
    with pytest.raises(ld.SchemaError, match="must be from 0 to 2"):
        TreeLevel(JOBS, 3).ready()
    with pytest.raises(ld.SchemaError, match="1 that are not"):
        texts(TreeLevel(JOBS, 1), pa.array(["cook", "smith"]))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from(["0.1", "0.25", "3", "7"]))
def test_intervals_are_exact_for_the_decimals_of_a_number(numbers: list[float], width: str) -> None:
    for number, label in zip(numbers, texts(NumberLevel(float(width)), pa.array(numbers)), strict=True):
        span = span_of(label)
        assert span.low <= Fraction(str(number)) < span.high
        assert span.high - span.low == Fraction(width)
        assert (span.low / Fraction(width)).denominator == 1, "ends are multiples of the width, not cells"


@pytest.mark.parametrize(
    ("level", "cells"),
    [
        (NumberLevel(5, 18, 90), pa.array([3, 17, 18, 20, 24, 89, 90, 120, None])),
        (NumberLevel(0.5, -1, 1), pa.array([-7.0, -1.0, -0.25, 0.0, 0.999, 1.0, 9e9])),
        (NumberLevel(top=4), pa.array([1, 2, 3, 4, 5], pa.int8())),
        (CalendarLevel("decade", dt.date(1930, 1, 1)), pa.array([dt.date(1901, 1, 1), DAY, dt.date(1939, 12, 31)])),
        (CalendarLevel("month"), pa.array([dt.datetime(2020, 1, 31, 23, 59), dt.datetime(2020, 2, 1)])),  # noqa: DTZ001
        (PrefixLevel(3), pa.array(["13053", "130", "13", "14850"])),
        (TreeLevel(JOBS, 1), pa.array(["cook", "nurse", "doctor"])),
        (SuppressLevel(), pa.array(["cook", None])),
        (SuppressLevel(), pa.array([1, 2])),
    ],
    ids=str,
)
def test_every_value_is_under_its_label_and_no_other(level: Level, cells: pa.Array) -> None:
    labels = level.labels("c", cells)
    form = level.form("c", labels.to_pylist(), cells.type)
    shown = labels.dictionary_encode()
    region = Region("c", form, cells.type, shown.dictionary, lambda: np.asarray(shown.indices))
    places = region.places(cells)
    under = region.lists
    for row, place in enumerate(places):
        region_of = under.region_of[region.of_row[row]]
        assert place in under.values[under.starts[region_of] : under.starts[region_of + 1]]
    low, high = region.ends
    for row, cell in enumerate(cells.to_pylist()):
        ends = low[int(region.of_row[row])].as_py(), high[int(region.of_row[row])].as_py()
        if cell is not None and not isinstance(cell, str):
            assert ends[0] is None or ends[0] <= cell
            assert ends[1] is None or cell <= ends[1]


def test_an_open_end_is_no_end() -> None:
    cells = pa.array([10, 50, 95])
    level = NumberLevel(10, 20, 90)
    form = level.form("age", texts(level, cells), cells.type)
    region = Region("age", form, cells.type, pa.array(form.labels), lambda: np.arange(3))
    assert form.labels == ("< 20", "[50, 60)", ">= 90")
    assert [end.to_pylist() for end in region.ends] == [[None, 50, 90], [19, 59, None]]
    assert region.places(pa.array([-5, 19, 1000])).tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "width",
        "width:0",
        "width:-5",
        "width:x",
        "width:2,5",
        "top:5,bottom:9",
        "prefix:0",
        "prefix:3/2",
        "year:2",
        "century",
        "file.csv",
        "year,top:2000-02-01",
        "decade,bottom:1935",
        "width:5,width:6",
        "width:nan",
    ],
)
def test_a_text_that_is_no_level_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ld.ParameterError) as caught:
        as_level("age", text)
    assert caught.value.parameter == "levels"


@pytest.mark.parametrize(
    ("level", "cells"),
    [
        ("width:5", pa.array(["20"])),
        ("width:5", pa.array([DAY])),
        ("year", pa.array(["1984"])),
        ("year", pa.array([1984])),
        ("prefix:2", pa.array([1.5])),
    ],
)
def test_a_level_that_does_not_suit_the_type_is_refused(level: str, cells: pa.Array) -> None:
    table = pa.table({"a": cells, "s": ["x"]})
    publication = ld.Publication(quasi="a", sensitive="s", method="randomized-addition:l=2", levels={"a": level})
    with pytest.raises(ld.SchemaError, match=r"'a' must hold") as caught:
        publication.check(table)
    assert caught.value.hint


def test_numbers_beyond_all_intervals_are_refused() -> None:
    with pytest.raises(ld.SchemaError, match="larger width"):
        texts(NumberLevel(1e-9), pa.array([1e12]))
    with pytest.raises(ld.SchemaError, match="larger ones"):
        texts(NumberLevel(5), pa.array([float("inf")]))


def test_a_level_must_be_of_a_quasi_identifier_without_a_hierarchy() -> None:
    with pytest.raises(ld.ParameterError, match="must name no column that has a hierarchy"):
        ld.Publication(
            quasi="age", sensitive="s", method="mondrian:l=2", levels={"age": "width:5"}, hierarchies={"age": "auto"}
        )
    with pytest.raises(ld.ParameterError, match="must name quasi-identifiers"):
        ld.Publication(quasi="a", sensitive="s", method="anatomy:l=2", levels={"b": "width:5"}).check(
            pa.table({"a": [1], "b": [2], "s": ["x"]})
        )


def test_a_number_beyond_an_end_is_under_that_end_and_not_under_everything() -> None:
    reaches = {">= 90": Reach(90, 90, unbounded="high"), "* (other)": Reach(starts=("",)), "[20, 30)": Reach(20, 29)}
    for labels in itertools.permutations(reaches):
        form = Form("node", labels=labels, reaches=reaches, low=20, high=90)
        region = Region("age", form, pa.int64(), pa.array(labels), lambda: np.arange(3))
        found = region.places(pa.array([95, 25, 50]))
        assert [labels[place] for place in found] == [">= 90", "[20, 30)", "* (other)"]


def test_days_follow_each_other_where_clocks_skip_midnight() -> None:
    # In Sao Paulo, clocks went from the end of November 3 to one o'clock of November 4, 2018.
    kind = pa.timestamp("s", "America/Sao_Paulo")
    before, after = (reach_of_days(day, day, kind) for day in (dt.date(2018, 11, 3), dt.date(2018, 11, 4)))

    assert (before.high, after.low) == (1541300399, 1541300400)
