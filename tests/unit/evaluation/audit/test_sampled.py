"""Audits of tables with survey weights: figures by hand, what fails against a population, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import LDiversityError
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

SURVEY = pa.table(
    {
        "age": ["30", "30", "40", "40", "40", "50"],
        "disease": ["flu", "flu", "flu", "cut", "cut", "cut"],
        "w": [5.0, 3.0, 2.0, 2.0, 2.0, 9.0],
        "h": ["a", "a", "b", "b", "b", "a"],
    }
)


def test_figures_by_hand() -> None:
    found = ld.audit(SURVEY, quasi="age", sensitive="disease", models="k-anonymity:4", weights="w", strata="h")

    sampled = found.sampled
    assert sampled is not None
    assert (sampled.people, sampled.weights, sampled.strata) == (23.0, "w", "h")
    # Without the record of 50, nobody looks like it: it stands for 8 others, who look like no record, too.
    assert sampled.like_nobody.people == 8
    alone, of_two, of_three, *_ = sampled.alike
    # One record is alone, and each of the two of 30 would be without the other: they stand for 4 and 2 others.
    assert (alone.below, alone.classes, alone.people.people) == (2, 1, 1 + 4 + 2)
    assert alone.right_link == 1 / 7
    # Classes of one or two: records of 50 and 30, and what stands beside the three of 40.
    assert (of_two.below, of_two.records, of_two.people.people) == (3, 3, 3 + 6 + 3)
    assert of_three.below == 4
    assert [one.below for one in sampled.alike] == [2, 3, 4, 5, 10]
    about = sampled.attributes["disease"]
    # The others of 30 have flu as the class does; of 40, a cut is as common as flu without one of the cuts.
    assert about.read_off_right.people == (2 + 1) + 6
    assert about.guessed_right.people == (2 + 2 + 1) + 6 + 2 * 0.5
    assert [round(one.share, 6) for one in about.shares] == [round(13 / 23, 6), round(10 / 23, 6)]
    assert about.shares[0].in_table == 0.5
    assert about.shares[0].low is None, "six records are too few for an interval"
    assert "told apart" in found.population.meaning
    assert sampled.meaning in found.notes
    assert "The population that the table stands for" in found.to_html()
    assert "The population that the table stands for" not in ld.audit(SURVEY, quasi="age").to_html()


def test_what_holds_against_the_table_must_hold_against_its_population() -> None:
    """Everywhere half of the records have flu, but records with flu stand for nine times as many people."""
    table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut"] * 2, "w": [9, 1, 9, 1]})

    plain = ld.audit(table, quasi="age", sensitive="disease", models=["t-closeness:0.1", "distinct:2"])
    found = ld.audit(table, quasi="age", sensitive="disease", models=["t-closeness:0.1", "distinct:2"], weights="w")

    assert (plain.passed, found.passed) == (True, False)
    assert found.models["t_equal"].value == 0.0
    assert found.sampled is not None
    assert found.sampled.models["t_equal"].value == pytest.approx(0.4)
    assert [one.text for one in found.sampled.asked] == ["t-closeness:0.1"]
    assert "against the shares of the population does not hold" in found.verdict[-1]
    assert found.advice.command is None
    assert "shares of the population" in found.advice.text


def test_the_advice_names_all_models_that_fail_and_where() -> None:
    table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut"] * 2, "w": [9, 1, 9, 1]})
    models = ["t-closeness:0.1", "k-anonymity:3", "beta-likeness:0.5", "distinct:2"]

    found = ld.audit(table, quasi="age", sensitive="disease", models=models, weights="w")

    people, records = found.advice.text.split(" In the table itself, ")
    assert people.startswith("'t-closeness:0.1', 'beta-likeness:0.5' must hold against")
    assert records.startswith("'k-anonymity:3' must hold and does not")
    assert "distinct" not in found.advice.text
    assert not ld.audit(table, quasi="age", sensitive="disease", models=["k-anonymity:3"]).passed


def test_equal_weights_change_no_model() -> None:
    table = ld.datasets.patients(300, seed=5).append_column("w", pa.array([7] * 300))

    found = ld.audit(table, quasi="age", sensitive="disease", weights="w")

    assert found.sampled is not None
    assert {"t_equal", "beta"} <= set(found.sampled.models)
    for name, one in found.sampled.models.items():
        assert one.value == pytest.approx(found.models[name].value, abs=1e-6)
    assert found.sampled.effective_records == pytest.approx(300)


def test_rows_that_are_left_out_stand_for_nobody() -> None:
    table = pa.table({"age": [30, None, 30], "disease": ["flu", "flu", None], "w": [2, 4, 8]})

    found = ld.audit(table, quasi="age", sensitive=ld.Sensitive("disease", missing="drop"), missing="drop", weights="w")

    assert found.sampled is not None
    assert (found.records, found.sampled.people) == (1, 2.0)


def test_who_knows_the_other_columns_looks_up_by_them() -> None:
    table = SURVEY.append_column("job", pa.array(["x", "y", "x", "x", "y", "x"]))

    apart, joint = (
        ld.audit(table, quasi="age", sensitive=["disease", "job"], weights="w", joint_knowledge=both).sampled
        for both in (False, True)
    )

    assert apart is not None
    assert joint is not None
    # By age and job nobody of 30 looks like another.
    assert apart.attributes["disease"].read_off_right.people == 9
    assert joint.attributes["disease"].read_off_right.people == 2 + 1 + 1
    assert joint.like_nobody == apart.like_nobody


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, None, 2.0], "a finite number above zero"),
        ([1.0, float("nan"), 2.0], "a finite number above zero"),
        ([1.0, float("inf"), 2.0], "a finite number above zero"),
        ([1.0, -31.25, 2.0], "a finite number above zero"),
        ([1.0, 0.0, 2.0], "a finite number above zero"),
        ([1e308, 1e308, 2.0], "must add up to"),
        ([0.8125, 1.1, 1.1], "must be at least 1"),
        (["31.25", "2", "3"], "must hold numbers"),
    ],
)
def test_weights_that_are_none_are_refused_and_never_shown(weights: list[Any], words: str) -> None:
    table = pa.table({"age": [30, 30, 40], "w": weights})

    with pytest.raises(LDiversityError, match=words) as refused:
        ld.audit(table, quasi="age", weights="w")

    assert "'w'" in str(refused.value)
    assert not any(text in str(refused.value) for text in ("31.25", "0.8125", "1e+308", "nan", "inf "))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"weights": "v"}, "'v'"),
        ({"weights": "w", "strata": "v"}, "'v'"),
        ({"strata": "h"}, "must be given with"),
        ({"weights": "w", "strata": "age"}, "at least two records in each stratum"),
        ({"weights": "w", "person": "h"}, "must not be given together"),
        ({"weights": "w", "population": SURVEY}, "must not be given together"),
        ({"weights": "w", "sample_fraction": 0.1}, "must not be given together"),
        ({"weights": "w", "memory": "500MB"}, "all rows in memory"),
        ({"weights": "disease"}, "one role"),
    ],
)
def test_what_does_not_go_with_weights_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(LDiversityError, match=words):
        ld.audit(SURVEY, quasi="age", sensitive="disease", **asked)


def test_a_release_is_refused_with_a_way_out() -> None:
    domain = Domain(("cut", "flu", "pox"))
    release = SetRelease.in_memory(
        schema=Schema((Attribute("w", Role.QUASI, "double"), Attribute("s", Role.SENSITIVE, "string", domain))),
        columns=SURVEY.select(["w"]),
        sets={"s": np.zeros((6, 1), dtype=np.int32) + np.arange(2, dtype=np.int32)},
        mechanisms={"s": UniformSelection(3, 2)},
    )

    with pytest.raises(LDiversityError, match="must be left out for a release") as refused:
        ld.audit(release, weights="w")

    assert "the table that it was made from" in str(refused.value)


def test_huge_weights_are_numbers_to_the_end() -> None:
    table = pa.table({"age": np.arange(400) % 150, "disease": ["flu", "cut"] * 200, "w": np.full(400, 1e97)})

    found = ld.audit(table, quasi="age", sensitive="disease", weights="w").sampled

    assert found is not None
    # In 100 classes are three records, in 50 two: people who look like a class of fewer than three.
    assert found.alike[1].people.share == pytest.approx(1.0)
    assert found.people == pytest.approx(400e97)
    share = found.attributes["disease"].shares[0]
    assert share.low is not None
    assert 0 < share.low < share.share < 1


def test_where_a_rule_holds_for_all_records_there_is_no_interval_of_no_width() -> None:
    table = pa.table({"sex": ["f"] * 60, "ill": ["flu"] * 60, "w": [1000.0] * 60})

    found = ld.audit(table, quasi="sex", sensitive="ill", weights="w").sampled

    assert found is not None
    right = found.attributes["ill"].guessed_right
    assert (right.people, right.low, right.high) == (60_000, None, None)


def test_nobody_looks_like_a_class_that_is_not_there() -> None:
    table = pa.table({"age": [30] * 3 + [40] * 3, "ill": ["flu", "cut", "pox"] * 2, "w": [10.0] * 6})

    found = ld.audit(table, quasi="age", sensitive="ill", weights="w").sampled

    assert found is not None
    none, of_three = found.alike[1], found.alike[2]
    assert (none.below, none.classes, none.people.people, none.people.high) == (3, 0, 0, 0)
    assert of_three.classes == 2
    assert of_three.people.people > 0
