from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
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
    first = ["schema", "version", "table", "rows", "columns", "next"]
    added = ["together", "combinations", "sampled", "reading", "advised_reading", "several_rows"]
    assert list(described) == [*first, *added, "problems"]


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


def hospital(n: int = 2000) -> pa.Table:
    """A table as a hospital exports it: nearly every birth date is unique."""
    rng = np.random.default_rng(3)
    born = pa.array(rng.integers(-14_000, 14_000, n).astype(np.int32)).cast(pa.date32())
    return pa.table(
        {
            "patient": [f"P{place:05}" for place in range(n)],
            "birth": [day.strftime("%d.%m.%Y") for day in born.to_pylist()],
            "sex": rng.choice(["f", "m"], n).tolist(),
            "site": rng.integers(1, 9, n).tolist(),
            "weight_kg": [f"{value:.1f}".replace(".", ",") for value in rng.normal(75, 12, n).tolist()],
            "score_raw": rng.normal(0, 1, n),
            "icd": rng.choice(["A09", "B20", "C50", "E11", "F32"], n).tolist(),
        }
    )


def test_columns_are_judged_by_their_values() -> None:
    found = {column.name: column for column in ld.describe(hospital()).columns}

    roles = {name: None if column.role is None else column.role.value for name, column in found.items()}
    assert roles["patient"] == "identifier"
    assert roles["birth"] == roles["sex"] == roles["site"] == "quasi"
    assert "as of a code" in found["site"].reason
    assert found["site"].distinction == pytest.approx(8 / 2000)
    assert found["site"].separation == pytest.approx(7 / 8, abs=0.01)
    assert (found["birth"].unique or 0) > 0.8


def test_a_date_in_texts_is_no_name_although_every_row_has_its_own() -> None:
    table = pa.table(
        {"seen": [f"{1 + n % 28}.{1 + n % 12}.{1900 + n}" for n in range(60)], "icd": ["a", "b", "c"] * 20}
    )

    seen = ld.describe(table).columns[0]

    assert (seen.role, seen.reason) == (Role.QUASI, "texts that look like dates, which others may know")


def test_what_singles_people_out_is_told_with_its_figure() -> None:
    found = ld.describe(hospital())

    assert found.singles_out
    assert found.together is not None
    assert found.together.unique > 0.95
    assert found.combinations[0].columns == ("birth",)
    assert found.sampled is None
    assert found.advised_reading == {"date_format": "dmy", "decimal": ","}
    assert sum("read=" in text for text in found.reading) == 2


def test_people_who_look_alike_are_not_singled_out() -> None:
    table = pa.table({"sex": ["f", "m"] * 50, "site": [1, 1, 2, 2] * 25, "icd": ["a", "b", "c", "d"] * 25})

    found = ld.describe(table)

    assert not found.singles_out
    assert found.combinations == ()


def test_contradicting_dates_are_not_advised_away() -> None:
    days = [f"{1 + n % 28:02}/{1 + n % 12:02}/{1990 + n % 9}" for n in range(60)]
    turned = ["/".join([*reversed(day.split("/")[:2]), day[-4:]]) for day in days]

    found = ld.describe(pa.table({"birth": days, "admission": turned, "icd": ["a", "b", "c"] * 20}))

    assert found.advised_reading == {}
    assert len(found.reading) == 2
