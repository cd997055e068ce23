"""Marks of no value in a sensitive column are told, and what is advised ends them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.tables import NO_VALUE_MARKS

REAL = ["flu", "cold", "cut", "asthma"]


def table(*marks: str) -> pa.Table:
    values = [*REAL * 30, *(mark for mark in marks for _ in range(3))]
    return pa.table({"age": np.arange(len(values)) % 9, "disease": values})


def told(people: pa.Table, **more: str) -> list[str]:
    sensitive = ld.Sensitive("disease", **more)  # type: ignore[arg-type]
    found = ld.plan(people, quasi="age", sensitive=sensitive, method="randomized-addition:l=2").findings
    return [str(one) for one in found if one.kind == "no-values"]


@pytest.mark.parametrize("write", [str, str.upper, str.title, lambda mark: f" {mark}  "])
def test_every_mark_is_told_whatever_its_case_and_blanks(write: Callable[[str], str]) -> None:
    (said,) = told(table(*map(write, NO_VALUE_MARKS)))

    n = len(NO_VALUE_MARKS)
    assert f"{3 * n} rows have a text that looks like no value, of {n} such marks" in said


def test_real_values_are_no_marks() -> None:
    assert not told(table())
    assert not told(table("nausea", "anaemia", "none of these", "unknown fever", "A-"))


def test_the_findings_of_a_release_have_it_too() -> None:
    release = ld.anonymize(table("NA", "-"), quasi="age", sensitive="disease", method="randomized-addition:l=2")

    assert release.n_rows == 126
    (said,) = told(table("NA", "-"))
    assert "6 rows have a text that looks like no value, of 2 such marks" in said


@pytest.mark.parametrize(("missing", "rows"), [("drop", 120), ("category", 126)])
def test_the_advice_works(missing: str, rows: int) -> None:
    people = table("NA", "-")
    (said,) = told(people)
    assert f"missing={missing!r}" in said
    cells = people["disease"]
    emptied = people.set_column(1, "disease", pc.if_else(pc.is_in(cells, pa.array(["NA", "-"])), None, cells))

    assert not told(emptied, missing=missing)
    sensitive = ld.Sensitive("disease", missing=missing)  # type: ignore[arg-type]
    release = ld.anonymize(emptied, quasi="age", sensitive=sensitive, method="randomized-addition:l=2")
    assert (release.n_rows, len(release.domain("disease"))) == (rows, 4 + (missing == "category"))


def test_describe_tells_it_of_what_may_be_sensitive() -> None:
    said = [str(one) for one in ld.describe(table("NA", "-")).reading]

    assert any(one.startswith("disease: 6 rows have a text that looks like no value") for one in said)
    assert not [one for one in map(str, ld.describe(table()).reading) if "no value" in one]
