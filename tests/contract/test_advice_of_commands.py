"""What commands advise: options that somebody takes, and one l."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ldiversity.faces.cli import cli
from tests.contract.test_every_command import COMMANDS

TAKEN = {path[0]: {flag for one in command.params for flag in one.opts} for path, command in COMMANDS.items()}
WEIGHTS = (*(f"{one}.5" for one in range(30)), "n/a")


def run(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")
    assert done.exit_code in {0, 1, 2}, done.output
    return done.output


def nobody_takes(command: str, said: str) -> list[str]:
    """Sentences that advise an option which neither this command takes, nor one that the sentence names."""
    prose = " ".join(line for line in said.splitlines() if " ldiversity " not in f" {line}")
    wrong = []
    for sentence in re.split(r"(?<=[.!])\s", " ".join(prose.split())):
        named = {name for name in TAKEN if re.search(rf"\b{name}\b", sentence)}
        known = {"--help"}.union(*(TAKEN[name] for name in {command, *named}))
        wrong += [sentence] if set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", sentence)) - known else []
    return wrong


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with two rows each, missing values, and numbers with a word among them."""
    drawn = np.random.default_rng(1)
    rows = [
        f"p{row // 2},{drawn.integers(20, 60)},{drawn.integers(80000, 80005)},{WEIGHTS[row % 31]},{disease}"
        for row, disease in enumerate(drawn.choice([*"abcd", ""], 124))
    ]
    table = tmp_path_factory.mktemp("messy") / "messy.csv"
    table.write_text("\n".join(["patient_id,age,zip,weight,disease", *rows]), encoding="utf-8")
    return table


def test_every_option_that_is_advised_is_taken_by_the_command_or_by_one_that_is_named(
    messy: Path, tmp_path: Path
) -> None:
    roles = ["--quasi", "age,zip", "--sensitive", "disease", "--missing", "drop"]
    few = tmp_path / "few.csv"
    few.write_text("age,disease\n1,a\n", encoding="utf-8")
    release = tmp_path / "release"
    said = {
        "describe": [run("describe", messy), run("describe", few)],
        "plan": [run("plan", messy, *roles, "-l", 3), run("plan", messy, *roles, "--method", "bsgi", "-l", 9)],
        "anonymize": [run("anonymize", messy, *roles, "-l", 3, "-o", release), run("anonymize", messy, "-l", 2)],
        "audit": [run("audit", messy, *roles), run("audit", release), run("audit", release, "--person", "patient_id")],
        "estimate": [run("estimate", release), run("estimate", release, "--by", "aeg")],
        "attack": [run("attack", release)],
    }

    assert release.is_dir()
    assert "--person patient_id" in said["describe"][0]
    assert "Nearly all of its texts are numbers" in " ".join(said["describe"][0].split())
    assert {name: found for name, all_of in said.items() if (found := nobody_takes(name, "\n".join(all_of)))} == {}


def test_what_the_refusal_of_a_person_advises_works(messy: Path, tmp_path: Path) -> None:
    roles = ["--quasi", "age", "--sensitive", "disease", "--missing", "drop", "--person", "patient_id"]
    run("anonymize", messy, *roles, "--method", "anatomy", "-l", 2, "-o", tmp_path / "release")

    refused = run("audit", tmp_path / "release", "--person", "patient_id")

    assert "--person must come with the table that the release was made from" in refused
    assert "Name that table (--original), or leave --person out." in refused
    assert "Error" not in run("audit", tmp_path / "release")
    assert "Error" not in run("audit", tmp_path / "release", "--person", "patient_id", "--original", messy)


def test_an_option_that_nobody_takes_is_found() -> None:
    assert nobody_takes("describe", "Say whose row it is: --person id.") == ["Say whose row it is: --person id."]
    assert nobody_takes("describe", "Tell plan whose row\nit is, with --person id. Use --type zip=text.") == []


@pytest.mark.parametrize(("counts", "advised"), [((3, 3, 3, 3, 3, 3), 3), ((4, 4, 4), 3), ((4, 4, 1), 2)])
def test_descriptions_plans_and_audits_advise_one_l(counts: tuple[int, ...], advised: int, tmp_path: Path) -> None:
    values = [value for value, count in zip("abcdef", counts, strict=False) for _ in range(count)]
    table = tmp_path / "table.csv"
    rows = [f"{20 + 3 * row},{value}" for row, value in enumerate(values)]
    table.write_text("\n".join(["age,disease", *rows]), encoding="utf-8")
    roles = ["--quasi", "age", "--sensitive", "disease"]

    described = json.loads(run("describe", table, "--json"))["next"]
    planned = json.loads(run("plan", table, *roles, "--method", "bsgi", "-l", 2, "--json"))
    audited = json.loads(run("audit", table, *roles, "--json"))["advice"]

    assert described.endswith(f" -l {advised}")
    assert planned["suggested_l"] == advised
    assert f" -l {advised} " in audited["command"]
    assert planned["largest_l"] == audited["largest_l"] == sum(counts) // max(counts)
