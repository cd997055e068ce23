"""A file without a row of names: no command shows the cells of its first row as names of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldiversity.errors import SchemaError
from ldiversity.tables import open_source
from tests.contract.test_every_command import run, words_of
from tests.contract.test_reading_in_words import READERS, words_for

ROWS = [
    ["P100450", "Vogel, Uwe", "25.07.1938", "86", "m", "94,1"],
    ["P100603", "Kern, Ida", "28.06.1938", "86", "w", "74,5"],
    ["P100142", "Maier, Ann", "13.04.2001", "23", "w", "87,3"],
    ["P100143", "Huber, Max", "13.04.1990", "34", "m", "n.a."],
    ["P100144", "Adler, Eva", "01.12.1955", "69", "m", "60,0"],
]
NAMES = ["PatNr", "Name", "GebDat", "Alter", "Geschlecht", "Gewicht"]


def write(folder: Path, rows: list[list[str]], name: str = "table.csv") -> Path:
    mark = "\t" if name.endswith(".tsv") else ";"
    (folder / name).write_text("".join(f"{mark.join(row)}\n" for row in rows), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("path", READERS, ids=words_of)
def test_no_command_shows_the_first_row(path: tuple[str, ...], tmp_path: Path) -> None:
    code, said = run(*words_for(path, write(tmp_path, ROWS)))

    assert code == 2
    assert "the first row must hold the names of columns, got one that looks like the rows below it" in said
    assert not any(cell in said for cell in ROWS[0] if len(cell) > 2)


@pytest.mark.parametrize("columns", [[2], [3, 4], [3, 5, 3], [2, 0], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("name", ["table.csv", "table.tsv"])
def test_each_sign_of_a_row_is_enough(columns: list[int], name: str, tmp_path: Path) -> None:
    rows = [[row[place].replace("n.a.", "61,5") for place in columns] for row in ROWS]
    rows[0] = [cell if place == 0 or cell != "86" else "12" for place, cell in enumerate(rows[0])]

    with pytest.raises(SchemaError, match="the first row must hold the names"):
        open_source(write(tmp_path, rows, name))


@pytest.mark.parametrize(
    "rows",
    [
        [NAMES, *ROWS],
        [["region", "2019", "2020"], ["a", "2019", "4"], ["b", "5", "6"], ["c", "7", "8"], ["d", "1", "2"]],
        [["notes", "2019"], *(["", "2019"] for _ in range(5))],
        [["day", "2024-01-01"], *([f"2024-02-0{n}", str(n)] for n in range(1, 6))],
        [["a", "b"], *(["a", "b"] for _ in range(5))],
        [["86", "m"], ["23", "w"]],
        [["x", "1"], ["", ""], ["", ""], ["", ""], ["", ""]],
    ],
    ids=["names", "years beside texts", "years beside nothing", "a day as a name", "texts", "too few rows", "empty"],
)
def test_names_that_are_numbers_or_dates_are_taken(rows: list[list[str]], tmp_path: Path) -> None:
    assert list(open_source(write(tmp_path, rows)).columns) == rows[0]


def test_the_way_out_works(tmp_path: Path) -> None:
    assert run("describe", write(tmp_path, [NAMES, *ROWS]))[0] == 0
