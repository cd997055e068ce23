"""A policy beside TABLE: one reviewed file for the table of every month."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import ldiversity as ld

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.toml"
    asked = {"quasi": "age", "sensitive": "disease", "method": "randomized-addition:l=4"}
    ld.Publication(**asked).save(file)  # type: ignore[arg-type]
    return file


@pytest.mark.parametrize("month", ["january", "february"])
def test_one_policy_serves_every_table(facts: Facts, patients: Path, policy: Path, month: str) -> None:
    table = policy.parent / f"{month}.csv"
    table.write_bytes(patients.read_bytes())

    planned = facts("plan", table, "--policy", policy)
    published = facts("anonymize", table, "--policy", policy, "-o", policy.parent / month)

    assert (planned["table"], planned["records"]) == (table.name, published["records"])
    assert (policy.parent / month / "release.json").is_file()


def test_a_table_stands_above_the_one_that_the_policy_names(facts: Facts, patients: Path, policy: Path) -> None:
    policy.write_text('[table]\nfile = "nobody.csv"\n[sensitive.disease]\nl = 4\n')

    assert facts("plan", patients, "--policy", policy)["records"] == 600


def test_a_table_of_another_ending_is_read_as_is_said(facts: Facts, patients: Path, policy: Path) -> None:
    table = policy.parent / "january.dat"
    table.write_bytes(patients.read_bytes())

    assert facts("plan", table, "--read-as", "csv", "--policy", policy)["table"] == "january.dat"


@pytest.mark.parametrize("words", [["plan"], ["anonymize", "-o", "release"]])
def test_a_policy_without_a_table_asks_for_one(run: Run, policy: Path, words: list[str]) -> None:
    result = run(*words, "--policy", policy)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "policy: a table must be given, because the policy names none." in result.stderr


def test_a_folder_that_is_there_is_replaced_by_the_option_that_the_refusal_names(
    run: Run, patients: Path, policy: Path
) -> None:
    words = ["anonymize", patients, "--policy", policy, "-o", policy.parent / "release"]
    run(*words)

    refused = run(*words)

    assert refused.exit_code == 2
    assert refused.stderr.endswith("Choose another folder, or use --overwrite.\n")
    assert run(*words, "--overwrite").exit_code == 0


def test_read_as_needs_a_table(run: Run, policy: Path) -> None:
    result = run("plan", "--read-as", "csv", "--policy", policy)

    assert "--read-as must be left out without TABLE." in result.stderr


def test_a_key_may_stand_beside_a_policy_that_names_none(run: Run, patients: Path, policy: Path) -> None:
    key = policy.parent / "holder.key"
    ld.Key.new().save(key)
    policy.write_text(f'{policy.read_text()}\n[key]\nrecord_id = ["name"]\n')
    words = ["anonymize", patients, "--policy", policy, "--key", key, "--json", "-o"]

    first = run(*words, policy.parent / "first")
    policy.write_text(policy.read_text().replace("[key]", '[key]\nfile = "holder.key"'))
    second = run(*words, policy.parent / "second")

    assert '"keyed": true' in first.stdout
    assert second.exit_code == 2
    assert "--key must be left out with --policy" in second.stdout


def test_a_comparison_saves_what_it_recommends(run: Run, facts: Facts, patients: Path, tmp_path: Path) -> None:
    roles = ["--quasi", "age,sex", "--sensitive", "disease", "--drop", "name"]
    few = ["--methods", "anatomy,bsgi", "-l", 2, "--queries", 5, "--attacks", "homogeneity", "--seed", 1]

    run("compare", patients, *roles, *few, "--save", tmp_path / "policy.toml")

    found = facts("anonymize", patients, "--policy", tmp_path / "policy.toml", "-o", tmp_path / "release")
    assert found["records"] == 600
    assert ld.Publication.load(tmp_path / "policy.toml").drop == ("name",)
