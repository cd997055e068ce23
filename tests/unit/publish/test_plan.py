from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.publish import Plan

VALUES = ["a"] * 50 + ["b"] * 30 + ["c"] * 15 + ["d"] * 5
TABLE = pa.table({"age": list(range(100)), "grade": VALUES})
LEVELS = pa.table({"age": list(range(140)), "level": [i % 14 for i in range(140)]})


def plan_addition(l: int) -> Plan:
    return ld.plan(TABLE, quasi="age", sensitive="grade", method=ld.RandomizedAddition(l=l))


def plan_levels(l: int, d: float, selection: str = "balanced") -> Plan:
    method = ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance(), selection=selection)  # type: ignore[arg-type]
    return ld.plan(LEVELS, quasi="age", sensitive="level", method=method)


def test_the_error_is_the_exact_formula() -> None:
    outlook = plan_addition(2).attributes[0].outlook

    # (F-1)(l-1) / (N F (F-l)) with F = 4, l = 2, N = 100
    assert outlook.mse == pytest.approx(3 / (100 * 4 * 2))
    assert outlook.std_error == pytest.approx((3 / 800) ** 0.5)


def test_someone_who_knows_the_frequencies_gains_more() -> None:
    outlook = plan_addition(2).attributes[0].outlook

    assert outlook.posterior == pytest.approx(1 / 2)
    assert outlook.posterior_informed == pytest.approx(50 / 55)  # the set of the most and the least frequent value


def test_the_share_of_the_most_frequent_value_is_a_guess_without_a_release() -> None:
    assert plan_addition(2).attributes[0].largest_share == pytest.approx(0.5)


def test_errors_in_cells_fall_with_the_root_of_their_size() -> None:
    errors = plan_addition(2).attributes[0].cell_errors or {}

    assert errors[100] == pytest.approx(10 * errors[10_000])


def test_a_table_whose_domain_was_not_declared_comes_with_a_caution() -> None:
    declared = ld.Sensitive("grade", domain=["a", "b", "c", "d"])
    method = ld.RandomizedAddition(l=2)

    cautions = ld.plan(TABLE, sensitive=declared, method=method).attributes[0].cautions

    assert any("domain was read off" in caution for caution in plan_addition(2).attributes[0].cautions)
    assert not any("domain was read off" in caution for caution in cautions)


@pytest.mark.parametrize(
    ("bins", "caution"),
    [
        ({"quantiles": 4}, "roughly where its quantiles lie"),
        ({"width": 20}, "span the smallest to the largest number of the table"),
    ],
)
def test_bins_that_come_from_the_table_come_with_a_caution(bins: dict[str, int], caution: str) -> None:
    binned = ld.Sensitive("age", **bins)  # type: ignore[arg-type]

    answer = ld.plan(TABLE, sensitive=binned, method=ld.RandomizedAddition(l=2))

    assert [caution in text for text in answer.attributes[0].cautions] == [True]


@pytest.mark.parametrize("bins", [{"edges": [0, 25, 50, 75, 100]}, {"width": 25, "low": 0, "high": 100}])
def test_declared_bins_come_without_a_caution(bins: dict[str, object]) -> None:
    binned = ld.Sensitive("age", **bins)  # type: ignore[arg-type]

    answer = ld.plan(TABLE, sensitive=binned, method=ld.RandomizedAddition(l=2))

    assert answer.attributes[0].cautions == ()


def test_a_feasible_attribute_keeps_its_cautions_beside_an_infeasible_one() -> None:
    table = pa.table({"grade": VALUES, "level": [i % 14 for i in range(100)]})

    answer = ld.plan(table, sensitive=["grade", "level"], method=ld.RandomizedAddition(l=5))

    assert any("domain was read off" in caution for caution in answer.attributes[1].cautions)


def test_neighboring_l_are_compared_up_to_the_first_infeasible() -> None:
    choices = plan_addition(2).attributes[0].choices

    assert [(choice.l, choice.feasible) for choice in choices] == [(2, True), (3, True), (4, False)]


def test_an_infeasible_goal_is_told_with_its_bound_and_the_nearest() -> None:
    answer = plan_addition(4)

    outlook = answer.attributes[0].outlook
    assert (answer.feasible, answer.n_bytes, outlook.feasible) == (False, None, False)
    assert "at most F - 1 = 3" in (outlook.reason or "")
    assert outlook.nearest == ({"l": 3},)
    assert [choice.l for choice in answer.attributes[0].choices] == [2, 3, 4]


def test_an_infeasible_distance_offers_what_is_reached_at_that_distance() -> None:
    attribute = plan_levels(5, 4).attributes[0]

    assert {"l": 3, "d": 4.0} in [dict(near) for near in attribute.outlook.nearest]
    assert [(choice.l, choice.feasible) for choice in attribute.choices] == [(2, True), (3, True), (5, False)]


def test_one_infeasible_attribute_makes_the_plan_infeasible() -> None:
    table = pa.table({"grade": VALUES, "level": [i % 14 for i in range(100)]})

    answer = ld.plan(table, sensitive=["grade", "level"], method=ld.RandomizedAddition(l=5))

    assert [attribute.outlook.feasible for attribute in answer.attributes] == [False, True]
    assert not answer.feasible


def test_each_attribute_may_have_its_own_method() -> None:
    table = pa.table({"grade": VALUES, "level": [i % 14 for i in range(100)]})
    semantic = ld.SemanticDiversity(l=3, d=2, distance=ld.OrderedDistance())

    answer = ld.plan(
        table, sensitive=["grade", "level"], method={"grade": ld.RandomizedAddition(l=2), "level": semantic}
    )

    assert [(attribute.method, attribute.selection) for attribute in answer.attributes] == [
        ("randomized-addition", None),
        ("semantic", "balanced"),
    ]


def test_the_violation_of_the_plain_mechanism_is_told() -> None:
    violation = plan_levels(2, 2).attributes[0].violation

    assert violation is not None
    # Of 13 partners of a level, 2 are too close, 1 at either end; 14 levels equally frequent.
    assert violation.average == pytest.approx((12 * 2 + 2) / (14 * 13))
    assert (violation.least, violation.greatest) == (pytest.approx(1 / 13), pytest.approx(2 / 13))
    assert violation.bound == pytest.approx(1 / 13)


def test_without_a_least_distance_there_is_no_violation() -> None:
    assert plan_addition(2).attributes[0].violation is None


def test_the_cautions_of_the_mechanism_are_passed_on() -> None:
    mechanism = ld.SemanticDiversity(l=3, d=2, distance=ld.OrderedDistance(), selection="ring").fit(
        ld.Domain(tuple(range(14)), ordered=True)
    )

    assert set(mechanism.cautions()) <= set(plan_levels(3, 2, "ring").attributes[0].cautions)


def test_columns_without_a_role_are_noted() -> None:
    assert ld.plan(TABLE, sensitive="grade", method=ld.RandomizedAddition(l=2)).notes == (
        "Not published, because they were given no role: 'age'.",
    )


def test_a_plan_is_json() -> None:
    described = plan_levels(3, 2).to_dict()

    assert json.loads(json.dumps(described)) == described


def test_wrong_decisions_are_refused_as_by_anonymize() -> None:
    with pytest.raises(ld.SchemaError, match="does not exist"):
        ld.plan(TABLE, quasi="agee", sensitive="grade", method=ld.RandomizedAddition(l=2))


@pytest.mark.parametrize("n", [50, 60_000])
def test_the_size_of_the_release_is_estimated_well(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "age": rng.integers(0, 100, n),
            "weight": rng.normal(70, 10, n),
            "disease": pa.array([f"disease {i}" for i in rng.integers(0, 40, n)]),
        }
    )
    method = ld.RandomizedAddition(l=3)
    ld.anonymize(table, quasi=["age", "weight"], sensitive="disease", method=method, output=tmp_path / "release")
    actual = sum(file.stat().st_size for file in (tmp_path / "release").iterdir())

    estimated = ld.plan(table, quasi=["age", "weight"], sensitive="disease", method=method).n_bytes

    assert estimated == pytest.approx(actual, rel=0.25)


def test_the_size_is_estimated_without_other_columns() -> None:
    assert (ld.plan(TABLE, sensitive="grade", method=ld.RandomizedAddition(l=2)).n_bytes or 0) > 1000


def test_selections_for_comparison_are_compared_with_smaller_l_only() -> None:
    assert [choice.l for choice in plan_levels(3, 2, "simple").attributes[0].choices] == [2, 3]
