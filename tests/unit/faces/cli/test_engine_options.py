"""Where rows are worked on, as the command line takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import csv

from ldiversity.datasets import patients
from ldiversity.faces.cli import cli
from ldiversity.faces.cli._machine import location

WRONG = {
    ("--master", "local[2]"): "--master must come with --engine spark",
    ("--remote", "sc://host"): "--remote must come with --engine spark",
    ("--engine", "local", "--master", "local"): "--master must come with --engine spark",
    ("--engine", "spark", "--master", "local", "--remote", "sc://host"): "--remote must be left out with --master",
    ("--engine", "spark", "--memory", "1GB"): "--memory must be left out with --engine spark",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("engines") / "table.csv"
    csv.write_csv(patients(60, seed=2), file)
    return file


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
@pytest.mark.parametrize("command", ["anonymize", "audit", "estimate"])
def test_options_that_do_not_go_together_are_refused(
    command: str, words: tuple[str, ...], table: Path, tmp_path: Path
) -> None:
    columns = [] if command == "estimate" else ["--quasi", "age,sex", "--sensitive", "disease"]
    more = ["--drop", "name,zip,job", "-l", "2", "-o", str(tmp_path / "release")] if command == "anonymize" else []

    done = CliRunner().invoke(cli, [command, str(table), *columns, *more, *words])

    assert done.exit_code == 2
    assert WRONG[words] in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [("--engine", "local"), ("--memory", "1GB"), ("--workers", "2")])
def test_draws_that_can_be_repeated_have_the_usual_engine(option: tuple[str, str], table: Path, tmp_path: Path) -> None:
    given = ["anonymize", str(table), "--quasi", "age", "--sensitive", "disease", "--drop", "name,sex,zip,job"]

    done = CliRunner().invoke(cli, [*given, "-l", "2", "-o", str(tmp_path / "r"), "--insecure-seed", "1", *option])

    assert done.exit_code == 2
    assert f"{option[0]} must be left out with --insecure-seed" in done.stderr


def test_this_machine_is_an_engine(table: Path, tmp_path: Path) -> None:
    given = ["anonymize", str(table), "--quasi", "age", "--sensitive", "disease", "--drop", "name,sex,zip,job"]

    done = CliRunner().invoke(cli, [*given, "-l", "2", "-o", str(tmp_path / "release"), "--engine", "local"])

    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("typed", ["s3a://bucket/table", "hdfs://host:8020/people", "file:///data/people"])
def test_addresses_of_other_systems_are_kept_as_typed(typed: str) -> None:
    assert location(Path(typed)) == typed


def test_paths_stay_paths() -> None:
    assert location(Path("data/people.parquet")) == Path("data/people.parquet")
    assert location(None) is None
