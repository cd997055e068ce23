"""Plans of methods that group records, and the words by which they are chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from ldiversity.catalog import CATALOG, OPTIONS, methods_with

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture
def anatomy(patients: Path, roles: list[str]) -> list[object]:
    return ["plan", patients, *roles, "--method", "anatomy"]


def test_a_plan_says_what_is_possible_before_anything_is_grouped(facts: Facts, anatomy: list[object]) -> None:
    found = facts(*anatomy, "-l", 3)

    assert (found["feasible"], found["exact"], found["most_classes"], found["least_suppressed"]) == (True, True, 200, 0)
    assert found["suggested_l"] == 3 < found["largest_l"] == 600 // found["attributes"][0]["largest_count"]


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, anatomy: list[object]) -> None:
    found = facts(*anatomy, "-l", 3)

    shown = " ".join(run(*anatomy, "-l", 3).stdout.split())

    expected = [
        "600 records by anatomy, l = 3",
        "Feasible: 200 classes; no record has to be left out.",
        f"Largest possible l without leaving records out: {found['largest_l']}",
        found["attributes"][0]["claim"],
        *found["attributes"][0]["cautions"],
        *found["not_protected"],
        *found["notes"],
    ]
    assert [fact for fact in expected if fact not in shown] == []


def test_an_infeasible_l_is_exit_2_with_the_largest_possible(run: Run, facts: Facts, anatomy: list[object]) -> None:
    largest = facts(*anatomy, "-l", 2)["largest_l"]

    result = run(*anatomy, "-l", 20)

    assert result.exit_code == 2
    assert f"Error: -l must be at most {largest} for 'disease'" in result.stderr
    assert f"Use -l {largest}, or leave" in result.stderr
    assert "with --overflow suppress." in result.stderr
    assert "not feasible" in result.stdout


def test_suppression_makes_it_feasible_and_is_counted(run: Run, anatomy: list[object]) -> None:
    result = run(*anatomy, "-l", 20, "--overflow", "suppress")

    assert result.exit_code == 0
    assert "records are left out" in result.stdout


@pytest.mark.parametrize("words", [["--effort", 100], ["--swaps", 2]])
def test_what_more_effort_buys_is_said(run: Run, anatomy: list[object], words: list[object]) -> None:
    table = anatomy[: anatomy.index("--method")]

    result = run(*table, "--method", "bsgi", "-l", 3, *words)

    assert result.exit_code == 0
    assert "(effort 100, 0.1 million moves" in " ".join(result.stdout.split())


def test_what_is_only_a_bound_is_called_one(run: Run, anatomy: list[object]) -> None:
    table = anatomy[: anatomy.index("--method")]

    result = run(*table, "--method", "incognito", "-l", 20, "--suppression", 0.99)

    assert result.exit_code == 0
    assert "records at least have to be left out" in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "magic", "-l", 2], "--method must be one of randomized-addition, semantic, bsgi"),
        (["--method", "anatomy"], "-l must be given. For example -l 3. Its options are -l, --overflow, --gap."),
        (["--method", "anatomy", "-l", 1], "Error: -l must be an integer of at least 2, got 1."),
        (["--method", "anatomy", "-l", 2, "-d", 2], "anatomy: 'd' is not an option of this method"),
        (["-l", 2, "--effort", 2], "randomized-addition: 'effort' is not an option of this method"),
        (["--method", "mondrian"], "-l or --model must be given"),
        (["--method", "mondrian", "--model", "magic:3"], "model: name must be one of"),
        (
            ["--method", "mondrian", "-l", 2, "--weight", "age"],
            "--weight must be a column, an equals sign and a number",
        ),
        (
            ["--method", "mondrian", "-l", 2, "--weight", "age=x"],
            "--weight must be a name, an equals sign and a number",
        ),
        (["--method", "le-anatomy", "-l", 2, "-e", 1, "--tree", "nobody.csv"], "'nobody.csv' cannot be opened"),
        (["-l", 2, "--hierarchy", "age=auto"], "--hierarchy must be left out with randomized-addition"),
        (["-l", 2, "--person", "nobody"], "'nobody' does not exist"),
        (["--method", "anatomy", "-l", 2, "--hierarchy", "age"], "--hierarchy must be a column, an equals sign and a"),
        (["--method", "anatomy", "-l", 2, "--hierarchy", "job=auto"], "must be a quasi-identifier, got 'job'"),
        (["--method", "anatomy", "-l", 2, "--hierarchy", "age=width:x"], "hierarchy of 'age': it must be a file, auto"),
        (["--method", "anatomy", "-l", 2, "--hierarchy", "sex=nobody.csv"], "'nobody.csv' cannot be opened"),
        (["--method", "anatomy", "-l", 2, "--person", "nobody"], "'nobody' does not exist"),
    ],
)
def test_a_wrong_choice_is_one_sentence(
    run: Run, patients: Path, roles: list[str], words: list[object], sentence: str
) -> None:
    result = run("plan", patients, *roles[:-2], *words)

    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert sentence in result.stderr


def test_a_hierarchy_that_is_no_hierarchy_is_refused(
    run: Run, anatomy: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sex.csv").write_text("male;*\nmale;*\n")

    result = run(*anatomy, "-l", 2, "--hierarchy", "sex=sex.csv")

    assert result.exit_code == 2
    assert "leaves must be distinct" in result.stderr


def test_a_policy_that_groups_is_planned(run: Run, patients: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        f'[table]\nfile = {str(patients)!r}\nquasi = ["age"]\nhierarchies = {{ age = "width:5/10" }}\n'
        '[sensitive.disease]\n[method]\nname = "anatomy"\nl = 20\n'
    )

    result = run("plan", "--policy", file)

    assert result.exit_code == 2
    assert 'overflow = "suppress"' in result.stderr


# --- the words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["plan", "anonymize"])
@pytest.mark.parametrize("option", [option for option in OPTIONS.values() if option.flag], ids=lambda o: o.name)
def test_help_has_every_option_of_the_catalog_and_says_whose_it_is(run: Run, command: str, option: Any) -> None:
    shown = " ".join(run(command, "--help").stdout.split())

    takers = methods_with(option.name)
    whose = "every method" if len(takers) == len(CATALOG) else ", ".join(takers)
    assert " / ".join(option.flag.split("/")) in shown
    assert f"{option.help} For {whose}." in shown


@pytest.mark.parametrize("command", ["plan", "anonymize"])
def test_help_ends_with_a_line_a_method(run: Run, command: str) -> None:
    last = run(command, "--help").stdout.split("Methods:")[1]

    assert [line.split()[0] for line in last.splitlines() if line.strip()] == list(CATALOG)
    assert [entry.summary for entry in CATALOG.values() if entry.summary not in last] == []
