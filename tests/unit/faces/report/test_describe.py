from __future__ import annotations

import json
from dataclasses import asdict

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.faces.report import Reach
from ldiversity.schema import Role


def reaches(values: list[object], name: str = "disease") -> dict[tuple[str, float | None], int]:
    (column,) = ld.describe(pa.table({name: values})).columns
    return {(reach.method, reach.d): reach.l for reach in column.reach}


def test_randomized_addition_reaches_one_less_than_the_values() -> None:
    assert reaches(["a", "b", "c", "d", "a"])["randomized-addition", None] == 3


def test_grouping_reaches_the_rows_over_the_most_frequent() -> None:
    assert reaches(["a"] * 3 + ["b"] * 3 + ["c"] * 2)["grouping", None] == 2


def test_missing_values_do_not_count_for_grouping() -> None:
    assert reaches(["a", "a", "b", "c", "d", None, None, None])["grouping", None] == 2


def test_semantic_diversity_on_numbers_needs_l_times_d_below_the_values() -> None:
    found = reaches(list(range(13)), "income")

    assert {d: l for (method, d), l in found.items() if method == "semantic"} == {2.0: 6, 3.0: 4, 4.0: 3}


def test_what_is_reached_on_numbers_can_be_fitted_and_one_more_cannot() -> None:
    domain = ld.Domain(tuple(range(13)), ordered=True)

    ld.SemanticDiversity(l=4, d=3, distance=ld.OrderedDistance()).fit(domain)
    with pytest.raises(ld.InfeasibleError):
        ld.SemanticDiversity(l=5, d=3, distance=ld.OrderedDistance()).fit(domain)


def test_texts_are_advised_to_name_a_distance() -> None:
    (column,) = ld.describe(pa.table({"disease": ["a", "b", "c"]})).columns

    assert any("name a distance" in advice for advice in column.advice)


def test_missing_sensitive_values_come_with_advice() -> None:
    (column,) = ld.describe(pa.table({"disease": ["a", "b", None]})).columns

    assert any("missing values" in advice for advice in column.advice)


def test_many_numbers_are_advised_to_be_binned() -> None:
    (column,) = ld.describe(pa.table({"income": list(range(60))})).columns

    assert column.needs_bins
    assert any("bins" in advice for advice in column.advice)
    assert any("quantiles are read off the table" in advice for advice in column.advice)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (pa.table({"disease": pa.array([], pa.string())}), "The table has no rows"),
        (pa.table({"disease": ["flu"]}), "'disease' has one value in this table"),
        (pa.table({"disease": ["flu", "flu", "flu"]}), "'disease' has one value in this table"),
        (pa.table({"disease": pa.array([None, None], pa.string())}), "'disease' has no value in this table"),
        (pa.table({"disease": ["flu", "cut"]}), "'disease' has 2 values in this table"),
        (pa.table({"age": [3]}), "The table has one row"),
    ],
)
def test_a_table_that_cannot_be_published_says_why(table: pa.Table, problem: str) -> None:
    (found,) = ld.describe(table).problems

    assert found.startswith(problem)


def test_a_table_that_can_be_published_has_no_problems() -> None:
    assert ld.describe(ld.datasets.patients(50)).problems == ()


def test_without_a_telling_name_the_last_column_of_few_values_is_guessed() -> None:
    table = pa.table({"shade": ["a", "b", "c"], "shape": ["x", "y", "z"], "flag": [True, False, True]})

    roles = {column.name: (column.role, column.reason) for column in ld.describe(table).columns}

    assert roles["shape"] == (Role.SENSITIVE, "a guess: the last column with few values and no other role")
    assert roles["shade"][0] is roles["flag"][0] is None


def test_frequencies_are_shown_for_sensitive_columns_only() -> None:
    table = pa.table({"sex": ["f", "m", "f"], "disease": ["flu", "flu", "cut"]})

    sex, disease = ld.describe(table).to_dict()["columns"]

    assert sex["frequencies"] == []
    assert disease["frequencies"][0] == {"value": "flu", "count": 2, "share": pytest.approx(2 / 3)}


def test_a_description_is_json() -> None:
    described = ld.describe(ld.datasets.patients(50)).to_dict()

    assert json.loads(json.dumps(described)) == described
    assert list(described) == ["schema", "version", "table", "rows", "columns", "next", "problems"]


def test_a_declared_type_is_used() -> None:
    assert ld.describe(pa.table({"zip": [1, 2]}), types={"zip": "text"}).columns[0].summary.type == "string"


def test_nested_columns_have_no_role() -> None:
    description = ld.describe(pa.table({"tags": [["a"], ["b"]], "disease": ["x", "y"]}))

    assert description.columns[0].distinct is None
    assert description.names(Role.SENSITIVE) == ["disease"]


def test_reach_is_a_value() -> None:
    assert asdict(Reach("grouping", 3, None, "because")) == {
        "method": "grouping",
        "l": 3,
        "d": None,
        "rule": "because",
    }
