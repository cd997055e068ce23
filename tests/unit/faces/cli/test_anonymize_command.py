from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]

CELL = "Zaphod-has-the-plague"


def test_a_release_is_written_and_described(facts: Facts, patients: Path, roles: list[str], tmp_path: Path) -> None:
    found = facts("anonymize", patients, *roles, "-l", 3, "-o", tmp_path / "release")

    assert (found["records"], found["layout"]) == (600, "sets")
    assert [(column["name"], column["role"]) for column in found["columns"]] == [
        ("age", "quasi"),
        ("sex", "quasi"),
        ("disease", "sensitive"),
    ]
    assert found["claims"][0]["posterior"] == pytest.approx(1 / 3)


def test_the_next_command_can_be_run(facts: Facts, patients: Path, roles: list[str], tmp_path: Path) -> None:
    found = facts("anonymize", patients, *roles, "-l", 3, "-o", tmp_path / "release")

    assert found["next"] == f"ldiversity estimate {tmp_path / 'release'} --by sex"
    assert facts(*found["next"].split()[1:])["n_records"] == 600


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, patients: Path, tmp_path: Path) -> None:
    words = ["anonymize", patients, "--quasi", "age,sex", "--sensitive", "disease", "-l", 3, "-o", tmp_path / "release"]
    found = facts(*words)

    shown = " ".join(run(*words, "--overwrite").stdout.split())

    expected = [
        found["claims"][0]["statement"],
        *(f"{column['name']} {column['role']} {column['type']}" for column in found["columns"]),
        *found["notes"],
        *found["not_protected"],
        found["next"],
        "600 records",
    ]
    assert [fact for fact in expected if fact not in shown] == []


def test_a_least_distance_means_semantic_diversity(
    facts: Facts, patients: Path, roles: list[str], tree: Path, tmp_path: Path
) -> None:
    found = facts(
        "anonymize", patients, *roles, "-l", 3, "-d", 2, "--distance", f"tree:{tree}", "-o", tmp_path / "release"
    )

    assert (found["claims"][0]["model"], found["claims"][0]["d"]) == ("semantic-diversity", 2)


def test_a_leaking_selection_warns_on_stderr(run: Run, patients: Path, tmp_path: Path) -> None:
    result = run(
        *("anonymize", patients, "--sensitive", "age", "--bins", "age=width:10", "-l", 3, "-d", 2),
        *("--distance", "ordered", "--selection", "ring", "-o", tmp_path / "release", "--json"),
    )

    assert result.exit_code == 0
    assert "Warning: age: " in result.stderr
    assert json.loads(result.stdout)["claims"][0]["posterior"] == pytest.approx(1)


def test_a_key_gives_the_same_sets_again(run: Run, patients: Path, tmp_path: Path) -> None:
    run("key", "new", tmp_path / "holder.key")
    words = [
        *("anonymize", patients, "--quasi", "age", "--plain", "zip", "--sensitive", "disease", "-l", 2),
        *("--drop", "name", "--key", tmp_path / "holder.key", "--record-id", "name", "--format", "csv"),
    ]

    codes = [run(*words, "-o", tmp_path / name).exit_code for name in ("first", "second")]

    first, second = ((tmp_path / name / "data.csv").read_text().splitlines() for name in ("first", "second"))
    assert codes == [0, 0]
    assert sorted(first) == sorted(second)


def test_a_keyed_release_says_so_and_does_not_advise_a_key(run: Run, patients: Path, tmp_path: Path) -> None:
    run("key", "new", tmp_path / "holder.key")
    words = ["anonymize", patients, "--sensitive", "disease", "-l", 2]

    plain = run(*words, "-o", tmp_path / "plain").stdout
    keyed = run(*words, "--key", tmp_path / "holder.key", "--record-id", "name", "-o", tmp_path / "keyed").stdout

    assert "Use a key to publish again" in " ".join(plain.split())
    assert "Draws are keyed" not in plain
    assert "Use a key to publish again" not in " ".join(keyed.split())
    assert "Draws are keyed" in keyed


def test_what_the_holder_should_know_is_printed(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,disease\n1,flu\n2,\n3,cold\n4,cut\n")

    result = run("anonymize", table, "--sensitive", "disease", "--missing", "drop", "-l", 2, "-o", tmp_path / "release")

    shown = " ".join(result.stdout.split())
    assert "disease: 1 row is not published, because the value is missing." in shown
    assert "disease: the domain was read off the table" in shown


def test_rows_can_be_exploded_as_csv(facts: Facts, patients: Path, roles: list[str], tmp_path: Path) -> None:
    found = facts(
        "anonymize", patients, *roles, "-l", 3, "--layout", "exploded", "--format", "csv", "-o", tmp_path / "release"
    )

    rows = (tmp_path / "release" / "data.csv").read_text().splitlines()
    assert (found["layout"], found["records"], len(rows)) == ("exploded", 600, 1 + 3 * 600)


def test_work_can_be_divided(facts: Facts, patients: Path, roles: list[str], tmp_path: Path) -> None:
    found = facts(
        "anonymize", patients, *roles, "-l", 3, "--workers", 2, "--chunk-rows", 100, "-o", tmp_path / "release"
    )

    assert found["records"] == 600


def test_an_insecure_seed_repeats_the_release_and_warns_loudly(
    run: Run, patients: Path, roles: list[str], tmp_path: Path
) -> None:
    words = ["anonymize", patients, *roles, "-l", 3, "--insecure-seed", 7, "--format", "csv"]

    first = run(*words, "-o", tmp_path / "first")
    run(*words, "-o", tmp_path / "second")

    assert "Warning: INSECURE SEED" in first.stderr
    assert (tmp_path / "first" / "data.csv").read_bytes() == (tmp_path / "second" / "data.csv").read_bytes()


def test_missing_values_can_be_a_category(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,disease\n1,flu\n2,\n3,cold\n4,cut\n")

    found = facts(
        "anonymize", table, "--quasi", "age", "--sensitive", "disease", "--missing", "category", "-l", 2, "-o",
        tmp_path / "release",
    )  # fmt: skip

    assert (found["records"], found["claims"][0]["values"]) == (4, 4)


def test_missing_values_are_treated_by_column(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,disease\n1,flu\n,cold\n3,\n4,cut\n5,flu\n")

    found = facts(
        "anonymize", table, "--sensitive", "age,disease", "--missing", "disease=drop", "--missing", "category",
        "-l", 2, "-o", tmp_path / "release",
    )  # fmt: skip

    assert found["records"] == 4
    assert {claim["attribute"]: claim["values"] for claim in found["claims"]}["disease"] == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["guess"], "--missing must be one of refuse, category, drop, or a column"),
        (["disease=guess"], "--missing must be a column, an equals sign and one of refuse, category, drop"),
        (["age=drop"], "--missing must name a column of --sensitive"),
        (["drop", "category"], "--missing must be given once for all columns"),
    ],
)
def test_a_wrong_word_for_missing_values_is_refused(
    run: Run, patients: Path, tmp_path: Path, words: list[str], sentence: str
) -> None:
    options = [part for word in words for part in ("--missing", word)]

    result = run("anonymize", patients, "--sensitive", "disease", "-l", 2, *options, "-o", tmp_path / "release")

    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


def test_a_column_with_a_comma_can_be_named(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text('"home, zip",disease\n1,flu\n2,cold\n3,cut\n')

    found = facts(
        "anonymize", table, "--quasi", '"home, zip"', "--sensitive", "disease", "-l", 2, "-o", tmp_path / "release"
    )

    assert found["columns"][0]["name"] == "home, zip"
    assert found["next"].endswith("""--by '"home, zip"'""")


def test_without_quasi_columns_the_next_command_divides_nothing(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,x\n2,y\n3,z\n")

    found = facts("anonymize", table, "--sensitive", "a,b", "-l", 2, "-o", tmp_path / "release")

    assert found["next"] == f"ldiversity estimate {tmp_path / 'release'} --sensitive a"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-l", 3, "--sensitive", "disease"], "-o must name the folder of the release"),
        (
            ["-l", 3, "--sensitive", "disease", "-o", "r", "--key", "k"],
            "--record-id or --person must be given with --key",
        ),
        (
            ["-l", 3, "--sensitive", "disease", "-o", "r", "--key", "nokey", "--record-id", "name"],
            "key: file 'nokey' cannot be read",
        ),
        (
            ["-l", 3, "--sensitive", "disease", "-o", "r", "--workers", 2, "--insecure-seed", 1],
            "--workers must be left out with --insecure-seed",
        ),
        (
            ["-l", 3, "--sensitive", "disease", "-o", "r", "--memory", "1GB", "--chunk-rows", 5],
            "--chunk-rows must be left out with --memory",
        ),
        (["-l", 3, "--sensitive", "disease", "-o", "r", "--memory", "much"], "--memory must be a number of bytes"),
        (["-l", 3, "--sensitive", "disease", "-o", "r", "--memory", "350MB"], "--memory must be at least 400 MB"),
        (["-l", 3, "--sensitive", "disease,sex", "-o", "r", "--layout", "exploded"], "--layout must be 'sets' when"),
        (["-l", 3, "--sensitive", "disease", "--quasi", "disease", "-o", "r"], "must have one role"),
    ],
)
def test_a_wrong_decision_is_refused_in_a_sentence(
    run: Run, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("anonymize", patients, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_neither_table_nor_policy_is_refused(run: Run) -> None:
    result = run("anonymize", "-l", 3)

    assert result.exit_code == 2
    assert "TABLE must be given, or --policy." in result.stderr


def test_an_existing_folder_is_kept(run: Run, patients: Path, roles: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")

    result = run("anonymize", patients, *roles, "-l", 3, "-o", tmp_path / "mine", "--overwrite")

    assert result.exit_code == 2
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


# --- no cell of the source in any message ----------------------------------------------------------------

TABLE = f"name,age,disease,pay\n{CELL},30,{CELL},{CELL}\n{CELL},40,,5\nFord,50,flu,6\nTricia,60,cold,7\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--sensitive", "disease", "-l", 2],
        ["--sensitive", "disease", "-l", 2, "--domain", "disease=flu,cold,cut", "--missing", "drop"],
        ["--sensitive", "disease", "-l", 20, "--missing", "drop"],
        ["--sensitive", "pay", "-l", 2, "--bins", "pay=width:10"],
        ["--sensitive", "pay", "-l", 2, "--type", "pay=number"],
        ["--sensitive", "age", "-l", 2, "--type", "disease=date", "--quasi", "disease"],
        ["--sensitive", "age", "-l", 2, "--bins", "age=edges:0/10/20"],
        ["--sensitive", "age", "-l", 2, "-d", 1, "--distance", "matrix:nofile"],
        ["--sensitive", "age", "-l", 2, "--key", "holder.key", "--record-id", "name"],
        ["--sensitive", "age", "-l", 2, "--key", "holder.key", "--record-id", "disease"],
        ["--sensitive", "age", "-l", 2, "--quasi", "nobody"],
    ],
)
def test_no_message_quotes_a_cell(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    run("key", "new", "holder.key")

    result = run("anonymize", "t.csv", *words, "-o", "release")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    assert CELL not in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("release").exists()


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
        method = "randomized-addition"
        l = 4
        [output]
        folder = "from-policy"
        """
    )
    return file


def test_a_policy_is_published_where_it_says(facts: Facts, policy: Path) -> None:
    found = facts("anonymize", "--policy", policy)

    assert found["folder"] == str(policy.parent / "from-policy")
    assert (policy.parent / "from-policy" / "release.json").is_file()
    assert found["claims"][0]["l"] == 4


def test_an_output_folder_stands_above_the_policy(facts: Facts, policy: Path) -> None:
    facts("anonymize", "--policy", policy, "-o", policy.parent / "other")

    assert not (policy.parent / "from-policy").exists()
    assert (policy.parent / "other" / "release.json").is_file()


def test_a_policy_without_a_folder_needs_an_output(run: Run, policy: Path) -> None:
    policy.write_text(policy.read_text().replace('folder = "from-policy"', ""))

    result = run("anonymize", "--policy", policy)

    assert result.exit_code == 2
    assert "-o must name the folder" in result.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-l", 3], "-l"),
        (["--quasi", "sex"], "--quasi"),
        (["--record-id", "k"], "--record-id"),
        (["--format", "csv"], "--format"),
    ],
)
def test_other_options_are_refused_with_a_policy(run: Run, policy: Path, words: list[object], named: str) -> None:
    result = run("anonymize", "--policy", policy, *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{named} must be left out with --policy" in result.stderr


def test_a_table_that_is_not_beside_the_policy_is_explained(run: Run, policy: Path) -> None:
    policy.write_text('[table]\nfile = "nobody.csv"\n[sensitive.disease]\nl = 2\n')

    result = run("anonymize", "--policy", policy, "-o", policy.parent / "release")

    assert result.exit_code == 2
    assert f"Relative paths start at the folder of the policy file, {str(policy.parent)!r}." in result.stderr


def test_with_a_policy_messages_speak_of_its_keys(run: Run, policy: Path) -> None:
    (policy.parent / "t.csv").write_text("disease\nflu\n\ncold\ncut\n,\n")
    (policy.parent / "t.csv").write_text("age,disease\n1,flu\n2,\n3,cold\n4,cut\n")
    policy.write_text('[table]\nfile = "t.csv"\n[sensitive.disease]\nl = 2\n[output]\nfolder = "r"\n')

    result = run("anonymize", "--policy", policy)

    assert result.exit_code == 2
    assert 'Use missing = "category"' in result.stderr


def test_replacing_a_release_without_a_key_is_warned_of_in_every_form(
    run: Run, facts: Facts, patients: Path, roles: list[str], tmp_path: Path
) -> None:
    words = ["anonymize", patients, *roles, "-l", 3, "-o", tmp_path / "r"]
    assert run(*words).exit_code == 0

    result = run(*words, "--overwrite")
    assert "Warning: The release that is replaced shows sets of 'disease' too" in result.stderr
    assert any("ldiversity key new holder.key" in note for note in facts(*words, "--overwrite")["notes"])

    run("key", "new", tmp_path / "holder.key")
    words += ["--key", tmp_path / "holder.key", "--record-id", "name"]
    words[words.index("-o") + 1] = tmp_path / "keyed"
    assert run(*words).exit_code == 0
    assert run(*words, "--overwrite").stderr == ""
