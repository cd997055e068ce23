"""Randomized addition: the eight patients published as in Table 4, with l = 2."""

from __future__ import annotations

from typing import Any, Final

import pytest

import ldiversity as ld

QUASI: Final = ("sex", "age", "address", "job")
DISEASES: Final = ("Cancer", "Chill", "Cold", "Cut", "Fever", "Flu", "HIV", "Pus", "Sty")

# Age of the patient (with the sex: two are 41) and the two diseases that Table 4 prints for them.
TABLE_4: Final = {
    ("M", 41): ("Fever", "Flu"),
    ("F", 41): ("Fever", "Sty"),
    ("M", 50): ("Cancer", "Cold"),
    ("F", 51): ("HIV", "Pus"),
    ("M", 68): ("Chill", "Cut"),
    ("F", 69): ("Cold", "HIV"),
    ("M", 72): ("Cut", "Fever"),
    ("F", 77): ("Cancer", "Flu"),
}

Row = dict[str, Any]


def qids(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in QUASI)


@pytest.fixture(scope="module")
def patients() -> list[Row]:
    return list(ld.datasets.hospital().to_pylist())


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return ld.anonymize(
        ld.datasets.hospital(),
        drop="id",
        quasi=QUASI,
        sensitive=ld.Sensitive("disease", domain=DISEASES),
        method=ld.RandomizedAddition(l=2),
        confirm="address",  # everybody has another one, and the paper prints them
    )


@pytest.fixture(scope="module")
def published(release: ld.Release) -> list[Row]:
    return list(release.table.to_pylist())


def test_every_record_keeps_its_quasi_identifiers(patients: list[Row], published: list[Row]) -> None:
    assert sorted(map(qids, published)) == sorted(map(qids, patients))


def test_nothing_but_quasi_identifiers_and_the_disease_is_published(published: list[Row]) -> None:
    assert all(tuple(row) == (*QUASI, "disease") for row in published)


def test_every_record_shows_two_diseases_of_the_domain(published: list[Row]) -> None:
    assert all(len(set(row["disease"])) == len(row["disease"]) == 2 for row in published)
    assert all(set(row["disease"]) <= set(DISEASES) for row in published)


def test_one_of_the_two_diseases_is_true(patients: list[Row], published: list[Row]) -> None:
    true = {qids(row): row["disease"] for row in patients}

    assert all(true[qids(row)] in row["disease"] for row in published)


def test_the_release_claims_2_diversity(release: ld.Release) -> None:
    assert [(claim.model, claim.l, claim.posterior) for claim in release.claims] == [("l-diversity", 2, 0.5)]


def test_the_sets_that_the_paper_prints_are_sets_of_this_method(patients: list[Row]) -> None:
    assert all(row["disease"] in TABLE_4[row["sex"], row["age"]] for row in patients)
    assert {disease for printed in TABLE_4.values() for disease in printed} == set(DISEASES)
