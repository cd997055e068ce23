"""What messages of the command line advise works when it is typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
    assert "bsgi and llmsu take one for each column; a policy gives each column that is hidden in sets its own" in told


def test_levels_by_column_are_taken_where_the_refusal_says(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["anonymize", table, "--quasi", "sex", "--sensitive", "disease,job", "--drop", "patient no,smoker"]
    for method in ("bsgi", "llmsu"):
        followed = run(*words, "--method", method, "-l", "disease=3,job=2", "-o", tmp_path / method)
        assert followed.exit_code == 0, followed.stderr

    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'[table]\nfile = "{table}"\nquasi = ["sex"]\ndrop = ["patient no", "smoker"]\n'
        "[sensitive.disease]\nl = 3\n[sensitive.job]\nl = 2\n"
    )
    followed = run("anonymize", "--policy", policy, "-o", tmp_path / "sets")
    assert followed.exit_code == 0, followed.stderr


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


def test_weights_that_are_decimals_are_made_numbers_when_the_table_is_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "sample.parquet"
    weights = pa.array([Decimal("2.00"), Decimal("5.50")] * 60)
    pq.write_table(pa.table({"sex": list("fmmf") * 30, "w": weights, "disease": list("abc") * 40}), file)
    words = ["anonymize", file, "--quasi", "sex,w", "--sensitive", "disease", "-l", 2]

    assert run(*words, "-o", tmp_path / "texts").exit_code == 0
    told = hint_of(run("estimate", tmp_path / "texts", "--weights", "w"))
    advised = re.findall(r"--type w=number", told)
    assert run(*words, *advised[0].split(), "-o", tmp_path / "numbers").exit_code == 0
    followed = run("estimate", tmp_path / "numbers", "--weights", "w")
    assert followed.exit_code == 0, followed.stderr


def test_people_are_advised_without_weights_where_weights_are_given(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    rows = [f"p{place // 3},{'fm'[place % 2]},{2 + place % 4},{'abc'[place % 3]}" for place in range(120)]
    file.write_text("\n".join(["patient_no,sex,w,disease", *rows]) + "\n")
    words = ["audit", file, "--quasi", "sex", "--sensitive", "disease"]

    page = " ".join(run(*words, "--weights", "w").stdout.split())
    assert "(--person patient_no), and leave the weights out." in page
    assert "leave the weights out" not in run(*words).stdout
    followed = run(*words, "--person", "patient_no")
    assert followed.exit_code == 0, followed.stderr
