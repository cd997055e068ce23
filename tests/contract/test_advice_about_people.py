"""Commands that a command advises: they say whose row it is and how the table is read, and their result passes."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from ldiversity.faces.cli import cli

READING = ("--encoding", "cp1252", "--decimal", ",", "--date-format", "dmy", "--skip-rows", "1")
WHOSE = ("--person", "patient")
ROLES = ("--quasi", "sex,born,weight", "--sensitive", "disease", "--drop", "patient")
COMMANDS = {name: cli.get_command(click.Context(cli), name) for name in cli.list_commands(click.Context(cli))}


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")


def options_of(command: click.Command | None) -> set[str]:
    return set() if command is None else {flag for one in command.params for flag in one.opts}


def write_visits(file: Path, n: int = 120, n_people: int = 50, *, common: float = 0.25) -> Path:
    """An export as hospitals make them: people with several rows, some cells missing."""
    rng = np.random.default_rng(1)
    whose = rng.integers(0, n_people, n)
    rare = (1 - common) / 4
    values = rng.choice(["flu", "cut", "gout", "cold", "fièvre"], n, p=[common, rare, rare, rare, rare])
    lines = ["Visits of a hospital", "patient;sex;born;weight;disease"]
    for person, value in zip(whose, values, strict=True):
        weight = "" if rng.random() < 0.1 else f"{50 + person % 3},5"
        lines.append(f"p{person};{'fm'[person % 2]};{1 + person % 4:02d}.02.1980;{weight};{value}")
    file.write_text("\n".join(lines) + "\n", encoding="cp1252")
    return file


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_visits(tmp_path_factory.mktemp("visits") / "visits.csv")


@pytest.fixture(scope="module")
def release(visits: Path) -> Path:
    folder = visits.with_name("published")
    result = run("anonymize", visits, *ROLES, *READING, *WHOSE, "-l", 2, "-o", folder)
    assert result.exit_code == 0, result.stderr
    return folder


def asked(visits: Path, release: Path) -> dict[str, tuple[object, ...]]:
    """How each command is told whose row it is."""
    of_release = ("--original", visits, *READING, *WHOSE)
    short = ("--queries", 2, "--targets", 100, "--seed", 2, "-l", 2, "--methods", "randomized-addition")
    return {
        "anonymize": (visits, *ROLES, *READING, *WHOSE, "-l", 2, "-o", release.with_name("again")),
        "plan": (visits, *ROLES, *READING, *WHOSE, "-l", 2),
        "audit": (visits, *ROLES, *READING, *WHOSE),
        "compare": (visits, *ROLES, *READING, *WHOSE, *short),
        "attack": (release, *of_release, "--attacks", "several-rows"),
        "report": (release, *of_release, "-o", release.with_name("report.html")),
    }


def advised(page: str) -> Iterator[list[str]]:
    """The commands that a terminal or a page shows."""
    for line in re.findall(r"(?:\$ |>)ldiversity ([^<\n]+)", page):
        yield shlex.split(html.unescape(line))


def reads_people(name: str, words: list[str]) -> bool:
    """Whether a command reads the table that says whose row it is: as TABLE, or as the original of a release."""
    return "--person" in options_of(COMMANDS[name]) and (name not in {"attack", "report"} or "--original" in words)


def holds(line: list[str], words: tuple[str, ...]) -> bool:
    return any(tuple(line[place : place + 2]) == words for place in range(len(line)))


def test_every_command_that_is_told_whose_row_it_is_is_asked_here(visits: Path, release: Path) -> None:
    told = {name for name, command in COMMANDS.items() if "--person" in options_of(command)}
    assert told == set(asked(visits, release))


@pytest.mark.parametrize("name", ["anonymize", "plan", "audit", "compare", "attack", "report"])
def test_advice_says_whose_row_it_is_and_how_the_table_is_read(name: str, visits: Path, release: Path) -> None:
    result = run(name, *asked(visits, release)[name])
    assert result.exit_code in {0, 1}, result.stderr

    page = release.with_name("report.html").read_text(encoding="utf-8") if name == "report" else result.stdout
    found = [words for words in advised(page) if reads_people(words[0], words)]
    assert bool(found) == (name in {"audit", "compare", "report"})
    for words in found:
        assert holds(words, ("--person", "patient")), words
        assert all(holds(words, (READING[place], READING[place + 1])) for place in range(0, len(READING), 2)), words


@pytest.mark.parametrize("common", [0.25, 0.7], ids=["even values", "one common value"])
@pytest.mark.parametrize("models", [(), ("distinct:2",), ("k-anonymity:3", "entropy:2"), ("recursive:2:2",)])
def test_what_is_advised_passes_the_same_audit(models: tuple[str, ...], common: float, tmp_path: Path) -> None:
    visits = write_visits(tmp_path / "visits.csv", common=common)
    asked_for = [word for model in models for word in ("--model", model)]
    first = run("audit", visits, *ROLES, *READING, *WHOSE, *asked_for, "--json")
    command = shlex.split(json.loads(first.stdout)["advice"]["command"])
    folder = tmp_path / "release"
    followed = run(*command[1:-1], folder)
    assert followed.exit_code == 0, followed.stderr

    again = run("audit", folder, "--original", visits, *READING, *WHOSE, *asked_for)
    assert again.exit_code == 0, again.stdout


def test_no_command_is_advised_where_none_is_sure(tmp_path: Path) -> None:
    # Which classes satisfy t-closeness depends on whose records may stand together.
    visits = write_visits(tmp_path / "visits.csv")
    found = json.loads(run("audit", visits, *ROLES, *READING, *WHOSE, "--model", "t-closeness:0.1", "--json").stdout)

    assert found["advice"]["command"] is None
    assert "none with two records of a person" in found["advice"]["text"]


def test_a_person_alone_is_told_that_classes_need_more(tmp_path: Path) -> None:
    table = tmp_path / "one.csv"
    table.write_text("patient,sex,disease\n" + "".join(f"p,f,{value}\n" for value in ("flu", "cut", "flu")))
    found = json.loads(
        run(
            "audit", table, "--quasi", "sex", "--sensitive", "disease", *WHOSE, "--model", "distinct:2", "--json"
        ).stdout
    )

    assert found["advice"]["command"] is None
