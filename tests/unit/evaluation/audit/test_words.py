"""The sentences of an audit: whose knowledge is meant, and which numbers stand beside them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit._words import learned

ONE = pa.table({"age": [1] * 4, "s": list("aaab"), "t": list("xyxz")})


@pytest.fixture(scope="module")
def sets() -> ld.Audit:
    table = pa.table({"age": [1, 2] * 50, "s": ["a"] * 80 + ["b"] * 10 + ["c"] * 10})
    return ld.audit(ld.anonymize(table, quasi="age", sensitive="s", method=ld.RandomizedAddition(l=2)))


def said(*models: str, table: pa.Table = ONE) -> str:
    return " ".join(ld.audit(table, quasi="age", sensitive="s", models=models).verdict)


def test_one_class_of_several_values_is_told_as_one() -> None:
    assert said().startswith("The only class holds more than one value of 's'.")


def test_one_class_of_one_value_is_told_as_one() -> None:
    told = said(table=pa.table({"age": [1, 1], "s": ["a", "a"]}))

    assert told.startswith("The only class holds one value of 's' only; 2 records can be read off.")


def test_one_class_that_breaks_a_model_is_told_as_one() -> None:
    assert "distinct:3 of 's' does not hold: the only class, of 4 records, breaks it; it reaches 2." in said(
        "distinct:3"
    )


def test_just_on_the_border_a_strict_model_says_what_is_wrong() -> None:
    assert said("recursive:3:2").endswith("it reaches 3, and must be strictly less than 3.")


def test_beyond_the_border_it_needs_no_explanation() -> None:
    assert said("recursive:2:2").endswith("it reaches 3.")


def test_one_record_that_breaks_a_model_is_one() -> None:
    table = pa.table({"age": [1, 1, 2], "s": ["a", "b", "a"]})

    assert "1 of 2 classes with 1 record breaks it" in said("distinct:2", table=table)


def test_one_row_that_was_left_out_is_one() -> None:
    table = pa.table({"age": [1, None], "s": ["a", "b"]})

    notes = ld.audit(table, quasi="age", sensitive="s", missing="drop").notes

    assert notes[0] == "1 row was left out because something was missing."


def test_whoever_knows_the_other_values_finds_people_by_them() -> None:
    # With s known, (1, a) has three people and (1, b) one; with t known, (1, x) two, (1, y) and (1, z) one each.
    verdict = ld.audit(ONE, quasi="age", sensitive=["s", "t"], joint_knowledge=True).verdict

    start = "To someone who asks for {!r} and knows the quasi-identifiers and all other sensitive values: "
    assert any(one.startswith(start.format("s") + "2 records of 4 look like nobody else") for one in verdict)
    assert any(one.startswith(start.format("t") + "1 record of 4 looks like nobody else") for one in verdict)


def test_what_is_counted_by_the_quasi_identifiers_alone_is_said_to_be() -> None:
    found = ld.audit(ONE, quasi="age", sensitive=["s", "t"], joint_knowledge=True)

    assert any("someone who knows only their quasi-identifiers finds 4 records" in one for one in found.verdict)
    assert any("only on the quasi-identifiers" in note for note in found.notes)


def test_the_k_of_alpha_k_counts_what_is_known() -> None:
    found = ld.audit(ONE, quasi="age", sensitive=["s", "t"], joint_knowledge=True)

    assert {name: value["k"] for name, value in found.models["alpha_k"].by_attribute.items()} == {"s": 1, "t": 1}


def test_the_belief_in_a_member_of_a_set_supposes_that_the_record_is_known(sets: ld.Audit) -> None:
    assert "knows how frequent the values are, and which record is the person's, it is" in sets.verdict[1]


def test_people_are_counted_with_and_without_prior_knowledge(sets: ld.Audit) -> None:
    risk = sets.attribute_risk["s"]

    found = learned("sets", risk)

    assert risk.informed is not None
    assert found.heads == ["records", "without prior knowledge", "knowing how frequent values are"]
    assert dict(found.rows)["likeliest value at least 50 %"] == [100, risk.informed.records_at_least_50]
    assert dict(found.rows)["likeliest value at least 90 %"] == [0, risk.informed.records_at_least_90]


def test_no_guess_from_sets_is_called_right(sets: ld.Audit) -> None:
    sentence = learned("sets", sets.attribute_risk["s"]).sentence

    assert "is right" not in sentence
    assert "someone who knows which record is the person's" in sentence


def test_the_page_has_the_same_numbers(sets: ld.Audit) -> None:
    assert "<th scope=col>knowing how frequent values are</th>" in sets.to_html()


def test_a_guess_from_a_table_is_right_as_often_as_its_class_says() -> None:
    risk = ld.audit(ONE, quasi="age", sensitive="s").attribute_risk["s"]

    assert learned("table", risk).sentence == (
        "A guess of the likeliest value of the class is right for 75 %; without the table, for 75 %."
    )


def test_frequencies_that_are_estimated_with_an_epsilon_are_said_to_be_rough() -> None:
    table = pa.table({"age": [1, 2] * 30, "s": ["yes", "no", "no"] * 20})
    release = ld.anonymize(table, quasi="age", sensitive="s", method="randomized-addition:l=1,epsilon=0.5")

    assert any("that estimate is noisy" in note for note in ld.audit(release).notes)
