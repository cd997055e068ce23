"""Who may receive a release: a small file, its template, and what the report makes of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.faces.cli.schemas import json_schema
from ldiversity.faces.report import COMMITTEE_TEMPLATE, Committee
from ldiversity.faces.report._committee import read_committee

LEAST = {"recipient": "Example University", "access": "agreement"}


@pytest.fixture(scope="module")
def release() -> ld.Release:
    people = pa.table({"age": [30, 40] * 30, "disease": ["flu", "cold", "cut"] * 20})
    return ld.anonymize(people, quasi="age", sensitive="disease", method=ld.Anatomy(l=3))


def test_the_template_is_a_file_that_is_read_and_fits_the_schema(tmp_path: Path) -> None:
    printed = CliRunner().invoke(cli, ["report", "--committee-template"], prog_name="ldiversity")
    file = tmp_path / "committee.toml"
    file.write_text(printed.stdout.replace("Example University", "University of Elsewhere"), encoding="utf-8")

    found = read_committee(file)

    assert printed.exit_code == 0
    assert printed.stdout == COMMITTEE_TEMPLATE
    assert found is not None
    assert (found.access, found.review_date) == ("agreement", "2027-03-01")
    written = json.loads(json.dumps(tomllib.loads(COMMITTEE_TEMPLATE), default=str))
    Draft202012Validator(json_schema("committee")).validate(written)


def test_a_template_that_nobody_edited_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "committee.toml"
    file.write_text(COMMITTEE_TEMPLATE, encoding="utf-8")

    with pytest.raises(ld.ParameterError, match="recipient must name who receives the release; it is still that of"):
        read_committee(file)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"access": "public"}, "recipient must be given"),
        ({"recipient": "x"}, "access must be given"),
        ({**LEAST, "access": "friends"}, "access must be one of 'public', 'agreement', 'secure room', got 'friends'"),
        ({**LEAST, "recipient": " "}, "recipient must be a text that is not empty"),
        ({**LEAST, "agreements": "one"}, "agreements must be a list of texts, got str"),
        ({**LEAST, "review_date": "next year"}, "review_date must be a day such as 2027-03-01, got 'next year'"),
        ({**LEAST, "review_date": 2027}, "review_date must be a day such as 2027-03-01, got 2027"),
        ({**LEAST, "reviewdate": "2027-03-01"}, "has no key 'reviewdate'; its keys are"),
    ],
)
def test_what_breaks_a_rule_is_named(said: Mapping[str, object], why: str) -> None:
    with pytest.raises(ld.ParameterError) as refused:
        read_committee(said)

    assert why in str(refused.value)


def test_a_file_that_is_no_toml_or_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("recipient = ", encoding="utf-8")

    with pytest.raises(ld.ParameterError, match="must be TOML"):
        read_committee(tmp_path / "bad.toml")
    with pytest.raises(ld.StorageError, match="cannot be read"):
        read_committee(tmp_path / "none.toml")


def test_days_may_be_dates_or_texts() -> None:
    written = [read_committee({**LEAST, "review_date": day}) for day in ("2027-03-01", date(2027, 3, 1))]

    assert {one.review_date for one in written if one is not None} == {"2027-03-01"}


def test_a_report_shows_who_may_receive_it_first_and_every_word_escaped(release: ld.Release) -> None:
    said = Committee("<b>Example</b> University", "secure room", "a study", ("no copies",), review_date="2020-01-01")
    report = ld.user_report(release, committee=said)
    page = report.to_html()

    assert report.summary.recipients.startswith("<b>Example</b> University. In a secure room")
    assert "&lt;b&gt;Example&lt;/b&gt; University" in page[: page.index("<nav>")]
    assert "<b>Example" not in page
    assert "no copies" in page
    assert any("That day has passed" in text for text in report.summary.reasons)
    assert "--committee FILE" in report.commands[0].line


def test_a_report_without_it_says_so(release: ld.Release) -> None:
    assert ld.user_report(release).summary.recipients.startswith("Not stated")
