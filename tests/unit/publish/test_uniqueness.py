"""How many records nobody else looks like, against a slow count, at every level."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.publish import ClassPlan, Plan, count_unique
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._level_texts import as_level
from ldiversity.tables import open_source

QUASI = ["age", "zip", "born", "job"]


def people(n: int = 300) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": pa.array(rng.integers(10, 90, n), mask=rng.random(n) < 0.1),
            "zip": [f"{number:05d}" for number in rng.integers(13000, 13090, n)],
            "born": pa.array(rng.integers(0, 9000, n).astype(np.int32)).cast(pa.date32()),
            "job": rng.choice(["nurse", "cook"], n),
            "patient": rng.integers(0, n // 2, n),
            "value": rng.choice(list("abcdef"), n),
        }
    )


def slowly(rows: list[tuple[object, ...]], whose: list[object] | None = None) -> int:
    if whose is None:
        return sum(count == 1 for count in Counter(rows).values())
    holders = {row: {one for other, one in zip(rows, whose, strict=True) if other == row} for row in set(rows)}
    return len({one for own in holders.values() if len(own) == 1 for one in own})


def rows_of(table: pa.Table, names: list[str]) -> list[tuple[object, ...]]:
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize("names", [["job"], ["age", "job"], QUASI])
def test_the_count_is_that_of_a_slow_reference(names: list[str]) -> None:
    table = people()
    assert count_unique(open_source(table), names) == slowly(rows_of(table, names))
    whose = table["patient"].to_pylist()
    assert count_unique(open_source(table), names, person="patient") == slowly(rows_of(table, names), whose)


@pytest.mark.parametrize("method", ["randomized-addition:l=2", "anatomy:l=2"])
def test_a_plan_counts_the_unique_at_each_level(method: str) -> None:
    table, levels = people(), {"age": "width:5,top:80", "born": "year"}
    answer = ld.plan(table, quasi=QUASI, sensitive="value", method=method, levels=levels)
    assert isinstance(answer, Plan | ClassPlan)
    assert [one.column for one in answer.uniqueness] == QUASI
    for one in answer.uniqueness:
        uniques = [level.unique for level in one.levels]
        assert uniques == sorted(uniques, reverse=True), "a coarser level never makes more people unique"
        for level in one.levels:
            chosen = {**levels, **({} if level.level is None else {one.column: level.level})}
            chosen = {name: text for name, text in chosen.items() if name != one.column or level.level is not None}
            coarse = {name: as_level(name, text).labels(name, _whole(table, name)) for name, text in chosen.items()}
            shown = [coarse[name].to_pylist() if name in coarse else table[name].to_pylist() for name in QUASI]
            assert level.unique == slowly(list(zip(*shown, strict=True)))
    ages = answer.uniqueness[0]
    assert [level.level for level in ages.levels] == [
        None,
        "width:5,top:80",
        *(f"width:{width},top:80" for width in (10, 20, 40)),
        "suppress",
    ]
    assert ages.planned == next(level.unique for level in ages.levels if level.planned)


def test_generalizing_methods_have_no_levels_to_choose() -> None:
    answer = ld.plan(people(), quasi=QUASI, sensitive="value", method="mondrian:l=2")
    assert answer.uniqueness == ()


def test_the_command_shows_them(tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(people().drop_columns(["patient"]), "people.csv")
    words = ["plan", "people.csv", "--quasi", "age,job", "--sensitive", "value", "-l", "2", "--publish", "age=width:10"]
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 0, told.output
    assert "width:20" in told.output
    assert "planned" in told.output


@pytest.mark.parametrize(
    ("values", "declared", "levels"),
    [
        (pa.array([1, 1]), None, ["suppress"]),
        (pa.array([0.0, 1.0]), "width:0.25", ["width:0.5", "width:1", "suppress"]),
        (pa.array(["a", "bc"]), None, ["suppress"]),
        (pa.array(["a1", "b2"]), None, ["prefix:1", "suppress"]),
        (pa.array([0], pa.int32()).cast(pa.date32()), None, ["month", "quarter", "year", "decade", "suppress"]),
        (pa.array([0], pa.int32()).cast(pa.date32()), "year,bottom:1935", ["suppress"]),
        (pa.array([True]), None, ["suppress"]),
        (pa.array(["x"]), "suppress", []),
    ],
)
def test_ladders(values: pa.Array, declared: str | None, levels: list[str]) -> None:
    given = None if declared is None else as_level("c", declared)
    assert [str(level) for level in ladder_of(values, given)] == levels


def test_every_label_lies_under_one_of_the_next_level() -> None:
    tree = ld.Hierarchy.from_rows([("nurse", "health", "work"), ("cook", "food", "work")])
    table = people()
    for name in QUASI:
        below = _whole(table, name).cast(pa.string())
        for level in ladder_of(_whole(table, name), None, tree if name == "job" else None):
            labels = level.labels(name, _whole(table, name))
            pairs = set(zip(below.to_pylist(), labels.to_pylist(), strict=True))
            assert len(pairs) == len({label for label, _ in pairs})
            below = labels


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table[name].combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def test_a_level_is_not_advised_when_a_late_value_has_no_label_there() -> None:
    days = pa.array([*range(2_099), 2**31 - 1], pa.int32()).cast(pa.date32())
    values = np.random.default_rng(3).choice(["cold", "cut", "fever", "flu"], len(days))
    asked: Any = {"quasi": "born", "sensitive": "value", "method": ld.RandomizedAddition(l=2)}
    table = pa.table({"born": days, "value": values})

    found = next(one for one in ld.anonymize(table, **asked).findings if one.kind == "unique-people")
    assert "year" not in str(found.remedy)
    assert [one.level for one in ld.plan(table, **asked).uniqueness[0].levels] == [None, "suppress"]
