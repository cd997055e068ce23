"""Publishing with methods that group records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import ldiversity as ld
from ldiversity.catalog import CATALOG

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]

CELL = "Zaphod-has-the-plague"
OPTIONS = {"le-anatomy": ["-e", 2], "mondrian": ["--relaxed"], "bsgi": ["--effort", 5], "llmsu": ["--no-merge"]}
GROUPING = [name for name, entry in CATALOG.items() if entry.family == "classes"]


@pytest.fixture
def bsgi(patients: Path, roles: list[str], tmp_path: Path) -> list[object]:
    return ["anonymize", patients, *roles, "--method", "bsgi", "-l", 3, "-o", tmp_path / "release"]


@pytest.mark.parametrize("method", GROUPING)
def test_every_method_publishes_classes_that_its_folder_proves(
    facts: Facts, patients: Path, roles: list[str], tree: Path, tmp_path: Path, method: str
) -> None:
    own = [*OPTIONS.get(method, []), *(["--tree", tree] if method == "le-anatomy" else [])]

    found = facts("anonymize", patients, *roles, "--method", method, "-l", 2, *own, "-o", tmp_path / "release")

    release = ld.load_release(tmp_path / "release")
    release.verify()
    assert (found["layout"], found["claims"][0]["method"]) == (release.layout, method)
    assert found["records"] + found["suppressed"] == 600
    assert found["claims"][0]["classes"] == release.classes("disease").n_classes


def test_classes_are_counted_and_measured(facts: Facts, bsgi: list[object]) -> None:
    found = facts(*bsgi)

    (claim,) = found["claims"]
    assert (claim["classes"], claim["average_size"], claim["smallest"], claim["largest"]) == (200, 3.0, 3, 3)
    assert (claim["model"], claim["l"], claim["posterior"]) == ("unique", 3, pytest.approx(1 / 3))
    assert {form["column"]: form["form"] for form in found["forms"]} == {"age": "interval", "sex": "values"}


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, bsgi: list[object]) -> None:
    found = facts(*bsgi)

    shown = " ".join(run(*bsgi, "--overwrite").stdout.split())

    expected = [
        "600 records, generalized, none left out",
        "age quasi int64 interval of its class",
        "disease bsgi unique 33.4 % 200 3 3 3",
        found["claims"][0]["statement"],
        *found["notes"],
        *found["not_protected"],
        found["next"],
    ]
    assert [fact for fact in expected if fact not in shown] == []


def test_the_next_command_can_be_run(facts: Facts, bsgi: list[object]) -> None:
    found = facts(*bsgi)

    assert facts(*found["next"].split()[1:])["n_records"] == 600


def test_suppressed_records_are_counted(facts: Facts, run: Run, bsgi: list[object]) -> None:
    words = [*(12 if word == 3 else word for word in bsgi), "--overflow", "suppress"]
    found = facts(*words)

    assert found["suppressed"] > 0
    assert (
        f"{found['records']} records, generalized, {found['suppressed']} left out" in run(*words, "--overwrite").stdout
    )


def test_a_warning_is_shown_in_the_page_and_on_stderr(run: Run, patients: Path, tmp_path: Path) -> None:
    result = run(
        *("anonymize", patients, "--quasi", "age", "--sensitive", "disease,job", "--method", "llmsu", "-l", 2),
        *("--separate", "-o", tmp_path / "release"),
    )

    assert result.exit_code == 0
    assert "Warning: Classes were formed for each sensitive column separately" in result.stdout
    assert "Warning: Classes were formed for each sensitive column separately" in result.stderr


def test_quasi_identifiers_are_generalized_by_their_hierarchies(facts: Facts, bsgi: list[object]) -> None:
    found = facts(*bsgi, "--hierarchy", "age=width:5/10/20", "--hierarchy", "sex=auto")

    assert {form["column"]: form["form"] for form in found["forms"]} == {"age": "node", "sex": "node"}


def test_marginals_are_published_when_asked(facts: Facts, bsgi: list[object], tmp_path: Path) -> None:
    facts(*bsgi, "--marginals")

    release = ld.load_release(tmp_path / "release")
    assert release.forms["age"].marginal.n_records == 600


def test_rows_of_one_person_never_meet(facts: Facts, tmp_path: Path) -> None:
    rows = [f"{n // 2},{20 + n % 2},{'abcdef'[n % 6]}" for n in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["person,age,disease", *rows]))

    found = facts(
        *("anonymize", tmp_path / "t.csv", "--quasi", "age", "--sensitive", "disease", "--method", "bsgi", "-l", 2),
        *("--person", "person", "-o", tmp_path / "release"),
    )

    assert [column["name"] for column in found["columns"]] == ["age", "disease"]
    assert found["records"] == 24


def test_work_can_be_divided(facts: Facts, bsgi: list[object]) -> None:
    assert facts(*bsgi, "--workers", 1)["records"] == 600


def test_an_insecure_seed_repeats_the_release(run: Run, bsgi: list[object], tmp_path: Path) -> None:
    words = [*bsgi[:-1], "--insecure-seed", 7, "--format", "csv"]

    codes = [run(*words[:-4], tmp_path / name, *words[-4:]).exit_code for name in ("first", "second")]

    first, second = ((tmp_path / name).glob("*.csv") for name in ("first", "second"))
    assert codes == [0, 0]
    assert [file.read_bytes() for file in sorted(first)] == [file.read_bytes() for file in sorted(second)]


def test_estimates_say_what_they_assume(facts: Facts, run: Run, bsgi: list[object], tmp_path: Path) -> None:
    facts(*bsgi, "--marginals")

    uniform = run("estimate", tmp_path / "release", "--by", "age:20", "--spread", "uniform")
    marginal = run("estimate", tmp_path / "release", "--by", "age:20", "--spread", "marginal")

    assert (uniform.exit_code, marginal.exit_code) == (0, 0)
    assert "spread over its region" in " ".join(uniform.stdout.split())
    assert uniform.stdout != marginal.stdout


def test_spreading_sets_is_refused(run: Run, release: Path) -> None:
    result = run("estimate", release, "--spread", "uniform")

    assert result.exit_code == 2
    assert "Error: --spread must be 'auto'" in result.stderr


# --- policies --------------------------------------------------------------------------------------------


def test_a_policy_groups_where_it_says(facts: Facts, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(
        f'[table]\nfile = {str(patients)!r}\nquasi = ["age", "sex"]\nhierarchies = {{ age = "width:5/10" }}\n'
        'person = "name"\n[sensitive.disease]\n[method]\nname = "bsgi"\nl = 3\n'
        '[output]\nfolder = "grouped"\nmarginals = true\n'
    )

    found = facts("anonymize", "--policy", tmp_path / "policy.toml")

    release = ld.load_release(tmp_path / "grouped")
    assert (found["records"], found["claims"][0]["classes"]) == (600, 200)
    assert release.forms["age"].kind == "node"
    assert release.forms["sex"].marginal is not None


# --- refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "bsgi", "-l", 30], "-l must be at most"),
        (["--method", "bsgi", "-l", 3, "--key", "k", "--record-id", "name"], "--key must be left out with bsgi"),
        (["--method", "bsgi", "-l", 3, "--layout", "sets"], "--layout must be left out with bsgi"),
        (["--method", "bsgi", "-l", 3, "--chunk-rows", 9], "--chunk-rows must be left out with bsgi"),
        (["-l", 3, "--marginals"], "--marginals must be left out with randomized-addition"),
        (["--method", "mondrian"], "-l or --model must be given"),
        (["--method", "mondrian", "-l", 30], "the whole table must satisfy -l 30 for 'disease'"),
        (["--method", "mondrian", "--model", "frequency:30"], "must satisfy --model frequency:30 for 'disease'"),
        (["--method", "bsgi", "-l", 3, "--weight", "shoe=2"], "--weight must name quasi-identifiers"),
        (["--method", "bsgi", "-l", 3, "--selection", "ring"], "--selection must be one of 'near', 'paper'"),
        (["--method", "bsgi", "-l", 3, "--hierarchy", "job=auto"], "must be a quasi-identifier, got 'job'"),
        (["--method", "bsgi", "-l", 3, "--hierarchy", "sex=nobody.csv"], "'nobody.csv' cannot be opened"),
        (["--method", "bsgi", "-l", 3, "--hierarchy", "sex=width:5"], "hierarchy of 'sex'"),
        (["--method", "anatomy", "-l", 3, "--sensitive", "job"], "there must be one sensitive column, got 2"),
    ],
)
def test_a_wrong_decision_is_one_sentence_and_leaves_nothing(
    run: Run, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("anonymize", patients, "--quasi", "age,sex", "--sensitive", "disease", *words, "-o", "release")

    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == []


TABLE = f"name,age,disease,pay\n{CELL},30,{CELL},{CELL}\n{CELL},40,,5\nFord,50,flu,6\nTricia,60,cold,7\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--sensitive", "disease", "-l", 2],
        ["--sensitive", "disease", "-l", 9, "--missing", "drop"],
        ["--sensitive", "age", "-l", 2, "--quasi", "pay", "--hierarchy", "pay=width:5"],
        ["--sensitive", "age", "-l", 2, "--quasi", "pay", "--hierarchy", "pay=date"],
        ["--sensitive", "age", "-l", 2, "--quasi", "pay", "--type", "pay=number"],
        ["--sensitive", "age", "-l", 2, "--person", "disease"],
        ["--sensitive", "disease", "-l", 2, "--domain", "disease=flu,cold", "--missing", "drop"],
    ],
)
def test_no_message_quotes_a_cell(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)

    result = run("anonymize", "t.csv", "--method", "bsgi", *words, "-o", "release")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    assert CELL not in result.stderr
    assert not Path("release").exists()


def test_a_hierarchy_that_misses_values_counts_them(run: Run, bsgi: list[object], tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("female;*\n")

    result = run(*bsgi, "--hierarchy", f"sex={tmp_path / 'sex.csv'}")

    assert result.exit_code == 2
    assert "every value of column 'sex' must be a leaf of its hierarchy, got 1 that are not" in result.stderr
    assert "'male'" not in result.stderr


def test_json_is_json(run: Run, bsgi: list[object]) -> None:
    assert json.loads(run(*bsgi, "--json").stdout)["layout"] == "generalized"
