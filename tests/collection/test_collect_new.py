"""``ldiversity collect new``: an example, a check, a key and a signature; nothing that was answered is changed."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ldiversity.collection.blind import BlindKey
from ldiversity.collection.device import Device
from ldiversity.collection.store import Store
from ldiversity.collection.survey import EXAMPLE, Reports, SignedSurvey
from ldiversity.faces.cli import cli


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "survey.toml"


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, ["collect", "new", *map(str, words)], prog_name="ldiversity")


def facts(*words: object) -> Any:
    told = run(*words, "--json")
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def change(toml: Path, old: str, new: str) -> None:
    text = toml.read_text(encoding="utf-8")
    assert old in text
    toml.write_text(text.replace(old, new), encoding="utf-8")


def test_where_there_is_no_file_an_example_is_written_and_signed(toml: Path) -> None:
    told = run()

    assert told.exit_code == 0
    assert toml.read_text(encoding="utf-8") == EXAMPLE
    signed = SignedSurvey.load(toml.with_name("survey.signed.json"))
    assert signed.id in told.stdout
    assert signed.fingerprint in told.stdout
    assert stat.S_IMODE(toml.with_name("survey.key").stat().st_mode) == 0o600
    assert "Still those of the example: title, collector, contact." in told.stdout
    assert "3 divides 12" in told.stdout
    assert "ldiversity collect serve" in told.stdout


def test_the_facts_are_those_of_the_mechanisms(toml: Path) -> None:
    illness, income = facts(toml)["questions"]

    assert (illness["l"], illness["divides"], illness["d"], illness["overlap"]) == (3, True, None, 0)
    # (F - 1)(l - 1) / (n F (F - l)) with F = 12, l = 3, n = 1000.
    assert illness["error"] == pytest.approx((11 * 2 / (1000 * 12 * 9)) ** 0.5)
    assert illness["answers_for_goal"] == 1957
    assert (income["d"], income["distance"], income["draw"], income["overlap"]) == (2, "ordered", "chain", None)


def test_signing_again_without_a_change_changes_nothing(toml: Path) -> None:
    first = facts(toml)
    before = {file: file.read_bytes() for file in toml.parent.iterdir()}

    again = facts(toml)

    assert {file: file.read_bytes() for file in toml.parent.iterdir()} == before
    assert (again["survey"], again["wrote"], len(first["wrote"])) == (first["survey"], [], 3)


def test_a_changed_survey_is_signed_anew_by_the_same_key(toml: Path) -> None:
    first = facts(toml)
    change(toml, 'title = "Health and income"', 'title = "Health"')

    again = facts(toml)

    assert again["survey"] != first["survey"]
    assert again["fingerprint"] == first["fingerprint"]
    assert again["wrote"] == [str(toml.with_name("survey.signed.json"))]


def test_a_survey_that_was_answered_is_not_changed(toml: Path) -> None:
    facts(toml)
    signed = SignedSurvey.load(toml.with_name("survey.signed.json"))
    answers = {"age": 30, "sex": "male", "illness": "flu", "income": "below 10,000"}
    preview = Device.open(toml.parent / "device").answer(signed, answers)
    with Store.open(f"sqlite:///{toml.with_name('survey.db')}") as store:
        store.add_survey(signed)
        store.add(signed.id, [Reports(signed.survey, signed.id).read(one.body)[0] for one in preview.reports])
    change(toml, 'title = "Health and income"', 'title = "Health"')

    told = run(toml)

    assert told.exit_code == 2
    assert "was changed after 1 report came" in told.stderr
    assert SignedSurvey.load(toml.with_name("survey.signed.json")) == signed


def test_blind_tokens_get_a_key_of_their_own(toml: Path) -> None:
    toml.write_text(EXAMPLE.replace('tokens = "device"', 'tokens = "blind"'), encoding="utf-8")

    told = facts(toml)

    file = toml.with_name("survey.blind.key")
    assert str(file) in told["wrote"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    signed = SignedSurvey.load(toml.with_name("survey.signed.json"))
    assert signed.survey.blind_key == BlindKey.load(file).public.text
    assert facts(toml)["wrote"] == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("l = 3\nd = 2", "l = 4\nd = 2", "Feasible nearby: l=4, d=1, or l=3, d=2."),
        ("linked = true", "linkd = true", "linkd is not known. Do you mean linked?"),
        ('title = "Health and income"', "title = ", "must be TOML"),
        ('"flu"', '"<b>flu</b>"', "questions[0].values[1] must not have markup"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_signed(toml: Path, old: str, new: str, told: str) -> None:
    toml.write_text(EXAMPLE.replace(old, new), encoding="utf-8")

    result = run(toml)

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr
    assert [file.name for file in toml.parent.iterdir()] == ["survey.toml"]


def test_a_day_that_is_over_is_told(toml: Path) -> None:
    toml.write_text(EXAMPLE.replace("2030-12-31", "2020-12-31"), encoding="utf-8")

    assert "The last day to answer, 2020-12-31, is over." in facts(toml)["cautions"]


def test_an_l_that_does_not_divide_is_told_with_its_rate(toml: Path) -> None:
    toml.write_text(EXAMPLE.replace("]\nl = 3\n", "]\nl = 5\n"), encoding="utf-8")

    assert "5 does not divide 12, so in up to 34 % of changes the two sets overlap." in run(toml).stdout
