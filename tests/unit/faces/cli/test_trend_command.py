from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def later(run: Run, patients: Path, roles: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("later") / "later"
    result = run("anonymize", patients, *roles, "-l", 2, "-o", folder)
    assert result.exit_code == 0, result.stderr
    return folder


def test_a_share_and_its_change_are_told(run: Run, facts: Facts, release: Path, later: Path) -> None:
    words = ["trend", release, later, "--value", "R21 asthma", "--where", "sex = female"]
    found, shown = facts(*words), run(*words).stdout

    assert found["schema"] == "trend"
    assert [point["release"] for point in found["points"]] == ["release", "later"]
    (change,) = found["changes"]
    assert change["value"] == pytest.approx(found["points"][1]["value"] - found["points"][0]["value"])
    assert "Changes" in shown
    assert [caveat for caveat in found["caveats"] if caveat not in " ".join(shown.split())] == []


def test_shares_of_several_values_are_added_up(facts: Facts, release: Path, later: Path) -> None:
    one, other, both = (
        facts("trend", release, later, *(word for value in values for word in ("--value", value)))["points"][0]["value"]
        for values in (["R21 asthma"], ["R11 influenza"], ["R21 asthma", "R11 influenza"])
    )
    assert both == pytest.approx(one + other)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--value", "nothing"], "must name values among"),
        (["--value", "R21 asthma", "--value", "R21 asthma"], "must name each value once"),
        ([], "has no numbers"),
        (["--value", "R21 asthma", "--sensitive", "diseas"], "Did you mean 'disease'?"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(run: Run, release: Path, later: Path, words: list[str], said: str) -> None:
    result = run("trend", release, later, *words)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_one_release_has_no_trend(run: Run, release: Path) -> None:
    alone, twice = (run("trend", *given, "--value", "R21 asthma") for given in ([release], [release, release]))
    assert (alone.exit_code, twice.exit_code) == (2, 2)
    assert "at least two" in alone.stderr
    assert "another folder" in twice.stderr
