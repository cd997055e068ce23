"""``ldiversity audit``: exit codes for a pipeline, the same facts as text and JSON, no cell of the source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import Result

Run = Callable[..., Result]

ROLES = ["--quasi", "age,sex", "--sensitive", "disease"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    columns = {
        "age": [30, 30, 40, 40],
        "sex": ["Fquux", "Fquux", "Mquux", "Mquux"],
        "disease": ["leprosy", "plague", "plague", "plague"],
    }
    pa_csv.write_csv(pa.table(columns), tmp_path / "table.csv")
    return tmp_path / "table.csv"


def test_the_exit_code_is_0_when_what_was_asked_for_holds(run: Run, table: Path) -> None:
    assert run("audit", table, *ROLES, "--model", "k-anonymity:2").exit_code == 0


def test_the_exit_code_is_1_when_it_does_not(run: Run, table: Path) -> None:
    result = run("audit", table, *ROLES, "--model", "k-anonymity:2", "--model", "distinct:2")

    assert (result.exit_code, result.stderr) == (1, "")


@pytest.mark.parametrize(
    "words",
    [
        [*ROLES, "--model", "k-anonymity"],
        [*ROLES, "--model", "sorcery:2"],
        ["--quasi", "shoe", "--sensitive", "disease"],
        ["--quasi", "age", "--model", "k-anonymity:2", "--model", "distinct:2"],
        ["--quasi", "age", "--sensitive", "age"],
        [],
        [*ROLES, "--threshold", "2"],
        [*ROLES, "--population", "nowhere.csv"],
    ],
)
def test_the_exit_code_is_2_for_bad_input(run: Run, table: Path, words: list[str]) -> None:
    result = run("audit", table, *words)

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")


def test_a_file_that_is_not_there_is_bad_input(run: Run, tmp_path: Path) -> None:
    assert run("audit", tmp_path / "nothing.csv", *ROLES).exit_code == 2


def test_without_models_there_is_nothing_to_fail(run: Run, table: Path) -> None:
    assert run("audit", table, *ROLES).exit_code == 0


def test_the_page_says_who_can_be_read_off_and_what_to_do(run: Run, table: Path) -> None:
    page = run("audit", table, *ROLES).stdout

    assert "1 of 2 classes holds one value of 'disease' only; 2 records can be read off." in page
    assert f"$ ldiversity anonymize {table} --quasi age,sex --sensitive disease --method bsgi -l 2" in page


def test_json_has_the_facts_of_the_page(facts: Callable[..., dict[str, Any]], table: Path) -> None:
    found = facts("audit", table, *ROLES)

    assert found["models"]["distinct_l"]["value"] == 1
    assert found["name"] == "table.csv"


def test_the_advised_command_can_be_run(
    run: Run, facts: Callable[..., dict[str, Any]], patients: Path, tmp_path: Path
) -> None:
    words = facts("audit", patients, *ROLES)["advice"]["command"].split()

    result = run(*words[1:-1], tmp_path / "release")

    assert result.exit_code == 0, result.stderr
    assert run("audit", tmp_path / "release").exit_code == 0


def test_a_release_is_audited_without_the_original(run: Run, release: Path) -> None:
    result = run("audit", release)

    assert result.exit_code == 0
    assert "distinct:3 of 'disease' holds" in result.stdout


def test_people_of_a_release_are_counted_with_and_without_prior_knowledge(run: Run, release: Path) -> None:
    assert "without prior knowledge  knowing how frequent values are" in run("audit", release).stdout


def test_a_release_that_breaks_what_is_asked_fails(run: Run, release: Path) -> None:
    assert run("audit", release, "--model", "distinct:4").exit_code == 1


def test_a_page_is_written_for_the_one_who_decides(run: Run, table: Path, tmp_path: Path) -> None:
    run("audit", table, *ROLES, "--html", tmp_path / "report.html")

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Audit of table.csv" in page


def test_a_page_that_cannot_be_written_is_bad_input(run: Run, table: Path, tmp_path: Path) -> None:
    assert run("audit", table, *ROLES, "--html", tmp_path / "nowhere" / "report.html").exit_code == 2


def test_no_cell_of_the_source_is_shown(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["audit", table, *ROLES, "--model", "distinct:2", "--html", tmp_path / "report.html"]
    shown = run(*words).output + run(*words, "--json").output + (tmp_path / "report.html").read_text(encoding="utf-8")

    assert not [cell for cell in ("quux", "leprosy", "plague") if cell in shown]


def test_missing_values_have_declared_policies(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("age,disease\n30,flu\n,flu\n40,\n", encoding="utf-8")
    words = ["audit", tmp_path / "gaps.csv", "--quasi", "age", "--sensitive", "disease"]

    assert run(*words).exit_code == 2
    assert run(*words, "--missing", "drop", "--missing-quasi", "refuse").exit_code == 2
    assert json.loads(run(*words, "--missing", "drop", "--json").stdout)["records"] == 2
    assert json.loads(run(*words, "--missing", "category", "--missing-quasi", "drop", "--json").stdout)["records"] == 2


def test_other_columns_may_count_as_known(facts: Callable[..., dict[str, Any]], table: Path) -> None:
    found = facts("audit", table, "--quasi", "sex", "--sensitive", "disease,age", "--joint-knowledge")

    assert "An attacker who asks for one sensitive attribute is assumed to know the others." in found["notes"]


def test_a_release_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    result = run("audit", tmp_path / "realese")

    assert result.exit_code == 2
    assert "realese' does not exist" in result.stderr


def test_weights_say_what_is_found_about_a_population(run: Run, tmp_path: Path) -> None:
    columns = {"age": [30, 30, 40], "disease": ["leprosy", "plague", "plague"], "w": [2.5, 1, 9], "h": ["a", "a", "a"]}
    pa_csv.write_csv(pa.table(columns), tmp_path / "survey.csv")
    asked = ["audit", tmp_path / "survey.csv", "--quasi", "age", "--sensitive", "disease", "--weights", "w"]

    text, told = run(*asked, "--strata", "h"), json.loads(run(*asked, "--strata", "h", "--json").stdout)

    assert "The population that the table stands for" in text.stdout
    assert "plague" not in text.stdout
    assert told["sampled"]["people"] == 12.5
    assert told["sampled"]["alike"][0]["people"]["people"] == 1 + 1.5
    assert "sampled" not in json.loads(run(*asked[:-2], "--json").stdout)
    refused = run(*asked[:-2], "--strata", "h")
    assert (refused.exit_code, "--weights" in refused.stderr) == (2, True)
