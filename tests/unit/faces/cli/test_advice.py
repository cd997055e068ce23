"""What `audit` says to do first gives a release that passes the audit which said it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

Run = Callable[..., Result]

ROLES = ["--quasi", "age,zip", "--sensitive", "disease"]
MODELS = [
    *("k-anonymity:5", "k-anonymity:30", "distinct:3", "distinct:6", "entropy:2.5", "frequency:2", "frequency:5"),
    *("recursive:3:2", "recursive:0.5:2", "alpha-k:0.5:4", "alpha-k:0.3333333333333333:2", "unique:3", "unique:6"),
    *("t-closeness:0.4", "t-closeness:0.05", "beta-likeness:1", "delta-disclosure:1.5", "semantic:2:2:ordered"),
]
PAIRS = list(combinations(["k-anonymity:5", "distinct:4", "t-closeness:0.4", "frequency:3"], 2))


def write(path: Path, heads: str, rows: list[list[object]]) -> Path:
    lines = [heads, *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def people(n: int, values: list[str], weights: list[float], seed: int = 1) -> list[list[object]]:
    draw = np.random.default_rng(seed)
    return [
        [int(draw.integers(20, 60)), f"{draw.integers(0, 30):05d}", str(draw.choice(values, p=weights))]
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tables")
    even = people(120, list("abcdef"), [1 / 6] * 6)
    skewed = people(120, list("abcd"), [0.7, 0.15, 0.1, 0.05])
    halves = people(60, list("ab"), [0.5, 0.5])
    holes = [[None if i % 7 == 0 else age, None if i % 5 == 0 else z, s] for i, (age, z, s) in enumerate(even)]
    dates = [[f"{1950 + int(str(age))}-0{1 + i % 9}-11", z, s] for i, (age, z, s) in enumerate(even)]
    return {
        "even": write(folder / "even.csv", "age,zip,disease", even),
        "skewed": write(folder / "skewed, of some.csv", "age,zip,disease", skewed),
        "halves": write(folder / "halves.csv", "age,zip,disease", halves),
        "holes": write(folder / "holes.csv", "age,zip,disease", holes),
        "dates": write(folder / "dates.csv", "age,zip,disease", dates),
        "few": write(folder / "few.csv", "age,zip,disease", even[:3]),
        "constant": write(folder / "constant.csv", "age,zip,disease", [[a, z, "a"] for a, z, _ in even[:20]]),
    }


def follow(
    run: Run, table: Path, roles: list[str], models: list[str], how: list[str] | None = None
) -> tuple[dict[str, Any], Result | None]:
    """Audit a table, do what is advised, and audit the result in the same way; None where no command is advised."""
    asked = [word for model in models for word in ("--model", model)]
    audit = run("audit", table, *(how or []), *roles, *asked, "--json")
    assert audit.exit_code in {0, 1}, audit.stderr
    advice: dict[str, Any] = json.loads(audit.stdout)["advice"]
    if advice["command"] is None:
        return advice, None
    name, *words = shlex.split(advice["command"])
    assert name == "ldiversity"
    done = run(*words)
    assert done.exit_code == 0, (advice, done.stderr)
    return advice, run("audit", words[-1], *roles, *asked)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["even", "skewed", "halves", "holes", "dates", "few", "constant"])
def test_advice_about_one_model_passes(run: Run, tables: dict[str, Path], name: str, model: str) -> None:
    _, again = follow(run, tables[name], ROLES, [model])

    assert again is None or again.exit_code == 0, again.stdout


@pytest.mark.parametrize("models", PAIRS)
@pytest.mark.parametrize("name", ["even", "skewed"])
def test_advice_about_two_models_passes_both(
    run: Run, tables: dict[str, Path], name: str, models: tuple[str, str]
) -> None:
    advice, again = follow(run, tables[name], ROLES, list(models))

    if again is None:  # one value has 70 % of the records, and so few values differ that no classes take them in
        assert (name, models[1]) == ("skewed", "frequency:3")
        assert "Ask for less" in advice["text"] or "ask for less" in advice["text"]
    else:
        assert again.exit_code == 0, again.stdout


@pytest.mark.parametrize("name", ["even", "skewed", "halves", "holes", "dates", "few"])
def test_advice_without_a_model_gives_nothing_away(run: Run, tables: dict[str, Path], name: str) -> None:
    _, again = follow(run, tables[name], ROLES, [])

    assert again is not None
    assert again.exit_code == 0


def test_a_value_that_everybody_has_cannot_be_hidden(run: Run, tables: dict[str, Path]) -> None:
    advice, again = follow(run, tables["constant"], ROLES, ["distinct:2"])

    assert again is None
    assert "Everybody has the same value of 'disease'" in advice["text"]


@pytest.mark.parametrize("models", [[], ["distinct:3"], ["frequency:3"], ["k-anonymity:3", "distinct:3"], ["unique:2"]])
def test_advice_about_several_sensitive_columns_passes(run: Run, tmp_path: Path, models: list[str]) -> None:
    draw = np.random.default_rng(4)
    rows = [[*row, draw.choice(list("xyz"), p=[0.6, 0.3, 0.1])] for row in people(90, list("abcd"), [0.25] * 4)]
    table = write(tmp_path / "two.csv", "age,zip,disease,job", rows)

    _, again = follow(run, table, ["--quasi", "age,zip", "--sensitive", "disease,job"], models)

    assert again is not None
    assert again.exit_code == 0


@pytest.mark.parametrize("how", ["drop", "category"])
def test_advice_repeats_what_was_said_about_columns(run: Run, tmp_path: Path, how: str) -> None:
    some = enumerate(people(80, list("abc"), [0.4, 0.3, 0.3]))
    rows = [[f"n{i}", age, z, None if i % 6 == 0 else s] for i, (age, z, s) in some]
    table = write(tmp_path / "named.dat", 'name,"age, in years",zip,"a=b"', rows)
    roles = ["--quasi", '"age, in years",zip', "--sensitive", "a=b", "--drop", "name", "--missing", f'"a=b"={how}']

    advice, again = follow(run, table, [*roles, "--type", "zip=text"], ["distinct:2"], ["--read-as", "csv"])

    assert again is not None
    assert again.exit_code == 0
    assert "--drop name" in advice["command"]
    assert "--type zip=text" in advice["command"]


def test_advice_names_a_folder_that_is_free(run: Run, tables: dict[str, Path]) -> None:
    Path("release").mkdir()

    advice, again = follow(run, tables["even"], ROLES, ["distinct:2"])

    assert advice["command"].endswith("--output release-2")
    assert again is not None
    assert again.exit_code == 0


def test_advice_about_a_release_names_no_parameter_that_may_fail(run: Run, tables: dict[str, Path]) -> None:
    done = run("anonymize", tables["skewed"], *ROLES, "-l", 2, "-o", "release")
    assert done.exit_code == 0, done.stderr

    audit = run("audit", "release", "--model", "k-anonymity:5", "--json")

    advice = json.loads(audit.stdout)["advice"]
    assert audit.exit_code == 1
    assert advice["command"] is None
    assert "an audit of the table that asks for the same models names one." in advice["text"]
    _, again = follow(run, tables["skewed"], ROLES, ["k-anonymity:5"])
    assert again is not None
    assert again.exit_code == 0
