from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from ldiversity.base.numbers import percent

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


def test_every_cell_and_value_is_estimated(facts: Facts, release: Path) -> None:
    found = facts("estimate", release, "--by", "sex,age:20")

    assert (found["sensitive"], found["by"], found["n_records"]) == (["disease"], ["sex", "age"], 600)
    assert {len(cell["values"]) for cell in found["cells"]} == {24}


def test_shares_of_a_cell_sum_to_one(facts: Facts, release: Path) -> None:
    (cell,) = facts("estimate", release, "--estimator", "linear")["cells"]

    assert sum(value["share"] for value in cell["values"]) == pytest.approx(1)


def test_filters_select_records(facts: Facts, release: Path) -> None:
    found = facts("estimate", release, "--where", "age >= 50", "--where", "sex in female")

    assert found["where"] == ["age >= 50", "sex in female"]
    assert 0 < found["n_records"] < 600


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, release: Path) -> None:
    found = facts("estimate", release, "--by", "sex")
    rows = [
        [
            value["value"],
            f"{value['count']:.1f}",
            f"{value['std_error']:.1f}",
            f"{value['low']:.1f}",
            f"{value['high']:.1f}",
        ]
        for cell in found["cells"]
        for value in cell["values"]
    ]

    shown = run("estimate", release, "--by", "sex").stdout

    lines = [line for line in shown.splitlines() if any(line.find(row[0]) >= 0 for row in rows)]
    assert [row for row, line in zip(rows, lines, strict=True) if any(part not in line for part in row)] == []
    assert [caveat for caveat in found["caveats"] if caveat not in " ".join(shown.split())] == []


def test_csv_holds_a_row_for_each_cell_and_value(run: Run, release: Path, tmp_path: Path) -> None:
    run("estimate", release, "--by", "sex", "--csv", tmp_path / "estimate.csv")

    lines = (tmp_path / "estimate.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == (
        "sex,value,count,share,std_error,low,high,share_low,share_high,records,note,estimator"
    )
    assert len(lines) == 1 + 2 * 24


def test_csv_has_no_formulas(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("sex,disease\n" + "F,=1+1\nM,flu\nM,cold\n" * 20)
    run("anonymize", table, "--quasi", "sex", "--sensitive", "disease", "-l", 2, "-o", tmp_path / "r")

    run("estimate", tmp_path / "r", "--csv", tmp_path / "e.csv")

    assert [line.split(",")[0] for line in (tmp_path / "e.csv").read_text().splitlines()] == [
        "value",
        "'=1+1",
        "cold",
        "flu",
    ]


def test_the_least_number_of_records_can_be_chosen(facts: Facts, release: Path) -> None:
    found = facts("estimate", release, "--by", "sex", "--min-records", 1000)

    assert {cell["note"] for cell in found["cells"]} == {"fewer than 1000 records"}


def test_the_filters_of_the_help_select_records_of_the_demo(run: Run, patients: Path, tmp_path: Path) -> None:
    run("anonymize", patients, "--quasi", "age,zip,job", "--sensitive", "disease", "-l", 3, "-o", tmp_path / "release")
    shown = " ".join(run("estimate", "--help").stdout.split())
    filters = ["zip starts with 130", "age >= 50", "job in none,teacher"]

    results = [run("estimate", tmp_path / "release", "--where", text) for text in filters]

    assert [text for text in filters if f"'{text}'" not in shown] == []
    assert [result.exit_code for result in results] == [0, 0, 0]


def test_a_picture_is_drawn(run: Run, release: Path, tmp_path: Path) -> None:
    result = run("estimate", release, "--by", "sex", "--plot", tmp_path / "picture.svg")

    assert result.exit_code == 0
    assert "<svg" in (tmp_path / "picture.svg").read_text()


def test_an_option_by_may_be_repeated(facts: Facts, release: Path) -> None:
    assert facts("estimate", release, "--by", "sex", "--by", "age:50")["by"] == ["sex", "age"]


def test_two_attributes_give_their_joint_distribution(run: Run, facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{i % 3},{'xyz'[i // 3 % 3]}\n" for i in range(90)))
    run("anonymize", table, "--sensitive", "a,b", "-l", 2, "-o", tmp_path / "release")

    (cell,) = facts("estimate", tmp_path / "release", "--sensitive", "a,b")["cells"]

    assert [value["value"] for value in cell["values"]][:2] == [[0, "x"], [0, "y"]]
    assert "0 & x" in run("estimate", tmp_path / "release", "--sensitive", "a,b").stdout


def test_missing_values_are_shown_as_a_category(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("n,a\n" + "1,x\n2,y\n3,\n4,z\n" * 10)
    run("anonymize", table, "--sensitive", "a", "--missing", "category", "-l", 2, "-o", tmp_path / "release")

    assert "(missing)" in run("estimate", tmp_path / "release").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--by", "disease"], "is sensitive"),
        (["--by", "nobody"], "does not exist"),
        (["--by", "age:wide"], "must be a width, edges or quantiles"),
        (["--where", "age"], "a filter must be a column, an operator and values"),
        (["--where", "age > 500"], "where must select at least one record"),
        (["--estimator", "magic"], "estimator must be one of"),
        (["--confidence", "2"], "confidence must be between 0 and 1"),
        (["--sensitive", "age"], "sensitive must name distinct attributes"),
        (["--plot", "picture.docx"], "--plot must end in .png, .svg or .pdf"),
        (["--csv", "no/such/folder.csv"], "--csv must be a file in a folder that can be written"),
    ],
)
def test_a_wrong_question_is_refused_in_a_sentence(run: Run, release: Path, words: list[str], sentence: str) -> None:
    result = run("estimate", release, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


def test_a_folder_that_is_no_release_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("estimate", tmp_path, "--json")

    assert (result.exit_code, json.loads(result.stdout)["fault"]["kind"]) == (2, "ReleaseFormatError")
    assert "must contain release.json" in result.stderr


def test_a_name_in_a_release_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a\nx\x1b[2J\ny\nz\n")
    run("anonymize", table, "--sensitive", "a", "-l", 2, "-o", tmp_path / "release")

    shown = run("estimate", tmp_path / "release").stdout

    assert "x\\x1b[2J" in shown
    assert "\x1b" not in shown


def test_json_is_all_that_stands_on_stdout(run: Run, release: Path, tmp_path: Path) -> None:
    result = run("estimate", release, "--json", "--csv", tmp_path / "e.csv", "--plot", tmp_path / "e.png")

    assert json.loads(result.stdout)["n_records"] == 600


def test_errors_of_a_sample_are_not_said_to_be_noise_alone(run: Run, release: Path) -> None:
    plain, weighted = (run("estimate", release, *words).stdout for words in ([], ["--strata", "sex"]))

    assert "describe the noise that hides the true values" in " ".join(plain.split())
    assert "describe the noise that hides the true values" not in " ".join(weighted.split())
    assert "hold the error of sampling and the noise of the dummies" in " ".join(weighted.split())


def test_cells_of_a_hidden_column_show_limits_of_shares(run: Run, facts: Facts, patients: Path, tmp_path: Path) -> None:
    roles = ["--quasi", "age", "--sensitive", "disease,sex", "--drop", "name,zip,job", "--epsilon", "2"]
    assert run("anonymize", patients, *roles, "-o", tmp_path / "release").exit_code == 0
    asked = ["estimate", tmp_path / "release", "--by", "sex", "--sensitive", "disease"]

    value = facts(*asked)["cells"][0]["values"][0]
    shown = run(*asked).stdout

    assert value["share_low"] <= value["share"] <= value["share_high"]
    assert "share low" in shown
    assert percent(value["share_high"]) in shown
    assert "share low" not in run(*asked[:2], "--sensitive", "disease").stdout
