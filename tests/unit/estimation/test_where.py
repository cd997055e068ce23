"""Filters on published columns."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError
from ldiversity.estimation import Filter, parse_where


def matches(text: str, values: Any, kind: Any = None) -> list[bool]:
    return parse_where(text).mask(pa.chunked_array([pa.array(values, kind)])).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zip in 130,131", Filter("zip", "in", ("130", "131"))),
        ("zip starts with 130,'13 1'", Filter("zip", "starts with", ("130", "13 1"))),
        ("zip Starts  With 0", Filter("zip", "starts with", ("0",))),
        ("zip NOT IN 130 , 131", Filter("zip", "not in", ("130", "131"))),
        ("age >= 50", Filter("age", ">=", ("50",))),
        ("age>=50", Filter("age", ">=", ("50",))),
        ("sex = F", Filter("sex", "in", ("F",))),
        ("sex == F", Filter("sex", "in", ("F",))),
        ("sex != F", Filter("sex", "not in", ("F",))),
        ("age between 20 and 29", Filter("age", "between", ("20", "29"))),
        ("x is missing", Filter("x", "is missing")),
        ("x  is   not missing", Filter("x", "is not missing")),
        ("'home zip' in 'a, b',\"c\"", Filter("home zip", "in", ("a, b", "c"))),
        ('"say ""hi""" = \'it\'\'s\'', Filter('say "hi"', "in", ("it's",))),
        ("job = tech support", Filter("job", "in", ("tech support",))),
        ("name = O'Brien", Filter("name", "in", ("O'Brien",))),
        ("職業 = 医者", Filter("職業", "in", ("医者",))),
        ("index in 3", Filter("index", "in", ("3",))),
        ("in in in", Filter("in", "in", ("in",))),
        ("x between 'a b' and 'c d'", Filter("x", "between", ("a b", "c d"))),
        ("t = -1e3", Filter("t", "in", ("-1e3",))),
    ],
)
def test_texts_are_read(text: str, expected: Filter) -> None:
    assert parse_where(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "age", "age 50", "age >=", "age in", "age in 1,,2", "age between 3", "age between 3 and", "x is missing 3",
        "zip starts with", "zip starts 130", "age >= 1,2", "sex = 'F", "sex in 'a'b", "age ~ 3", "= 3",
        "__import__('os').system('true')",
    ],
)  # fmt: skip
def test_unreadable_texts_are_refused_with_examples(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^where: .* got .*\nHint: .*Write for example"):
        parse_where(text)


@pytest.mark.parametrize(
    "text", ["zip in 130,131", '"home zip" not in "a, b",c', "age between 20 and 29", "x is missing", "age >= 50"]
)
def test_a_filter_is_shown_as_text_that_reads_back(text: str) -> None:
    assert parse_where(str(parse_where(text))) == parse_where(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 5", [True, False, False, False]),
        ("x != 5", [False, True, True, True]),
        ("x in 5,10", [True, True, False, False]),
        ("x not in 5,10", [False, False, True, True]),
        ("x < 10", [True, False, False, False]),
        ("x <= 10", [True, True, False, False]),
        ("x > 9.5", [False, True, True, False]),
        ("x >= 10", [False, True, True, False]),
        ("x between 5 and 10", [True, True, False, False]),
        ("x is missing", [False, False, False, True]),
        ("x is not missing", [True, True, True, False]),
    ],
)
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.float64(), pa.decimal128(6, 2)])
def test_numbers_compare_as_numbers_and_missing_is_a_value_of_its_own(
    text: str, expected: list[bool], kind: pa.DataType
) -> None:
    assert matches(text, [5, 10, 100, None], kind if "9.5" not in text else None) == expected


def test_texts_compare_as_texts() -> None:
    assert matches("x = 010", ["10", "010", "9"]) == [False, True, False]


def test_dictionary_columns_compare_by_value() -> None:
    column = pa.chunked_array([pa.array(["a", "b", None]).dictionary_encode()])

    assert parse_where("x != a").mask(column).tolist() == [False, True, True]


def test_dates_are_read_from_iso_texts() -> None:
    assert matches("x >= 2020-01-02", [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]) == [False, True]


@pytest.mark.parametrize("unit", ["s", "us"])
@pytest.mark.parametrize(
    "text",
    ["2025-06-01", "2025-06-01 00:00:00", "2025-06-01 00:00", "2025-06-01 00:00:00+02:00", "2025-05-31T22:00:00Z"],
)
def test_instants_without_a_zone_are_those_of_the_column(text: str, unit: str) -> None:
    days = ["2025-05-31 21:59:59", "2025-05-31 22:00:00", "2025-06-01 00:00:00"]
    column = pa.chunked_array([pa.array(days).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, "UTC"))])
    column = column.cast(pa.timestamp(unit, "Europe/Berlin"))

    assert parse_where(f"admitted >= {text}").mask(column).tolist() == [False, True, True]
    assert parse_where(f"admitted >= {text}").bounds(column.type)[0] == column.cast(pa.int64())[1].as_py()


def test_a_day_whose_midnight_clocks_skip_begins_after_it() -> None:
    # In Sao Paulo, clocks went from the end of November 3 to one o'clock of November 4, 2018.
    column = pa.chunked_array([pa.array([1541300399, 1541300400]).cast(pa.timestamp("s", "America/Sao_Paulo"))])

    assert parse_where("x >= 2018-11-04").mask(column).tolist() == [False, True]
    assert parse_where("x < 2018-11-04").mask(column).tolist() == [True, False]


def test_booleans_are_read_from_words() -> None:
    assert matches("x = true", [True, False, None]) == [True, False, False]


def test_a_value_of_another_type_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParameterError, match="column 'x' has type integer, which 'old' cannot be read as"):
        matches("x = old", [1, 2])


def test_beginnings_of_texts_are_matched() -> None:
    assert matches("zip starts with 130,02", ["13001", "01301", "02139", None]) == [True, False, True, False]


def test_beginnings_of_integers_are_those_of_their_digits() -> None:
    assert matches("zip starts with 13", [13001, 1301, 31], pa.int64()) == [True, True, False]


def test_only_texts_and_integers_have_beginnings() -> None:
    with pytest.raises(ParameterError, match="needs a column of texts or integers"):
        matches("x starts with 1", [1.5, 2.5])


def test_a_filter_on_beginnings_can_be_read_again() -> None:
    part = Filter("home zip", "starts with", ("1 3", "2"))

    assert parse_where(str(part)) == part
