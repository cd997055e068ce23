from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from ldiversity.datasets import adult
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError

real = pytest.mark.skipif(
    not (Path(os.environ.get("LDIVERSITY_DATA", "")) / "adult.csv.gz").is_file(),
    reason="needs adult.csv.gz in the folder that LDIVERSITY_DATA names",
)

TRAIN = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0,"
    " 40, United-States, <=50K\n"
    "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 60,"
    " South, >50K\n\n"
)
TEST = (
    "|1x3 Cross validator\n"
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40,"
    " United-States, <=50K.\n\n"
)
JOINED_HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income,split\n"
)
JOINED_ROW = (
    "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K,"
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("LDIVERSITY_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def uci(data: Path) -> Path:
    (data / "adult.data").write_text(TRAIN, encoding="ascii")
    (data / "adult.test").write_text(TEST, encoding="ascii")
    return data


@real
@pytest.mark.parametrize(
    ("split", "missing", "rows"),
    [
        ("train", "drop", 30162),
        ("test", "drop", 15060),
        ("all", "drop", 45222),
        ("train", "keep", 32561),
        ("all", "keep", 48842),
    ],
)
def test_real_table_has_the_known_number_of_rows(split: str, missing: str, rows: int) -> None:
    assert adult(split, missing).num_rows == rows


@real
def test_real_table_has_sixteen_educations() -> None:
    assert len(adult()["education"].unique()) == 16


def test_rows_with_an_unknown_cell_are_dropped(uci: Path) -> None:
    assert adult().num_rows == 1


def test_unknown_cells_can_be_kept(uci: Path) -> None:
    assert adult(missing="keep")["occupation"].to_pylist() == ["Adm-clerical", "?"]


def test_numbers_are_integers(uci: Path) -> None:
    assert adult()["fnlwgt"].to_pylist() == [77516]


def test_incomes_of_the_test_file_lose_their_full_stop(uci: Path) -> None:
    assert adult("test")["income"].to_pylist() == ["<=50K"]


def test_all_is_train_and_then_test(uci: Path) -> None:
    assert adult("all")["age"].to_pylist() == [39, 25]


def test_joined_file_is_read_by_split(data: Path) -> None:
    with gzip.open(data / "adult.csv.gz", "wt", encoding="ascii") as stream:
        stream.write(JOINED_HEADER + JOINED_ROW + "train\n" + JOINED_ROW + "test\n")

    assert adult("test").num_rows == 1
    assert "split" not in adult("test").column_names


def test_files_in_the_cache_folder_are_found(uci: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LDIVERSITY_DATA")
    (tmp_path / "cache").mkdir()
    uci.rename(tmp_path / "cache" / "ldiversity")

    assert adult().num_rows == 1


def test_without_files_the_error_names_three_ways(data: Path) -> None:
    with pytest.raises(UnsupportedError, match="not on this machine") as caught:
        adult()

    assert caught.value.hint is not None
    assert "LDIVERSITY_DATA" in caught.value.hint
    assert "cache" in caught.value.hint
    assert "download=True" in caught.value.hint


def test_damaged_file_is_refused_without_quoting_it(data: Path) -> None:
    (data / "adult.data").write_text("secret, cells\n", encoding="ascii")

    with pytest.raises(SchemaError, match=r"adult\.data must be a CSV file of 15 columns") as caught:
        adult()

    assert "secret" not in str(caught.value)


def test_text_in_a_column_of_numbers_is_refused_without_quoting_it(data: Path) -> None:
    (data / "adult.data").write_text(TRAIN.replace("77516", "secret"), encoding="ascii")

    with pytest.raises(SchemaError, match="column 'fnlwgt' must hold integers") as caught:
        adult()

    assert "secret" not in str(caught.value)


def test_unknown_split_is_refused() -> None:
    with pytest.raises(ParameterError, match="split must be one of 'train', 'test', 'all', got 'dev'"):
        adult("dev")
