from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import ldiversity as ld
from papers import Setting
from papers.tables import ADULT_COLUMNS, ADULT_FILE, adult_table, check_tables, read_table

HEADER = ",".join((*ADULT_COLUMNS, "split"))
RECORD = "39,State-gov,7,Bachelors,13,Single,Clerk,Husband,White,Male,2174,0,40,Somewhere,<=50K,train"
UNKNOWN = RECORD.replace("Clerk", "?")


@pytest.fixture(autouse=True)
def _tables_of_two_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.tables._RECORDS", {ADULT_FILE: 2})


def folder_with(tmp_path: Path, *lines: str) -> Setting:
    (tmp_path / ADULT_FILE).write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return Setting(data=tmp_path)


def test_a_table_has_its_columns_in_order(tmp_path: Path) -> None:
    table = read_table(folder_with(tmp_path, f"extra,{HEADER}", f"1,{RECORD}", f"1,{RECORD}"), ADULT_FILE)

    assert table.column_names == [*ADULT_COLUMNS, "split"]


def test_records_with_an_unknown_cell_are_left_out_unless_wanted(tmp_path: Path) -> None:
    setting = folder_with(tmp_path, HEADER, RECORD, UNKNOWN)

    assert (adult_table(setting).num_rows, adult_table(setting, unknown=True).num_rows) == (1, 2)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    setting = folder_with(tmp_path, HEADER.replace("occupation", "job"), RECORD)

    with pytest.raises(ld.SchemaError, match=r"adult\.csv\.gz' must have the columns .*; missing: 'occupation'\."):
        read_table(setting, ADULT_FILE)


def test_a_repeated_column_is_named(tmp_path: Path) -> None:
    setting = folder_with(tmp_path, f"{HEADER},age", f"{RECORD},1")

    with pytest.raises(ld.SchemaError, match="repeated: 'age'"):
        read_table(setting, ADULT_FILE)


@pytest.mark.parametrize(
    "content",
    [b"", b"x\n", gzip.compress(b""), gzip.compress(RECORD.encode())[:-20]],
    ids=["empty", "not zipped", "nothing zipped", "cut off"],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ADULT_FILE).write_bytes(content)

    with pytest.raises(ld.SchemaError, match=r"adult\.csv\.gz' (cannot be read|must have the columns)"):
        read_table(Setting(data=tmp_path), ADULT_FILE)


@pytest.mark.parametrize("wrong", [RECORD.replace("39", "SECRET"), "SECRET,2", RECORD.replace("39", "", 1)])
def test_a_wrong_record_is_refused_and_not_quoted(tmp_path: Path, wrong: str) -> None:
    setting = folder_with(tmp_path, HEADER, RECORD, wrong)

    with pytest.raises(ld.SchemaError) as refusal:
        read_table(setting, ADULT_FILE)

    assert "SECRET" not in str(refusal.value)


@pytest.mark.parametrize("records", [0, 1, 3])
def test_a_table_with_other_records_than_the_public_one_is_refused(tmp_path: Path, records: int) -> None:
    with pytest.raises(ld.SchemaError, match=rf"must have the 2 records of the table, got {records}\."):
        read_table(folder_with(tmp_path, HEADER, *[RECORD] * records), ADULT_FILE)


def test_the_public_tables_have_the_records_that_are_asked_for(
    public_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()

    assert read_table(Setting(data=public_data), ADULT_FILE).num_rows == 48_842


def test_a_folder_is_checked_without_reading_all_of_it(tmp_path: Path) -> None:
    setting = folder_with(tmp_path, "age,job", "1,2")

    with pytest.raises(ld.SchemaError, match="missing: 'workclass'"):
        check_tables(setting)


def test_a_folder_may_lack_a_table(tmp_path: Path) -> None:
    check_tables(Setting(data=tmp_path))
