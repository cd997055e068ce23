"""What the holder says about columns once can be said to every command; and a population to audit and report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result

import ldiversity as ld

Run = Callable[..., Result]

COLUMNS = ["--quasi", "age,sex", "--sensitive", "disease", "--drop", "name,zip", "--plain", "job"]
MORE = ["--missing", "disease=drop", "--type", "zip=text"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("one") / "patients.csv"
    rows = [
        f"p{i},{20 + i % 9},{'FM'[i % 2]},0{i % 5},j{i % 3},{'' if i % 30 == 7 else 'abcde'[i % 5]}" for i in range(90)
    ]
    file.write_text("\n".join(["name,age,sex,zip,job,disease", *rows]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "words",
    [
        ["audit"],
        ["plan", "-l", "2"],
        ["anonymize", "-l", "2", "-o", "release"],
        ["compare", "-l", "2", "--methods", "anatomy", "--targets", "20", "--queries", "5"],
    ],
    ids=lambda words: words[0],
)
def test_one_command_line_serves_every_command(
    run: Run, table: Path, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *rest = words

    result = run(command, table, *COLUMNS, *MORE, *rest)

    assert result.exit_code == 0, result.stderr


def test_what_compare_recommends_repeats_the_columns(run: Run, table: Path) -> None:
    words = ["-l", "2", "--methods", "anatomy", "--targets", "20", "--queries", "5", "--json"]

    found = json.loads(run("compare", table, *COLUMNS, *MORE, *words).stdout)

    assert " ".join(COLUMNS + MORE) in found["command"]


@pytest.mark.parametrize("option", ["--drop", "--plain"])
@pytest.mark.parametrize("command", ["audit", "compare", "plan"])
def test_a_column_that_is_not_there_is_refused(run: Run, table: Path, command: str, option: str) -> None:
    rest = ["-l", "2"] if command != "audit" else []

    result = run(command, table, "--quasi", "age", "--sensitive", "disease", "--missing", "drop", option, "nme", *rest)

    assert result.exit_code == 2
    assert "'nme'" in result.stderr


@pytest.mark.parametrize("function", [ld.audit, ld.compare])
def test_a_column_with_two_roles_is_refused(function: Callable[..., object]) -> None:
    people = pa.table({"age": [1, 2, 3], "disease": ["a", "b", "c"]})

    with pytest.raises(ld.SchemaError, match="column 'age' must have one role"):
        function(people, quasi="age", sensitive="disease", drop="age")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everybody of the release four times."""
    file = tmp_path_factory.mktemp("town") / "town.csv"
    rows = [f"{20 + i % 9},{'FM'[i % 2]}" for i in range(90) for _ in range(4)]
    file.write_text("\n".join(["age,sex", *rows]) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module", params=["randomized-addition", "mondrian"])
def release(run: Run, table: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("published") / "release"
    result = run("anonymize", table, *COLUMNS, *MORE, "--method", request.param, "-l", 2, "-o", folder)
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.parametrize("holder", [False, True])
def test_a_report_takes_a_population_as_an_audit_does(
    run: Run, release: Path, table: Path, town: Path, *, holder: bool
) -> None:
    original = ["--original", table] if holder else []
    audit = json.loads(run("audit", release, "--population", town, "--json").stdout)
    result = run("report", release, *original, "--population", town, "--type", "sex=text", "--json")
    report = json.loads(result.stdout)

    assert report["audit"]["risk"] == audit["risk"]
    assert audit["risk"]["journalist"]["max"] < audit["risk"]["prosecutor"]["max"]
    gauges = {risk["risk"]: risk["value"] for risk in report["risks"] if risk["attribute"] is None}
    assert gauges["finding a record of the population, at worst"] == audit["risk"]["journalist"]["max"]


def test_the_commands_of_a_report_repeat_the_population(run: Run, release: Path, table: Path, town: Path) -> None:
    report = json.loads(run("report", release, "--original", table, "--population", town, "--json").stdout)
    handed_out = json.loads(run("report", release, "--population", town, "--json").stdout)

    assert f"--population {town}" in report["commands"][0]["line"]
    assert str(town) not in json.dumps(handed_out)
    assert "--population POPULATION" in handed_out["commands"][0]["line"]


def test_types_of_other_columns_are_not_asked_of_the_population(run: Run, table: Path, town: Path) -> None:
    result = run("audit", table, *COLUMNS, *MORE, "--population", town)

    assert result.exit_code == 0, result.stderr


LIMITS = ["--sample-fraction", "0.1", "--threshold", "health-canada", "--rationale", "anyone may read it"]


def test_audit_report_and_compare_take_a_fraction_a_limit_and_its_reason(run: Run, release: Path, table: Path) -> None:
    audit = json.loads(run("audit", release, *LIMITS, "--json").stdout)
    report = json.loads(run("report", release, *LIMITS, "--json").stdout)
    some = ["-l", "2", "--methods", "anatomy", "--queries", "5", "--attacks", "homogeneity", "--seed", "1"]
    result = run("compare", table, *COLUMNS, *MORE, *some, *LIMITS, "--json")
    compared = json.loads(result.stdout)

    assert report["audit"]["risk"] == audit["risk"]
    assert audit["threshold"]["name"] == report["audit"]["threshold"]["name"] == compared["threshold"]["name"]
    assert compared["threshold"]["rationale"] == "anyone may read it"
    assert shlex.join(LIMITS) in report["commands"][0]["line"]
    assert 0 < compared["rows"][0]["recognized"] < 1


def test_a_table_and_a_fraction_are_refused_together(run: Run, release: Path, town: Path) -> None:
    result = run("audit", release, "--population", town, "--sample-fraction", "0.1")

    assert result.exit_code == 2
    assert "--population and --sample-fraction must not be given together" in result.stderr
