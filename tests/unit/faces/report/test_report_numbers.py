"""What a report says of its numbers: intervals that hold for what is shown, and shares compared with shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

N = 2_000


def wide_table(values: list[Any]) -> pa.Table:
    return pa.table({"sex": ["f", "m"] * (len(values) // 2), "value": values})


@pytest.fixture(scope="module")
def report_of_texts() -> ld.Report:
    """The holder's report on 300 texts, all about equally frequent."""
    rng = np.random.default_rng(5)
    table = wide_table([f"v{code:03d}" for code in rng.integers(0, 300, N)])
    domain = ld.Sensitive("value", domain=[f"v{code:03d}" for code in range(300)])
    release = ld.anonymize(table, quasi="sex", sensitive=domain, method=ld.RandomizedAddition(l=3), insecure_seed=1)
    return ld.holder_report(release, table, by="sex")


@pytest.fixture(scope="module")
def texts(report_of_texts: ld.Report) -> dict[str, Any]:
    return report_of_texts.to_dict()


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    """The holder's report on 90 numbers."""
    table = wide_table(np.random.default_rng(6).integers(0, 90, N).tolist())
    domain = ld.Sensitive("value", domain=list(range(90)))
    release = ld.anonymize(table, quasi="sex", sensitive=domain, method=ld.RandomizedAddition(l=3), insecure_seed=1)
    return ld.holder_report(release, table, by="sex").to_dict()


@pytest.fixture(scope="module")
def report_left_out() -> ld.Report:
    """The holder's report on a release from which records of one frequent value were left out."""
    table = pa.table({"sex": ["f", "m"] * 150, "value": ["a"] * 180 + ["b", "c", "d"] * 40})
    release = ld.anonymize(table, quasi="sex", sensitive="value", method=ld.Anatomy(l=3, overflow="suppress"))
    return ld.holder_report(release, table)


@pytest.fixture(scope="module")
def left_out(report_left_out: ld.Report) -> dict[str, Any]:
    return report_left_out.to_dict()


# The intervals of all 300 values hold at once with probability 0.95: of seeds, 1 in 20 at most would fail here.
def test_all_intervals_of_chosen_values_hold_at_once(texts: dict[str, Any]) -> None:
    assert texts["distributions"][0]["intervals"] == "simultaneous"
    assert texts["distributions"][0]["accuracy"]["held"] == 1.0
    assert texts["distributions"][0]["accuracy"]["of_all"]["shares"] == 300


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_that_the_largest_estimates_are_too_high(report_of_texts: ld.Report) -> None:
    page = report_of_texts.to_html()

    assert "those of all 300 values hold the true share at once" in page
    assert page.count("The largest of many estimates tend to be too high") >= 2  # in words and beside the picture


def test_chosen_values_of_cells_have_such_intervals_too(texts: dict[str, Any]) -> None:
    assert texts["contingency"][0]["intervals"] == "simultaneous"


def test_neighbors_of_numbers_are_added_up(numbers: dict[str, Any]) -> None:
    found = numbers["distributions"][0]

    assert (found["grouped"], found["intervals"], found["left_out"]["values"]) == (True, "pointwise", 0)
    assert [one["value"] for one in found["values"]][:2] == ["0 to 2", "3 to 5"]


def test_true_counts_of_neighbors_are_added_up(numbers: dict[str, Any]) -> None:
    assert sum(one["true_count"] for one in numbers["distributions"][0]["values"]) == N


# 90 intervals (30 groups of all records and of two cells), each wrong with probability 0.05. Those of one picture
# hang together weakly; were they one in three independent, 30 in all, more than 8 wrong have probability 3e-5.
def test_intervals_of_neighbors_hold_as_often_as_they_say(numbers: dict[str, Any]) -> None:
    held = [numbers["distributions"][0]["accuracy"]["held"], numbers["contingency"][0]["accuracy"]["held"]]

    assert (30 * held[0] + 60 * held[1]) / 90 > 1 - 24 / 90


def test_certain_limits_of_neighbors_hold_for_certain() -> None:
    rng = np.random.default_rng(7)
    table = pa.table({"age": rng.integers(20, 80, 400), "value": rng.integers(0, 90, 400)})
    release = ld.anonymize(table, quasi="age", sensitive="value", method=ld.BSGI(l=3))

    found = ld.holder_report(release, table, by="age:7").to_dict()["contingency"][0]
    assert (found["grouped"], found["intervals"], found["accuracy"]["held"]) == (True, "bounds", 1.0)


def test_certain_limits_of_generalized_cells_hold_for_shares() -> None:
    people = ld.datasets.patients(300, seed=2).select(["age", "sex", "disease"])
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=ld.BSGI(l=3))

    found = ld.holder_report(release, people, by="age:7").to_dict()["contingency"][0]
    assert (found["intervals"], found["accuracy"]["of_all"]["held"]) == ("bounds", 1.0)


@pytest.mark.usefixtures("undrawn")
def test_counts_of_a_grouped_release_are_said_to_be_exact(release_of_classes: ld.Release) -> None:
    report = ld.user_report(release_of_classes)

    assert report.to_dict()["distributions"][0]["intervals"] == "exact"
    page = report.to_html()
    assert "The values themselves are published, only shuffled within classes." in page
    assert "Bars are estimates" not in page


@pytest.fixture(scope="module")
def release_of_classes() -> ld.Release:
    people = ld.datasets.patients(300, seed=2).select(["age", "sex", "disease"])
    return ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=ld.Mondrian(l=3))


@pytest.mark.usefixtures("undrawn")
def test_caveats_of_cells_are_on_the_page(release_of_classes: ld.Release) -> None:
    report = ld.user_report(release_of_classes, by="age:7")

    caveats = report.to_dict()["contingency"][0]["caveats"]
    assert caveats
    assert [text for text in caveats if text not in report.to_html()] == []


@pytest.mark.usefixtures("undrawn")
def test_certain_limits_are_not_called_confidence_intervals(release_of_classes: ld.Release) -> None:
    page = ld.user_report(release_of_classes, by="age:7").to_html()

    assert "limits hold for certain" in page
    assert "95 %" not in page


def test_shares_of_published_records_do_not_hold_for_the_original(left_out: dict[str, Any]) -> None:
    assert left_out["distributions"][0]["accuracy"]["held"] == 0.0


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_that_left_out_records_bias_shares(report_left_out: ld.Report) -> None:
    most = 100 * report_left_out.release.suppressed / 300

    page = report_left_out.to_html()

    assert f"a share in the original may differ by up to {most:.3g} percentage points." in page
    assert "exact among published records" in page


def test_guessing_is_held_against_the_true_shares_for_the_holder(left_out: dict[str, Any]) -> None:
    assert [risk["threshold"] for risk in left_out["risks"] if risk["state"] == "compare"] == [0.6]


def test_guessing_is_held_against_the_same_estimate_as_the_page_shows() -> None:
    people = ld.datasets.patients(400, seed=3).select(["sex", "disease"])
    release = ld.anonymize(people, quasi="sex", sensitive="disease", method=ld.RandomizedAddition(l=3))

    facts = ld.user_report(release).to_dict()
    largest = max(value["share"] for value in facts["distributions"][0]["values"])
    assert [risk["threshold"] for risk in facts["risks"] if risk["state"] == "compare"] == [largest]


def test_guessing_says_that_the_record_is_found_first(left_out: dict[str, Any]) -> None:
    assert [risk["risk"] for risk in left_out["risks"] if risk["state"] == "compare"] == [
        "guessing the value, once the record is found"
    ]
