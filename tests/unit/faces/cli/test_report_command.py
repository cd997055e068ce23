"""``ldiversity report``: one file, the facts of which --json prints."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


def test_a_page_is_written(run: Run, release: Path, tmp_path: Path) -> None:
    result = run("report", release, "-o", tmp_path / "report.html")

    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert f"Written: {tmp_path / 'report.html'}." in result.stdout.replace("\n  ", " ").replace("\n", "")


def test_json_prints_the_documented_facts(facts: Facts, release: Path) -> None:
    found = facts("report", release, "--by", "sex")

    assert (found["version"], found["audience"]) == (1, "user")
    assert found["contingency"][0]["by"] == ["sex"]


def test_with_the_original_it_is_for_the_holder(run: Run, release: Path, patients: Path, tmp_path: Path) -> None:
    result = run("report", release, "--original", patients, "-o", tmp_path / "report.html")

    assert "for the data holder alone" in result.stdout
    assert "Do not hand out." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_pictures_are_written_beside_their_tables(run: Run, release: Path, tmp_path: Path) -> None:
    run("report", release, "--pictures", tmp_path / "pictures", "--by", "sex")

    assert {file.suffix for file in (tmp_path / "pictures").iterdir()} == {".csv", ".pdf", ".png", ".svg"}


def test_attacks_are_run_when_asked_for(facts: Facts, release: Path) -> None:
    assert facts("report", release)["attacks"] is None
    assert facts("report", release, "--attacks")["attacks"]["results"]


def test_every_command_that_it_names_can_be_run(
    run: Run, facts: Facts, release: Path, patients: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--original", patients, "--by", "sex,age:20", "--threshold", "0.5"]

    lines = [one["line"] for one in facts("report", release, *words)["commands"]]
    assert [run(*shlex.split(line)[1:]).stderr for line in lines] == [""] * len(lines)


def test_the_first_command_makes_the_same_report(
    run: Run, facts: Facts, release: Path, patients: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    found = facts("report", release, "--original", patients, "--by", "sex", "--threshold", "0.5")

    again = run(*shlex.split(found["commands"][0]["line"])[1:], "--json")
    assert json.loads(again.stdout) == found


def test_a_page_of_the_other_audience_is_kept(run: Run, release: Path, patients: Path, tmp_path: Path) -> None:
    run("report", release, "-o", tmp_path / "report.html", "--by", "sex")

    result = run("report", release, "-o", tmp_path / "report.html", "--by", "sex", "--original", patients)
    assert result.exit_code != 0
    assert "--output must not name the report for the user" in result.stderr
    assert "Do not hand out" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_something_must_be_asked_for(run: Run, release: Path) -> None:
    result = run("report", release)

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_types_without_an_original_are_refused(run: Run, release: Path) -> None:
    assert run("report", release, "--json", "--type", "age=text").exit_code == 2
