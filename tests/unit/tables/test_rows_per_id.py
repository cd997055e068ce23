"""Columns that look like ids of people and have several rows per value are found, with their figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.tables import open_source, rows_per_id

VISITS = pa.table(
    {
        "patient_id": [901, 901, 901, 902, 903, 903, 904, 904],
        "age": [30, 30, 31, 40, 50, 50, 60, 61],
        "disease": ["flu", "cut", "flu", "cut", "cold", "flu", "cold", "cut"],
    }
)
ROLES = {"quasi": "age", "sensitive": "disease"}


def test_the_figures_are_those_of_the_ids() -> None:
    (found,) = rows_per_id(open_source(VISITS))

    assert (found.column, found.rows, found.people, found.most, found.several) == ("patient_id", 8, 4, 3, 0.75)
    assert "2.0 rows on average, at most 3 rows; 75 % of the ids" in found.text


def test_counts_are_those_of_all_batches() -> None:
    ids = np.random.default_rng(0).integers(0, 40_000, 150_000)
    whole = open_source(pa.table({"patient": ids}))

    (found,) = rows_per_id(whole)

    counts = np.unique(ids, return_counts=True)[1]
    assert (found.people, found.most) == (len(counts), counts.max())


@pytest.mark.parametrize("name", ["visit_id", "patient_id"])
def test_ids_of_one_row_each_are_no_matter(name: str) -> None:
    assert rows_per_id(open_source(pa.table({name: range(30), "age": [30] * 30}))) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [("ward_id", False), ("patient_id", True), ("address", False), ("last_name", False), ("Nachname", False)],
)
def test_ids_of_wards_and_what_people_share_are_left_alone(name: str, found: bool) -> None:  # noqa: FBT001 - a case
    assert bool(rows_per_id(open_source(pa.table({name: [f"x{i % 2}" for i in range(400)]})))) == found


def test_the_clearest_id_comes_first() -> None:
    table = VISITS.append_column("record_id", pa.array([1, 1, 2, 2, 3, 3, 4, 4]))

    assert [one.column for one in rows_per_id(open_source(table))] == ["patient_id", "record_id"]


def test_a_table_without_rows_has_no_ids() -> None:
    empty = pa.table({"patient": pa.array([], pa.string())})

    assert rows_per_id(open_source(empty)) == []
    assert "The table has no rows" in str(ld.describe(empty))


@pytest.mark.parametrize("number", ["patient_no", "record_id", "PatNr", "Patientennummer"])
@pytest.mark.parametrize("name", ["Name", "patient_name"])
def test_an_id_says_better_whose_row_it_is_than_a_name_that_two_people_may_share(number: str, name: str) -> None:
    table = pa.table({name: ["Ann", "Ann", "Ann", "Bob", "Bob"], number: [1, 1, 2, 3, 3]})

    assert [one.column for one in rows_per_id(open_source(table))] == [number, name]


def test_missing_ids_are_not_one_person() -> None:
    assert rows_per_id(open_source(pa.table({"patient_id": pa.array([None, None, 1], pa.int64())}))) == []


@pytest.mark.parametrize("verb", ["check", "plan", "publish"])
@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.LLMSU(l=2)])
def test_it_is_the_first_finding_before_a_table_is_published(verb: str, method: ld.Method) -> None:
    publication = ld.Publication(**ROLES, drop="patient_id", method=method)

    first = getattr(publication, verb)(VISITS).findings[0]

    assert (first.column, first.kind, first.share, first.blocking) == ("patient_id", "several-rows", 0.75, False)
    assert "person='patient_id'" in str(first)


def test_nothing_is_said_when_the_person_is_given() -> None:
    publication = ld.Publication(**ROLES, drop="patient_id", person="patient_id", method=ld.LLMSU(l=2))

    assert "several-rows" not in {one.kind for one in publication.check(VISITS).findings}


def test_the_verdict_of_an_audit_begins_with_it_until_people_are_counted() -> None:
    rows = ld.audit(VISITS, **ROLES, drop="patient_id").verdict[0]
    people = ld.audit(VISITS, **ROLES, drop="patient_id", person="patient_id").verdict[0]

    assert rows.startswith("patient_id: It looks like the id of a person")
    assert "--person patient_id" in rows
    assert people.startswith("People are counted")


def test_a_description_says_so() -> None:
    found = ld.describe(VISITS)

    assert found.several_rows is not None
    assert "patient_id: It looks like the id of a person" in " ".join(str(found).split())


def test_no_id_is_shown() -> None:
    shown = [
        str(ld.audit(VISITS, **ROLES)),
        str(ld.describe(VISITS)),
        str(ld.Publication(**ROLES, drop="patient_id", method=ld.LLMSU(l=2)).plan(VISITS)),
    ]

    assert not any(str(cell) in text for text in shown for cell in range(901, 905))


IDS = [
    "patient_no",
    "patient",
    "patnr",
    "PatNr",
    "Patientennummer",
    "customer number",
    "id_patient",
    "study_patient_no",
]
RECORDS = ["Fallnummer", "case_no", "Fall-Nr", "record_no", "pid"]


def stays(name: str, rows_each: int, n: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    ids = [f"P{i // rows_each:03d}" for i in range(n)]
    return pa.table(
        {name: ids, "age": rng.integers(20, 60, n), "disease": rng.choice(["flu", "cut", "cold", "angina"], n)}
    )


@pytest.mark.parametrize("role", ["quasi", "plain"])
@pytest.mark.parametrize(
    ("name", "rows_each"), [(name, each) for name in IDS for each in (1, 2, 15)] + [(name, 2) for name in RECORDS]
)
def test_an_id_is_published_only_if_it_is_confirmed(name: str, rows_each: int, role: str) -> None:
    table = stays(name, rows_each)
    given: dict[str, object] = {"sensitive": "disease", "method": ld.RandomizedAddition(l=2), role: name}

    with pytest.raises(ld.SchemaError, match="must be dropped or confirmed: it names people or records"):
        ld.anonymize(table, **given)

    confirmed = ld.Publication(**given, confirm=name).plan(table)
    assert not [one for one in confirmed.findings if one.blocking]
    whose = ld.Publication(**{**given, role: "age"}, person=name).check(table)
    assert not [one for one in whose.findings if one.blocking]
    assert str(ld.describe(table).columns[0].role) == "identifier"


@pytest.mark.parametrize(
    ("name", "n_values"),
    [
        *(("household_no", 40), ("hospital_id", 20), ("hospital_no", 60), ("ward_no", 60), ("zip", 100)),
        *(("member", 2), ("student", 2), ("subject", 12), ("people", 8), ("person_no", 8), ("patient_group", 5)),
        *(("patient_age", 60), ("patient_no_show", 2), ("case", 2), ("number", 60), ("admitted", 300)),
    ],
)
def test_what_is_no_id_of_a_person_is_not_refused(name: str, n_values: int) -> None:
    table = stays("x", 1).append_column(name, pa.array([f"{i * 7 % n_values:04d}" for i in range(400)]))
    publication = ld.Publication(plain=name, sensitive="disease", method=ld.RandomizedAddition(l=2))

    assert not [one for one in publication.check(table).findings if one.blocking]
