"""What a table would give away is found before it is published: each kind planted, and its null case."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.publish import Finding

N = 1_000
SETS = "randomized-addition:l=3"
RANDOM = np.random.default_rng(7)
DISEASES = np.array(["angina", "asthma", "cold", "cut", "flu", "gout", "mumps"])[RANDOM.integers(0, 7, N)]
CODES = {"angina": "I20", "asthma": "J45", "cold": "J00", "cut": "T14", "flu": "J10", "gout": "M10", "mumps": "B26"}
MARK = "Zzyzx"
"""Stands in planted cells, and so must stand in no message."""


def found(column: Any, *, role: str = "plain", method: str = SETS, name: str = "x", **given: Any) -> list[Finding]:
    """What is found about a planted column, beside an innocent table."""
    table = pa.table({"age": RANDOM.integers(0, 90, N), name: column, "disease": DISEASES})
    roles = {"quasi": ["age"], "plain": [], "sensitive": "disease"}
    roles[role] = [*roles[role], name]
    return [one for one in ld.plan(table, **roles, method=method, **given).findings if one.column is not None]


def kinds(*args: Any, **given: Any) -> list[tuple[str, bool]]:
    return [(one.kind, one.blocking) for one in found(*args, **given)]


IDENTIFIERS = {
    "mail": [f"{MARK}{i}@example.org" for i in range(N)],
    "phone": [f"+49 170 {i:07d}" for i in range(N)],
    "social security": [f"123-45-{i:04d}" for i in range(N)],
    "person names": [f"{MARK}{chr(97 + i % 26)} Miller{chr(97 + i // 26)}" for i in range(N)],
    "names that people share": [f"{MARK}{chr(97 + i % 20)} Miller{chr(97 + i // 20 % 10)}" for i in range(N)],
    "case numbers": [f"{MARK.upper()}{i:06d}" for i in range(N)],
    "long numbers": 10**9 + RANDOM.permutation(N),
    "long numbers and a code for none": np.append(10**9 + RANDOM.permutation(N - 1), 0),
    "long numbers with a gap": np.append(10.0**9 + RANDOM.permutation(N - 1), np.nan),
    "long decimals": pa.array([Decimal(10**9 + i) for i in range(N)], pa.decimal128(12, 0)),
    "computers": [f"10.0.{i // 256}.{i % 256}" for i in range(N)],
}


@pytest.mark.parametrize("role", ["quasi", "plain"])
@pytest.mark.parametrize("planted", IDENTIFIERS)
def test_identifiers_are_refused_by_what_they_look_like(planted: str, role: str) -> None:
    assert kinds(IDENTIFIERS[planted], role=role) == [("identifier", True)]


@pytest.mark.parametrize("name", ["name", "patient_id", "SSN", "customerId"])
def test_identifiers_are_refused_by_their_names(name: str) -> None:
    assert kinds([f"p{i}" for i in range(N)], name=name) == [("identifier", True)]
    four = kinds([f"p{i // 4}" for i in range(N)], name=name)  # four rows a person
    assert four == [("several-rows", False), ("identifier", True)]
    assert ("identifier", False) in kinds([f"p{i % 7}" for i in range(N)], name=name)  # codes of few groups


def test_free_text_is_refused() -> None:
    notes = [f"{MARK} came in with pain number {i} and left on the same day" for i in range(N)]
    labels = [f"Other reasons that are not named elsewhere in part {i % 5} of the list" for i in range(N)]

    assert kinds(notes) == [("free-text", True)]
    assert kinds(labels) == []


NEAR_UNIQUE = {
    "birth dates": pa.array(RANDOM.permutation(30 * N)[:N].astype(np.int32), pa.date32()),
    "times": pa.array(RANDOM.integers(0, 2**40, N), pa.timestamp("us")),
    "numbers": RANDOM.random(N),
    "decimals": pa.array(RANDOM.permutation(50 * N)[:N]).cast(pa.decimal128(21, 2)),
    "texts": [f"{MARK[:2]}{i}" for i in RANDOM.permutation(N)],
    "whole numbers": RANDOM.permutation(40 * N)[:N],
}


@pytest.mark.parametrize("role", ["quasi", "plain"])
@pytest.mark.parametrize("planted", NEAR_UNIQUE)
def test_columns_in_which_everybody_differs_are_told(planted: str, role: str) -> None:
    (one,) = found(NEAR_UNIQUE[planted], role=role)

    assert (one.kind, one.blocking) == ("near-unique", False)
    assert one.share is not None
    assert one.share > 0.9
    assert MARK[:2] not in str(one)


@pytest.mark.parametrize("method", ["bsgi:l=3", "mondrian:l=3"])
def test_intervals_hide_dates_and_numbers_in_which_everybody_differs(method: str) -> None:
    assert kinds(NEAR_UNIQUE["birth dates"], role="quasi", method=method) == []
    assert kinds(NEAR_UNIQUE["birth dates"], role="plain", method=method) == [("near-unique", False)]


INNOCENT = {
    "zip codes": [f"{i:05d}" for i in RANDOM.integers(1000, 1200, N)],
    "long zip codes": [f"{i:05d}-1234" for i in RANDOM.integers(1000, 1100, N)],
    "British postcodes": [f"SW{i % 20}A {i % 9}AA" for i in range(N)],
    "ages": RANDOM.integers(0, 99, N),
    "incomes": RANDOM.integers(10, 90, N) * 1000,
    "large sums that many have": RANDOM.integers(10, 90, N) * 10_000_000,
    "days as texts": [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.1980" for i in range(N)],
    "towns": np.array(["New York", "Salem", "Dover", "Los Angeles"])[RANDOM.integers(0, 4, N)],
    "titles": np.array(["Sales Clerk", "Sales Manager", "Office Clerk"])[RANDOM.integers(0, 3, N)],
    "flags": RANDOM.integers(0, 2, N).astype(bool),
    "gaps": pa.array([None, "a", None, "b"] * (N // 4)),
    "nothing": pa.nulls(N, pa.string()),
}


@pytest.mark.parametrize("role", ["quasi", "plain"])
@pytest.mark.parametrize("planted", INNOCENT)
def test_innocent_columns_pass_in_silence(planted: str, role: str) -> None:
    assert kinds(INNOCENT[planted], role=role) == []


def test_a_coding_of_the_sensitive_value_is_refused() -> None:
    codes = [CODES[value] for value in DISEASES]
    (one,) = found(codes, name="icd")

    assert (one.kind, one.blocking, one.attribute, one.share) == ("tells", True, "disease", 1.0)
    assert "a copy or a coding, and tells 'disease' for 100 %" in one.text


def test_a_number_that_tells_the_sensitive_value_by_its_size_is_refused() -> None:
    dose = 1.5 ** (4 * np.searchsorted(sorted(CODES), DISEASES)) * (1 + RANDOM.random(N) / 10)

    assert [one for one in kinds(dose) if one[1]] == [("tells", True)]


def test_a_column_that_tells_some_values_is_told() -> None:
    ward = np.where(RANDOM.random(N) < 0.7, [CODES[value] for value in DISEASES], "ER")

    assert kinds(ward) == [("tells", False)]


def test_a_column_that_goes_with_nothing_tells_nothing() -> None:
    # A guess from the others with the same value, as right as chance: 1/7 and some of the largest share of 7.
    assert kinds(RANDOM.permutation([CODES[value] for value in DISEASES])) == []
    assert kinds([f"w{i}" for i in RANDOM.integers(0, N // 3, N)]) == []


def test_a_generalized_column_does_not_tell_but_a_plain_one_beside_it_does() -> None:
    codes = [CODES[value] for value in DISEASES]

    assert kinds(codes, role="quasi", method="bsgi:l=3") == []
    assert kinds(codes, role="plain", method="bsgi:l=3") == [("tells", True)]


@pytest.mark.parametrize(("method", "blocking"), [(SETS, True), ("bsgi:l=3", False)])
def test_a_second_sensitive_column_that_says_the_same_is_told(method: str, blocking: bool) -> None:  # noqa: FBT001
    table = pa.table({"disease": DISEASES, "icd": [CODES[value] for value in DISEASES]})
    answer = ld.plan(table, sensitive=["disease", "icd"], method=method)

    assert {(one.column, one.attribute, one.blocking) for one in answer.findings} == {
        ("disease", "icd", blocking),
        ("icd", "disease", blocking),
    }


def domain_findings(values: Any, method: str = SETS) -> list[Finding]:
    table = pa.table({"age": RANDOM.integers(0, 90, len(values)), "disease": values})
    found = ld.plan(table, quasi="age", sensitive="disease", method=method).findings
    return [one for one in found if one.column is not None]


@pytest.mark.parametrize("other", ["Flu", " flu", "flu ", "flu\u200b", "ﬂu", "flu\t"])
def test_spellings_of_one_sensitive_value_are_told(other: str) -> None:
    (one,) = domain_findings([*DISEASES, *[other] * 50])

    assert (one.kind, one.blocking) == ("spellings", False)
    assert one.text.startswith("1 group of values")
    assert "flu" not in str(one).lower()


def test_unicode_forms_are_spellings_of_one_value() -> None:
    (one,) = domain_findings([*DISEASES, *["M\u00e9ni\u00e8re"] * 40, *["Me\u0301nie\u0300re"] * 40])

    assert one.kind == "spellings"
    assert one.share == pytest.approx(80 / (N + 80))


def test_spellings_of_quasi_identifiers_are_told() -> None:
    job = np.array(["nurse", "Nurse", "cook", "clerk"])[RANDOM.integers(0, 4, N)]

    assert kinds(job, role="quasi") == [("spellings", False)]


@pytest.mark.parametrize("method", [SETS, "anatomy:l=2"])
def test_spellings_of_the_id_of_a_person_are_told(method: str) -> None:
    """They are two people to the draws, and their sets could be intersected."""
    people = [f"{MARK}{i % 500}" for i in range(N)]
    table = pa.table({"age": RANDOM.integers(0, 90, N), "x": people, "disease": DISEASES})
    given: dict[str, Any] = {"quasi": "age", "sensitive": "disease", "person": "x", "method": method}
    assert [one for one in ld.plan(table, **given).findings if one.column == "x"] == []
    people[3] += " "
    (one,) = (one for one in ld.plan(table.set_column(1, "x", [people]), **given).findings if one.column == "x")
    assert one.kind == "spellings"
    assert "different people" in one.text
    assert MARK not in one.text


def test_spellings_do_not_hide_what_a_column_tells() -> None:
    spelled = np.where(RANDOM.random(N) < 0.5, DISEASES, np.char.upper(DISEASES))
    table = pa.table({"icd": [CODES[value.lower()] for value in spelled], "disease": spelled})

    told = {one.kind: one for one in ld.plan(table, plain="icd", sensitive="disease", method=SETS).findings}
    assert told["tells"].share == 1.0
    assert told["tells"].blocking


def test_numbers_that_differ_by_rounding_alone_are_told() -> None:
    (one,) = domain_findings([0.1 + 0.2, 0.3, 0.7, 0.9, 1.1] * 50)

    assert one.kind == "near-numbers"
    assert "2 numbers" in one.text


def test_numbers_nearly_equal_are_told() -> None:
    assert [one.kind for one in domain_findings([*range(1000, 1300), 100_000] * 5)] == ["near-numbers"]
    assert domain_findings([*range(15)] * 50) == []


@pytest.mark.parametrize("method", ["mondrian:l=2", "anatomy:l=2"])
def test_a_domain_of_two_values_is_told_what_can_be_done(method: str) -> None:
    table = pa.table({"age": RANDOM.integers(0, 90, 400), "hiv": ["no", "no", "no", "yes"] * 100})

    (one,) = [one for one in ld.plan(table, quasi="age", sensitive="hiv", method=method).findings if one.column]
    assert (one.kind, one.share) == ("two-values", 0.75)
    release = ld.anonymize(table, quasi="age", sensitive="hiv", method=ld.Mondrian(model="t-closeness:0.1"))
    assert release.n_rows == 400


def test_a_sensitive_column_of_notes_is_refused_because_its_domain_becomes_public() -> None:
    notes = [f"{MARK} came in with pain number {i} and left on the same day" for i in range(60)]

    with pytest.raises(
        ld.SchemaError, match="column 'notes' must be dropped or confirmed: it holds free text"
    ) as fault:
        ld.anonymize(pa.table({"notes": notes}), sensitive="notes", method=SETS)
    assert MARK not in str(fault.value)


def test_ids_are_published_only_when_that_is_confirmed() -> None:
    people = pa.table({"patient": [f"p{i}" for i in range(60)], "disease": [f"d{i % 6}" for i in range(60)]})
    said = {"key": ld.Key.new(), "record_id": "patient", "quasi": "patient", "sensitive": "disease", "method": SETS}

    with pytest.raises(ld.SchemaError, match="it is the column that tells them apart"):
        ld.anonymize(people, **said)
    release = ld.anonymize(people, **said, confirm="patient")

    assert [(one.column, one.kind) for one in release.confirmed] == [("patient", "identifier")]


def unique_people(table: pa.Table, method: str = SETS, **given: Any) -> Finding | None:
    found = ld.plan(table, sensitive="disease", method=method, **given).findings
    return next((one for one in found if one.kind == "unique-people"), None)


def test_unique_people_are_counted_with_the_first_thing_to_do() -> None:
    days = RANDOM.permutation(20_000)[:N].astype(np.int32)
    table = pa.table({"sex": RANDOM.integers(0, 2, N), "birth": pa.array(days, pa.date32()), "disease": DISEASES})

    one = unique_people(table, quasi=["sex", "birth"])
    assert one is not None
    assert one.share == 1.0
    assert one.text == "1,000 of 1,000 records are unique on 'sex', 'birth'."
    assert "levels={'birth': 'year'}" in one.remedy
    left = int(one.remedy.split("leaves ")[1].rstrip(".").replace("nobody", "0"))
    followed = ld.plan(table, quasi=["sex", "birth"], sensitive="disease", method=SETS, levels={"birth": "year"})
    (after,) = [one for one in followed.findings if one.kind == "unique-people"]
    years = table["birth"].cast(pa.string()).to_pylist()
    pairs = [(sex, day[:4]) for sex, day in zip(table["sex"].to_pylist(), years, strict=True)]
    assert left == sum(pairs.count(pair) == 1 for pair in pairs)
    told = f"{left:,} {'is' if left == 1 else 'are'}" if left else "nobody is"
    assert after.text == f"1,000 of 1,000 records are unique on 'sex', 'birth'; as published, {told}."
    assert bool(after.remedy) == bool(left)


def test_people_are_counted_and_not_rows_where_it_is_known_whose_row_it_is() -> None:
    who = np.arange(N) // 4  # four rows each, which look alike
    table = pa.table({"who": who, "age": who % 200, "disease": DISEASES})
    given = {"quasi": "age", "method": "bsgi:l=2", "person": "who"}

    one = unique_people(table, **given)
    assert one is not None
    assert one.text.startswith("150 of 250 people are unique on 'age'; ")  # 200 ages, of which 50 are of two people
    assert unique_people(table, quasi="age", method="bsgi:l=2") is None


def test_nobody_is_alone_in_the_region_of_a_class() -> None:
    table = pa.table({"age": np.arange(N), "disease": DISEASES})

    release = ld.anonymize(table, quasi="age", sensitive="disease", method="bsgi:l=3")
    (one,) = [one for one in release.findings if one.kind == "unique-people"]
    assert one.text == "1,000 of 1,000 records are unique on 'age'; as published, nobody is alone in a region."


@pytest.mark.parametrize(
    ("cells", "advised", "coarser"),
    [
        ([f"{10000 + 10 * (row // 4) + row % 4}" for row in range(N)], "prefix:4", "prefix:3"),
        ([f"{10000 + 7 * row}" for row in range(N)], "prefix:3", "prefix:2"),
        ([date(1950 + row // 120, 1 + row // 10 % 12, 1 + row % 10) for row in range(N)], "month", "year"),
    ],
)
def test_the_level_that_is_advised_is_the_finest_that_leaves_as_few(
    cells: list[object], advised: str, coarser: str
) -> None:
    table = pa.table({"x": cells, "disease": DISEASES})
    one = unique_people(table, quasi=["x"])
    assert one is not None

    left = {level: unique_people(table, quasi=["x"], levels={"x": level}) for level in (advised, coarser)}

    assert f"publish x as {advised} " in one.remedy
    assert [found is not None and "as published, nobody is" in found.text for found in left.values()] == [True, True]


def test_large_tables_are_counted_by_samples_that_keep_who_looks_alike_together() -> None:
    n = 300_000
    table = pa.table({"x": np.arange(n) // 2, "y": np.arange(n) % 2, "disease": np.arange(n) % 7})

    one = unique_people(table, quasi=["x", "y"])
    assert one is not None
    assert one.text.startswith("About 300,000 of 300,000 records are unique")
    # Only two values of y: a sample of them would hold all rows or none, so all rows are read for x.
    assert one.remedy.startswith("First: publish ")
    assert one.remedy.endswith("which leaves nobody.")
