"""CSV for people: no cell is a formula."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ldiversity.tables import write_spreadsheet


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1"])
def test_a_text_that_would_be_a_formula_gets_a_quote(text: str, tmp_path: Path) -> None:
    write_spreadsheet(tmp_path / "a.csv", [text], [[text]])

    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as stream:
        assert list(csv.reader(stream)) == [["'" + text.replace("\r", "\n")]] * 2


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    write_spreadsheet(tmp_path / "a.csv", ["x"], [[-1.5], [-2], [None], [0.1 + 0.2]])

    assert (tmp_path / "a.csv").read_text() == 'x\n-1.5\n-2\n""\n0.3\n'
