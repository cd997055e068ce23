"""``ldiversity contrast``: differences and ratios of groups, as Python gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import ldiversity as ld

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]

ASTHMA = ["--value", "R21 asthma"]


def test_differences_and_ratios_are_those_of_python(run: Run, facts: Facts, release: Path) -> None:
    words = ["contrast", release, "--by", "sex", "--first", "female", "--second", "male", *ASTHMA]
    estimate = ld.estimate(ld.load_release(release), by="sex")

    difference, ratio = facts(*words), facts(*words, "--ratio", "--samples")

    assert difference == estimate.difference("R21 asthma", between=("female", "male")).to_dict()
    assert ratio == estimate.ratio("R21 asthma", between=("female", "male"), population=True).to_dict()
    shown = run(*words, "--samples").stdout
    assert "female minus male" in shown
    assert "the population" in shown


def test_a_group_may_name_some_of_the_columns(facts: Facts, release: Path) -> None:
    group = ["--first", "sex=female", "--first", "age=[0, 50)", "--second", "sex=male"]

    found = facts("contrast", release, "--by", "sex,age:50", *group, *ASTHMA)

    assert found["name"] == "share of disease R21 asthma: sex female, age [0, 50) minus sex male"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--first", "woman", "--second", "male", *ASTHMA], "The cells are 'female', 'male'"),
        (["--first", "male", "--second", "male", *ASTHMA], "must have no cell in common"),
        (["--first", "female", "--first", "1", "--second", "male", *ASTHMA], "a label for each of 'sex'"),
        (["--first", "female", "--second", "male"], "Name a value"),
        (["--first", "female", "--second", "male", *ASTHMA, *ASTHMA], "must name each value once"),
        (["--first", "female", *ASTHMA], "--second"),
        (["--first", "sex=female", "--first", "sex=male", "--second", "male", *ASTHMA], "several for 'sex'"),
        (["--first", "sex=female", "--first", "age=1", "--second", "male", *ASTHMA], "COLUMN=LABEL: sex"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(run: Run, release: Path, words: list[str], said: str) -> None:
    result = run("contrast", release, "--by", "sex", *words)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_a_label_for_each_column_is_given_as_the_hint_says(run: Run, facts: Facts, release: Path) -> None:
    words = ["contrast", release, "--by", "sex,age:50", *ASTHMA, "--second", "male", "--second", "[0, 50)"]

    refused = run(*words, "--first", "female,[0, 50)")

    assert refused.exit_code == 2
    assert "Write --first LABEL --first LABEL, in this order; or --first sex=LABEL" in " ".join(refused.stderr.split())
    assert facts(*words, "--first", "female", "--first", "[0, 50)")["name"].endswith(
        "female, [0, 50) minus male, [0, 50)"
    )
