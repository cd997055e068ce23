from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from ldiversity.base.numbers import percent, percent_at_most

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def leaking(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table in which the job decides the disease, published in classes that do not look at jobs."""
    folder = tmp_path_factory.mktemp("leaking")
    table = folder / "t.csv"
    table.write_text("who,job,disease\n" + "".join(f"{i},{'abcdef'[i % 6]},{'uvwxyz'[i % 6]}\n" for i in range(600)))
    words = ["--quasi", "who,job", "--sensitive", "disease", "--method", "anatomy", "-l", 3]
    result = run("anonymize", table, *words, "--confirm", "job", "-o", folder / "release")
    assert result.exit_code == 0, result.stderr
    return table, folder / "release"


def test_without_the_original_attackers_say_what_they_expect(facts: Facts, release: Path) -> None:
    found = facts("attack", release)

    assert (found["version"], found["broken"], found["release"]) == (1, False, "release")
    assert {result["scored"] for result in found["results"]} == {False}


def test_with_the_original_attackers_are_scored(facts: Facts, release: Path, patients: Path) -> None:
    found = facts("attack", release, "--original", patients, "--attacks", "homogeneity,mechanism")

    assert [result["attack"] for result in found["results"]] == [
        "homogeneity",
        "mechanism (uniform prior)",
        "mechanism (marginal prior)",
    ]
    assert all(result["interval"] for result in found["results"])


def test_a_broken_claim_is_exit_code_one(run: Run, leaking: tuple[Path, Path]) -> None:
    table, release = leaking

    result = run("attack", release, "--original", table, "--attacks", "definetti", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["broken"] is True


def test_a_claim_that_stands_is_exit_code_zero(run: Run, leaking: tuple[Path, Path]) -> None:
    table, release = leaking

    assert run("attack", release, "--original", table, "--attacks", "homogeneity").exit_code == 0


def test_the_text_shows_the_facts_of_json(run: Run, facts: Facts, release: Path, patients: Path) -> None:
    words = ("attack", release, "--original", patients, "--attacks", "homogeneity", "--attacks", "background")
    found = facts(*words)

    shown = " ".join(run(*words).stdout.split())

    sentences = [*found["verdict"], *(result["knowledge"] for result in found["results"])]
    assert [sentence for sentence in sentences if sentence not in shown] == []


def test_what_was_not_run_is_listed_with_its_reason(run: Run, release: Path) -> None:
    shown = " ".join(run("attack", release).stdout.split())

    assert "Not run" in shown
    assert "joint on 'disease': it needs several sensitive attributes." in shown


def test_a_second_release_is_intersected(
    run: Run, facts: Facts, patients: Path, roles: list[str], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        run("anonymize", patients, *roles, "-l", 3, "-o", tmp_path / name)

    found = facts("attack", tmp_path / "one", "--second", tmp_path / "two", "--attacks", "intersection")

    assert found["results"][0]["details"]["mean_values_left"] < found["results"][0]["details"]["mean_values_before"]


def test_options_reach_their_attacks(facts: Facts, release: Path, tree: Path) -> None:
    words = ["--attacks", "background,similarity", "--exclude", 2, "--distance", f"tree:{tree}", "-d", 2]

    labels = [result["attack"] for result in facts("attack", release, *words)["results"]]

    assert labels == ["background (strongest 2)", "background (random 2)", "similarity (d=2)"]


def test_no_cell_of_the_original_is_shown(run: Run, release: Path, patients: Path) -> None:
    shown = run("attack", release, "--original", patients).stdout

    names = [line.split(",")[0] for line in patients.read_text().splitlines()[1:]]
    assert not [name for name in names if name in shown]


def test_help_names_every_attack(run: Run) -> None:
    from ldiversity.evaluation.attacks import ATTACKS

    shown = run("attack", "--help").stdout

    assert [name for name in ATTACKS if name not in shown] == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--attacks", "magic"], "attacks must name known attacks"),
        (["--attacks", "composition"], "needs a second release"),
        (["--attacks", "order"], "it needs the order of the original table"),
        (["--original", "nowhere.csv"], "nowhere.csv"),
        (["--second", "nowhere"], "nowhere"),
        (["--exclude", "0"], "--exclude"),
        (["-d", "2"], "--distance and -d must be given together"),
        (["--sensitive", "age"], "sensitive must name attributes"),
    ],
)
def test_a_wrong_wish_is_refused_in_a_sentence(run: Run, release: Path, words: list[str], sentence: str) -> None:
    result = run("attack", release, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


@pytest.mark.parametrize("l", [2, 3, 6])
def test_a_promise_has_one_figure_in_tables_and_texts(run: Run, tmp_path: Path, l: int) -> None:
    table, folder = tmp_path / "t.csv", tmp_path / "release"
    table.write_text("who,disease\n" + "".join(f"{i % 40},{'uvwxyz'[i % 6]}\n" for i in range(600)))
    words = ["--quasi", "who", "--sensitive", "disease", "--method", "anatomy", "-l", l, "-o", folder]
    published = run("anonymize", table, *words).stdout
    found = run("attack", folder, "--original", table, "--attacks", "homogeneity").stdout

    promise = percent_at_most(1 / l)
    row = next(line for line in found.splitlines() if line.startswith("homogeneity"))
    assert re.findall(r"[\d.]+ %", row)[-2] == promise
    assert f"at most {promise}" in " ".join(found.split())
    assert promise in published
    assert promise == percent(1 / l) or percent(1 / l) not in published
