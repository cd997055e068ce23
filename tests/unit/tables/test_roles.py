"""Roles of columns are checked, and suggested with a reason."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ldiversity.errors import SchemaError
from ldiversity.schema import Role
from ldiversity.tables import check_roles, open_source, suggest_role

SOURCE = open_source(
    pa.table({"name": ["a"], "age": [30], "sex": ["f"], "disease": ["flu"], "visits": [[1, 2]], "note": ["x"]})
)


def test_columns_without_a_role_are_returned() -> None:
    unused = check_roles(SOURCE, quasi=["age"], sensitive=["disease"], drop=["name"], plain=["note"])

    assert unused == ["sex", "visits"]


def test_no_quasi_identifier_is_needed() -> None:
    assert check_roles(SOURCE, sensitive=["disease"], drop=["name", "age", "sex", "visits", "note"]) == []


def test_a_single_name_is_a_list_of_one() -> None:
    assert "disease" not in check_roles(SOURCE, sensitive="disease")


def test_a_record_id_has_a_role() -> None:
    assert "name" not in check_roles(SOURCE, sensitive=["disease"], record_id="name")


def test_a_record_id_may_be_named_among_the_dropped() -> None:
    assert "name" not in check_roles(SOURCE, sensitive=["disease"], drop=["name"], record_id="name")


def test_a_record_id_may_be_made_of_quasi_identifiers() -> None:
    unused = check_roles(SOURCE, quasi=["age"], sensitive=["disease"], record_id=["name", "age"])

    assert unused == ["sex", "visits", "note"]


BAD_ROLES = {
    "unknown": ({"sensitive": ["diseases"]}, r"(?s)column 'diseases' does not exist.*Did you mean 'disease'\?"),
    "nothing near": ({"sensitive": ["xyzzy"]}, r"(?s)column 'xyzzy' does not exist.*The columns are 'name', 'age'"),
    "unknown record id": ({"sensitive": ["disease"], "record_id": "names"}, "column 'names' does not exist"),
    "two roles": (
        {"quasi": ["disease"], "sensitive": ["disease"]},
        "column 'disease' must have one role, got quasi and sensitive",
    ),
    "named twice": (
        {"quasi": ["age", "age"], "sensitive": ["disease"]},
        "column 'age' must have one role, got quasi twice",
    ),
    "a sensitive record id": (
        {"sensitive": ["disease"], "record_id": ["name", "disease"]},
        "must have one role, got sensitive and record_id",
    ),
    "nothing sensitive": ({"quasi": ["age"]}, "at least one column must be sensitive, got none"),
    "lists": ({"quasi": ["visits"], "sensitive": ["disease"]}, "must hold single plain values, got others in 'visits'"),
}


@pytest.mark.parametrize(("roles", "sentence"), BAD_ROLES.values(), ids=BAD_ROLES.keys())
def test_bad_roles_are_refused_in_one_sentence(roles: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence):
        check_roles(SOURCE, **roles)


def test_a_period_of_pandas_cannot_be_published() -> None:
    source = open_source(pd.DataFrame({"month": pd.period_range("2020-01", periods=2, freq="M"), "s": [1, 2]}))

    with pytest.raises(SchemaError, match="got others in 'month'"):
        check_roles(source, quasi=["month"], sensitive=["s"])


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("name", Role.IDENTIFIER),
        ("Patient-ID", Role.IDENTIFIER),
        ("patientName", Role.IDENTIFIER),
        ("e-mail", Role.IDENTIFIER),
        ("SSN", Role.IDENTIFIER),
        ("disease", Role.SENSITIVE),
        ("icd_code", Role.SENSITIVE),
        ("salary-class", Role.SENSITIVE),
        ("age", Role.QUASI),
        ("zip_code", Role.QUASI),
        ("native-country", Role.QUASI),
        ("Telefon", Role.IDENTIFIER),
        ("Hauptdiagnose", Role.SENSITIVE),
        ("date_naissance", Role.QUASI),
        ("PLZ", Role.QUASI),
        ("shoe", None),
        ("mileage", None),
        ("年齢", None),
    ],
)
def test_names_suggest_roles(name: str, role: Role | None) -> None:
    assert suggest_role(name, pa.string(), 5, 10).role is role


def test_texts_that_differ_in_almost_every_row_suggest_an_identifier() -> None:
    suggestion = suggest_role("code", pa.string(), 95, 100)

    assert (suggestion.role, suggestion.reason) == (Role.IDENTIFIER, "almost every row has a different value")


def test_measurements_that_differ_in_every_row_suggest_nothing() -> None:
    assert suggest_role("x", pa.float64(), 100, 100).role is None


def test_a_few_different_texts_suggest_nothing() -> None:
    assert suggest_role("x", pa.string(), 3, 3).role is None


def test_a_reason_names_the_word() -> None:
    assert suggest_role("zip_code", pa.string(), 5, 100).reason == 'its name holds "zip"'
