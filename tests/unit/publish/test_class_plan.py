from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.methods import BSGI, MBF, TP, Anatomy, Incognito, Mondrian, SemanticAnatomy
from ldiversity.publish import ClassPlan, plan
from ldiversity.publish._class_plan import most_classes

TABLE = pa.table(
    {
        "age": [20, 31, 42, 53, 64, 75, 23, 34],
        "name": list("abcdefgh"),
        "disease": ["flu", "flu", "flu", "cut", "cut", "sty", "sty", "gout"],
    }
)
DISEASE = ld.Sensitive("disease", domain=["flu", "cut", "sty", "gout", "cold"])


def planned(method: object, **changes: object) -> ClassPlan:
    arguments = {"quasi": "age", "sensitive": DISEASE, "drop": "name", **changes}
    answer = plan(TABLE, method=method, **arguments)
    assert isinstance(answer, ClassPlan)
    return answer


@pytest.mark.parametrize(
    ("counts", "l", "k"), [([4, 4], 2, 4), ([6, 2, 2], 2, 4), ([9, 1], 2, 1), ([9], 2, 0), ([3, 3, 3], 3, 3)]
)
def test_the_most_classes_are_those_that_enough_values_can_fill(counts: list[int], l: int, k: int) -> None:
    slow = max(k for k in range(sum(counts) // l + 1) if np.minimum(counts, k).sum() >= k * l)

    assert most_classes(np.array(counts), l) == slow == k


def test_the_largest_l_is_records_over_those_of_the_most_frequent_value() -> None:
    answer = planned(Anatomy(l=2))

    assert (answer.largest_l, answer.suggested_l) == (2, 2)
    assert (answer.attributes[0].largest_count, answer.attributes[0].largest_share) == (3, 3 / 8)


def test_values_that_occur_are_told_from_the_public_ones() -> None:
    (attribute,) = planned(Anatomy(l=2)).attributes

    assert (attribute.n_values, attribute.n_occurring) == (5, 4)


def test_a_feasible_plan_says_how_many_classes_there_are() -> None:
    answer = planned(Anatomy(l=2))

    assert (answer.feasible, answer.exact, answer.outlook.most_classes, answer.outlook.least_suppressed) == (
        True, True, 4, 0,
    )  # fmt: skip


def test_an_infeasible_plan_names_the_bound_and_the_largest_l() -> None:
    answer = planned(Anatomy(l=3))

    assert not answer.feasible
    assert "most frequent value has 3 of 8 records" in str(answer.outlook.reason)
    assert answer.outlook.nearest == ({"l": 2},)


def test_suppression_is_counted_beforehand() -> None:
    answer = planned(Anatomy(l=3, overflow="suppress"))

    assert (answer.outlook.most_classes, answer.outlook.least_suppressed) == (2, 1)


def test_classes_are_as_few_as_the_promise_that_asks_for_most_records_allows() -> None:
    assert planned(ld.Mondrian(l=2)).outlook.most_classes == 4
    assert planned(ld.Mondrian(model=["frequency:2", "k-anonymity:4"], l=2)).outlook.most_classes == 2


def test_neighboring_l_are_judged() -> None:
    choices = planned(Anatomy(l=2)).choices

    assert [(choice.l, choice.feasible) for choice in choices] == [(2, True), (3, False), (4, False)]


def test_the_claim_is_said_in_words() -> None:
    (attribute,) = planned(Anatomy(l=2)).attributes

    assert "at least 2 records" in attribute.claim
    assert attribute.posterior == 0.5


def test_a_tree_decides_what_is_feasible() -> None:
    tree = ld.Hierarchy.from_rows(
        [("flu", "lung"), ("cold", "lung"), ("cut", "skin"), ("sty", "skin"), ("gout", "joint")]
    )

    answer = planned(SemanticAnatomy(l=3, e=1, tree=tree))

    assert not answer.feasible
    assert answer.largest_l is None


def test_several_sensitive_columns_are_tried_together() -> None:
    table = TABLE.append_column("ward", [list("xxyyzzww")])

    answer = plan(table, sensitive=["disease", "ward"], method=MBF(l=2))

    assert [attribute.attribute for attribute in answer.attributes] == ["disease", "ward"]
    assert answer.outlook.most_classes + answer.outlook.least_suppressed > 0


def test_a_column_without_a_role_is_noted() -> None:
    assert planned(Anatomy(l=2), drop=()).notes == ("Not published, because they were given no role: 'name'.",)


def test_a_domain_that_was_read_off_the_table_is_a_caution() -> None:
    assert "read off the table" in planned(Anatomy(l=2), sensitive="disease").attributes[0].cautions[0]
    assert planned(Anatomy(l=2)).attributes[0].cautions == ()


def test_the_layout_decides_what_is_not_protected() -> None:
    assert "Quasi-identifiers are published as they are" in planned(Anatomy(l=2)).not_protected[0]


def test_a_hierarchy_of_another_column_is_refused() -> None:
    tree = ld.Hierarchy.from_rows([("a", "x")])

    with pytest.raises(ld.ParameterError, match="the column must be a quasi-identifier, got 'name'"):
        planned(Anatomy(l=2), hierarchies={"name": tree})


def test_a_hierarchy_that_misses_values_names_them(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("20;young;*\n31;young;*\n")

    with pytest.raises(ld.SchemaError, match=r"every value must be a leaf, got \d+ that are not"):
        planned(Anatomy(l=2), hierarchies={"age": tmp_path / "age.csv"})


@pytest.mark.parametrize("method", [Anatomy(l=2), BSGI(l=2), Mondrian(l=2), TP(l=2)])
def test_a_person_with_too_many_rows_is_seen_beforehand(method: ld.Method) -> None:
    table = TABLE.set_column(1, "name", [list("aaaaabcd")])

    planned = plan(table, quasi="age", sensitive=DISEASE, method=method, person="name")

    assert isinstance(planned, ClassPlan)
    assert "one person has 5 of 8 records" in str(planned.outlook.reason)


def test_the_facts_are_json() -> None:
    import json

    facts = json.loads(json.dumps(planned(Anatomy(l=2)).to_dict()))

    assert (facts["method"], facts["layout"], facts["largest_l"], facts["feasible"]) == (
        "anatomy",
        "bucketized",
        2,
        True,
    )


# --- methods that look at quasi-identifiers --------------------------------------------------------------


@pytest.mark.parametrize("method", [BSGI, TP, Mondrian, Incognito])
def test_the_most_frequent_value_bounds_l(method: type) -> None:
    assert planned(method(l=2)).feasible
    assert planned(method(l=3)).outlook.nearest == ({"l": 2},)


@pytest.mark.parametrize("method", [BSGI(l=3), TP(l=3), Mondrian(l=3), Incognito(l=3)])
def test_what_a_plan_refuses_is_refused_when_it_is_published(method: object) -> None:
    with pytest.raises(ld.InfeasibleError) as error:
        ld.anonymize(TABLE, quasi="age", sensitive=DISEASE, drop="name", method=method)

    assert not planned(method).feasible
    assert error.value.nearest == [{"l": 2}]


def test_a_plan_that_cannot_be_sure_says_so() -> None:
    answer = planned(BSGI(l=2))

    assert (answer.feasible, answer.exact, answer.outlook.most_classes) == (True, False, 4)


@pytest.mark.parametrize("method", [BSGI(l=3, overflow="suppress"), Anatomy(l=3, overflow="suppress")])
def test_as_many_records_are_left_out_as_was_planned(method: object) -> None:
    release = ld.anonymize(TABLE, quasi="age", sensitive=DISEASE, drop="name", method=method)

    outlook = planned(method).outlook
    assert (release.suppressed, release.classes("disease").n_classes) == (
        outlook.least_suppressed, outlook.most_classes,
    )  # fmt: skip


def test_suppression_of_more_values_than_occur_is_refused() -> None:
    answer = planned(BSGI(l=5, overflow="suppress"))

    assert "BSGI: l must be at most 4, the number of values of 'disease' that occur, got 5." in str(
        answer.outlook.reason
    )


def test_a_model_that_the_whole_table_breaks_is_infeasible() -> None:
    answer = planned(Mondrian(model="entropy:5"))

    assert "must hold for all records together" in str(answer.outlook.reason)
    assert (answer.outlook.l, answer.choices) == (None, ())


def test_records_that_may_be_left_out_are_taken_into_account() -> None:
    assert planned(Incognito(l=3, suppression=0.2)).outlook.least_suppressed == 1
    assert not planned(Incognito(l=3, suppression=0.1)).feasible
    assert planned(Incognito(model="entropy:5", suppression=0.5)).feasible


def test_the_largest_l_is_that_of_the_method() -> None:
    assert planned(BSGI(l=2)).largest_l == BSGI.suggest_l([3, 2, 2, 1])


def test_no_l_is_possible_when_one_value_has_more_than_half() -> None:
    table = pa.table({"disease": ["flu", "flu", "flu", "cut"]})

    answer = plan(table, sensitive="disease", method=BSGI(l=2))

    assert (answer.largest_l, answer.suggested_l, answer.outlook.nearest) == (1, 2, ())
    assert "No l is possible" in str(answer.outlook.hint)
