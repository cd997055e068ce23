from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture
def semantic(roles: list[str], tree: Path) -> list[object]:
    return [*roles, "-l", 3, "-d", 2, "--distance", f"tree:{tree}"]


def test_a_plan_tells_promise_and_price(facts: Facts, patients: Path, roles: list[str]) -> None:
    found = facts("plan", patients, *roles, "-l", 3)

    (disease,) = found["attributes"]
    assert (found["feasible"], found["records"], disease["method"]) == (True, 600, "randomized-addition")
    assert disease["worst_posterior"] == pytest.approx(1 / 3)
    assert disease["std_error"] ** 2 == pytest.approx(disease["expected_mse"])


def test_a_least_distance_means_semantic_diversity(facts: Facts, patients: Path, semantic: list[object]) -> None:
    (disease,) = facts("plan", patients, *semantic)["attributes"]

    assert (disease["method"], disease["selection"], disease["d"]) == ("semantic", "balanced", 2)
    assert 0 < disease["violation_if_uniform"]["average"] < 1


def test_with_an_epsilon_the_l_of_semantic_diversity_is_found(
    facts: Facts, patients: Path, roles: list[str], tree: Path
) -> None:
    asked = ["--method", "semantic", "-d", 2, "--distance", f"tree:{tree}", "--epsilon", 2]

    (disease,) = facts("plan", patients, *roles, *asked)["attributes"]

    errors = {one["l"]: one["expected_mse"] for one in disease["choices"]}
    assert disease["l"] == disease["least_error_l"] == min(errors, key=errors.__getitem__)
    assert len(errors) > 2
    assert 0 < disease["violation_if_uniform"]["average"] < 1


def test_text_shows_the_claim_and_who_gains_more(run: Run, patients: Path, semantic: list[object]) -> None:
    shown = " ".join(run("plan", patients, *semantic).stdout.split())

    assert "Every record shows 3 values of 'disease', pairwise at least 2 apart" in shown
    assert "for someone who knows how frequent each value is in this table" in shown
    assert "Plain randomized addition with l = 3 would publish two values closer than 2" in shown
    assert "planned" in shown
    assert "happens to at least one record is at least 99.9 %." in shown


def test_text_shows_the_cautions_and_notes_of_json(run: Run, facts: Facts, patients: Path) -> None:
    words = ["plan", patients, "--quasi", "age", "--sensitive", "disease", "-l", 3]
    found = facts(*words)

    shown = " ".join(run(*words).stdout.split())

    expected = [*found["notes"], *found["not_protected"], *found["attributes"][0]["cautions"]]
    assert [fact for fact in expected if fact not in shown] == []
    assert len(found["notes"]) == 1


def test_an_infeasible_goal_is_exit_2_with_the_bound(run: Run, patients: Path, roles: list[str]) -> None:
    result = run("plan", patients, *roles, "-l", 99)

    assert result.exit_code == 2
    assert "Error: disease: -l must be at most F - 1 = 23" in result.stderr
    assert "Not feasible" in result.stdout


def test_an_infeasible_plan_is_json_too(run: Run, patients: Path, roles: list[str], tree: Path) -> None:
    result = run("plan", patients, *roles, "-l", 8, "-d", 3, "--distance", f"tree:{tree}", "--json")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["feasible"], found["bytes"]) == (2, False, None)
    assert found["attributes"][0]["nearest"]
    assert found["attributes"][0]["claim"] is None


def test_bins_and_declared_domains_are_used(facts: Facts, patients: Path) -> None:
    words = ["plan", patients, "--sensitive", "age,sex", "--bins", "age=width:10,low:0,high:120"]

    found = facts(*words, "--domain", "sex=female,male,other,unknown", "-l", 2)

    assert [attribute["values"] for attribute in found["attributes"]] == [12, 4]


def test_an_infeasible_plan_speaks_no_python(run: Run, patients: Path, roles: list[str]) -> None:
    result = run("plan", patients, *roles, "-l", 99, "--json")

    assert json.loads(result.stdout)["attributes"][0]["reason"].startswith("-l must be at most F - 1 = 23")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-l", 3], "--sensitive must name at least one column"),
        (["--sensitive", "disease"], "l must be given"),
        (["--sensitive", "disease", "-l", 1], "l must be an integer of at least 2"),
        (["--sensitive", "disease", "-l", 3, "-d", 2], "distance must be given"),
        (
            ["--sensitive", "disease", "-l", 3, "--method", "magic"],
            "--method must be one of randomized-addition, semantic",
        ),
        (["--sensitive", "disease", "-l", 3, "--selection", "ring"], "'selection' is not an option of this method"),
        (["--sensitive", "disease", "-l", 3, "--domain", "job=a,b"], "--domain must name a column of --sensitive"),
        (["--sensitive", "disease", "-l", 3, "--domain", "disease=@nofile"], "cannot be read"),
        (["--sensitive", "age", "-l", 3, "--bins", "age=thirds"], "--bins must be width:10"),
        (["--sensitive", "age", "-l", 3, "--bins", "age=width:x"], "--bins must be width:10"),
        (["--sensitive", "age", "-l", 3, "--bins", "age=width:9", "--bins", "age=width:8"], "each column once"),
        (["--sensitive", "age", "-l", 3, "--bins", "age=width:9,quantiles:3"], "exactly one of width, edges"),
        (["--sensitive", "disease", "--quasi", "agee", "-l", 3], "Did you mean 'age'?"),
        (
            ["--sensitive", "disease", "-l", 3, "-d", 1, "--distance", "far"],
            "distance: it must start with a known kind",
        ),
    ],
)
def test_a_wrong_decision_is_refused_in_a_sentence(
    run: Run, patients: Path, words: list[object], sentence: str
) -> None:
    result = run("plan", patients, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in " ".join(result.stderr.split())


def test_a_domain_file_has_one_value_a_line(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("g\na\nb\n")
    (tmp_path / "values.txt").write_text("a\n b \n\nc, d\ne\n", encoding="utf-8-sig")

    found = facts("plan", tmp_path / "t.csv", "--sensitive", "g", "--domain", f"g=@{tmp_path / 'values.txt'}", "-l", 2)

    assert found["attributes"][0]["values"] == 4


def test_an_empty_domain_file_is_refused(run: Run, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_text("\n")

    result = run("plan", patients, "--sensitive", "sex", "--domain", f"sex=@{tmp_path / 'values.txt'}", "-l", 2)

    assert result.exit_code == 2
    assert "must hold at least one value" in result.stderr


def test_a_domain_file_that_is_no_text_is_refused(run: Run, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_bytes(b"\xff\xfe\x00")

    result = run("plan", patients, "--sensitive", "sex", "--domain", f"sex=@{tmp_path / 'values.txt'}", "-l", 2)

    assert result.exit_code == 2
    assert "must be text in UTF-8" in result.stderr


# --- policies --------------------------------------------------------------------------------------------


@pytest.fixture
def policy(patients: Path, tmp_path: Path) -> Path:
    file = tmp_path / "policy.toml"
    file.write_text(
        f"""
        [table]
        file = {str(patients)!r}
        quasi = ["age"]
        [sensitive.disease]
        l = 4
        """
    )
    return file


def test_a_policy_is_planned_and_nothing_is_published(facts: Facts, policy: Path) -> None:
    found = facts("plan", "--policy", policy)

    assert (found["feasible"], found["attributes"][0]["l"]) == (True, 4)
    assert [file.name for file in policy.parent.iterdir()] == ["policy.toml"]


def test_an_infeasible_policy_is_exit_2(run: Run, policy: Path) -> None:
    policy.write_text(policy.read_text().replace("l = 4", "l = 99"))

    result = run("plan", "--policy", policy)

    assert result.exit_code == 2
    assert "Error: disease: l must be at most" in result.stderr


@pytest.mark.parametrize(("words", "named"), [(["-l", 3], "-l"), (["--drop", "name"], "--drop")])
def test_other_options_are_refused_with_a_policy(run: Run, policy: Path, words: list[object], named: str) -> None:
    result = run("plan", "--policy", policy, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{named} must be left out with --policy" in result.stderr


def test_neither_table_nor_policy_is_refused(run: Run) -> None:
    result = run("plan", "-l", 3)

    assert result.exit_code == 2
    assert "TABLE must be given, or --policy." in result.stderr
