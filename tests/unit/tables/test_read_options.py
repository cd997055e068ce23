"""Options for exports: encodings, sheets, decimal commas, forms of dates and lines above the names."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import LDiversityError, ParameterError, SchemaError
from ldiversity.tables import ReadOptions, open_source, options_for

TITLED = "Station Süd\r\n\r\nName;Geboren;Größe\r\nJürgen;31.12.1950;1,75\r\nZoë;1.2.1960;2\r\n"
CELLS = {"Name": ["Jürgen", "Zoë"], "Geboren": [dt.date(1950, 12, 31), dt.date(1960, 2, 1)], "Größe": [1.75, 2.0]}


def cells_of(data: Any, **said: Any) -> dict[str, list[Any]]:
    return pa.Table.from_batches(list(open_source(data, **said).batches())).to_pydict()


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-8", "utf-8-sig", "mac-roman"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_an_export_in_any_encoding_is_read(tmp_path: Path, encoding: str, ending: str) -> None:
    path = tmp_path / f"export.{ending}"
    content = TITLED.encode(encoding)
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)

    read = {"encoding": encoding, "skip_rows": 2, "decimal": ",", "date_format": "dmy"}

    assert cells_of(path, read=read) == CELLS
    assert cells_of(path, read=ReadOptions(**read)) == CELLS


@pytest.mark.parametrize(
    ("encoding", "tried", "advised"),
    [
        ("cp1252", None, "cp1252"),
        ("utf-16", None, "utf-16"),
        ("utf-16-be", None, "utf-16-be"),
        ("cp1252", "utf-16", "cp1252"),
        ("utf-8", "ascii", "utf-8"),
        ("latin-1", "utf-8", "cp1252"),
    ],
)
def test_an_encoding_that_does_not_fit_is_refused_with_one_that_does(
    tmp_path: Path, encoding: str, tried: str | None, advised: str
) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes("name;age\nSECRETé;1\n".encode(encoding))

    with pytest.raises(SchemaError, match="the file must be") as caught:
        open_source(path, read={"encoding": tried})

    assert f"'encoding': '{advised}'" in str(caught.value.hint)
    assert "SECRET" not in str(caught.value)
    assert cells_of(path, read={"encoding": advised})["name"] == ["SECRETé"]


@pytest.mark.parametrize("skipped", [0, 1])
def test_lines_above_the_names_are_told_by_number(tmp_path: Path, skipped: int) -> None:
    path = tmp_path / "export.csv"
    path.write_text("Report\nof 2024\nage;sex\n41;f\n50;m\n", encoding="utf-8")

    with pytest.raises(SchemaError) as caught:
        open_source(path, read={"skip_rows": skipped})

    assert "'skip_rows': 2" in str(caught.value.hint)
    assert cells_of(path, read={"skip_rows": 2}) == {"age": [41, 50], "sex": ["f", "m"]}


def test_a_title_row_of_separators_is_told_too(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("Report;;\nage;sex;zip\n41;f;1\n", encoding="utf-8")

    with pytest.raises(SchemaError, match="every column must have a name") as caught:
        open_source(path)

    assert "'skip_rows': 1" in str(caught.value.hint)


def test_a_file_that_ends_above_its_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("age;sex\n41;f\n", encoding="utf-8")

    with pytest.raises(SchemaError, match="nothing below the rows that are skipped"):
        open_source(path, read={"skip_rows": 7})


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["read me"])
    sheet = book.create_sheet("2024")
    for row in (["Report"], [], ["age", "born", "size"], [41, "31.12.1950", "1,75"], [50, "1.2.1960", "2"]):
        sheet.append(row)
    path = tmp_path / "export.xlsx"
    book.save(path)
    return path


@pytest.mark.parametrize("sheet", ["2024", 2, "2"])
def test_a_sheet_is_named_or_numbered(workbook: Path, sheet: str | int) -> None:
    read = {"sheet": sheet, "skip_rows": 2, "decimal": ",", "date_format": "%d.%m.%Y"}

    assert cells_of(workbook, read=read) == {
        "age": [41, 50],
        "born": [dt.date(1950, 12, 31), dt.date(1960, 2, 1)],
        "size": [1.75, 2.0],
    }


@pytest.mark.parametrize("sheet", ["Data", 3, "0", 2024])
def test_a_sheet_that_does_not_exist_is_told_which_do(workbook: Path, sheet: str | int) -> None:
    with pytest.raises(ParameterError, match="sheet must be a sheet of the workbook") as caught:
        open_source(workbook, read={"sheet": sheet})

    assert caught.value.hint == "Its sheets are 'Notes', '2024'."


def test_title_rows_of_a_sheet_are_told_by_number(workbook: Path) -> None:
    with pytest.raises(SchemaError, match="every column must have a name") as caught:
        open_source(workbook, read={"sheet": 2})

    assert "'skip_rows': 2" in str(caught.value.hint)


@pytest.mark.parametrize("form", ["dmy", "%d.%m.%Y"])
@pytest.mark.parametrize("types", [None, {"born": "date"}])
def test_a_date_in_another_form_is_refused_by_row_and_column(
    tmp_path: Path, form: str, types: dict[str, str] | None
) -> None:
    path = tmp_path / "export.csv"
    path.write_text("name;born\na;31.12.1950\nb;\nc;13.24.1987\nd;1.2.1960\n", encoding="utf-8")

    with pytest.raises(SchemaError, match="'born' must hold dates in the form of date_format") as caught:
        open_source(path, types=types, read={"date_format": form})

    assert caught.value.got == "something else in row 3 below the names"
    assert "1987" not in str(caught.value)
    assert cells_of(path, types={"born": "text"}, read={"date_format": form})["born"][2] == "13.24.1987"


def test_the_wrong_order_of_dates_is_an_error_not_a_column_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=37 * place) for place in range(200)]
    path.write_text("born\n" + "".join(f"{day:%d/%m/%Y}\n" for day in days), encoding="utf-8")

    with pytest.raises(SchemaError, match="form of date_format"):
        open_source(path, read={"date_format": "mdy"})
    assert cells_of(path, read={"date_format": "dmy"})["born"] == days


def test_dates_with_a_time_of_day_become_instants(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("born,seen\n1.2.1960,31.12.2020 14:05\n2.2.1960,1.1.2021\n", encoding="utf-8")

    source = open_source(path, read={"date_format": "dmy"})

    assert source.columns == {"born": pa.date32(), "seen": pa.timestamp("us")}


def test_a_decimal_comma_makes_the_point_no_decimal_mark(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("a;b;c;d\n1,5;1.234;7;007,5\n-2e-3;2.500;8;1\n", encoding="utf-8")

    source = open_source(path, read={"decimal": ","})

    assert source.columns == {"a": pa.float64(), "b": pa.string(), "c": pa.int64(), "d": pa.string()}
    with pytest.raises(SchemaError, match="'b' must hold values that can be read as number"):
        open_source(path, read={"decimal": ","}, types={"b": "number"})


def write_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path / "t.parquet")
    return path / "t.parquet"


def write_feather(path: Path, table: pa.Table) -> Path:
    with pa.OSFile(str(path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path / "t.arrow"


def write_json(path: Path, table: pa.Table) -> Path:
    import json

    (path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()), encoding="utf-8")
    return path / "t.jsonl"


@pytest.mark.parametrize("made", [write_parquet, write_feather, write_json, lambda _, table: table])
def test_texts_of_every_kind_of_table_are_read_in_the_forms(tmp_path: Path, made: Callable[..., Any]) -> None:
    data = made(tmp_path, pa.table({"born": ["31.12.1950", None], "size": ["1,75", "2"], "code": ["12", "13"]}))

    source = open_source(data, read={"date_format": "dmy", "decimal": ","})

    assert source.columns == {"born": pa.date32(), "size": pa.float64(), "code": pa.string()}
    assert cells_of(data, read={"date_format": "dmy"}, types={"size": "text"})["size"] == ["1,75", "2"]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("t.csv", "sheet"),
        ("t.parquet", "encoding"),
        ("t.arrow", "skip_rows"),
        ("t.jsonl", "skip_rows"),
        ("t.xlsx", "encoding"),
        (None, "sheet"),
    ],
)
def test_an_option_that_a_kind_of_table_does_not_have_is_refused(tmp_path: Path, name: str | None, option: str) -> None:
    given = {"sheet": 1, "encoding": "cp1252", "skip_rows": 1}[option]
    if name is not None:
        (tmp_path / name).write_bytes(b"")
    data: Any = pa.table({"a": [1]}) if name is None else tmp_path / name

    with pytest.raises(ParameterError, match=f"{option} must be left out for"):
        open_source(data, read={option: given})
    assert options_for(data, {option: given}).given == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"sheet": 0},
        {"sheet": ""},
        {"encoding": "klingon"},
        {"encoding": "hex"},
        {"decimal": ";"},
        {"skip_rows": -1},
        {"date_format": "%d.%m"},
        {"date_format": "ydm"},
        {"date_format": "%d.%m.%Y %z"},
        {"speed": 2},
        3,
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(wrong: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        open_source(pa.table({"a": ["1"]}), read=wrong)

    assert str(caught.value.message).count(". ") == 0


def test_no_option_is_given_twice() -> None:
    source = open_source(pa.table({"a": ["1"]}))

    with pytest.raises(LDiversityError, match="when the table is first opened"):
        open_source(source, read={"decimal": ","})
