"""Where there is one of something, outputs say so: no "1 records"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ldiversity.faces.cli import cli

SLIP = re.compile(
    r"(?<![\d,.] of )(?<![\d.,])\b1 (records|rows|people|classes|values|columns|others|cells|leaves|levels|files|runs|"
    r"attacks|releases|groups|queries|persons)\b"
)


def run(*words: object) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")
    assert result.exit_code in {0, 1, 2}
    return result.output


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three rows in one class; one of them lacks a value."""
    file = tmp_path / "small.csv"
    file.write_text("sex,disease\nf,flu\nf,cold\nf,gout\nf,\n", encoding="utf-8")
    return file


def test_no_output_about_one_thing_uses_the_plural(table: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    one.write_text("disease\nflu\n", encoding="utf-8")
    columns = ["--quasi", "sex", "--sensitive", "disease", "--missing", "drop"]
    sets, classes = tmp_path / "sets", tmp_path / "classes"
    shown = [
        run("describe", one),
        run("describe", table),
        run("plan", table, *columns, "-l", "2"),
        run("plan", table, *columns, "--method", "anatomy", "-l", "3"),
        run("anonymize", table, *columns, "-l", "2", "-o", sets),
        run("anonymize", table, *columns, "--method", "bsgi", "-l", "3", "-o", classes),
        run("anonymize", table, "--quasi", "sex", "--sensitive", "disease", "-l", "2", "-o", tmp_path / "refused"),
        run("audit", table, *columns),
    ]
    for release in (sets, classes):
        shown += [run("audit", release), run("estimate", release, "--by", "sex"), run("attack", release)]
        shown.append(run("report", release, "-o", tmp_path / f"{release.name}.html"))
        shown.append((tmp_path / f"{release.name}.html").read_text(encoding="utf-8"))

    for text in shown:
        assert not SLIP.search(text), SLIP.search(text)
