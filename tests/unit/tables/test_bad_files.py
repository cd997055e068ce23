"""Bad files are refused in one sentence that never shows a cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import LDiversityError, ParameterError, SchemaError
from ldiversity.tables import open_source

BAD_FILES = {
    "empty file": ("t.csv", b"", "must have a row of column names, got an empty file"),
    "blank lines only": ("t.csv", b"\n\n", "must have a row of column names, got an empty file"),
    "no header": ("t.csv", b"30,1234\n40,5678\n", "first row must hold the column names, got numbers only"),
    "duplicated names": ("t.csv", b"age,sex,age\n1,2,3\n", "must be distinct, got a table where columns 1 and 3 have"),
    "empty name": ("t.csv", b"age,,sex\n1,2,3\n", "every column must have a name, got none for column 2"),
    "row too short": ("t.csv", b"a,b\n1,2\nSECRET\n", "every row must have 2 cells as the header does, got 1 in row 3"),
    "row too long": ("t.csv", b"a,b\n1,SECRET,3\n", "must have 2 cells as the header does, got 3 in row 2"),
    "quote not closed": ("t.csv", b'a,b\n1,"SECRET\n2,3\n', "every quotation mark must be closed"),
    "not UTF-8": ("t.csv", "a,b\nSECRET\u00e9,1\n".encode("latin-1"), "must be UTF-8 text"),
    "UTF-16": ("t.csv", "a,b\nSECRET,1\n".encode("utf-16"), "must be UTF-8 text"),
    "late bytes not UTF-8": ("t.csv", b"a,b\n" + b"SECRET,1\n" * 200_000 + b"\xff,1\n", "must be UTF-8 text"),
    "very long row": ("t.csv", b'a,b\n1,"' + b"SECRET\n" * 1_000_000, "a row must be shorter than 1 MB"),
    "not gzip": ("t.csv.gz", b"SECRET,1\n", "must be readable to its end, got a damaged one"),
    "cut gzip": ("t.csv.gz", gzip.compress(b"a,b\n" + b"SECRET,1\n" * 100_000)[:-100], "got a damaged one"),
    "cut gzip of lines": ("t.jsonl.gz", gzip.compress(b'{"a": "SECRET"}\n' * 99_999)[:-100], "got a damaged one"),
    "not Parquet": ("t.parquet", b"SECRET", "must be a complete Parquet file"),
    "damaged Parquet": ("t.parquet", b"PAR1SECRETPAR1", "must be a complete Parquet file"),
    "not Arrow": ("t.arrow", b"SECRET", "must be a complete Arrow file"),
    "damaged Feather": ("t.feather", b"ARROW1\0\0SECRETARROW1", "must be a complete Arrow file"),
    "not Excel": ("t.xlsx", b"SECRET", "must be an Excel workbook"),
    "no lines": ("t.jsonl", b"", "must have at least one object with a key, got none"),
    "empty objects": ("t.jsonl", b"{}\n{}\n", "must have at least one object with a key, got none"),
    "not JSON": (
        "t.jsonl",
        b'{"a": 1}\n{"a": SECRET}\n',
        "must be one JSON object with distinct keys, got something else in row 2",
    ),
    "a JSON list": (
        "t.jsonl",
        b'["SECRET"]\n',
        "must be one JSON object with distinct keys, got something else in row 1",
    ),
    "a key twice": ("t.jsonl", b'{"a": 1, "a": 2}\n', "must be one JSON object with distinct keys"),
    "types mixed": ("t.jsonl", b'{"a": 1}\n{"a": "SECRET"}\n', "column 'a' must hold values of one type, got text"),
    "types mixed late": (
        "t.jsonl",
        b'{"a": 1}\n' * 600_000 + b'{"a": "SECRET"}\n' * 400_000,
        "column 'a' must hold values of one type, got text",
    ),
    "wide JSON integer": ("t.jsonl", b'{"a": 123456789012345678901}\n', "got integers too wide for it"),
    "JSON not UTF-8": ("t.jsonl", b'{"a": "SECRET\xff"}\n', "must be UTF-8 text"),
}


@pytest.mark.parametrize(("name", "content", "sentence"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_refused_in_one_sentence(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(SchemaError) as caught:
        open_source(tmp_path / name)

    assert sentence in caught.value.message
    assert caught.value.message.startswith(f"{name}: ")
    assert caught.value.message.count("\n") == 0
    assert caught.value.hint


@pytest.mark.parametrize(("name", "content", "sentence"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_refusal_shows_no_cell(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(LDiversityError) as caught:
        open_source(tmp_path / name)

    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"file '.*none\.csv' does not exist"):
        open_source(tmp_path / "none.csv")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be a file, got a folder") as caught:
        open_source(tmp_path)

    assert "Put its files together into one" in str(caught.value)


def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "t.doc").write_bytes(b"")

    with pytest.raises(ParameterError, match=r"(?s)must end in a known way, got '.doc'.*\.csv, .*\.xlsx"):
        open_source(tmp_path / "t.doc")


def test_a_missing_file_is_said_to_be_missing_whatever_its_ending(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="does not exist"):
        open_source(tmp_path / "nobody.docx")


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    monkeypatch.setattr(Path, "open", _refuse)

    with pytest.raises(ParameterError, match=r"cannot be read \(Permission denied\)"):
        open_source(tmp_path / "t.csv")


def _refuse(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_duplicated_names_in_a_parquet_file_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([[1], [2]], names=["age", "age"]), tmp_path / "t.parquet")

    with pytest.raises(SchemaError, match="columns 1 and 2 have the same name"):
        open_source(tmp_path / "t.parquet")


def test_pages_damaged_after_opening_are_told_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["SECRET"] * 1000 + [f"x{i}" for i in range(1000)]}), path)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    source = open_source(path)

    with pytest.raises(SchemaError, match="must be a complete Parquet file"):
        list(source.batches())


def test_an_empty_sheet_is_refused(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "t.xlsx")

    with pytest.raises(SchemaError, match="sheet must have a row of column names, got an empty one"):
        open_source(tmp_path / "t.xlsx")


def test_a_declared_type_that_does_not_fit_is_refused_on_opening(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"zip,b\nSECRET,2\n")

    with pytest.raises(SchemaError, match="column 'zip' must hold values that can be read as integer") as caught:
        open_source(tmp_path / "t.csv", types={"zip": "integer"})

    assert "SECRET" not in str(caught.value)


def test_a_declared_type_of_an_unknown_column_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"zip,b\n1,2\n")

    with pytest.raises(SchemaError, match=r"(?s)column 'zp' does not exist.*Did you mean 'zip'"):
        open_source(tmp_path / "t.csv", types={"zp": "text"})


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"zip,b\n1,2\n")

    with pytest.raises(ParameterError, match=r"types\['zip'\] must be one of text, integer, .* got 'varchar'"):
        open_source(tmp_path / "t.csv", types={"zip": "varchar"})


def test_an_unknown_column_is_refused_before_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"zip,b\n1,2\n")
    source = open_source(tmp_path / "t.csv")

    with pytest.raises(SchemaError, match="column 'c' does not exist"):
        source.batches(["c"])


def test_a_chunk_has_at_least_one_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"zip,b\n1,2\n")
    source = open_source(tmp_path / "t.csv")

    with pytest.raises(ParameterError, match="chunk_rows must be an integer of at least 1, got 0"):
        source.batches(chunk_rows=0)
