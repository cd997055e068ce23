from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import ldiversity as ld

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("people") / "people.csv"
    rows = ["23,01301,2020-01-31,flu", "38,13001,2020-05-01,cold", "67,13068,2021-05-01,flu", ",13068,2021-05-02,flu"]
    file.write_text("\n".join(["age,zip,day,disease", *rows, ""]))
    return file


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        (["--column", "age", "--width", "10,20"], [4, 4, 3, 1]),
        (["--column", "age", "--quantiles", "2"], [4, 3, 1]),
        (["--column", "zip", "--prefix"], [3, 3, 2, 2, 2, 1]),
        (["--column", "day", "--date"], [4, 3, 3, 2, 1]),
        (["--column", "day"], [4, 3, 3, 2, 1]),
        (["--column", "disease"], [2, 1]),
        (["--column", "age", "--width", "10", "--low", "0", "--high", "99"], [101, 11, 1]),
        (["--column", "day", "--low", "2020-01-01", "--high", "2021-12-31"], [731, 24, 8, 2, 1]),
    ],
)
def test_each_way_gives_its_levels(facts: Facts, people: Path, words: list[str], nodes: list[int]) -> None:
    found = facts("hierarchy", people, *words)

    assert [level["nodes"] for level in found["levels"]] == nodes


def test_the_saved_file_is_a_hierarchy_of_the_table_s_values(run: Run, people: Path, tmp_path: Path) -> None:
    result = run("hierarchy", people, "--column", "zip", "-o", tmp_path / "zip.csv")

    assert result.exit_code == 0
    assert ld.Hierarchy.read(tmp_path / "zip.csv").level("13068", 2) == "130**"
    assert f"--hierarchy zip={tmp_path / 'zip.csv'}" in " ".join(result.stdout.split())  # on whichever line


def test_a_file_is_replaced_only_when_that_is_allowed(run: Run, people: Path, tmp_path: Path) -> None:
    words = ["hierarchy", people, "--column", "zip", "-o", tmp_path / "zip.csv"]
    (tmp_path / "zip.csv").write_text("mine")

    assert run(*words).exit_code == 2
    assert (tmp_path / "zip.csv").read_text() == "mine"
    assert run(*words, "--overwrite").exit_code == 0


def test_a_file_can_be_looked_at(run: Run, people: Path, tmp_path: Path) -> None:
    run("hierarchy", people, "--column", "zip", "-o", tmp_path / "zip.csv")

    shown = run("hierarchy", "--show", tmp_path / "zip.csv").stdout

    assert "3 leaves, 6 levels" in shown
    assert "├── 0**** (1)" in shown


def test_leaves_read_off_the_table_come_with_a_caution(run: Run, people: Path) -> None:
    assert "shows which\nvalues occur" in run("hierarchy", people, "--column", "zip").stdout


def test_a_declared_range_needs_no_caution(facts: Facts, people: Path) -> None:
    found = facts("hierarchy", people, "--column", "age", "--width", "10", "--low", "0", "--high", "99")

    assert found["caution"] is None


def test_text_and_json_show_the_same_levels(run: Run, facts: Facts, people: Path) -> None:
    words = ["hierarchy", people, "--column", "age", "--width", "10,20"]

    shown = run(*words).stdout

    firsts = [", ".join(level["first"]) for level in facts(*words)["levels"]]
    assert [first for first in firsts if first not in shown] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--column must be given"),
        (["--column", "nope"], "column 'nope' does not exist"),
        (["--column", "age", "--width", "5", "--prefix"], "only one of"),
        (["--column", "age", "--width", "five"], "--width must be numbers separated by commas"),
        (["--column", "age", "--width", "5,7"], "each width must be a multiple"),
        (["--column", "age", "--width", "5", "--low", "a", "--high", "9"], "low must be a finite number"),
        (["--column", "zip", "--prefix", "--low", "1"], "must be left out with --prefix"),
        (["--column", "zip", "--show", "file.csv"], "--show must stand alone"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, people: Path, words: list[str], message: str) -> None:
    result = run("hierarchy", people, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        (["--column", "age", "--width", "10"], ["--low", "0", "--high", "99"]),
        (["--column", "age"], ["--low", "0", "--high", "99"]),
        (["--column", "day", "--date"], ["--low", "2020-01-01", "--high", "2021-12-31"]),
        (["--column", "age", "--quantiles", "2"], None),
        (["--column", "zip", "--prefix"], None),
        (["--column", "zip"], None),
        (["--column", "disease"], None),
    ],
)
def test_a_range_is_advised_where_it_can_be_declared(
    facts: Facts, people: Path, words: list[str], limits: list[str] | None
) -> None:
    caution = facts("hierarchy", people, *words)["caution"]

    assert ("--low and --high" in caution) == (limits is not None)
    assert "code book" in caution
    if limits is not None:
        assert facts("hierarchy", people, *words, *limits)["caution"] is None


@pytest.mark.parametrize("words", [["--width", "5"], ["--date"]])
def test_values_of_another_kind_are_refused_by_the_name_of_their_column(
    run: Run, people: Path, words: list[str]
) -> None:
    result = run("hierarchy", people, "--column", "disease", *words)

    assert result.exit_code == 2
    assert "Error: column 'disease': values must be" in result.stderr
