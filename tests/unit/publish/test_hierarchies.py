from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.publish import read_hierarchies
from ldiversity.tables import open_source

TABLE = open_source(
    pa.table(
        {
            "age": [23, 25, 38, 67],
            "zip": ["13053", "13068", "14850", "14853"],
            "born": [date(2000, 1, 31), date(2000, 5, 1), None, date(1999, 5, 2)],
            "sex": ["m", "f", "m", "f"],
        }
    )
)
QUASI = ["age", "zip", "born"]


def path_of(column: str, text: str, value: object, folder: Path = Path()) -> tuple[str, ...]:
    return read_hierarchies({column: text}, TABLE, QUASI, folder)[column].path(value)


@pytest.mark.parametrize(
    ("column", "text", "value", "path"),
    [
        ("age", "width:10/20", 25, ("25", "[20, 30)", "[20, 40)", "*")),
        ("age", "width:10, low:0, high:99", 1, ("1", "[0, 10)", "*")),
        ("age", "quantiles:2", 67, ("67", "[38, 67]", "*")),
        ("zip", "prefix:3/2", "13068", ("13068", "130**", "13***", "*")),
        ("zip", "prefix", "13068", ("13068", "1306*", "130**", "13***", "1****", "*")),
        ("zip", "auto", "13068", ("13068", "1306*", "130**", "13***", "1****", "*")),
        ("born", "date", "2000-05-01", ("2000-05-01", "2000-05", "2000-Q2", "2000", "*")),
        (
            "born",
            "date,low:1999-01-01,high:2000-12-31",
            "2000-12-31",
            ("2000-12-31", "2000-12", "2000-Q4", "2000", "*"),
        ),
        ("born", "date", None, ("(missing)", "(missing)", "(missing)", "(missing)", "*")),
    ],
)
def test_a_hierarchy_is_made_from_the_values(column: str, text: str, value: object, path: tuple[str, ...]) -> None:
    assert path_of(column, text, value) == path


def test_a_file_is_found_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("23;young;*\n")

    assert path_of("age", "age.csv", 23, tmp_path) == ("23", "young", "*")


@pytest.mark.parametrize("text", ["width:x", "width", "quantiles:2.5", "width:5,wide:3", "prefix:a", "date,low:x"])
def test_a_wrong_form_is_refused_with_those_that_are_known(text: str) -> None:
    with pytest.raises(ld.ParameterError, match=r"hierarchy of 'age': .*width:5/10/20") as error:
        path_of("age", text, 23)

    assert repr(text) in str(error.value)


def test_what_does_not_suit_the_column_is_refused_by_name() -> None:
    with pytest.raises(ld.SchemaError, match=r"hierarchy of 'zip': .*values must be numbers, got texts"):
        path_of("zip", "width:5", "13053")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ld.LDiversityError, match=r"hierarchy of 'age': .*'nobody.csv' cannot be"):
        path_of("age", "nobody.csv", 23)


def test_a_column_that_is_no_quasi_identifier_is_refused() -> None:
    with pytest.raises(ld.ParameterError, match="must be a quasi-identifier, got 'sex'"):
        path_of("sex", "auto", "m")


def test_anonymize_takes_the_texts_of_the_command_line() -> None:
    people = pa.table({"zip": ["13053", "13068", "14850", "14853"] * 5, "disease": ["flu", "cold"] * 10})

    release = ld.anonymize(
        people, quasi="zip", sensitive="disease", method=ld.Mondrian(l=2), hierarchies={"zip": "prefix:3/2"}
    )

    assert set(release.table["zip"].to_pylist()) <= {*people["zip"].to_pylist(), "130**", "148**", "13***", "14***"}


def test_a_hierarchy_may_be_given_as_an_object() -> None:
    tree = ld.Hierarchy.by_prefix(["13053", "13068"])

    assert read_hierarchies({"zip": tree}, TABLE, QUASI)["zip"] is tree


@pytest.mark.parametrize(("method", "said"), [(ld.Anatomy(l=2), True), (ld.Mondrian(l=2), False)])
def test_a_hierarchy_that_changes_nothing_is_said_to(method: ld.Anatomy | ld.Mondrian, *, said: bool) -> None:
    people = pa.table({"zip": ["13053", "13068", "14850", "14853"] * 5, "disease": ["flu"] * 10 + ["cold"] * 10})

    release = ld.anonymize(people, quasi="zip", sensitive="disease", method=method, hierarchies={"zip": "prefix:3/2"})

    note = "publishes quasi-identifiers as they are, so the hierarchies of 'zip' change nothing"
    assert any(note in one for one in release.notes) == said
