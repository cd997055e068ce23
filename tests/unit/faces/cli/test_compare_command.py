"""``ldiversity compare``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ldiversity.faces.cli import cli
from ldiversity.faces.cli._compare import _diversities

Run = Callable[..., Result]
ROLES = ["--quasi", "age,sex", "--sensitive", "disease", "--queries", "20", "--seed", "1"]


@pytest.fixture(scope="module")
def compared(run: Run, patients: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    plot = tmp_path_factory.mktemp("map") / "map.svg"
    return run("compare", patients, *ROLES, "-l", "2..3", "--methods", "bsgi,anatomy", "--plot", plot)


def test_it_ends_well(compared: Result) -> None:
    assert compared.exit_code == 0, compared.stderr


def test_it_first_says_that_it_is_for_the_holder_alone(compared: Result) -> None:
    assert compared.stdout.startswith("Computed with the original table: for its holder only.")


def test_it_shows_a_row_for_each_run(compared: Result) -> None:
    assert [label for label in ("bsgi l=2", "bsgi l=3", "anatomy l=2", "anatomy l=3") if label in compared.stdout] == [
        "bsgi l=2",
        "bsgi l=3",
        "anatomy l=2",
        "anatomy l=3",
    ]


def test_it_recommends_one_in_a_sentence(compared: Result) -> None:
    assert compared.stdout.count("\nPublish ") == 1


def test_the_picture_is_said_in_words(compared: Result) -> None:
    assert "In words: Map of 4 runs" in compared.stdout


def test_the_command_that_it_shows_publishes_the_recommended_run(
    compared: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = [line for line in compared.stdout.splitlines() if line.startswith("  $ ")]
    result = CliRunner().invoke(cli, shlex.split(line.strip(" $"))[1:])

    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "release" / "release.json").is_file()


def test_json_holds_the_same_facts(facts: Callable[..., dict[str, Any]], patients: Path, compared: Result) -> None:
    found = facts("compare", patients, *ROLES, "-l", "2..3", "--methods", "bsgi,anatomy")

    assert found["version"] == 1
    assert f"Publish {found['recommended']}:" in compared.stdout


def test_a_sample_is_said_at_the_top_and_as_a_caution(run: Run, patients: Path) -> None:
    wanted = ["--methods", "anatomy", "-l", "2", "--sample", "100"]
    shown = " ".join(run("compare", str(patients), *ROLES, *wanted).output.split())

    assert "1 run on 100 of " in shown
    assert "they are not those of the whole table" in shown


def test_a_run_that_is_not_possible_is_listed_with_its_reason(run: Run, patients: Path) -> None:
    result = run("compare", patients, *ROLES, "-l", "2,40", "--methods", "anatomy")

    assert result.exit_code == 0
    assert "- anatomy l=40: -l must be at most" in result.stdout


def test_hierarchies_are_in_the_command_of_methods_that_group_alone(
    facts: Callable[..., dict[str, Any]], patients: Path
) -> None:
    words = ["compare", patients, *ROLES, "-l", "2", "--hierarchy", "age=width:5/10"]
    commands = [facts(*words, "--methods", name)["command"] for name in ("bsgi", "randomized-addition")]

    assert ["--hierarchy age=width:5/10" in command for command in commands] == [True, False]


def test_semantic_is_run_with_a_distance(facts: Callable[..., dict[str, Any]], patients: Path, tree: Path) -> None:
    found = facts(
        "compare", patients, *ROLES, "-l", "2", "--methods", "semantic", "-d", "2", "--distance", f"tree:{tree}"
    )

    assert found["recommended"] == "semantic l=2 d=2"
    assert f"--distance tree:{tree}" in found["command"]


def test_a_folder_is_resumed(facts: Callable[..., dict[str, Any]], patients: Path, tmp_path: Path) -> None:
    words = ["compare", patients, *ROLES, "-l", "2", "--methods", "bsgi", "--folder", tmp_path / "runs"]
    reused = [facts(*words)["rows"][0]["reused"] for _ in range(2)]

    assert reused == [False, True]


def test_a_limit_of_risk_that_nothing_keeps_recommends_nothing(run: Run, patients: Path) -> None:
    result = run("compare", patients, *ROLES, "-l", "2", "--methods", "bsgi", "--risk", "0.001", "--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 1
    assert found["command"] is None
    assert found["recommendation"].startswith("No run can be recommended")


@pytest.mark.parametrize(
    ("text", "levels"), [("3", [3]), ("2..2", [2]), ("2,4", [2, 4]), ("2..4", [2, 3, 4]), (" 2..3 , 6 ", [2, 3, 6])]
)
def test_levels_are_read(text: str, levels: list[int]) -> None:
    assert _diversities(text) == levels


@pytest.mark.parametrize("text", ["", "x", "2..", "5..2", "3,7..2", "2;3", "2.5"])
def test_levels_that_are_none_are_refused(run: Run, patients: Path, text: str) -> None:
    result = run("compare", patients, *ROLES, "-l", text)

    assert result.exit_code == 2
    assert "-l must be numbers such as 3, 2,4,6 or 2..7" in result.stderr


def test_quasi_identifiers_are_needed(run: Run, patients: Path) -> None:
    result = run("compare", patients, "--sensitive", "disease")

    assert result.exit_code == 2
    assert "--quasi must name at least one column" in result.stderr


def test_too_many_levels_are_refused_at_once(run: Run, patients: Path) -> None:
    result = run("compare", patients, *ROLES, "-l", "2..2000000000")

    assert result.exit_code == 2
    assert "-l must be at most 200 numbers" in result.stderr


@pytest.mark.parametrize(("flag", "value"), [("-e", "1"), ("--model", "entropy:3"), ("--weight", "age=2")])
def test_an_option_that_no_chosen_method_has_is_refused(run: Run, patients: Path, flag: str, value: str) -> None:
    result = run("compare", patients, *ROLES, "--methods", "anatomy", flag, value)

    assert result.exit_code == 2
    assert f"{flag} must be left out: it is an option of" in result.stderr


@pytest.mark.parametrize("name", ["map.jpg", "no/such/folder/map.png"])
def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_run(
    run: Run, patients: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ldiversity as ld

    monkeypatch.setattr(ld, "compare", None)
    result = run("compare", patients, *ROLES, "--plot", tmp_path / name)

    assert result.exit_code == 2
    assert "--plot must" in result.stderr


def test_reasons_are_printed_when_no_run_was_possible_and_a_map_was_asked_for(
    run: Run, patients: Path, tmp_path: Path
) -> None:
    result = run("compare", patients, *ROLES, "-l", "40", "--methods", "anatomy", "--plot", tmp_path / "map.png")

    assert result.exit_code == 1
    assert run("compare", patients, *ROLES, "-l", "40", "--methods", "anatomy").exit_code == 1
    assert "- anatomy l=40: -l must be at most" in result.stdout
    assert "There is no map, because no run was measured." in result.stdout


def test_weights_are_given_to_methods_that_have_them(facts: Callable[..., dict[str, Any]], patients: Path) -> None:
    found = facts("compare", patients, *ROLES, "-l", "2", "--methods", "bsgi", "--weight", "age=2")

    assert "--weight age=2" in found["command"]


def test_a_model_is_run_beside_l(facts: Callable[..., dict[str, Any]], patients: Path) -> None:
    found = facts("compare", patients, *ROLES, "-l", "2", "--methods", "mondrian", "--model", "entropy:3")

    assert [row["label"] for row in found["rows"]] == ["mondrian l=2", "mondrian model=entropy:3"]


def test_the_audit_of_every_run_is_shown(compared: Result) -> None:
    heads = ("k", "unique records", "worst belief", "times likelier", "sure of")

    assert [head for head in heads if head not in compared.stdout] == []


def test_the_attribute_of_the_best_attack_is_shown_where_there_are_several(run: Run, patients: Path) -> None:
    words = ["--quasi", "age", "--sensitive", "disease,job", "--queries", "10", "--seed", "1"]
    result = run("compare", patients, *words, "-l", "2", "--methods", "bsgi")

    assert re.search(r"\w on '(disease|job)' ", result.stdout)


def test_a_confirmed_column_goes_into_the_command_that_it_shows(run: Run, tmp_path: Path) -> None:
    rows = [f"{20 + place // 3 % 9},{'FCB'[place % 3]},{('flu', 'cut', 'burn')[place % 3]}" for place in range(90)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["age,code,disease", *rows]) + "\n", "utf-8")
    few = ["--methods", "randomized-addition", "-l", 2, "--queries", 5, "--attacks", "homogeneity", "--seed", 1]
    words = ["compare", table, "--quasi", "age,code", "--sensitive", "disease", *few, "--json"]

    refused, confirmed = (json.loads(run(*words, *more).stdout) for more in ([], ["--confirm", "code"]))

    assert "--confirm" not in refused["command"]
    assert "--confirm code" in confirmed["command"]
    assert [any(one["blocking"] for one in found["findings"]) for found in (refused, confirmed)] == [True, False]
