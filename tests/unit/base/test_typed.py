"""Names and assignments as they are typed."""

from __future__ import annotations

import pytest

from ldiversity.base.typed import join_names, split_assignment, split_names
from ldiversity.errors import ParameterError


def test_commas_separate_names() -> None:
    assert split_names(["age, sex ,zip"], "quasi") == ["age", "sex", "zip"]


def test_a_repeated_option_adds_names() -> None:
    assert split_names(["age", "sex,zip"], "quasi") == ["age", "sex", "zip"]


def test_a_quoted_name_keeps_its_commas_and_quotes() -> None:
    assert split_names(['"home, ""zip""",age'], "quasi") == ['home, "zip"', "age"]


def test_a_quoted_name_keeps_its_blanks() -> None:
    assert split_names(['" age "'], "quasi") == [" age "]


@pytest.mark.parametrize("text", ["", "age,", ",age", "age,,sex", '"age', 'a"b"'])
def test_names_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="quasi must be names separated by commas"):
        split_names([text], "quasi")


@pytest.mark.parametrize("names", [["a"], ["a", "b,c"], ['q"uote', " blank "]])
def test_joined_names_are_read_back(names: list[str]) -> None:
    assert split_names([join_names(names)], "quasi") == names


def test_an_assignment_is_split_at_the_first_equals_sign() -> None:
    assert split_assignment("grade=a=b", "domains", "values") == ("grade", "a=b")


def test_a_quoted_column_may_hold_an_equals_sign() -> None:
    assert split_assignment('"a=b"=1,2', "domains", "values") == ("a=b", "1,2")


@pytest.mark.parametrize("text", ["grade", "=1", "grade=", "grade= "])
def test_half_an_assignment_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="domains must be a column, an equals sign and values"):
        split_assignment(text, "domains", "values")
