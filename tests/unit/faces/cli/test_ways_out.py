"""What messages of the command line advise works when it is typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    rows = ["patient no,sex,smoker,disease,job"]
    for place in range(120):
        smoker = "yes" if place % 4 else "no"
        rows.append(
            f"p{place // 2},{'fm'[rng.integers(2)]},{smoker},{'abcd'[rng.integers(4)]},{'uvwx'[rng.integers(4)]}"
        )
    file = tmp_path_factory.mktemp("tables") / "my table.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def hint_of(result: Result) -> str:
    assert result.exit_code == 2, result.stdout
    return " ".join(result.stderr.split())


def test_a_column_of_two_values_is_hidden_with_an_epsilon(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["anonymize", table, "--quasi", "sex", "--sensitive", "smoker", "--drop", "patient no,disease,job"]
    hint = hint_of(run(*words, "-l", 2, "-o", tmp_path / "r"))
    assert "Declare" not in hint
    advised = re.findall(r"--epsilon 1|-l 1\b", hint)
    assert advised == ["--epsilon 1", "-l 1"]
    followed = run(*words, *(word for one in advised for word in one.split()), "-o", tmp_path / "r")
    assert followed.exit_code == 0, followed.stderr


def test_a_value_of_more_than_half_of_the_records(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["anonymize", table, "--quasi", "sex", "--sensitive", "smoker", "--drop", "patient no,disease,job"]
    hint = hint_of(run(*words, "--method", "bsgi", "-l", 3, "-o", tmp_path / "r"))
    assert "at most 1" not in hint
    assert "-l 2 with --overflow suppress" in hint
    followed = run(*words, "--method", "bsgi", "-l", 2, "--overflow", "suppress", "-o", tmp_path / "r")
    assert followed.exit_code == 0, followed.stderr


@pytest.mark.parametrize("method", ["randomized-addition", "anatomy", "mbf", "mondrian", "tp"])
def test_levels_by_column_are_refused_in_words(run: Run, table: Path, method: str, tmp_path: Path) -> None:
    words = ["anonymize", table, "--quasi", "sex", "--sensitive", "disease,job", "--drop", "patient no,smoker"]
    told = hint_of(run(*words, "--method", method, "-l", "disease=3,job=2", "-o", tmp_path / "r"))
    assert "the same for all columns, got one for each column" in told
    assert "{" not in told


def test_an_epsilon_for_one_column_is_said_in_a_policy(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["anonymize", table, "--quasi", "sex", "--sensitive", "disease", "--drop", "patient no,smoker,job"]
    told = hint_of(run(*words, "--epsilon", "disease=1", "-o", tmp_path / "r"))
    assert "one number for all columns" in told
    assert "--policy" in told

    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'[table]\nfile = "{table}"\nquasi = ["sex"]\ndrop = ["patient no", "smoker", "job"]\n'
        "[sensitive.disease]\nepsilon = 1.0\n"
    )
    followed = run("anonymize", "--policy", policy, "-o", tmp_path / "r")
    assert followed.exit_code == 0, followed.stderr


def test_advised_words_with_blanks_are_quoted(run: Run, table: Path) -> None:
    page = run("audit", table, "--quasi", "sex", "--sensitive", "disease").stdout
    whose = re.search(r"\((--person .*?)\)", " ".join(page.split()))
    assert whose is not None
    assert shlex.split(whose[1]) == ["--person", "patient no"]
    again = run("audit", table, "--quasi", "sex", "--sensitive", "disease", *shlex.split(whose[1]))
    assert again.exit_code == 0, again.stderr
    described = run("describe", table).stdout
    assert "--person 'patient no'" in " ".join(described.split())

    told = hint_of(run("audit", table, "--quasi", "nothing", "--sensitive", "disease"))
    assert shlex.split(told.partition("run: ")[2])[2].endswith("my table.csv")


def test_advice_within_a_limit_of_memory_keeps_the_limit(run: Run, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("sex,disease\n" + "f,flu\nf,asthma\nm,flu\n" * 20)
    words = ["audit", few, "--quasi", "sex", "--sensitive", "disease", "--memory", "500MB"]

    page = " ".join(run(*words).stdout.replace("\\\n", " ").split())

    advised = re.search(r"ldiversity anonymize .*? --output \S+", page)
    assert advised is not None
    followed = shlex.split(advised[0])
    assert followed[followed.index("--memory") + 1] == "500MB"
